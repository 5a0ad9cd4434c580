"""The same control program over rosbridge and ROS 1, with the units and topics of two drivers; with real clients."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from tests.interfaces.ros.roscore import ServedCell

ROOT = Path(__file__).parents[3]
DRIVE = ROOT / "examples" / "mobile" / "drive.py"
pytestmark = pytest.mark.peer

AHEAD = """
class Controller:
    def update(self, robot):
        return 0.05, 0.0
"""
WAY = r"(\d+) updates, odometry says x (-?\d\.\d+), y (-?\d\.\d+) m"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "ahead.py"
    path.write_text(AHEAD)
    return path


@pytest.fixture(params=["epuck1-si", "epuck1-driver"])
def cell(request, tmp_path):
    text = (files("cellwright.cells") / "epucks.yaml").read_text("utf-8")
    path = tmp_path / "robots.yaml"
    path.write_text(text.replace("profile: epuck1-si", f"profile: {request.param}"))
    return path, request.param


def way_of(said: str) -> float:
    """Returns how far the robot drove ahead; it started at -0.1, -0.1."""
    found = re.search(WAY, said)
    assert found, said
    assert int(found[1]) > 20, said
    assert float(found[3]) == pytest.approx(-0.1, abs=0.01)
    return float(found[2]) + 0.1


def check_speed(said: str) -> None:
    """Five centimetres a second as long as it was driven, whatever a unit of the driver is."""
    found = re.search(WAY, said)
    assert found, said
    assert way_of(said) == pytest.approx(0.05 * int(found[1]) / 25, rel=0.25)


def drive(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(DRIVE), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)


def test_a_program_drives_at_its_speed_over_rosbridge(cell, program):
    path, profile = cell
    command = [sys.executable, "-m", "cellwright", "serve", str(path), "--bridge", "rosbridge", "--any-port", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        over = "rosbridge=" + json.loads(server.stdout.readline())["bridges"]["rosbridge"]
        done = drive(program, "--over", over, "--profile", profile, "--seconds", 2.5)
        check_speed(done.stdout + done.stderr)
        lost = drive("avoid", "--robot", "ePuck7", "--over", over, "--seconds", 1)
    finally:
        server.kill()
        server.wait()
    assert lost.returncode == 1
    assert lost.stderr == "drive.py: no odometry came from ePuck7: is it the robot's name, and the right profile?\n"


def test_a_program_drives_at_its_speed_as_a_node(ros, cell, program, tmp_path):
    path, profile = cell
    served = ServedCell(ros, tmp_path, path)
    try:
        command = [sys.executable, DRIVE, program, "--over", "ros1"]  # finds Debian's rospy from here
        check_speed(ros.run(*command, "--profile", profile, "--seconds", 2.5))
    finally:
        served.close()


def test_who_is_not_there_is_told_in_a_line():
    for over, line in (
        ("rosbridge=127.0.0.1:1", r"drive.py: no rosbridge server answers at 127.0.0.1:1.*\n"),
        ("pigeon", r"drive.py: --over is rosbridge=HOST:PORT or ros1, not 'pigeon'\n"),
    ):
        done = drive("avoid", "--over", over)
        assert done.returncode == 1
        assert re.fullmatch(line, done.stderr), done.stderr
    assert "unknown behaviour 'dance'" in drive("dance").stderr
