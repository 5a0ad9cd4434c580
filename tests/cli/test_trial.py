"""`cellwright trial`: exit codes, what is printed, what is written."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cellwright.trials import TRIAL_CONTROLLERS

TRIAL = """\
trial: mine
time_limit_s: 10
connect_within_s: 0.2
orders:
  - {order: kit_m2l1}
"""


@pytest.fixture
def trial(tmp_path):
    def write(*changes):
        text = TRIAL
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "trial.yaml").write_text(text)
        return tmp_path / "trial.yaml"

    return write


@pytest.mark.slow
def test_nobody_comes_and_it_ends_with_1_and_a_verdict(cellwright, trial, tmp_path):
    ended = cellwright("trial", trial(), "--any-port", "--json", "--addresses", tmp_path / "doors.json")
    assert ended.code == 1
    assert ended.json["done"] is False
    assert ended.json["ending"] == "nobody"
    doors = json.loads(next(line for line in ended.err.splitlines() if line.startswith("{")))
    assert doors == json.loads((tmp_path / "doors.json").read_text())
    assert sorted(doors) == ["control", "crcl", "trial", "vision"]
    assert sorted(doors["crcl"]) == ["fanuc", "motoman"]
    folder = tmp_path / "out" / "trial" / "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["cell.png", "log.mcap", "verdict.html", "verdict.json"]
    assert json.loads((folder / "verdict.json").read_text())["reason"] == ended.json["reason"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_is_full_takes_the_files_and_not_the_verdict(cellwright, trial, tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "verdict.html").symlink_to("/dev/full")
    ended = cellwright("trial", trial(), "--any-port", "--json", "--out", folder, "--overwrite")
    assert ended.code == 2
    assert ended.json["ending"] == "nobody"
    assert ended.json["files"] == {}
    told = ended.err.splitlines()[-1]
    assert told == f"cellwright: cannot write {folder}: No space left on device"


@pytest.mark.slow
@pytest.mark.parametrize("is_connected", [False, True])
def test_sigterm_ends_a_trial_with_a_verdict(trial, tmp_path, is_connected):
    """Whether time stands still, because nobody has come yet, or runs."""
    file, doors = trial(("connect_within_s: 0.2", "connect_within_s: 60")), tmp_path / "doors.json"
    command = [
        sys.executable,
        "-m",
        "cellwright",
        "trial",
        str(file),
        "--any-port",
        "--json",
        "--addresses",
        str(doors),
    ]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            end_s = time.monotonic() + 60
            while not doors.exists() and time.monotonic() < end_s:
                time.sleep(0.05)
            host, port = json.loads(doors.read_text())["control"].split(":")
            client = socket.create_connection((host, int(port))) if is_connected else None
            time.sleep(0.5)
            child.send_signal(signal.SIGTERM)
            said, _ = child.communicate(timeout=60)
            if client is not None:
                client.close()
        finally:
            child.kill()
    assert child.returncode == 1
    verdict = json.loads(said)
    assert (verdict["ending"], verdict["done"]) == ("interrupted", False)
    assert (verdict["time_s"] > 0.6) is is_connected, "half a second of rest, and what ran before"
    assert (tmp_path / "out/trial/mine/verdict.html").exists()


@pytest.mark.slow
def test_a_fault_that_never_came_is_told(cellwright, trial):
    ended = cellwright("trial", trial(("order: kit_m2l1}", "order: kit_m2l1}\nfaults: [blackout:at=9]")), "--any-port")
    assert "fault that never came: blackout" in ended.out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kit_m2l1", "kit_m2l2", "trial.yaml, line 5: orders.0.order: unknown kit 'kit_m2l2'; did you mean"),
        (
            "{order: kit_m2l1}",
            "{order: kit_m2l1, tray: t}",
            "line 5: orders.0.tray: unknown kit tray 't' (available",
        ),
        (
            "  - {order: kit_m2l1}",
            "  - {order: kit_m2l1}\nfaults:\n  - blackout:at=1\n  - offset:detector=x,at=1",
            "line 8: faults.1: fault offset: unknown detector 'x' (available",
        ),
        ("  - {order: kit_m2l1}", "  []", "line 4: orders: should have 1 or more entries"),
        ("order: kit", "oder: kit", "trial.yaml, line 5: orders.0: unknown key 'oder'; did you mean 'order'?"),
        ("{order: kit_m2l1}", "{order: kit_m2l1, quantity: 9}", "line 4: orders: nobody could fill them: 18 of"),
        ("trial: mine", "trial: mine\ncell: nowhere", "line 2: cell: unknown cell 'nowhere' (available: aprs"),
        ("trial: mine", "trial: [", "not valid YAML"),
    ],
)
def test_a_mistake_is_refused_before_anything_runs(refused, trial, tmp_path, old, new, told):
    assert told in refused("trial", trial((old, new)), "--any-port")
    assert not (tmp_path / "out").exists()


def test_what_does_not_exist_is_refused(refused, trial, tmp_path):
    assert "cannot read" in refused("trial", tmp_path / "none.yaml")
    complaint = refused("trial", trial(), "--controller", "me")
    assert "unknown trial controller 'me' (available: external" in complaint
    assert "a trial controller of your own comes by the cell's `plugins`" in complaint
    assert "which trial?" in refused("trial")
    assert "pace is 0, allowed 0.001 to 1000" in refused("trial", trial(), "--pace", "0")


@pytest.mark.slow
@pytest.mark.parametrize("is_in_the_file", [True, False])
def test_a_plugin_of_the_cell_may_bring_the_controller(cellwright, cell_file, trial, tmp_path, is_in_the_file):
    source = """
import cellwright as cw

@cw.TRIAL_CONTROLLERS.register("hasty")
async def hasty(ports, orders):
    async for order in orders.coming():
        orders.submit(order.name)
"""
    (tmp_path / "hasty.py").write_text(source)
    cell_file(("\nsensors:\n", "\nplugins: [hasty.py]\nsensors:\n"))
    named = ("trial: mine", "trial: mine\ncell: mine.yaml" + "\ncontroller: hasty" * is_in_the_file)
    try:
        ended = cellwright("trial", trial(named), "--json", *([] if is_in_the_file else ["--controller", "hasty"]))
    finally:
        TRIAL_CONTROLLERS._entries.pop("hasty", None)
    assert (ended.code, ended.json["false_done"]) == (1, True)


def test_the_schema_is_published(cellwright):
    ended = cellwright("trial", "--schema")
    assert ended.code == 0
    assert "connect_within_s" in ended.json["properties"]


@pytest.mark.parametrize("option", [("--view", "0"), ("--speed", "2"), ("--video", "run.webp")])
def test_nobody_watches_many_seeds(refused, trial, option):
    said = refused("trial", trial(), "--seeds", "0..1", "--controller", "internal", *option)
    assert f"{option[0]} is for one trial: leave --seeds out" in said
