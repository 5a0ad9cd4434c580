"""Grasps of a part by its peg, and its release above a seat: along the peg, wherever that points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GripperFigures, part_grasp, tool_grasp_xyz_m
from cellwright.core.pose import Pose
from cellwright.execution.arm import tool_down
from cellwright.knowledge import BelievedPart
from cellwright.knowledge.held_pose import gripper_figures
from cellwright.shapes.part_shape import part_shape

__all__ = ["GraspChoice", "free_grasps", "release_pose"]

Array = npt.NDArray[np.float64]

YAWS_RAD = tuple(float(x) for x in np.radians([0.0, 90.0, 45.0, -45.0, 22.5, -22.5, 67.5, -67.5]))
LEANING_RAD = float(np.radians(5.0))  # a part that leans less is taken from straight above: detectors err by a third
LOST_M = 0.02  # a part whose place is known worse than this was lost, and says nothing about room for fingers
FINGER_GAP_M = 0.001  # that fingers keep from neighbours at least
ABOVE_M = 0.0005
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class GraspChoice:
    """A grasp along the peg of a part, the fingers turned about it.

    Attributes:
        yaw_rad: Turn of the fingers.
        gripper: Its name in the catalogue: long fingers take a part higher than short ones.
        half_turn: Whether they are turned by half a turn from how the part's drawing has them.
    """

    yaw_rad: float = 0.0
    gripper: str = ""
    half_turn: bool = False

    def nearest(self, near_rad: float) -> GraspChoice:
        """Returns the equivalent grasp, of both half turns, that is nearer to an angle: the fingers are symmetric."""
        turns = round((near_rad - self.yaw_rad) / np.pi)
        return replace(self, yaw_rad=self.yaw_rad + np.pi * turns, half_turn=self.half_turn != bool(turns % 2))

    def pose_tool(self, part: BelievedPart) -> Pose:
        """Returns the pose of the tool that takes the part; it leans as the part does."""
        point = part.pose_in_world.apply(tool_grasp_xyz_m(part.figures, gripper_figures(self.gripper)))
        upright = tool_down(point, self.yaw_rad)
        if part.tilt_rad <= LEANING_RAD:
            return upright
        return Pose(point, (_turn(UP, part.matrix[:3, 2]) @ upright).quaternion)


def release_pose(pose_tool: Pose, pose_part: Pose, slot_point: Array) -> Pose:
    """Returns the pose of the tool at which the part, as it is held now, is upright with its origin at a point."""
    turn = _turn(pose_part.rotation_matrix[:, 2], UP)
    lever = pose_part.position - pose_tool.position
    return Pose(slot_point - turn.apply(lever), (turn @ pose_tool).quaternion)


def _turn(before: Array, after: Array) -> Pose:
    """Returns the shortest turn of one direction into another; nothing for opposite ones, which have none."""
    axis = np.cross(before, after)
    sine, cosine = float(np.linalg.norm(axis)), float(before @ after)
    if sine < 1e-9:
        return Pose.exp(np.zeros(6))
    return Pose.exp([0, 0, 0, *(axis / sine * np.arctan2(sine, cosine))])


def free_grasps(
    part: BelievedPart, others: Sequence[BelievedPart], gripper: str, near_rad: float = 0.0
) -> list[GraspChoice]:
    """Returns grasps whose fingers fit between the neighbours, best first.

    Args:
        part: To be taken.
        others: What stands about.
        gripper: Its name in the catalogue.
        near_rad: How the fingers are turned now; of the two half turns that are the same to them, the nearer is taken.
    """
    tool = gripper_figures(gripper)
    known = [other for other in others if other.name != part.name and other.sd_m <= LOST_M]
    near = [other for other in known if other.across_m(part.position) < 0.15]
    yaws_rad = [yaw for yaw in _yaws(part, tool) if _room_m(part, near, tool, yaw) >= FINGER_GAP_M]
    return [GraspChoice(yaw, gripper).nearest(near_rad) for yaw in yaws_rad]


def _yaws(part: BelievedPart, tool: GripperFigures | None) -> list[float]:
    """Returns turns of the fingers to try: one for a part that is not round; level beside one that leans."""
    if part.tilt_rad <= LEANING_RAD:
        turn_rad = part_grasp(part.figures, tool).yaw_rad
        return list(YAWS_RAD) if turn_rad is None else [float(part.pose_in_world.rpy[2]) + turn_rad]
    x, y, _ = np.cross(UP, part.matrix[:3, 2])
    level_rad = float(np.arctan2(y, x))
    return [level_rad + turn for turn in (0.0, *np.radians([15.0, -15.0]).tolist())]


def _room_m(part: BelievedPart, near: Sequence[BelievedPart], tool: GripperFigures | None, yaw_rad: float) -> float:
    """Returns the least distance between the open fingers and what of the neighbours is as high as their tips."""
    if tool is None or not near:
        return np.inf
    point = part.pose_in_world.apply(tool_grasp_xyz_m(part.figures, tool))
    tips_m = point[2] - tool.pad_offset_m - tool.pad_size_m[2] / 2
    reach = tool.open_m + tool.pad_size_m[0] + tool.finger_size_m[0] / 2
    along = np.array([np.cos(yaw_rad), np.sin(yaw_rad)])
    across = np.array([-along[1], along[0]])
    half = np.array([(tool.finger_size_m[0] + tool.pad_size_m[0]) / 2, tool.finger_size_m[1] / 2])
    room_m = np.inf
    fingers = [point[:2] + side * reach * along for side in (-1.0, 1.0)]
    axes = np.column_stack([along, across])
    for other in near:
        around_m = min(_apart_m(other.position[None, :2], finger, axes, half) for finger in fingers)
        around_m -= _radius_at(other, tips_m)
        if around_m < FINGER_GAP_M and not other.figures.is_round:
            points = other.pose_in_world.apply(part_shape(other.figures).surface)
            high = points[points[:, 2] > tips_m, :2]
            around_m = min(_apart_m(high, finger, axes, half) for finger in fingers)
        room_m = min(room_m, around_m)
    return room_m


def _apart_m(points: Array, finger: Array, axes: Array, half: Array) -> float:
    """Returns the distance of points in the plane from the rectangle that a finger is; infinite without points."""
    beyond = np.maximum(np.abs((points - finger) @ axes) - half, 0.0)
    return float(np.sqrt((beyond**2).sum(axis=1)).min(initial=np.inf))


def _radius_at(other: BelievedPart, height_m: float) -> float:
    """Returns the radius of a neighbour above a height: of its disc, its peg, or nothing; the largest if it leans."""
    figures = other.figures
    base_m = float(other.position[2])
    if other.tilt_rad > 0.1:
        return max(figures.radius_m, figures.height_m) if other.top_m > height_m else -np.inf
    disc_top_m = base_m + getattr(figures, "disc_top_m", figures.height_m)
    if disc_top_m > height_m + ABOVE_M:
        return figures.radius_m
    if base_m + figures.height_m > height_m:
        return figures.grasp_width_m / 2
    return -np.inf
