"""A robot's controller: it believes the drawings; the world differs by exactly the layout's errors."""

import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.motion import LineSpeed, Unreachable

DOWN = [np.pi, 0, 0]


def deviation(lab, robot: str) -> Pose:
    """The true tool pose as seen from where the controller believes its tool to be."""
    return lab.robots[robot].tool_in_world.inverse() @ lab.world.tcp_pose(robot)


def predicted(lab, robot: str) -> Pose:
    """The same from the layout: base, joint zeros, tool mounting."""
    controller, layout = lab.robots[robot], lab.world.layout
    flange = controller.kinematics.forward(controller.joints_rad + layout.joint_zeros_rad[robot])
    true = layout.bases[robot] @ flange @ layout.tools[robot] @ controller.ring.pose_tool_in_flange
    return controller.tool_in_world.inverse() @ true


@pytest.mark.parametrize("robot", ["fanuc", "motoman"])
def test_belief_and_world_differ_exactly_by_the_layouts_errors(open_lab, aprs, robot):
    lab = open_lab(aprs, seed=5)
    for joints in (None, lab.robots[robot].joints_rad + 0.2):
        if joints is not None:
            lab.perform(lab.robots[robot].move_joints(joints))
            lab.advance(0.3)
        assert deviation(lab, robot).is_close(predicted(lab, robot), tolerance_m=1e-9, tolerance_rad=1e-7)
        assert deviation(lab, robot).distance_m(Pose.identity()) > 1e-4


def test_without_errors_belief_and_world_agree(lab):
    assert deviation(lab, "arm").is_close(Pose.identity(), tolerance_m=1e-9, tolerance_rad=1e-7)


@pytest.mark.parametrize(
    ("actual", "expected_m"),
    [
        ({"robot_base": {"x_m": 0.002}}, (0.002, 0, 0)),
        ({"robot_base": {"y_m": -0.001}}, (0, -0.001, 0)),
        ({"tool": {"z_m": 0.0005}}, (0, 0, -0.0005)),
        ({"joint_zero_deg": {"distribution": "uniform", "low": 0.1, "high": 0.1}}, None),
    ],
    ids=["base x", "base y", "tool length", "joint zeros"],
)
def test_each_error_moves_the_tool_as_it_should(open_lab, actual, expected_m):
    lab = open_lab(actual=actual)
    goal = Pose.from_xyz_rpy([0.45, 0.0, 0.3], DOWN)
    lab.perform(lab.robots["arm"].move_tool(goal))
    lab.advance(0.3)
    assert lab.robots["arm"].tool_in_world.is_close(goal, tolerance_m=3e-4, tolerance_rad=1e-3)
    moved = lab.world.tcp_pose("arm").position - lab.robots["arm"].tool_in_world.position
    if expected_m is not None:
        assert moved == pytest.approx(expected_m, abs=1e-8)
    else:
        assert 5e-4 < np.linalg.norm(moved) < 5e-3


def test_a_tool_move_ends_at_the_pose(lab):
    goal = Pose.from_xyz_rpy([0.4, 0.2, 0.25], [np.pi, 0, 0.7])
    lab.perform(lab.robots["arm"].move_tool(goal))
    lab.advance(0.3)
    assert lab.world.tcp_pose("arm").is_close(goal, tolerance_m=3e-4, tolerance_rad=1e-3)


def test_a_straight_move_is_straight_in_the_world(lab):
    arm = lab.robots["arm"]
    start, goal = Pose.from_xyz_rpy([0.4, -0.2, 0.3], DOWN), Pose.from_xyz_rpy([0.4, 0.2, 0.25], DOWN)
    lab.perform(arm.move_tool(start))
    lab.advance(0.2)
    points = []
    lab.stepper.every(5, lambda: points.append(lab.world.tcp_pose("arm").position), order=35, name="watch")
    lab.perform(arm.move_tool_straight(goal, LineSpeed(0.3)))
    along = goal.position - start.position
    offsets = np.array(points) - start.position
    beside = offsets - np.outer(offsets @ along / (along @ along), along)
    assert np.linalg.norm(beside, axis=1).max() < 1e-3
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1) / 0.01
    assert speeds.max() == pytest.approx(0.3, rel=0.1)


def test_the_motoman_moves_straight_too(open_lab, aprs):
    lab = open_lab(aprs)
    arm = lab.robots["motoman"]
    start = arm.tool_in_world
    goal = Pose(start.position + np.array([0.1, -0.05, -0.1]), start.quaternion)
    lab.perform(arm.move_tool_straight(goal, LineSpeed(0.3)))
    lab.advance(0.3)
    assert arm.tool_in_world.is_close(goal, tolerance_m=5e-4, tolerance_rad=2e-3)


def test_home_is_where_the_cell_says(lab):
    arm = lab.robots["arm"]
    lab.perform(arm.move_joints([0.5] * 6))
    lab.perform(arm.move_home())
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(np.radians([0, 0, 0, 0, -90, 0]), abs=5e-4)


def test_a_pose_out_of_reach_moves_nothing(lab):
    arm = lab.robots["arm"]
    for move in (arm.move_tool, lambda pose: arm.move_tool_straight(pose, LineSpeed())):
        with pytest.raises(
            Unreachable,
            match=r"arm cannot reach x 2.000, y 0.000, z 0.300 m, roll 180.0|its tool in the cell",
        ):
            lab.perform(move(Pose.from_xyz_rpy([2, 0, 0.3], DOWN)))
    assert lab.clock.time_s == 0.0


@pytest.mark.parametrize("goal", [[0.0] * 5, [10.0] * 6, [np.nan] * 6])
def test_joints_that_are_no_configuration_move_nothing(lab, goal):
    with pytest.raises(BadInput):
        lab.perform(lab.robots["arm"].move_joints(goal))
    assert lab.clock.time_s == 0.0
