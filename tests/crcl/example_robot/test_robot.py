"""The practice arm by itself: its kinematics, its ways, its stops."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.errors import BadInput, JobFailed, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.crcl import BeyondLimit, ExampleArm, JointTarget, Screw, StopConditionEnum, WallClock
from cellwright.crcl.example_robot.gantry import GANTRY_JOINTS, forward, inverse
from cellwright.crcl.example_robot.trajectory import StoppableTrajectory, TrajectorySegment
from cellwright.crcl.poses import misses
from cellwright.crcl.robot import Tolerance

JOINTS = st.tuples(*(st.floats(joint.min_position, joint.max_position) for joint in GANTRY_JOINTS))
METRES = st.floats(-1.0, 1.0)


@given(JOINTS)
def test_kinematics_and_back(joints):
    assert inverse(forward(joints)) == pytest.approx(joints, abs=1e-9)


def test_a_pose_beyond_a_joint_names_it():
    with pytest.raises(BeyondLimit, match=r"Joint 4 at 3\.0\d* greater than limit 2\.967"):
        inverse(forward((0.0, 0.0, 0.0, 3.0, 0.0, 0.0)))
    with pytest.raises(BeyondLimit, match=r"Joint 1 at 2\.0 greater than limit 1\.0 meter"):
        ExampleArm(WallClock(), start=(2.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@settings(max_examples=50)
@given(JOINTS, METRES, METRES, st.floats(-0.5, 0.5), st.floats(-30.0, 30.0), st.floats(0.0, 1.0))
def test_a_helix_keeps_its_distance_its_rate_and_its_bounds(joints, x, y, distance_m, turn_rad, share):
    start = forward(joints)
    screw = Screw(start, (x, y, 0.0), distance_m, turn_rad)
    pose = screw.pose_at(share)
    axis = start.rotation_matrix[:, 2]
    offset = pose.position - np.array(screw.axis_point_m)
    assert np.linalg.norm(np.cross(offset, axis)) == pytest.approx(screw.radius_m, abs=1e-9)
    assert (pose.position - start.position) @ axis == pytest.approx(distance_m * share, abs=1e-9)
    assert pose.rotation_matrix[:, 2] == pytest.approx(axis, abs=1e-9)
    low, high = screw.bounds_m()
    slack = 1e-9 + screw.radius_m * 0.05**2  # between two of the points that the bounds are taken from
    assert all(pose.position >= np.array(low) - slack)
    assert all(pose.position <= np.array(high) + slack)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(0.01, 3.0), st.floats(0.01, 1.0)), min_size=1, max_size=4), st.floats(0.1, 1.0))
def test_a_trajectory_arrives_and_never_exceeds_its_share(segments, share):
    """Each segment is as long as it lasts at full speed, so a rate above the share would be a speed above it."""
    ends = np.cumsum([duration for duration, _ in segments]).tolist()
    starts = [0.0, *ends[:-1]]
    trajectory = StoppableTrajectory(
        [TrajectorySegment(d, r, lambda f, s=s, d=d: (s + d * f,)) for (d, r), s in zip(segments, starts, strict=True)]
    )
    place, steps = 0.0, 0
    while not trajectory.over:
        (new,) = trajectory.step(0.01, share)
        assert 0.0 < new - place <= share * 0.01 + 1e-9
        place, steps = new, steps + 1
    assert place == pytest.approx(ends[-1])
    assert not trajectory.stopped
    assert steps * 0.01 >= ends[-1] / 1.0 - 0.011


def test_tolerances_name_what_is_missed():
    wanted, actual = Pose.identity(), Pose.from_xyz_rpy((0.002, 0.0, -0.001), (0.0, 0.0, 0.1))
    assert misses(actual, wanted, Tolerance()) == []
    assert misses(actual, wanted, Tolerance(0.003, 0.0, 0.001, 0.11, 0.0)) == []
    missed = misses(actual, wanted, Tolerance(0.001, 0.0, 0.0005, 0.05, 0.0))
    assert [(name, is_length) for name, _, _, is_length in missed] == [("X", True), ("Z", True), ("XAxis", False)]
    assert missed[2][1] == pytest.approx(0.1)


@pytest.fixture
def in_simulation(simulated):
    return lambda work: simulated(lambda clock: work(ExampleArm(clock)))


def test_a_move_whose_task_is_cancelled_ends_in_a_stop(in_simulation):
    async def work(arm):
        task = asyncio.create_task(arm.move_joints([JointTarget(1, 0.9)]))
        await arm.clock.sleep(0.5)
        task.cancel()
        await arm.clock.sleep(2.0)
        place = arm.read().positions[0]
        assert 0.4 < place < 0.9
        assert arm.read().velocities == (0.0,) * 6
        await arm.move_joints([JointTarget(1, 0.5)])
        return arm.read().positions[0]

    assert in_simulation(work) == 0.5


def test_one_motion_at_a_time_and_a_stopped_one_says_so(in_simulation):
    async def work(arm):
        task = asyncio.create_task(arm.move_joints([JointTarget(1, 0.9)]))
        await arm.clock.sleep(0.2)
        with pytest.raises(JobFailed, match="practice moves already"):
            await arm.move_joints([JointTarget(2, 0.1)])
        await asyncio.gather(*(arm.stop(condition) for condition in StopConditionEnum))
        with pytest.raises(JobFailed, match="practice was stopped"):
            await task
        await arm.stop(StopConditionEnum.NORMAL)  # harmless

    in_simulation(work)


def test_a_reading_is_the_same_object_until_something_changes(in_simulation):
    async def work(arm):
        first = arm.read()
        await arm.clock.sleep(1.0)
        assert arm.read() is first
        arm.set_sensor("part_present", True)
        assert arm.read() is not first
        await arm.enable_sensor("part_present", {})
        second = arm.read()
        await arm.clock.sleep(0.02)
        assert arm.read().sensors["part_present"].read_count == second.sensors["part_present"].read_count + 1

    in_simulation(work)


def test_bad_parameters_are_refused(in_simulation):
    async def work(arm):
        with pytest.raises(UnknownName, match="unknown robot parameter 'speed'"):
            await arm.set_parameters({"speed": "1"})
        with pytest.raises(BadInput, match="override_percent is '101'"):
            await arm.set_parameters({"override_percent": "101"})

    in_simulation(work)
    with pytest.raises(OutOfRange, match="tick"):
        ExampleArm(WallClock(), tick_s=0.0)
    with pytest.raises(OutOfRange, match="pace"):
        WallClock(0.0)


def test_the_wall_clock_runs_at_its_pace():
    async def work():
        clock = WallClock(100.0)
        before = clock.time_s
        await clock.sleep(1.0)
        return clock.time_s - before

    assert 1.0 <= asyncio.run(work()) < 100.0
    assert math.isclose(WallClock().time_s, 0.0, abs_tol=0.5)
