"""A controller as a process: what it says is kept, how it ends is told, and nothing of it is left behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from cellwright.core.errors import BadInput
from cellwright.testing import CellError, CellUnderTest
from cellwright.trials.controller_run import ControllerLimits, run_controller

PATIENT = ControllerLimits(timeout_s=60, connect_within_s=60, grace_s=60)

WAITS_FOR_THE_END = r"""
import json, socket, sys
host, port = sys.argv[1].split(":")
door = socket.create_connection((host, int(port)))
for line in door.makefile():
    said = json.loads(line)
    print(line, end="")
    if "announce" in said:
        door.sendall(json.dumps({"submit": said["announce"]["order"]}).encode() + b"\n")
    if "end" in said:
        sys.exit(0)
sys.exit("nobody said that it is over")
"""

WITH_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(child.pid)
print("I wait", file=sys.stderr)
time.sleep(300)
"""


def python(code, *arguments):
    return [sys.executable, "-c", code, *arguments]


def run(folder, code, limits=PATIENT, connected=1, ended="", **more):
    return run_controller(
        python(code), folder, "controller_1", limits, lambda: {"connected": connected, "ended": ended}, **more
    )


def is_gone(pid, within_s=10.0):
    """Whether a process has ended; one that nobody has asked for yet counts."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_output_and_exit_code_are_kept(tmp_path):
    code = "import os, sys; print(os.environ['MINE'], os.getcwd()); print('why', file=sys.stderr); sys.exit(3)"
    done = run(tmp_path, code, env={"MINE": "yours"}, cwd="/")
    assert (done.exit_code, done.stdout, done.stderr, done.ok) == (3, "yours /\n", "why\n", False)
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["controller_1.stderr.txt", "controller_1.stdout.txt"]
    told = str(done)
    assert "exit code 3" in told
    assert "  yours /" in told
    assert "  why" in told


def test_what_a_report_shows_of_a_long_output_is_its_end(tmp_path):
    told = str(run(tmp_path, "for i in range(100_000): print(i)"))
    assert "99999" in told
    assert len(told.splitlines()) < 40


@pytest.mark.parametrize(
    ("limits", "connected", "ended", "why"),
    [
        (ControllerLimits(0.5, 60, 60), 1, "", "it still ran after 0.5 s of real time"),
        (ControllerLimits(60, 0.5, 60), 0, "", "it did not connect to any interface within 0.5 s"),
        (
            ControllerLimits(60, 60, 0.5),
            1,
            "the time limit was reached",
            "the time limit was reached, and it still ran 0.5 s",
        ),
    ],
)
def test_one_that_hangs_is_killed_with_its_children(tmp_path, limits, connected, ended, why):
    done = run(tmp_path, WITH_A_CHILD, limits, connected, ended)
    assert why in done.killed
    assert not done.ok
    assert done.stderr == "I wait\n"
    assert is_gone(int(done.stdout))


def test_one_that_fails_because_the_time_is_over_is_told_so(tmp_path):
    done = run(tmp_path, "import sys; sys.exit('the robot has hung up')", ended="the time limit was reached")
    assert "exit code 1, after the interfaces had closed: the time limit was reached" in str(done)


def test_children_of_one_that_has_ended_are_ended_too(tmp_path):
    code = "import subprocess; print(subprocess.Popen(['sleep', '300']).pid)"
    done = run(tmp_path, code)
    assert done.ok
    assert is_gone(int(done.stdout))


@pytest.mark.slow
def test_one_that_does_not_listen_to_sigterm_is_killed(tmp_path):
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(300)"
    )
    done = run(tmp_path, code, ControllerLimits(0.8, 60, 60))
    assert (done.exit_code, done.stdout) == (-9, "on\n")


@pytest.mark.parametrize("command", [[], "python ctl.py", ["/no/such/program"], ["a\0b"]])
def test_what_is_no_program_is_refused_in_one_line(tmp_path, command):
    with pytest.raises(BadInput, match="controller"):
        run_controller(command, tmp_path, "controller_1", PATIENT, dict)


def test_a_cell_that_was_not_started_runs_no_controller(tmp_path):
    with pytest.raises(CellError, match="does not run"):
        CellUnderTest(tmp_path).run_controller(python("print(1)"))


@pytest.mark.slow
def test_after_the_last_submission_comes_the_end_as_in_a_trial(tmp_path):
    cell = CellUnderTest(tmp_path / "cell").start("aprs", order=["kit_m2l1", "kit_s2l2"], time_limit_s=20)
    try:
        began_s = time.monotonic()
        done = cell.run_controller(python(WAITS_FOR_THE_END, cell.control_address))
        assert time.monotonic() - began_s < 60
        assert done.stdout.splitlines()[-1] == '{"end": "all orders were submitted"}'
        assert cell.time_s < 5.0
        assert cell.verdict()["ending"] == "submitted"
        cell.wait(2)  # by then the interfaces are closed
        with pytest.raises(AssertionError, match=r"exit code 1(?s:.*)ConnectionRefusedError"):
            cell.run_controller(python(WAITS_FOR_THE_END, cell.control_address))
        assert cell.run_controller(python("import sys; sys.exit(4)"), check=False).exit_code == 4
        assert [run.stdout_file.name for run in cell.controllers][1:] == [
            "controller_2.stdout.txt",
            "controller_3.stdout.txt",
        ]
    finally:
        cell.close()


@pytest.mark.slow
def test_who_submits_and_leaves_at_once_has_submitted_all_the_same(tmp_path):
    leaves = WAITS_FOR_THE_END.replace('b"\\n")', 'b"\\n"); sys.exit(0)')
    cell = CellUnderTest(tmp_path / "cell").start("aprs", time_limit_s=20)
    try:
        cell.run_controller(python(leaves, cell.control_address))
        end_s = time.monotonic() + 30
        while cell.verdict()["ending"] != "submitted" and time.monotonic() < end_s:
            time.sleep(0.05)
        assert cell.verdict()["ending"] == "submitted"
    finally:
        cell.close()
