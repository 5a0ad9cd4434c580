"""Through poses without a halt: the route's shape, the joints' limits, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.motion import (
    ArmKinematics,
    CartesianMotion,
    JointLimits,
    LineMove,
    LineSpeed,
    PosePath,
    ThroughMove,
    Unreachable,
    blended,
    linear,
)
from cellwright.motion.route import Route

ARMS = {name: ArmKinematics(ROBOTS.get(name)) for name in ("lr_mate_200id", "sia20f", "ur5")}
STARTS = {name: np.array(arm.arm.home_rad) for name, arm in ARMS.items()}
STARTS["ur5"] = np.radians([10, -80, 70, -60, -90, 20])
SPEED = LineSpeed(speed_mps=0.4, acceleration_mps2=3, jerk_mps3=40)


def corners(name: str, *shifts) -> list[Pose]:
    pose = ARMS[name].forward(STARTS[name])
    return [Pose(pose.position + np.array(shift), pose.quaternion) for shift in shifts]


coordinates = st.tuples(*[st.floats(-1, 1)] * 3)
poses = st.builds(Pose.from_xyz_rpy, coordinates, coordinates)


@given(st.lists(poses, min_size=1, max_size=5), st.floats(0.002, 0.5))
@settings(max_examples=12, deadline=None)
def test_a_route_is_smooth_begins_and_ends_where_it_should_and_passes_near_every_pose(points, blend_m):
    route = Route(points, blend_m, 0.3)
    assert route.at(0.0).is_close(points[0], tolerance_m=1e-9, tolerance_rad=1e-7)
    assert route.at(1.0).is_close(points[-1], tolerance_m=2e-6, tolerance_rad=1e-5)
    if route.length_m < 0.01:
        return
    shares = np.linspace(0, 1, 400)
    rows = [route.at(share) for share in shares]
    step = route.length_m / 399
    for before, after in pairwise(rows):
        assert before.distance_m(after) <= step * (1 + 1e-6)
        assert before.angle_rad(after) * 0.3 <= step * (1 + 1e-6)
    for point in points:
        assert min(row.distance_m(point) for row in rows) <= 3 / 8 * blend_m + step
    bends = np.diff([row.position for row in rows], n=2, axis=0)
    assert np.linalg.norm(bends, axis=1).max() <= 2 * step**2 / min([blend_m, *(b for b in route._blends)])


def test_a_corner_has_no_sudden_curvature():
    route = Route([Pose.from_xyz_rpy(xyz) for xyz in ([0, 0, 0], [1, 0, 0], [1, 1, 0])], 0.2, 0.3)
    rows = np.array([route.at(s).position for s in np.linspace(0, 1, 4001)])
    curvature = np.linalg.norm(np.diff(rows, n=2, axis=0), axis=1) * 4000**2
    assert np.abs(np.diff(curvature)).max() < 0.02 * curvature.max()


@pytest.mark.parametrize("name", ARMS)
def test_limits_hold_on_the_way_and_the_flange_is_on_its_route(name):
    arm, start = ARMS[name], STARTS[name]
    motion = ThroughMove(arm, start, corners(name, [0, 0.1, 0], [0, 0.1, -0.1], [-0.08, 0.1, -0.1]), SPEED, 0.02)
    limits = JointLimits.of(arm.arm)
    times = np.arange(0, motion.duration_s, 0.004)
    velocity = np.array([motion.at(t)[1] for t in times])
    acceleration = np.array([motion.acceleration(t) for t in times])
    assert (np.abs(velocity) <= limits.velocity_radps * 1.001).all()
    assert (np.abs(acceleration) <= limits.acceleration_radps2 * 1.001).all()
    assert (np.abs(np.diff(acceleration, axis=0)) <= limits.jerk_radps3 * 0.004 * 1.01).all()
    dense = np.array([motion.route.at(s).position for s in np.linspace(0, 1, 1501)])
    every = np.array([arm.forward(motion.at(t)[0]).position for t in times])
    assert max(np.linalg.norm(dense - point, axis=1).min() for point in every[::10]) < 2e-4
    assert np.linalg.norm(np.diff(every, axis=0), axis=1).max() / 0.004 < SPEED.speed_mps * 1.001


def test_it_is_slow_only_where_it_must_be():
    """One sharp corner on a long way: straight stretches are run at full speed."""
    arm, start = ARMS["lr_mate_200id"], STARTS["lr_mate_200id"]
    points = corners("lr_mate_200id", [0, 0.25, 0], [0, 0.25, -0.25])
    motion = ThroughMove(arm, start, points, SPEED, 0.01)
    rows = np.array([arm.forward(motion.at(t)[0]).position for t in np.arange(0, motion.duration_s, 0.004)])
    speed = np.linalg.norm(np.diff(rows, axis=0), axis=1) / 0.004
    corner = int(np.linalg.norm(rows - points[0].position, axis=1).argmin())
    assert speed.max() > 1.5 * speed[corner - 1]
    joints, halting_s = start, 0.0
    for pose in points:
        line = LineMove(arm, joints, pose, SPEED)
        joints, halting_s = line.path.at(1.0)[0], halting_s + line.duration_s
    assert motion.duration_s < 1.4 * halting_s


def test_a_way_straight_back_and_a_turn_on_the_spot_are_corners_too():
    arm, start = ARMS["lr_mate_200id"], STARTS["lr_mate_200id"]
    there, back = corners("lr_mate_200id", [0, 0.1, 0], [0, 0, 0])
    turned = back @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, 0.5])
    motion = ThroughMove(arm, start, [there, back, turned], SPEED, 0.02)
    end = arm.forward(motion.at(motion.duration_s)[0])
    assert end.is_close(turned, tolerance_m=1e-5, tolerance_rad=1e-4)


def test_one_pose_is_a_line():
    arm, start = ARMS["lr_mate_200id"], STARTS["lr_mate_200id"]
    (goal,) = corners("lr_mate_200id", [0, 0.1, -0.1])
    line, through = LineMove(arm, start, goal, SPEED), ThroughMove(arm, start, [goal], SPEED, 0.02)
    assert through.duration_s == pytest.approx(line.duration_s, rel=0.25)
    assert through.at(9.0)[0] == pytest.approx(line.at(9.0)[0], abs=1e-6)
    longer = ThroughMove(arm, start, [goal], SPEED, 0.02, duration_s=5.0)
    assert longer.duration_s == pytest.approx(5.0)


@pytest.mark.parametrize("make", [linear, lambda *a: blended(*a[:3], 0.03, *a[3:])], ids=["linear", "blended"])
@pytest.mark.parametrize("name", ARMS)
def test_a_cartesian_trajectory_is_a_motion_with_its_own_profile(name, make):
    arm, start = ARMS[name], STARTS[name]
    points = [arm.forward(start), *corners(name, [0, 0.1, 0], [0, 0.1, -0.1])]
    trajectory = make(points, 0.1, 0.2, 0.3)
    motion = CartesianMotion(arm, start, trajectory)
    assert motion.duration_s == trajectory.duration_s
    for time_s in np.linspace(0, motion.duration_s, 40):
        joints, velocity = motion.at(time_s)
        wanted = trajectory.at(time_s)
        assert arm.forward(joints).is_close(wanted.pose, tolerance_m=1e-4, tolerance_rad=1e-3)
        assert arm.jacobian(joints) @ velocity == pytest.approx(wanted.velocity, abs=5e-3)
    times = np.linspace(0.01, motion.duration_s - 0.01, 30)
    slopes = np.array([(motion.at(t + 1e-5)[1] - motion.at(t - 1e-5)[1]) / 2e-5 for t in times])
    assert np.median(np.abs(slopes - [motion.acceleration(t) for t in times])) < 1e-3


def test_what_cannot_be_followed_is_refused_with_the_reason():
    arm, start = ARMS["lr_mate_200id"], STARTS["lr_mate_200id"]
    here = arm.forward(start)
    near, far = corners("lr_mate_200id", [0, 0.1, 0], [2, 0, 0])
    with pytest.raises(Unreachable, match="lr_mate_200id cannot reach"):
        ThroughMove(arm, start, [near, far], SPEED, 0.02)
    with pytest.raises(BadInput, match="at least 1 pose"):
        ThroughMove(arm, start, [], SPEED, 0.02)
    with pytest.raises(BadInput, match=r"the trajectory of lr_mate_200id starts 100 mm and 0 deg away from its flange"):
        CartesianMotion(arm, start, linear([near, here], 0.1, 0.2))
    with pytest.raises(JobFailed, match=r"at [\d.]+ s joint_\d would have to (turn at|speed up by) .* allowed"):
        CartesianMotion(arm, start, linear([here, near], 5.0, 400.0))
    with pytest.raises(BadInput, match="the course of lr_mate_200id starts"):
        PosePath(arm, start, lambda _: near, 0.1, 0.0)
    bent = np.radians([0.0, 20.0, 10.0, 0.0, -20.0, 0.0])
    goal = arm.forward(bent) @ Pose.from_xyz_rpy([0, 0, 0], [0.001, 0.7, 0.0])
    with pytest.raises(
        JobFailed, match=r"(cannot follow|have to crawl along) the way: after \d+ % .* joint_[46] .* at once"
    ):
        ThroughMove(arm, bent, [goal], LineSpeed(), 0.02)


def test_a_course_that_changes_the_branch_is_refused():
    """The flange stays, and half way the course asks for a pose that only another configuration of the wrist has."""
    arm, start = ARMS["lr_mate_200id"], STARTS["lr_mate_200id"]
    here = arm.forward(start)
    aside = here @ Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, 3.0])
    with pytest.raises(JobFailed, match=r"cannot follow the course: after \d+ % of it joint_\d would have to swing"):
        PosePath(arm, start, lambda share: here if share < 0.5 else aside, 0.05, 0.0)
