"""In what an external robot and its twin may differ, one line for each."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import RobotTargetCfg
from cellwright.core.pose import Pose
from cellwright.crcl import CommandStateEnum, GripperKind, GripperReading
from cellwright.hybrid.agreement import disagreements
from cellwright.hybrid.robot_report import RobotReport

CFG = RobotTargetCfg(at="a:1")


@pytest.fixture(scope="module")
def robot(changed):
    with cw.Lab(changed()) as lab:
        yield lab.robot("fanuc")


@pytest.fixture
def report(robot):
    """What a robot says that agrees in everything."""
    hand = GripperReading("hand", GripperKind.PARALLEL, robot.tool.holding, robot.gripper.width_m)
    pose = robot.kinematics.forward(robot.joints_rad) @ robot.ring.pose_tool_in_flange
    done = CommandStateEnum.CRCL_DONE
    return RobotReport(0.0, 0.0, 1, done, "", robot.joints_rad.copy(), None, pose, hand)


def moved(pose, xyz_m=(0.0, 0.0, 0.0), rpy_rad=(0.0, 0.0, 0.0)):
    return pose @ Pose.from_xyz_rpy(xyz_m, rpy_rad)


def test_what_agrees_and_what_differs_by_less_than_is_allowed(robot, report):
    assert disagreements(robot, report, CFG) == []
    near = replace(
        report,
        joints_rad=report.joints_rad + np.radians(0.9),
        pose_tool_in_base=moved(report.pose_tool_in_base, (0.0, 0.0049, 0.0), (0.0, 0.0, np.radians(0.9))),
        gripper=replace(report.gripper, separation_m=report.gripper.separation_m + 0.0049),
    )
    assert disagreements(robot, near, CFG) == []


def test_each_difference_in_one_line(robot, report):
    joints = report.joints_rad + np.radians([0.0, 0.0, 1.5, 0.0, -1.2, 0.0])
    hand = report.gripper
    cases = (
        ({"joints_rad": joints}, r"joint 3 is 1.5 deg apart \(allowed 1\)"),
        (
            {"pose_tool_in_base": moved(report.pose_tool_in_base, (0.006, 0.0, 0.0))},
            r"the tools are 6.0 mm apart \(allowed 5\)",
        ),
        (
            {"pose_tool_in_base": moved(report.pose_tool_in_base, rpy_rad=(0.0, 0.0, np.radians(2.0)))},
            r"the tools are turned by 2.0 deg \(allowed 1\)",
        ),
        ({"joints_rad": None, "pose_tool_in_base": None}, "where it stands cannot be compared"),
        ({"gripper": None}, "it reports no tool, the simulated robot has "),
        (
            {"gripper": GripperReading("cup", GripperKind.VACUUM, hand.holding, is_powered=False)},
            "its tool cup is a vacuum, that of the simulated robot a gripper",
        ),
        (
            {"gripper": replace(hand, separation_m=hand.separation_m + 0.007)},
            r"the widths of the fingers differ by 7.0 mm \(allowed 5\)",
        ),
        ({"gripper": replace(hand, holding=True)}, "it holds something, the simulated robot nothing"),
    )
    for change, line in cases:
        (problem,) = disagreements(robot, replace(report, **change), CFG)
        assert "\n" not in problem
        assert re.search(line, problem), problem


def test_what_is_null_is_not_compared(robot, report):
    other = replace(report, joints_rad=report.joints_rad + 1.0)
    assert disagreements(robot, other, CFG.model_copy(update={"joint_tolerance_deg": None})) == []
    far = replace(report, pose_tool_in_base=moved(report.pose_tool_in_base, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)))
    assert disagreements(robot, far, CFG.model_copy(update={"tolerance_mm": None, "tolerance_deg": None})) == []
    wide = replace(report, gripper=replace(report.gripper, separation_m=0.2))
    assert disagreements(robot, wide, CFG.model_copy(update={"grip_tolerance_mm": None})) == []
    silent = replace(report, gripper=None)
    assert disagreements(robot, silent, CFG.model_copy(update={"grip_tolerance_mm": None})) == []
    nowhere = replace(report, joints_rad=None, pose_tool_in_base=None)
    nothing = {"tolerance_mm": None, "tolerance_deg": None, "joint_tolerance_deg": None}
    assert disagreements(robot, nowhere, CFG.model_copy(update=nothing)) == []


def test_a_millimetre_taken_for_a_metre_and_a_wrong_frame_are_told_by_the_pose(robot, report):
    pose = report.pose_tool_in_base
    inches = replace(report, pose_tool_in_base=Pose(pose.position * 0.0254, pose.quaternion))
    assert any("the tools are" in problem for problem in disagreements(robot, inches, CFG))
    turned = replace(report, pose_tool_in_base=Pose.from_xyz_rpy((0.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2)) @ pose)
    assert len(disagreements(robot, turned, CFG)) == 2
