"""The agreement of an external robot and its simulated twin, without which neither may take over from the other."""

from __future__ import annotations

import math

import numpy as np

from cellwright.cells import RobotTargetCfg
from cellwright.control import RobotController
from cellwright.crcl import GripperKind
from cellwright.hybrid.robot_report import RobotReport

__all__ = ["disagreements"]


def disagreements(controller: RobotController, report: RobotReport, cfg: RobotTargetCfg) -> list[str]:
    """Returns in what the two differ by more than the target allows; nothing when one may take over from the other.

    Joints are compared, and the tool's pose by the drawings, which also tells wrong units and frames; the tool itself,
    the width of its fingers, and whether it holds something.

    Args:
        controller: The simulated robot.
        report: What the external robot says.
        cfg: Its tolerances; what is null is not compared.
    """
    return [*_places(controller, report, cfg), *_tools(controller, report, cfg)]


def _places(controller: RobotController, report: RobotReport, cfg: RobotTargetCfg) -> list[str]:
    problems: list[str] = []
    compared = False
    if cfg.joint_tolerance_deg is not None and report.joints_rad is not None:
        compared = True
        apart_deg = np.degrees(np.abs(report.joints_rad - controller.joints_rad))
        number = int(apart_deg.argmax())
        if apart_deg[number] > cfg.joint_tolerance_deg:
            problems.append(
                f"joint {number + 1} is {apart_deg[number]:.1f} deg apart (allowed {cfg.joint_tolerance_deg:g})"
            )
    pose = report.pose_tool_in_base
    if pose is not None and (cfg.tolerance_mm is not None or cfg.tolerance_deg is not None):
        compared = True
        here = controller.kinematics.forward(controller.joints_rad) @ controller.ring.pose_tool_in_flange
        apart_mm, turn_deg = 1000 * here.distance_m(pose), math.degrees(here.angle_rad(pose))
        if cfg.tolerance_mm is not None and apart_mm > cfg.tolerance_mm:
            problems.append(f"the tools are {apart_mm:.1f} mm apart (allowed {cfg.tolerance_mm:g})")
        if cfg.tolerance_deg is not None and turn_deg > cfg.tolerance_deg:
            problems.append(f"the tools are turned by {turn_deg:.1f} deg (allowed {cfg.tolerance_deg:g})")
    wanted = cfg.tolerance_mm, cfg.tolerance_deg, cfg.joint_tolerance_deg
    if not compared and any(limit is not None for limit in wanted):
        problems.append("where it stands cannot be compared")
    return problems


def _tools(controller: RobotController, report: RobotReport, cfg: RobotTargetCfg) -> list[str]:
    hand, tool = report.gripper, controller.tool
    if hand is None:
        if tool is None or cfg.grip_tolerance_mm is None:
            return []
        return [f"it reports no tool, the simulated robot has {tool.name}"]
    if tool is None:
        return [f"it has the tool {hand.name}, the simulated robot has none"]
    kind = "vacuum" if hand.kind is GripperKind.VACUUM else "gripper"
    if kind != tool.kind:
        return [f"its tool {hand.name} is a {kind}, that of the simulated robot a {tool.kind}"]
    problems = []
    if hand.kind is GripperKind.PARALLEL and cfg.grip_tolerance_mm is not None:
        apart_mm = 1000 * abs(hand.separation_m - controller.gripper.width_m)
        if apart_mm > cfg.grip_tolerance_mm:
            problems.append(
                f"the widths of the fingers differ by {apart_mm:.1f} mm (allowed {cfg.grip_tolerance_mm:g})"
            )
    if hand.holding is not tool.holding:
        ours = "something" if tool.holding else "nothing"
        problems.append(f"it holds {'something' if hand.holding else 'nothing'}, the simulated robot {ours}")
    return problems
