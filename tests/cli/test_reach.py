"""`cellwright reach`."""

import csv
import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

QUICK = ("--turns", 3, "--step", 0.4, "--workers", 1)


def test_it_counts_and_saves(cellwright, tmp_path):
    pytest.importorskip("matplotlib")
    ended = cellwright("reach", "rovi", "--object", "bottle", *QUICK, "--json")
    assert ended.code == 0
    assert ended.err == "ur5 takes bottle: 3 angles at every place of its base\n"
    report = ended.json
    assert (report["robot"], report["object"], report["places"]) == ("ur5", "bottle", 9)
    assert [entry["grasp"] for entry in report["maps"]] == ["top", "side"]
    rows = list(csv.DictReader((tmp_path / "out" / "reach" / "reachability.csv").open()))
    assert len(rows) == 18
    for entry in report["maps"]:
        assert entry["total"] == sum(int(row["free"]) for row in rows if row["grasp"] == entry["grasp"]) > 0
    assert (tmp_path / "out" / "reach" / "reachability.png").read_bytes().startswith(b"\x89PNG")


def test_it_can_weigh(cellwright):
    ended = cellwright("reach", "rovi", *QUICK, "--weight", "manipulability")
    assert ended.code == 0
    assert "manipulability" in ended.out


def test_bad_input(refused, tmp_path):
    assert "did you mean 'bottle'?" in refused("reach", "rovi", "--object", "botle")
    assert "did you mean 'rovi'?" in refused("reach", "rov")
    assert "did you mean 'manipulability'?" in refused("reach", "rovi", "--weight", "manipulabilty")
    assert "grid step is nan" in refused("reach", "rovi", "--step", "nan")
    assert "turns is 0, allowed 1 to 3601" in refused("reach", "rovi", "--turns", 0)
    (tmp_path / "file").touch()
    assert "file is not a folder" in refused("reach", "rovi", "--out", "file")


def test_interruption_ends_with_130_and_one_line(tmp_path):
    """In the middle of the work of several processes, all of which get the signal, as from a terminal."""
    command = [sys.executable, "-c", INTERRUPTED, "reach", "rovi", "--workers", "2", "--turns", "100"]
    run = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "counting\n"
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert out == ""
    *progress, last = err.splitlines()
    assert last == "cellwright: interrupted"
    assert all(line.startswith("ur5 takes ") or line.endswith(" places") for line in progress), err


INTERRUPTED = """
from cellwright.cli import main, reach
real = reach.map_reach

def told(task, grid, workers, progress):
    def tell(done, total):
        if done == 1:
            print("counting", flush=True)
    return real(task, grid, workers, tell)

if __name__ == "__main__":
    reach.map_reach = told
    main()
"""
