"""Carrying a bottle upright: the limit holds at every state, not only at the corners of the path."""

import numpy as np
import pytest

from cellwright.catalogue import PARTS
from cellwright.core.pose import Pose
from cellwright.motion.planning import (
    AttachedObject,
    CatalogueModel,
    MotionPlanner,
    MotionPlanRequest,
    MotionPlanStatus,
    TiltLimit,
)
from cellwright.motion.planning.checker import between

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")

SIDE_GRASP = Pose.from_matrix(
    [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0.1], [0, 0, 0, 1]]
)  # the tool along the bottle's y
BOTTLE = AttachedObject("bottle", CatalogueModel(PARTS.get("bottle")), SIDE_GRASP.inverse())


@pytest.fixture(scope="module")
def carrier(wall) -> MotionPlanner:
    return MotionPlanner(wall.scene.holding(BOTTLE))


@pytest.fixture(scope="module")
def ends(carrier) -> tuple[np.ndarray, list[Pose]]:
    """The bottle upright on one side of the wall, and poses of the tool with it on the other."""
    turns = [Pose.from_xyz_rpy([0, 0, 0], [0, 0, turn]) for turn in np.linspace(0, 2 * np.pi, 12, endpoint=False)]
    here = [Pose.from_xyz_rpy([0.5, 0.35, 0.005]) @ turn @ SIDE_GRASP for turn in turns]
    there = [Pose.from_xyz_rpy([0.5, -0.35, 0.005]) @ turn @ SIDE_GRASP for turn in turns]
    for pose in here:
        for joints in carrier.kinematics.inverse(carrier.ring.flange_for_tool(pose)):
            if carrier.exact.is_free(joints):
                return joints, there
    pytest.fail("the bottle cannot be held there")


def tilts_rad(planner: MotionPlanner, path_rad) -> np.ndarray:
    """Of the bottle, by the arm's own kinematics."""
    axes = [
        (planner.ring.holding(BOTTLE.pose_in_tool).part_in_world(planner.kinematics.forward(joints))).rotation_matrix
        for joints in between(path_rad, 0.01)
    ]
    return np.array([np.arccos(np.clip(axis[2, 2], -1, 1)) for axis in axes])


@pytest.mark.parametrize("limit_deg", [20, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bottle_stays_upright(carrier, ends, limit_deg, seed):
    limit = TiltLimit.upright(BOTTLE, np.radians(limit_deg))
    result = carrier.plan(MotionPlanRequest(ends[0], goal_poses=ends[1], tilt=limit, seed=seed))
    assert result.is_success, result.reason
    assert np.degrees(tilts_rad(carrier, result.path_rad)).max() <= limit_deg + 1e-3
    goal = carrier.ring.tool_in_world(carrier.kinematics.forward(result.path_rad[-1]))
    assert any(goal.is_close(pose, tolerance_m=1e-5, tolerance_rad=1e-5) for pose in ends[1])


def test_without_the_limit_it_leans(carrier, ends):
    worst = [
        tilts_rad(carrier, carrier.plan(MotionPlanRequest(ends[0], goal_poses=ends[1], seed=seed)).path_rad).max()
        for seed in range(4)
    ]
    assert np.degrees(max(worst)) > 20


def test_the_path_is_the_same_every_time(carrier, ends):
    request = MotionPlanRequest(ends[0], goal_poses=ends[1], tilt=TiltLimit.upright(BOTTLE, 0.2), seed=5)
    assert np.array_equal(carrier.plan(request).path_rad, carrier.plan(request).path_rad)


@pytest.fixture(scope="module")
def leaning(carrier, ends) -> np.ndarray:
    """Free, but the bottle lies half over."""
    for joint in (5, 3, 4):
        for turn in (0.5, -0.5):
            joints = ends[0] + turn * np.eye(6)[joint]
            if carrier.exact.is_free(joints) and tilts_rad(carrier, joints[None])[0] > 0.2:
                return joints
    pytest.fail("the bottle cannot lean there")


def test_a_start_that_leans_is_refused_with_its_angle(carrier, ends, leaning):
    result = carrier.plan(MotionPlanRequest(leaning, goal_poses=ends[1], tilt=TiltLimit.upright(BOTTLE, 0.1)))
    assert result.status is MotionPlanStatus.INVALID_REQUEST
    angle_deg = np.degrees(tilts_rad(carrier, leaning[None])[0])
    assert result.reason == f"the start is not allowed: the tool leans by {angle_deg:.1f} deg, allowed 5.7 deg"


def test_goals_that_lean_are_left_out(carrier, ends, leaning):
    limit = TiltLimit.upright(BOTTLE, 0.1)
    result = carrier.plan(MotionPlanRequest(ends[0], [leaning], tilt=limit))
    assert result.status is MotionPlanStatus.INVALID_REQUEST
    assert "the goal is not allowed: the tool leans by" in result.reason
    result = carrier.plan(MotionPlanRequest(ends[0], [leaning], goal_poses=ends[1], tilt=limit))
    assert result.is_success, result.reason
    assert not np.allclose(result.path_rad[-1], leaning)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (TiltLimit(0.001), "tilt limit is 0.057"),
        (TiltLimit(0.1, axis_in_tool=(0, 0, 0)), "must not be zero"),
        (TiltLimit(0.1, direction_in_world=(0, float("nan"), 0)), "must not be zero"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(carrier, ends, limit, reason):
    result = carrier.plan(MotionPlanRequest(ends[0], goal_poses=ends[1], tilt=limit))
    assert result.status is MotionPlanStatus.INVALID_REQUEST
    assert reason in result.reason
