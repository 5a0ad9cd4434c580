"""`cellwright model check`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cellwright.catalogue import PARTS


def test_part_for_people(cellwright):
    ended = cellwright("model", "check", "small_gear")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    for check in ("builds", "mass", "inertia", "contacts at rest", "energy drift"):
        assert check in ended.out
    assert "wrong" not in ended.out


def test_arm_for_programs(cellwright):
    data = cellwright("model", "check", "lr_mate_200id", "--json").json
    assert (data["model"], data["kind"], data["ok"]) == ("lr_mate_200id", "robot", True)
    found = {finding["check"]: finding for finding in data["findings"]}
    assert all(finding["ok"] for finding in data["findings"])
    assert found["inverse kinematics"]["values"]["found"] == 1.0
    assert 0.7 < found["reach"]["values"]["reach_m"] < 1.2
    assert found["energy drift"]["values"]["drift"] < 1e-6


def test_what_is_wrong_is_exit_1(cellwright, monkeypatch):
    heavy = replace(PARTS.get("small_gear"), mass_kg=2e4)
    monkeypatch.setitem(PARTS._entries, "small_gear", heavy)
    ended = cellwright("model", "check", "small_gear")
    assert ended.code == 1
    assert "'part' weighs 2e+04 kg -> give masses in kg" in " ".join(ended.out.split())


@pytest.mark.slow
def test_file(cellwright):
    cellwright("model", "export", "wsg_50", "--format", "sdf", "--out", "hand.sdf")
    data = cellwright("model", "check", "hand.sdf", "--json").json
    found = {finding["check"]: finding["ok"] for finding in data["findings"]}
    assert (data["kind"], all(found.values())) == ("tool", True)
    assert {"reads", "mass", "inertia", "limits", "contacts at home", "energy drift"} <= set(found)
    cellwright("model", "export", "small_gear", "--format", "sdf", "--out", "gear.sdf")
    assert cellwright("model", "check", "gear.sdf", "--json").json["kind"] == "part"
    assert cellwright("model", "check", "gear_meshes/gear_visual.obj", "--json").json["kind"] == "part"


def test_file_that_is_wrong_is_exit_1(cellwright):
    link = (
        "<link name='{}'><inertial><mass value='1'/><inertia ixx='{}' iyy='{}' izz='{}'/></inertial><visual><geometry>"
    )
    link += "<sphere radius='0.1'/></geometry></visual></link>"
    joint = "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>"
    joint += "<limit lower='-170' upper='170' velocity='1' effort='1'/></joint>"
    body = link.format("a", *[0.004] * 3) + link.format("b", *[4.0] * 3) + joint
    Path("x.urdf").write_text(f"<robot name='x'>{body}</robot>")
    ended = cellwright("model", "check", "x.urdf", "--json")
    assert ended.code == 1
    wrong = {finding["check"]: finding["detail"] for finding in ended.json["findings"] if not finding["ok"]}
    assert set(wrong) == {"inertia as written", "limits"}
    assert wrong["inertia as written"] == "'b' has 1 kg and the moments 4, 4, 4 kg m2, which cannot be"
    assert "degrees or millimetres may be meant" in wrong["limits"]
    Path("x.urdf").write_text(f"<robot name='x'>{body.replace('-170', '2').replace('170', '-2')}</robot>")
    ended = cellwright("model", "check", "x.urdf", "--json")
    assert (ended.code, ended.json["ok"]) == (1, False)
    found = {finding["check"]: finding for finding in ended.json["findings"]}
    assert found["reads"]["detail"] == "x.urdf:1: joint 'j': lower 2 is above upper -2; swapped"
    assert found["reads"]["remedy"] == "mend these lines of the file"


@pytest.mark.slow
def test_arm_with_a_hand_and_a_figures_file(cellwright):
    cellwright("cell", "export", "rovi", "--format", "sdf", "--out", "cell.sdf")
    ended = cellwright("model", "check", "cell.sdf", "--model", "ur5", "--json")  # two joints more than its home has
    assert (ended.code, ended.json["kind"]) == (0, "robot")
    cellwright("model", "export", "wsg_50", "--format", "sdf", "--out", "hand.sdf")
    cellwright("model", "import", "hand.sdf", "--out", ".", "--name", "own_hand")
    assert cellwright("model", "check", "own_hand.yaml", "--json").json["kind"] == "tool"
    ended = cellwright("model", "export", "own_hand.yaml", "--out", "again.urdf", "--json")
    assert (ended.code, ended.json["files"][0]) == (0, "again.urdf")


@pytest.mark.slow
def test_effort_that_does_not_carry_the_arm_is_kept_and_wrong(cellwright):
    cellwright("model", "export", "ur5", "--out", "arm.urdf")
    first, name, rest = Path("arm.urdf").read_text().partition('name="joint_2"')
    Path("arm.urdf").write_text(first + name + rest.replace('effort="150"', 'effort="1"', 1))
    ended = cellwright("model", "check", "arm.urdf", "--json")
    assert ended.code == 1
    wrong = {finding["check"]: finding["detail"] for finding in ended.json["findings"] if not finding["ok"]}
    assert set(wrong) == {"effort as written", "holds still"}
    assert wrong["effort as written"].startswith("'joint_2' has the effort limit 1 N m, and its arm weighs 5")


def test_bad_input(refused):
    Path("world.sdf").write_text(
        "<sdf version='1.9'><world name='w'><model name='a'><link name='l'/></model>"
        "<model name='b'><link name='l'/></model></world></sdf>"
    )
    assert "world.sdf holds 2 models" in refused("model", "check", "world.sdf")
    assert "unknown model 'gear'" in refused("model", "check", "gear")
