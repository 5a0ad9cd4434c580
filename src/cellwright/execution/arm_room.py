"""The room that an arm takes up, roughly: points along it with a radius each, and what hangs from its tool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS, ArmFigures
from cellwright.core.pose import Pose
from cellwright.motion.chain import SerialChain
from cellwright.motion.planning import AttachedObject, CatalogueModel

__all__ = ["ArmPosture", "arm_room", "held_reach_m", "tool_in_flange"]

Array = npt.NDArray[np.float64]

LINK_M, WRIST_M, TIP_M = 0.13, 0.08, 0.03  # room about the links' axes, the flange and the tip of a tool
SPACING_M = 0.06  # of the points along an arm's axes at which its room is looked at
HANG_M = 0.015  # how much lower than its grasp what hangs in a hand may reach


@dataclass(frozen=True, eq=False)
class ArmPosture:
    """An arm and how it stands: what another arm must not touch.

    Attributes:
        name: Of the robot.
        arm: Its figures.
        pose_base_in_world: By the drawings.
        joints_rad: Its joint angles, as it reported them.
        tool: Its tool's name in the catalogue; empty for a bare flange.
    """

    name: str
    arm: ArmFigures
    pose_base_in_world: Pose
    joints_rad: tuple[float, ...]
    tool: str = ""


def arm_room(chain: SerialChain, base: Pose, states: Array, tool: str) -> tuple[Array, Array]:
    """Returns points along an arm (states, points, 3), from its second joint to its tool's tip, and their room."""
    corners = chain.places(states)[:, 1:] @ base.rotation_matrix.T + base.position
    rotations, _ = chain.forward(states)
    tip = corners[:, -1] + rotations @ tool_in_flange(tool).position @ base.rotation_matrix.T
    corners = np.concatenate([corners, tip[:, None]], axis=1)
    radii = np.full(corners.shape[1], LINK_M)
    radii[-2:] = (WRIST_M, TIP_M)
    points, room = [], []
    for number in range(corners.shape[1] - 1):
        first, second = corners[:, number], corners[:, number + 1]
        pieces = max(1, round(float(np.linalg.norm(second - first, axis=1).max()) / SPACING_M))
        for share in np.arange(pieces) / pieces:
            points.append((1 - share) * first + share * second)
            room.append((1 - share) * radii[number] + share * radii[number + 1])
    points.append(corners[:, -1])
    room.append(radii[-1])
    return np.stack(points, axis=1), np.array(room)


def held_reach_m(held: AttachedObject | None) -> tuple[float, float]:
    """Returns how far what is held reaches from the tool's tip, to the sides and downwards, roughly."""
    if held is None:
        return 0.0, 0.0
    figures = held.shape.figures if isinstance(held.shape, CatalogueModel) else None
    size_m = getattr(figures, "radius_m", None) or float(np.hypot(*getattr(figures, "size_m", (0.1, 0.1))[:2])) / 2
    hang_m = float(np.linalg.norm(held.pose_in_tool.position))
    return hang_m + size_m, hang_m + HANG_M


def tool_in_flange(tool: str) -> Pose:
    """Returns the tool's centre point in the flange's frame, by its name; the flange itself without a tool."""
    return Pose.from_xyz_rpy(TOOLS.get(tool).tcp_xyz_m) if tool else Pose.identity()
