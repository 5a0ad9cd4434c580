"""Angles that are commanded one by one are followed without jumps, late by no more than the commands come."""

import numpy as np
import pytest

from cellwright import Lab
from cellwright.control import CommandMode, JointStream, NotReady
from cellwright.core.errors import OutOfRange
from cellwright.motion import JointLimits


@pytest.fixture
def lab():
    with Lab.from_cell("rovi", fidelity="kinematic") as lab:
        yield lab


def stream_of(lab):
    return JointStream(lab.robot("ur5"), lab.stepper, lab.world.clock)


def set_points(lab, duration_s, before=lambda time_s: None):
    """Returns the set points of the arm at each 2 ms."""
    rows, start_s = [], lab.clock.time_s
    while lab.clock.time_s < start_s + duration_s:
        before(lab.clock.time_s - start_s)
        lab.advance(0.002)
        rows.append(lab.robot("ur5").set_point_rad)
    return np.array(rows)


def test_a_goal_far_away_is_reached_within_the_joints_limits_and_without_passing_it(lab):
    robot, stream = lab.robot("ur5"), stream_of(lab)
    goal = robot.set_point_rad + [0.8, -0.4, 0.4, 0.3, 0.2, -1.5]
    begin = robot.set_point_rad
    stream.aim(goal)
    rows = np.vstack([begin, begin, set_points(lab, 2.0)])
    limits = JointLimits.of(robot.kinematics.arm)
    speeds = np.diff(rows, axis=0) / 0.002
    assert (np.abs(speeds) <= limits.velocity_radps + 1e-9).all()
    assert (np.abs(np.diff(speeds, axis=0)) / 0.002 <= limits.acceleration_radps2 * 1.001 + 1e-6).all()
    assert np.abs(speeds).max() > 0.5 * limits.velocity_radps.min()  # it does not creep, either
    assert (np.sign(goal - begin) * (rows - goal) <= 1e-9).all()
    assert (rows[-1] == goal).all()
    assert not stream.is_active


def test_a_stream_is_followed_smoothly_one_command_late(lab):
    stream, begin = stream_of(lab), lab.robot("ur5").set_point_rad
    period_s, due_s = 0.02, [0.0]

    def wanted(time_s):
        return 0.3 * (1 - np.cos(np.pi * time_s))

    def command(time_s):
        if time_s >= due_s[0] - 1e-9:
            due_s[0] += period_s
            stream.aim(begin + [wanted(time_s), 0, 0, 0, 0, 0])

    rows = set_points(lab, 2.0, command)[:, 0] - begin[0]
    times = 0.002 * np.arange(1, len(rows) + 1)
    settled = times > 0.2
    late = wanted(times - period_s)
    assert np.abs(rows - late)[settled].max() < 0.002
    speeds = np.diff(rows) / 0.002
    assert np.abs(np.diff(speeds))[100:].max() < 0.05  # rad/s from one set point to the next: no stop and go


def test_what_cannot_be_is_refused_and_changes_nothing(lab):
    robot, stream = lab.robot("ur5"), stream_of(lab)
    held = robot.set_point_rad
    with pytest.raises(OutOfRange, match="ur5 joint_3"):
        stream.aim(held + [0, 0, 9, 0, 0, 0])
    robot.stop(lock="gate")
    with pytest.raises(NotReady, match="locked by gate"):
        stream.aim(held)
    lab.advance(0.05)
    assert (robot.set_point_rad == held).all()


def test_a_lock_holds_the_arm_where_it_is(lab):
    robot, stream = lab.robot("ur5"), stream_of(lab)
    stream.aim(robot.set_point_rad + 0.5)
    lab.advance(0.1)
    robot.stop(lock="gate", reason="the gate is open")
    lab.advance(0.01)
    held = robot.set_point_rad
    lab.advance(0.5)
    assert (robot.set_point_rad == held).all()
    assert "the gate is open" in stream.ended
    robot.reset("gate")
    stream.aim(held)
    assert stream.ended == ""


def test_a_motion_ends_a_stream(lab):
    robot, stream = lab.robot("ur5"), stream_of(lab)
    stream.aim(robot.set_point_rad + 0.2)
    lab.advance(1.0)
    goal = robot.set_point_rad
    assert stream.is_active is False
    stream.aim(goal - 0.1)
    lab.perform(robot.move_joints(goal + 0.1))
    assert stream.ended == "another program moves it"
    assert np.allclose(robot.set_point_rad, goal + 0.1)


def test_drives_that_take_torques_take_no_angles():
    with Lab.from_cell("rovi") as lab:
        robot, stream = lab.robot("ur5"), stream_of(lab)
        robot.set_mode(CommandMode.EFFORT)
        with pytest.raises(NotReady, match="leaves no set points"):
            stream.aim(robot.joints_rad)
