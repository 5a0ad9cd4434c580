"""Grasps of a parallel gripper on every part of the catalogue: from above and from the side, checked and ranked.

Only part and gripper are considered here: whether the jaws open far enough, whether the
palm or the tips run into something, how much of the pads touches. Whether an arm reaches the grasp is left to planning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import cos, pi, sin

import numpy as np

from cellwright.catalogue import GearFigures, GripperFigures, PartFigures, least_height_m, tool_grasp_xyz_m
from cellwright.catalogue.objects import BlockFigures, BoundedFigures, CartonFigures, CrateFigures, TurnedFigures
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.pose import Pose
from cellwright.shapes.grasp_evaluation import (
    MARGIN_M,
    PAD_GIVE_M,
    GraspEvaluation,
    best_top_grasp,
    evaluate_grasp,
    finger_length_m,
    palm_half_m,
)

__all__ = ["Grasp", "GraspKind", "find_grasps", "tcp_in_part"]


class GraspKind(StrEnum):
    """The direction of approach of the gripper."""

    TOP = "top"
    SIDE = "side"


@dataclass(frozen=True, kw_only=True)
class Grasp:
    """One grasp of a part; all poses are of the tool centre point in the part's frame.

    Attributes:
        kind: From above or from the side.
        turn_rad: About the part's axis, against the first sample.
        pose_tcp: The pose in which the jaws close.
        pose_approach: Before, at a distance against the direction of approach.
        pose_retreat: After, with the part lifted straight up.
        width_m: The width of the part between the jaws.
        clearance_m: Between each open pad and the part; negative when the gripper does not open far enough.
        score: 0 (impossible) to 1; comparable between grasps of one part with one gripper.
        reason: The basis of the score, or why it is impossible.
    """

    kind: GraspKind
    turn_rad: float
    pose_tcp: Pose
    pose_approach: Pose
    pose_retreat: Pose
    width_m: float
    clearance_m: float
    score: float
    reason: str

    @property
    def possible(self) -> bool:
        """Whether the grasp is possible at all."""
        return self.score > 0


def tcp_in_part(kind: GraspKind, turn_rad: float, xyz_m: Sequence[float]) -> Pose:
    """Returns the tool's pose at a point: z along the approach, jaws along the part's x (top) or y (side) at no turn.

    From the side, without a turn, the tool looks along +x; from above, down.
    """
    c, s = cos(turn_rad), sin(turn_rad)
    if kind is GraspKind.TOP:
        columns = [(c, s, 0.0), (s, -c, 0.0), (0.0, 0.0, -1.0)]
    else:
        columns = [(s, -c, 0.0), (0.0, 0.0, -1.0), (c, s, 0.0)]
    return Pose.from_matrix(np.column_stack([*columns, xyz_m]))


@dataclass(frozen=True)
class _Handle:
    """A handle towards +x: its heights, how far its middle line reaches, half its thickness."""

    low_m: float
    high_m: float
    reach_m: float
    radius_m: float


@dataclass(frozen=True)
class _Outline:
    """The outline of a part: half its extent along x and y at heights, bottom to top, about the grasp point."""

    points: tuple[tuple[float, float, float], ...]  # height, half along x, half along y
    is_round: bool
    y_is_open: bool = True  # whether jaws may also close along y
    handle: _Handle | None = None

    def half_m(self, low_m: float, high_m: float, along_y: bool) -> float:
        """Returns the largest half extent between two heights."""
        column = 2 if along_y else 1
        heights = [p[0] for p in self.points]
        low, high = max(low_m, heights[0]), min(high_m, heights[-1])
        ends = np.interp([low, high], heights, [p[column] for p in self.points])
        return float(max(*ends, *(p[column] for p in self.points if low < p[0] <= high), 0.0))

    def touching(self, low_m: float, high_m: float, along_y: bool) -> float:
        """Returns the share of flat pads between two heights that lies on the part when they have closed."""
        heights = np.linspace(low_m, high_m, 101)
        halves = np.interp(heights, [p[0] for p in self.points], [p[2 if along_y else 1] for p in self.points])
        halves[(heights < self.points[0][0]) | (heights > self.points[-1][0])] = 0.0
        return float(np.mean(halves > halves.max() - PAD_GIVE_M))


def find_grasps(
    part: PartFigures,
    tool: GripperFigures,
    *,
    turns: int = 12,
    approach_m: float = 0.1,
    retreat_m: float = 0.1,
    impossible_too: bool = False,
) -> list[Grasp]:
    """Finds grasps of a part that stands on a flat floor, best first.

    Args:
        part: The part to grasp.
        tool: The gripper.
        turns: Samples about the axis of a round part; angular ones are taken in quarter turns, flat on their faces.
        approach_m: The distance of the approach pose from the grasp.
        retreat_m: The height by which the part is lifted.
        impossible_too: Whether to list those that cannot be done, last, with the reason.
    """
    if not 1 <= turns <= 3600:
        raise OutOfRange("grasp turns", turns, 1, 3600)
    for name, value in (("approach", approach_m), ("retreat", retreat_m)):
        if not 0 < value <= 2:
            raise OutOfRange(name, value, 0, 2, "m")
    ways_m = (approach_m, retreat_m)
    if isinstance(part, BoundedFigures):
        found = _of_solids(part, tool, ways_m)
    else:
        outline = _outline(part)
        count = turns if outline.is_round else 4
        found = [
            _grasp(part, tool, outline, kind, 2 * pi * number / count, ways_m)
            for kind in GraspKind
            for number in range(count)
        ]
    ranked = sorted(found, key=lambda g: (-g.score, g.kind))  # of equals the first, as they were tried
    return ranked if impossible_too else [g for g in ranked if g.possible]


def _of_solids(part: BoundedFigures, tool: GripperFigures, ways_m: tuple[float, float]) -> list[Grasp]:
    """Returns grasps of a part of any shape at each of its points, either way round: from above and both sides."""
    found = []
    for point in part.points:
        least_m = least_height_m(part, tool, min(point.width_m / 2, tool.open_m))
        pose, above = best_top_grasp(part.solids, tool, point, least_m)
        for half in (0.0, pi):
            turn_rad = (point.yaw_rad + half) % (2 * pi)
            pose_top = tcp_in_part(GraspKind.TOP, turn_rad, pose.position.tolist())
            found.append(_made(GraspKind.TOP, turn_rad, pose_top, above, above.problem(tool), ways_m))
            turn_rad = (turn_rad + pi / 2) % (2 * pi)
            pose_side = tcp_in_part(GraspKind.SIDE, turn_rad, point.xyz_m)
            side = evaluate_grasp(part.solids, tool, pose_side, point.worth)
            found.append(_made(GraspKind.SIDE, turn_rad, pose_side, side, side.problem(tool), ways_m))
    return found


def _grasp(
    part: PartFigures,
    tool: GripperFigures,
    outline: _Outline,
    kind: GraspKind,
    turn_rad: float,
    ways_m: tuple[float, float],
) -> Grasp:
    quarter = round(turn_rad / (pi / 2)) % 2 == 1  # only angular parts ask
    along_y = not outline.is_round and (quarter if kind is GraspKind.TOP else not quarter)
    bottom_m, top_m = outline.points[0][0], outline.points[-1][0]
    fingers_m = finger_length_m(tool)
    if kind is GraspKind.TOP:
        height_m = max(tool_grasp_xyz_m(part, tool)[2], top_m - fingers_m + MARGIN_M)
        tips_m = height_m - tool.pad_offset_m - tool.pad_size_m[2] / 2
        low_m = tips_m + tool.pad_lag_m(min(part.grasp_width_m / 2, tool.open_m))
        high_m, passed_m = low_m + tool.pad_size_m[2], top_m
        palm_gap_m, floor_gap_m = fingers_m - (top_m - height_m), tips_m - bottom_m
    else:
        height_m = part.grasp_height_m
        low_m, high_m = height_m - tool.pad_size_m[1] / 2, height_m + tool.pad_size_m[1] / 2
        passed_m = high_m
        thick_m = palm_half_m(tool)
        palm_gap_m = fingers_m - outline.half_m(height_m - thick_m, height_m + thick_m, not along_y)
        floor_gap_m = height_m - thick_m - bottom_m
    held_m = min(max(height_m, bottom_m), top_m)  # long pads reach above the part
    found = GraspEvaluation(
        half_m=outline.half_m(low_m, high_m, along_y),
        clearance_m=tool.open_m - outline.half_m(low_m, passed_m, along_y),
        palm_gap_m=palm_gap_m,
        floor_gap_m=floor_gap_m,
        covered=outline.touching(low_m, high_m, along_y),
        band_m=high_m - low_m,
        off_middle=abs(held_m - (bottom_m + top_m) / 2) / (top_m - bottom_m),
    )
    problem = found.problem(tool)
    if along_y and not outline.y_is_open:
        problem = f"jaws can only close across the {part.grasp_feature}"
    elif not outline.y_is_open and kind is GraspKind.SIDE:
        problem = f"the {part.grasp_feature} can only be taken from above"
    elif (
        (handle := outline.handle)
        and low_m < handle.high_m
        and passed_m > handle.low_m
        and _meets_handle(tool, handle, kind, turn_rad)
    ):
        problem = "a finger would be on the handle"
    pose = tcp_in_part(kind, turn_rad, (*part.grasp_xyz_m[:2], height_m))
    return _made(kind, turn_rad, pose, found, problem, ways_m)


def _made(
    kind: GraspKind, turn_rad: float, pose: Pose, found: GraspEvaluation, problem: str, ways_m: tuple[float, float]
) -> Grasp:
    approach_m, retreat_m = ways_m
    return Grasp(
        kind=kind,
        turn_rad=turn_rad,
        pose_tcp=pose,
        pose_approach=pose @ Pose.from_xyz_rpy((0.0, 0.0, -approach_m)),
        pose_retreat=Pose(pose.position + [0.0, 0.0, retreat_m], pose.quaternion),
        width_m=2 * found.half_m,
        clearance_m=found.clearance_m,
        score=0.0 if problem else found.score,
        reason=problem or found.reason,
    )


def _meets_handle(tool: GripperFigures, handle: _Handle, kind: GraspKind, turn_rad: float) -> bool:
    """Returns whether an open finger on its way meets the handle, a rod from the axis towards +x, seen from above."""
    reach_m = np.linspace(0.0, handle.reach_m, 51)
    room_m = handle.radius_m + MARGIN_M
    if kind is GraspKind.TOP:
        across_m, along_m = reach_m * cos(turn_rad), reach_m * sin(turn_rad)
        passed = abs(along_m) < max(tool.pad_size_m[1], tool.finger_size_m[1]) / 2 + room_m
    else:
        across_m, along_m = reach_m * sin(turn_rad), reach_m * cos(turn_rad)
        passed = along_m < tool.pad_offset_m + tool.pad_size_m[2] / 2 + room_m
    return bool((passed & (abs(across_m) + room_m > tool.open_m)).any())


def _outline(part: PartFigures) -> _Outline:
    if isinstance(part, GearFigures):
        rows = [
            (0.0, part.cone_bottom_radius_m),
            (part.cone_height_m, part.cone_top_radius_m),
            (part.cone_height_m + 1e-6, part.tip_radius_m),
            (part.disc_top_m, part.tip_radius_m),
            (part.disc_top_m + 1e-6, part.peg_radius_m),
            (part.height_m, part.peg_radius_m),
        ]
        return _Outline(tuple((z, r, r) for z, r in rows), True)
    if isinstance(part, TurnedFigures):
        points = tuple((z, r, r) for r, z in part.profile_rz_m)
        if part.handle is None:
            return _Outline(points, True)
        grip, path = part.handle.radius_m, part.handle.path_xz_m
        heights = [z for _, z in path]
        reach_m = max(x for x, _ in path)
        return _Outline(points, True, handle=_Handle(min(heights) - grip, max(heights) + grip, reach_m, grip))
    if isinstance(part, CartonFigures):
        x, y, seam = part.size_m[0] / 2, part.size_m[1] / 2, part.seam_m / 2
        rows3 = ((0.0, x, y), (part.gable_m, x, y), (part.ridge_m, seam, y), (part.height_m, seam, y))
        return _Outline(rows3, False)
    if isinstance(part, CrateFigures):
        half = part.wall_m / 2  # about the wall's own middle
        return _Outline(((0.0, half, part.size_m[1] / 2), (part.height_m, half, part.size_m[1] / 2)), False, False)
    if isinstance(part, BlockFigures):
        x, y, z = (size / 2 for size in part.size_m)
        return _Outline(((-z, x, y), (z, x, y)), False)
    raise BadInput(f"no outline is known for the part '{part.name}' of kind {type(part).__name__}")
