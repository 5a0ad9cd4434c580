"""Commands moved into another frame."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose as FramePose
from cellwright.crcl import (
    ActuateJoint,
    ActuateJoints,
    Dwell,
    InitCanon,
    JointSpeedAccel,
    LengthUnitEnum,
    MoveScrew,
    MoveThroughTo,
    MoveTo,
    Point,
    Pose,
    PoseAndSet,
    PoseTolerance,
    RunProgram,
    SetEndPoseTolerance,
    SetLengthUnits,
    TransSpeedAbsolute,
    Vector,
)
from cellwright.crcl.frame import FrameMove
from cellwright.crcl.poses import checked_pose, message_of_pose

PER_M = {LengthUnitEnum.METER: 1.0, LengthUnitEnum.MILLIMETER: 1000.0, LengthUnitEnum.INCH: 1 / 0.0254}
NEAR = 1e-9

units = st.sampled_from(LengthUnitEnum)
metres = st.floats(-3.0, 3.0)
angles = st.floats(-math.pi, math.pi)
frames = st.builds(lambda x, y, z, *rpy: FramePose.from_xyz_rpy((x, y, z), rpy), *[metres] * 3, *[angles] * 3)
points = st.builds(Point, *[metres] * 3)


def in_unit(point_m, unit):
    return Point(*(value * PER_M[unit] for value in (point_m.x, point_m.y, point_m.z)))


def message(pose, unit):
    told = message_of_pose(pose)
    return Pose(in_unit(told.point, unit), told.x_axis, told.z_axis)


def moved(frame, command, unit=LengthUnitEnum.METER):
    move = FrameMove(frame)
    move(SetLengthUnits(0, unit))
    return move(command)


def back(pose, unit):
    point = pose.point
    metres_ = Point(*(value / PER_M[unit] for value in (point.x, point.y, point.z)))
    return checked_pose(Pose(metres_, pose.x_axis, pose.z_axis), "pose", 1e-6)


def is_close(a, b):
    return a.is_close(b, tolerance_m=NEAR, tolerance_rad=1e-7)


@given(frames, frames, units)
def test_a_pose_is_what_it_was_seen_from_its_own_frame(frame, pose, unit):
    command = moved(frame, MoveTo(3, True, message(pose, unit)), unit)
    assert (command.command_id, command.move_straight) == (3, True)
    assert is_close(back(command.end_position, unit), frame @ pose)


@given(frames, st.lists(frames, min_size=2, max_size=4), units)
def test_there_and_back_again_is_where_it_was(frame, poses, unit):
    command = MoveThroughTo(1, False, tuple(message(pose, unit) for pose in poses), len(poses))
    again = moved(frame.inverse(), moved(frame, command, unit), unit)
    assert again.num_positions == len(poses)
    for there, pose in zip(again.waypoint, poses, strict=True):
        assert is_close(back(there, unit), pose)


@given(frames, frames, frames)
def test_one_frame_after_the_other_is_both_at_once(first, second, pose):
    command = MoveTo(1, True, message(pose, LengthUnitEnum.METER))
    one_by_one = moved(second, moved(first, command))
    at_once = moved(second @ first, command)
    metre = LengthUnitEnum.METER
    assert is_close(back(one_by_one.end_position, metre), back(at_once.end_position, metre))


@given(frames, frames, points, units)
def test_a_screw_keeps_its_axis_relative_to_its_start(frame, start, axis_m, unit):
    command = MoveScrew(
        1,
        start_position=message(start, unit),
        axis_point=in_unit(axis_m, unit),
        axial_distance_free=0.5,
        axial_distance_screw=0.25,
        turn=1.5,
    )
    there = moved(frame, command, unit)
    axis = np.array([there.axis_point.x, there.axis_point.y, there.axis_point.z]) / PER_M[unit]
    seen = back(there.start_position, unit).inverse().apply(axis)
    assert seen == pytest.approx(start.inverse().apply((axis_m.x, axis_m.y, axis_m.z)), abs=1e-8)
    assert (there.axial_distance_free, there.axial_distance_screw, there.turn) == (0.5, 0.25, 1.5)
    bare = MoveScrew(1, axial_distance_screw=0.25, turn=1.5)
    assert moved(frame, bare, unit) == bare


@given(frames, units)
def test_a_frame_that_is_the_robots_own_changes_not_a_bit(pose, unit):
    for command in (MoveTo(1, True, message(pose, unit)), MoveScrew(1, axial_distance_screw=1.0, turn=2.0)):
        assert moved(FramePose.identity(), command, unit) == command


@given(metres, metres, metres, frames)
def test_a_frame_that_is_only_shifted_leaves_directions_as_they_are(x, y, z, pose):
    command = MoveTo(1, True, message(pose, LengthUnitEnum.METER))
    there = moved(FramePose.from_xyz_rpy((x, y, z)), command).end_position
    assert (there.x_axis, there.z_axis) == (command.end_position.x_axis, command.end_position.z_axis)


@given(frames)
def test_joints_settings_and_waiting_stay_what_they_are(frame):
    joints = ActuateJoints(1, (ActuateJoint(1, 0.5, JointSpeedAccel()),))
    for command in (joints, Dwell(1, 1.0), SetEndPoseTolerance(1, PoseTolerance(x_point_tolerance=1.0)), InitCanon(1)):
        assert moved(frame, command) == command


def test_settings_of_a_waypoint_go_with_it():
    pose = PoseAndSet(
        Point(1.0, 2.0, 3.0), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0), True, trans_speed=TransSpeedAbsolute(0.1)
    )
    quarter = FramePose.from_xyz_rpy((0.5, 0.0, 0.0), (0.0, 0.0, math.pi / 2))
    there = moved(quarter, MoveTo(1, True, pose)).end_position
    assert isinstance(there, PoseAndSet)
    assert (there.coordinated, there.trans_speed) == (True, TransSpeedAbsolute(0.1))
    assert (there.point.x, there.point.y, there.point.z) == pytest.approx((-1.5, 1.0, 3.0))
    assert (there.x_axis.i, there.x_axis.j, there.x_axis.k) == pytest.approx((0.0, 1.0, 0.0))


def test_the_unit_is_the_one_in_force_when_the_command_comes():
    pose = Pose(Point(100.0, 0.0, 0.0), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0))
    move = FrameMove(FramePose.from_xyz_rpy((0.1, 0.0, 0.0)))
    found = []
    for unit in (LengthUnitEnum.MILLIMETER, LengthUnitEnum.METER, LengthUnitEnum.INCH):
        move(SetLengthUnits(0, unit))
        found.append(move(MoveTo(1, True, pose)).end_position.point.x)
    assert found == pytest.approx([200.0, 100.1, 100.0 + 0.1 / 0.0254])
    move(InitCanon(0))
    with pytest.raises(BadInput, match="the unit of its poses is not known"):
        move(MoveTo(1, True, pose))
    FrameMove(FramePose.from_xyz_rpy((0.0, 0.0, 0.0), (0.1, 0.2, 0.3)))(MoveTo(1, True, pose))  # needs no unit


def test_what_is_not_moved_is_told():
    turned = FrameMove(FramePose.from_xyz_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    shifted = FrameMove(FramePose.from_xyz_rpy((1.0, 0.0, 0.0)))
    joints = ActuateJoints(1, (ActuateJoint(1, 0.5, JointSpeedAccel()),))
    uneven, even = (
        PoseTolerance(x_point_tolerance=0.1),
        PoseTolerance(x_point_tolerance=0.1, y_point_tolerance=0.1, z_point_tolerance=0.1),
    )
    assert shifted.remark(joints) == turned.remark(joints) == "joint positions are not moved"
    assert "is not moved" in shifted.remark(RunProgram(1, "x"))
    assert turned.remark(SetEndPoseTolerance(1, uneven)) == "tolerances stay along the robot's axes"
    assert shifted.remark(SetEndPoseTolerance(1, uneven)) == turned.remark(SetEndPoseTolerance(1, even)) == ""
    at = Pose(Point(0.0, 0.0, 0.0), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0))
    waypoint = PoseAndSet(at.point, at.x_axis, at.z_axis, True, tolerance=uneven)
    assert turned.remark(MoveTo(1, True, waypoint)) != ""
    assert turned.remark(MoveTo(1, True, at)) == ""
