"""`cellwright move`: what the robot does, and what it refuses."""

import pytest

from cellwright.lab import Lab


def test_joints_are_where_they_were_sent(cellwright):
    ended = cellwright("move", "rovi", "--joints-deg", "80,-80,80,90,90,10", "--json")
    assert ended.code == 0
    report = ended.json
    assert report["after"]["joints_deg"] == pytest.approx([80, -80, 80, 90, 90, 10], abs=0.05)
    assert 0 < report["end_error_deg"] <= report["following_error_deg"] < 0.5
    assert report["duration_s"] > 0.2


@pytest.mark.parametrize("straight", [[], ["--straight"]])
def test_the_tool_goes_to_a_point_and_keeps_its_orientation(cellwright, straight):
    report = cellwright("move", "rovi", "--to", "0.35,0.85,1.05", *straight, "--json").json
    assert report["after"]["tool_xyz_m"] == pytest.approx([0.35, 0.85, 1.05], abs=2e-4)
    assert report["position_error_mm"] < 0.2
    assert report["rotation_error_deg"] < 0.05
    assert report["before"]["tool_xyz_m"] != report["after"]["tool_xyz_m"]


def test_slower_takes_longer(cellwright):
    fast, slow = (
        cellwright("move", "rovi", "--to", "0.4,0.9,1.0,180,0,180", "--speed", speed, "--json").json["duration_s"]
        for speed in (1, 0.2)
    )
    assert slow > 1.5 * fast  # a short move is ruled by jerk: the cube root of 5 is 1.7


def test_the_table_names_every_joint(cellwright):
    ended = cellwright("move", "aprs", "--robot", "motoman", "--home", "--fidelity", "kinematic")
    assert ended.code == 0
    assert sum(line.startswith("joint_") for line in ended.out.splitlines()) == 7
    assert "moved in" in ended.out


@pytest.mark.parametrize("goal", [["--to", "5,5,5"], ["--to", "5,5,5", "--straight"], ["--to", "0.4,0.9,0.6"]])
def test_what_cannot_be_reached_fails_with_its_reason(cellwright, goal):
    ended = cellwright("move", "rovi", *goal)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert "cannot reach" in ended.err or "stopped by contact" in ended.err or "cannot follow" in ended.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "nan,0,0"], "--to takes finite numbers"),
        (["--to", "1,2"], "--to takes 3 or 6 numbers, got 2"),
        (["--to", "1,x,2"], "--to takes numbers separated by commas, not '1,x,2'"),
        (["--joints-deg", "1,2"], "--joints-deg takes 6 numbers, got 2"),
        (["--joints-deg", "inf,0,0,0,0,0"], "--joints-deg takes finite numbers"),
        (["--joints-deg", "900,0,0,0,0,0"], "joint_1 is 900 deg, allowed -360 to 360 deg"),
        ([], "give one goal"),
        (["--home", "--to", "1,2,3"], "give one goal"),
        (["--home", "--straight"], "--straight needs a pose"),
        (["--home", "--speed", "nan"], "speed is nan"),
        (["--home", "--speed", "2"], "speed is 2, allowed 0 to 1"),
        (["--home", "--robot", "ur"], "unknown robot 'ur'; did you mean 'ur5'?"),
    ],
)
def test_bad_input(refused, monkeypatch, arguments, words):
    if "900" not in str(arguments):  # refused before a world is built
        monkeypatch.setattr(Lab, "from_cell", lambda *_, **__: pytest.fail("a world was built"))
    assert words in refused("move", "rovi", *arguments)
