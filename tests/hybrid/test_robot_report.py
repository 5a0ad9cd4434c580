"""What is made of the status of an external robot: units, frames, and what is not believed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from cellwright.core.pose import Pose as CorePose
from cellwright.crcl import (
    AngleUnitEnum,
    CommandStateEnum,
    CommandStatus,
    CRCLStatus,
    CrclUnits,
    GripperKind,
    LengthUnitEnum,
    Point,
    Pose,
    PoseStatus,
    SettingsStatus,
    Vector,
)
from cellwright.crcl.messages import JointStatus, JointStatuses, ParallelGripperStatus, VacuumGripperStatus
from cellwright.hybrid.robot_report import read_report
from cellwright.hybrid.target_frame import TargetFrame

METERS = CrclUnits(LengthUnitEnum.METER, AngleUnitEnum.RADIAN)
MM = CrclUnits(LengthUnitEnum.MILLIMETER, AngleUnitEnum.DEGREE)
PLAIN = TargetFrame(CorePose.identity(), False)
WORKING, ERROR = CommandStateEnum.CRCL_WORKING, CommandStateEnum.CRCL_ERROR


def status(joints=(0.1, 0.2, 0.3), place=(0.4, 0.0, 0.3), *, state=WORKING, text=None, first=1, **more):
    angles = tuple(JointStatus(first + n, joint_position=angle) for n, angle in enumerate(joints))
    pose = Pose(Point(*place), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0))
    return CRCLStatus(
        CommandStatus(7, 1, state, state_description=text),
        joint_statuses=JointStatuses(angles),
        pose_status=PoseStatus(pose),
        **more,
    )


def read(told, units=METERS, frame=PLAIN, tool=None, joints=3):
    return read_report(told, units, frame, tool or CorePose.identity(), joints, (1.0, 1.2))


def test_times_joints_pose_and_state():
    report = read(status())
    assert (report.time_s, report.arrival_s) == (pytest.approx(1.1), 1.2)
    assert (report.command_id, report.state, report.doubts) == (7, WORKING, ())
    assert report.joints_rad == pytest.approx([0.1, 0.2, 0.3])
    assert report.pose_tool_in_base.position == pytest.approx([0.4, 0.0, 0.3])
    assert (report.speeds_radps, report.gripper, report.override_percent) == (None, None, 100)


def test_millimetres_and_degrees_of_the_session_and_those_that_it_names_itself():
    told = status((10.0, 20.0, 30.0), (400.0, 0.0, 300.0))
    named = SettingsStatus(length_unit_name=LengthUnitEnum.MILLIMETER, angle_unit_name=AngleUnitEnum.DEGREE)
    for report in (read(told, MM), read(replace(told, settings_status=named), METERS)):
        assert report.joints_rad == pytest.approx(np.radians([10.0, 20.0, 30.0]))
        assert report.pose_tool_in_base.position == pytest.approx([0.4, 0.0, 0.3])


def test_the_pose_of_a_flange_in_a_frame_of_its_own():
    frame = TargetFrame(CorePose.from_xyz_rpy((1.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2)), True)
    report = read(status(), frame=frame, tool=CorePose.from_xyz_rpy((0.0, 0.0, 0.2)))
    assert report.pose_tool_in_base.position == pytest.approx([1.0, 0.4, 0.5])


@pytest.mark.parametrize("joints", [(math.nan, 0.2, 0.3), (math.inf, 0.2, 0.3), (0.1, 0.2), (1e9, 0.2, 0.3), ()])
def test_joints_that_are_missing_or_no_numbers_are_none_of_them(joints):
    report = read(status(joints))
    assert report.joints_rad is None
    assert report.pose_tool_in_base is not None
    assert bool(report.doubts) == (len(joints) == 3)


def test_joints_are_taken_by_their_numbers():
    angles = (
        JointStatus(3, joint_position=0.3),
        JointStatus(1, joint_position=0.1),
        JointStatus(2, joint_position=0.2),
    )
    report = read(replace(status(), joint_statuses=JointStatuses(angles)))
    assert report.joints_rad == pytest.approx([0.1, 0.2, 0.3])
    assert read(status(first=2)).joints_rad is None


@pytest.mark.parametrize("place", [(1000.0, 0.0, 0.0), (math.nan, 0.0, 0.0), (0.0, -math.inf, 0.0)])
def test_a_pose_out_of_all_reach_is_none(place):
    report = read(status(place=place))
    assert report.pose_tool_in_base is None
    assert report.joints_rad is not None
    assert len(report.doubts) == 1
    assert "its tool is, is not believed" in report.doubts[0]


@pytest.mark.parametrize(
    ("state", "text", "is_emergency"),
    [
        (ERROR, "Emergency stop pressed", True),
        (ERROR, "E-STOP", True),
        (ERROR, "estop circuit open", True),
        (ERROR, "X at 3.0 greater than limit 2.0", False),
        (ERROR, None, False),
        (WORKING, "the emergency exit is passed", False),
    ],
)
def test_emergencies_by_state_and_words(state, text, is_emergency):
    assert read(status(state=state, text=text)).is_emergency is is_emergency


def test_hands():
    parallel = ParallelGripperStatus("hand", holding_object=True, separation=20.0)
    hand = read(status((0.1,) * 3, gripper_status=parallel), MM).gripper
    assert (hand.name, hand.kind, hand.holding) == ("hand", GripperKind.PARALLEL, True)
    assert hand.separation_m == pytest.approx(0.02)
    vacuum = VacuumGripperStatus("cup", is_powered=True, holding_object=False)
    hand = read(status(gripper_status=vacuum)).gripper
    assert (hand.kind, hand.holding, hand.is_powered) == (GripperKind.VACUUM, False, True)
