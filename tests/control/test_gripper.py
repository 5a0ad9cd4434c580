"""Grippers: widths, and what is between the fingers."""

import pytest

from cellwright.core.errors import JobFailed

ARM = {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0]}, "home_deg": [0, 0, 0, 0, -90, 0]}


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
@pytest.mark.parametrize(
    ("tool", "open_m", "closed_m"),
    [("aprs_fanuc_gripper", 0.020, 0.002), ("aprs_motoman_gripper", 0.060, 0.0046)],
)
def test_it_opens_and_closes_to_the_widths_of_its_figures(open_lab, tool, open_m, closed_m, fidelity):
    lab = open_lab(robots={"arm": {**ARM, "tool": tool}}, fidelity=fidelity)
    arm = lab.robots["arm"]
    assert lab.perform(arm.close_gripper()) == pytest.approx(closed_m, abs=2e-4)
    assert lab.perform(arm.open_gripper()) == pytest.approx(open_m, abs=2e-4)
    lab.advance(1.0)
    assert lab.perform(arm.close_gripper()) == pytest.approx(closed_m, abs=2e-4)


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_closing_takes_its_time(open_lab, fidelity):
    lab = open_lab(fidelity=fidelity)
    lab.perform(lab.robots["arm"].close_gripper())
    assert 0.3 <= lab.clock.time_s < 0.6


def test_a_robot_without_a_gripper_says_so(open_lab):
    lab = open_lab(robots={"arm": ARM})
    for command in (lab.robots["arm"].open_gripper, lab.robots["arm"].close_gripper):
        with pytest.raises(JobFailed, match=r"^arm has no gripper$"):
            lab.perform(command())


def test_fingers_stay_closed_while_the_arm_swings(lab):
    arm = lab.robots["arm"]
    lab.perform(arm.close_gripper())
    lab.perform(arm.move_joints([1.0, 0.2, 0.1, 0.5, -1.0, 1.0]))
    tool = lab.world.robots["arm"].tool
    assert lab.world.data.qpos[tool.qpos].sum() == pytest.approx(0.002, abs=3e-4)
