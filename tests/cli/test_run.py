"""`cellwright run`: its report for people and for programs, its files, its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from cellwright.record import read_log

FAST = ["--fidelity", "kinematic", "--no-picture"]


@pytest.fixture(autouse=True)
def _draw_anywhere(monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "ray")


def test_report_for_people(cellwright):
    ended = cellwright("run", "--seed", 3, *FAST)
    assert ended.code == 0
    for text in (
        "step",
        "look again",
        "seated: medium_gear_1 in fanuc_kit_m2l1/slot_1",
        "friction alone",
        "out/run.mcap",
    ):
        assert text in ended.out
    assert "picture" not in ended.out
    assert max(map(len, ended.out.splitlines())) <= 100
    assert ended.err.splitlines()[0] == "aprs, seed 3: fanuc fills slot_1 of kit_m2l1_tray"
    assert [line.split("s  ")[1] for line in ended.err.splitlines()[1:]] == [
        "look", "take", "place", "withdraw", "look again",
    ]  # fmt: skip


def test_report_for_programs(cellwright, tmp_path):
    ended = cellwright("run", "--seed", 3, "--json", "--record", "log.mcap", *FAST)
    report = ended.json
    assert ended.code == 0
    assert report["done"] is True
    assert report["seating"]["part"] == "medium_gear_1"
    assert report["seating"]["slot"] == "fanuc_kit_m2l1/slot_1"
    assert [step["name"] for step in report["steps"]] == ["look", "take", "place", "withdraw", "look again"]
    assert (report["cell"], report["robot"], report["seed"], report["grasp_lock_uses"]) == ("aprs", "fanuc", 3, 0)
    assert report["log_lost"] == {"messages": 0, "reason": ""}
    assert (report["picture"], report["renderer"]) == (None, None)
    log = read_log(Path(report["log"]))
    assert log.metadata["seed"] == "3"
    assert log.span_ns[1] / 1e9 == pytest.approx(report["time_s"], abs=0.1)


def test_picture_is_saved(cellwright, monkeypatch):
    import cellwright.sim.picture as picture

    monkeypatch.setattr(picture, "SIZE_PX", (64, 48))
    monkeypatch.setattr(picture.take_picture, "__defaults__", ((64, 48),))
    ended = cellwright("run", "--fidelity", "kinematic", "--json")
    assert (ended.json["picture"], ended.json["renderer"]) == ("out/run.png", "ray")
    with Image.open("out/run.png") as image:
        assert image.size == (64, 48)
        assert len(image.getcolors(maxcolors=10_000)) > 100


def test_motoman_does_another_job(cellwright):
    ended = cellwright("run", "--robot", "motoman", "--kit", "kit_s2l2_tray", "--slot", "slot_4", "--json", *FAST)
    assert ended.code == 0
    assert ended.json["seating"]["slot"] == "motoman_kit_s2l2/slot_4"


def test_first_robot_of_a_cell_is_the_default(cellwright, cell_file):
    own = [("\n  fanuc:", "\n  arm:"), ("robot: fanuc", "robot: arm"), ("detector_fanuc", "detector_arm")]
    file = cell_file(*own, ("robots: [fanuc]", "robots: [arm]"))
    ended = cellwright("run", file, "--json", "--no-picture")
    assert (ended.code, ended.json["robot"]) == (0, "arm")


def test_job_that_fails_says_why_and_exits_with_1(cellwright, cell_file):
    file = cell_file(("  - {model: medium_gear, count: 8, trays: [fanuc_medium_tray, motoman_medium_tray]}\n", ""))
    ended = cellwright("run", file, "--no-picture")
    assert ended.code == 1
    assert "not done: fanuc_kit_m2l1/slot_1: the medium-gear tray in view holds no medium gear" in ended.out
    assert "look failed: the medium-gear tray in view" in ended.err
    ended = cellwright("run", file, "--no-picture", "--json")
    assert (ended.code, ended.json["done"]) == (1, False)
    assert ended.json["reason"] == "the medium-gear tray in view holds no medium gear (slot: the slot is empty)"
    assert ended.json["seating"]["centre_error_m"] is None


def test_brackets_of_the_user_are_printed_as_they_are(cellwright):
    ended = cellwright("run", "--record", "[bold]my[/] log.mcap", *FAST)
    assert "log [bold]my[/] log.mcap" in ended.out
    assert Path("[bold]my[/] log.mcap").exists()


needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@needs_full_device
def test_full_disk_ends_the_recording_and_not_the_job(cellwright):
    ended = cellwright("run", "--record", "/dev/full", "--json", *FAST)
    assert (ended.code, ended.json["done"]) == (0, True)
    assert ended.json["log_lost"]["messages"] > 1000
    assert "No space left" in ended.json["log_lost"]["reason"]
    assert "the log is incomplete" in ended.err


@needs_full_device
def test_picture_that_cannot_be_saved_does_not_hide_the_report(cellwright, monkeypatch):
    import cellwright.sim.picture as picture

    monkeypatch.setattr(picture.take_picture, "__defaults__", ((64, 48),))
    ended = cellwright("run", "--picture", "/dev/full", "--fidelity", "kinematic")
    assert ended.code == 0
    assert "seated" in ended.out
    assert "there is no picture: cannot write /dev/full: No space left on device" in ended.err


def test_unknown_renderer_does_not_hide_the_report(cellwright, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "crayons")
    ended = cellwright("run", "--fidelity", "kinematic")
    assert ended.code == 0
    assert "seated" in ended.out
    assert "there is no picture" in ended.err


def test_earlier_log_survives_a_command_that_is_refused(cellwright, refused):
    cellwright("run", *FAST)
    before = Path("out/run.mcap").read_bytes()
    refused("run", "--robot", "nobody")
    refused("run", "--seed", "-1")
    assert Path("out/run.mcap").read_bytes() == before
