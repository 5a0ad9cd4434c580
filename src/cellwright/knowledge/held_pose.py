"""The pose of what a tool holds, from what the robot reports: a peg between fingers, a tray below cups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import (
    TOOLS,
    GripperFigures,
    PartFigures,
    TrayGrasp,
    part_grasp,
    part_of_sku,
    tray_grasp,
    tray_of_sku,
)
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.core.pose import Pose
from cellwright.knowledge.believed_objects import Evidence, PoseEstimate, ToolState

if TYPE_CHECKING:
    from cellwright.knowledge.belief_state import BeliefState

__all__ = ["CARRIED", "gripper_figures", "hanging_part", "hanging_tray", "held_pose", "in_hands"]

CARRIED = ("KitTray", "Kit")
"""Classes of what a tray tool carries."""

MOST_STACKED = 3  # a part in a slot of a tray of a kit in a hand
WIDTH_M = 0.0025  # by which fingers on a part may stand otherwise than its drawing says


def gripper_figures(tool: str) -> GripperFigures | None:
    """Returns the figures of a parallel gripper; None for any other tool."""
    figures = TOOLS.get(tool) if tool in TOOLS else None
    return figures if isinstance(figures, GripperFigures) else None


def hanging_part(pose_tool: Pose, part: PartFigures, gripper: str = "", half_turn: bool = False) -> Pose:
    """Returns the pose of a part that the tool holds as planned.

    Args:
        pose_tool: Of the tool.
        part: What it holds.
        gripper: Its name in the catalogue.
        half_turn: Whether the fingers, which are symmetric, took a part that is not round the other way round.
    """
    grasp = part_grasp(part, gripper_figures(gripper))
    yaw_rad = 0.0 if grasp.yaw_rad is None else grasp.yaw_rad + np.pi * half_turn
    return pose_tool @ Pose.from_xyz_rpy(grasp.xyz_m, (np.pi, 0.0, yaw_rad)).inverse()


def hanging_tray(pose_tool: Pose, grasp: TrayGrasp, seen: Pose) -> Pose:
    """Returns the pose of a tray that hangs as planned; of both half turns, the one nearer to how it was seen."""
    grip = Pose.from_xyz_rpy(grasp.xyz_m, (np.pi, 0.0, grasp.yaw_rad))
    ways = [pose_tool @ (grip @ Pose.from_xyz_rpy((0, 0, 0), (0, 0, turn))).inverse() for turn in (0.0, np.pi)]
    return min(ways, key=lambda pose: pose.angle_rad(seen))


def held_pose(tool: ToolState, kind: str, sku: str, seen: npt.NDArray[np.float64]) -> PoseEstimate | None:
    """Returns the pose of what is not seen but still fills the tool that took it; None when it does not.

    Args:
        tool: The tool that took it.
        kind: Its class: a part, a kit tray or a kit.
        sku: Its SKU; of a kit, that of its tray.
        seen: Its last pose in the world, 4 x 4.
    """
    if not tool.holding:
        return None
    if kind in CARRIED:
        cups, tray = TOOLS.get(tool.model) if tool.model in TOOLS else None, tray_of_sku(sku)
        grasp = tray_grasp(tray, cups) if isinstance(cups, VacuumFigures) and tray is not None else None
        if grasp is None:
            return None
        pose = hanging_tray(tool.pose_tool_in_world, grasp, Pose.from_matrix(seen))
    else:
        part = part_of_sku(sku)
        if abs(tool.width_m - part_grasp(part, gripper_figures(tool.model)).width_m) > WIDTH_M:
            return None
        ways = [hanging_part(tool.pose_tool_in_world, part, tool.model, half_turn) for half_turn in (False, True)]
        pose = min(ways, key=lambda pose: pose.angle_rad(Pose.from_matrix(seen)))
    spread = tool.sd_m**2
    return PoseEstimate(pose.matrix, (spread, spread, spread, 0.0, 0.0, 0.0), Evidence.FELT, tool.time_s, tool.robot)


def in_hands(state: BeliefState) -> frozenset[str]:
    """Returns what robots hold, and what is located by that: it moves with them."""
    if not state.held:
        return frozenset()
    tree = state.tree
    moves = np.zeros(len(tree.names), bool)
    moves[[tree.index[thing] for thing in state.held.values() if thing in tree.index]] = True
    for _ in range(MOST_STACKED):
        moves |= (tree.parent >= 0) & moves[tree.parent]
    return frozenset([*state.held.values(), *(tree.names[row] for row in np.flatnonzero(moves))])
