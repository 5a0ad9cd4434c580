"""Evaluation of a parallel gripper's grasp of a part: what is between the fingers, what collides, and how good it is.

Everything is computed in the tool's frame: jaws close along x, pads are wide along y, fingers reach along z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TIP_CLEARANCE_M, GripperFigures
from cellwright.catalogue.objects import GraspPoint
from cellwright.core.pose import Pose
from cellwright.shapes.mesh import Mesh, cut

__all__ = [
    "MARGIN_M",
    "PAD_GIVE_M",
    "GraspEvaluation",
    "best_top_grasp",
    "evaluate_grasp",
    "finger_length_m",
    "palm_half_m",
    "tool_down",
]

Array = npt.NDArray[np.float64]
MARGIN_M = 0.0005  # what must be left between gripper and part, floor or handle
PAD_GIVE_M = 0.0005  # how much farther away a surface may be that a rubber pad still touches
LEAST_TOUCH_M = 0.002  # of the pads' length, or width, that must lie on the part
EASY_M = 0.010  # clearance per side beyond which more of it makes no grasp better
LEVELS = 100  # along the pads, at which it is asked whether they touch
SAME_M = 1e-6
MOST_ROUNDS = 4  # after which the pads are where a part of the width is that is between them


@dataclass(frozen=True)
class GraspEvaluation:
    """The evaluation of a grasp.

    Attributes:
        half_m: Half the width of what the jaws close on.
        clearance_m: Between each open finger and the part, on the way and there; negative when it is too wide.
        palm_gap_m: Between palm and part.
        floor_gap_m: Between the gripper and what the part stands on.
        covered: Share of the pads that touches.
        band_m: Their length, or width, of which it is a share.
        off_middle: Distance of the grasp from the part's middle, as a share of its height.
        quality: Of the place, 0 to 1: where the part's mass is, how square its faces are.
    """

    half_m: float
    clearance_m: float
    palm_gap_m: float
    floor_gap_m: float
    covered: float
    band_m: float
    off_middle: float
    quality: float = 1.0

    def problem(self, tool: GripperFigures) -> str:
        """Returns the reason why it is not feasible; empty when it is."""
        if self.clearance_m < MARGIN_M:
            needed_m = tool.open_m - self.clearance_m + MARGIN_M
            return f"the jaws open {2000 * tool.open_m:.0f} mm and need {2000 * needed_m:.0f} mm"
        if self.half_m <= 0:
            return "nothing is between the pads where they close"
        if self.half_m <= tool.closed_m:
            return f"{2000 * self.half_m:.1f} mm is thinner than the closed jaws"
        if self.palm_gap_m < MARGIN_M - 1e-9:
            return f"the palm would be {-1000 * self.palm_gap_m:.1f} mm inside the part"
        if self.floor_gap_m < MARGIN_M:
            return f"the gripper would be {-1000 * self.floor_gap_m:.1f} mm below the floor"
        touch_m = self.covered * self.band_m
        return f"only {1000 * touch_m:.1f} mm of the pads would touch it" if touch_m < LEAST_TOUCH_M else ""

    @property
    def score(self) -> float:
        """0 to 1 for a feasible grasp: room beside it, contact of the pads, held near its middle."""
        beside, on_it = min(1.0, self.clearance_m / EASY_M), 0.3 + 0.7 * self.covered
        return beside * on_it * (1 - 0.5 * self.off_middle) * self.quality

    @property
    def reason(self) -> str:
        """The reasons for the score."""
        return f"{1000 * self.clearance_m:.1f} mm on either side, {100 * self.covered:.0f} % of the pads on the part"


def finger_length_m(tool: GripperFigures) -> float:
    """Returns the distance from the palm to the tool's centre point."""
    return tool.tcp_xyz_m[2] - tool.mount_height_m - tool.body_size_m[2]


def palm_half_m(tool: GripperFigures) -> float:
    """Returns half the thickness of housing and mount, across the jaws."""
    return max(tool.body_size_m[1] / 2, tool.mount_radius_m)


def tool_down(xyz_m: Sequence[float], yaw_rad: float) -> Pose:
    """Returns the tool's pose at a point, looking down, its jaws along a direction."""
    return Pose.from_xyz_rpy(xyz_m, (np.pi, 0.0, yaw_rad))


def evaluate_grasp(
    solids: Sequence[Mesh], tool: GripperFigures, pose_tcp: Pose, quality: float = 1.0
) -> GraspEvaluation:
    """Evaluates the grasp of convex solids that stand on the ground, by a gripper that comes straight along its z.

    Args:
        solids: Collision solids in the part's frame, z up.
        tool: Figures of the gripper.
        pose_tcp: Of its centre point, in the part's frame.
        quality: Of the place.
    """
    back = pose_tcp.inverse()
    corners = [back.apply(solid.vertices)[solid.faces] for solid in solids]
    tip_m = tool.pad_offset_m + tool.pad_size_m[2] / 2
    outer_m = tool.open_m + tool.pad_size_m[0] + tool.finger_size_m[0] + MARGIN_M

    way = _spans(_slabs(corners, max(tool.pad_size_m[1], tool.finger_size_m[1]) / 2), -np.inf, tip_m)
    met = way[(way[:, 0] < outer_m) & (way[:, 1] > -outer_m)]
    clearance_m = tool.open_m - float(np.abs(met).max(initial=0.0))

    held, levels = _held(corners, tool)
    low_m, high_m = _ends(_spans(held, levels[0], levels[-1]))
    covered = _touching(held, levels, low_m, high_m) if held and clearance_m >= MARGIN_M else 0.0

    palm = _slabs(corners, palm_half_m(tool))
    nearest_m = min((float(slab[:, :, 1].min()) for slab in palm), default=np.inf)
    heights_m = np.concatenate([solid.vertices[:, 2] for solid in solids])
    bottom_m, top_m = float(heights_m.min()), float(heights_m.max())
    axis = pose_tcp.rotation_matrix
    reach_m = max(0.0, -axis[2, 2]) * tip_m + abs(axis[2, 1]) * palm_half_m(tool)
    held_m = min(max(float(pose_tcp.position[2]), bottom_m), top_m)  # long pads reach above the part
    return GraspEvaluation(
        half_m=(high_m - low_m) / 2,
        clearance_m=clearance_m,
        palm_gap_m=finger_length_m(tool) + nearest_m,
        floor_gap_m=float(pose_tcp.position[2]) - reach_m - bottom_m,
        covered=covered,
        band_m=tool.pad_size_m[2],
        off_middle=abs(held_m - (bottom_m + top_m) / 2) / (top_m - bottom_m),
        quality=quality,
    )


def best_top_grasp(
    solids: Sequence[Mesh], tool: GripperFigures, point: GraspPoint, least_height_m: float
) -> tuple[Pose, GraspEvaluation]:
    """Returns the best grasp of convex solids near a point: at its height, or higher, above what is wider there.

    Args:
        solids: Collision solids in the part's frame.
        tool: Figures of the gripper.
        point: Between two faces.
        least_height_m: Height below which the tool's centre point does not go.
    """
    above_tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2
    tops_m = sorted({round(float(solid.vertices[:, 2].max()), 6) for solid in solids})
    least_m = max(least_height_m, tops_m[-1] - finger_length_m(tool) + MARGIN_M)
    x, y, z = point.xyz_m
    lowest_m = z if z > least_m - SAME_M else least_m
    heights_m = [lowest_m, *(top_m + TIP_CLEARANCE_M + above_tips_m for top_m in tops_m[:-1])]
    found = []
    for height_m in (height_m for height_m in heights_m if height_m >= lowest_m):
        pose = tool_down((x, y, height_m), point.yaw_rad)
        pose = pose @ Pose.from_xyz_rpy((_centre_m(solids, tool, pose), 0.0, 0.0))
        found.append((pose, evaluate_grasp(solids, tool, pose, point.worth)))
    return max(found, key=lambda pair: 0.0 if pair[1].problem(tool) else pair[1].score)


def _centre_m(solids: Sequence[Mesh], tool: GripperFigures, pose_tcp: Pose) -> float:
    """Returns the position along the jaws of the middle of what is between the pads."""
    back = pose_tcp.inverse()
    held, levels = _held([back.apply(solid.vertices)[solid.faces] for solid in solids], tool)
    return sum(_ends(_spans(held, levels[0], levels[-1]))) / 2


def _held(corners: Sequence[Array], tool: GripperFigures) -> tuple[list[Array], Array]:
    """Returns the edges between the closed pads, and levels along the pads as they are then."""
    slabs, lag_m, half_m = _slabs(corners, tool.pad_size_m[1] / 2), 0.0, 0.0
    tip_m = tool.pad_offset_m + tool.pad_size_m[2] / 2
    for _ in range(MOST_ROUNDS):
        levels = np.linspace(tip_m - lag_m - tool.pad_size_m[2], tip_m - lag_m, LEVELS + 1)
        held = _between(slabs, tool, levels[0], levels[-1])
        low_m, high_m = _ends(_spans(held, levels[0], levels[-1]))
        if abs((high_m - low_m) / 2 - half_m) < SAME_M:
            break
        half_m = (high_m - low_m) / 2
        lag_m = tool.pad_lag_m(min(half_m, tool.open_m))
    return held, levels


def _slabs(corners: Sequence[Array], half_m: float) -> list[Array]:
    """Returns, of each solid that reaches between -y and +y, the edges (n, 2, 2) there, by x and z."""
    found = []
    for triangles in corners:
        inside = cut(cut(triangles, 1, half_m)[0], 1, -half_m)[1]
        if len(inside):
            found.append(inside[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2, 3)[:, :, [0, 2]])
    return found


def _spans(slabs: Sequence[Array], low_m: float, high_m: float) -> Array:
    """Returns the ranges along x (n, 2) of solids between two z; only those that are there."""
    found = []
    for slab in slabs:
        start, way = slab[:, 0], slab[:, 1] - slab[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (np.array([low_m, high_m]) - start[:, 1, None]) / way[:, 1, None]
        ends = np.where(way[:, 1, None] == 0, [0.0, 1.0], ends)
        first, last = np.clip(ends.min(axis=1), 0, 1), np.clip(ends.max(axis=1), 0, 1)
        there = (slab[:, :, 1].min(axis=1) <= high_m) & (slab[:, :, 1].max(axis=1) >= low_m)
        x = start[:, 0, None] + way[:, 0, None] * np.column_stack([first, last])
        if there.any():
            found.append((x[there].min(), x[there].max()))
    return np.array(found, float).reshape(-1, 2)


def _between(slabs: Sequence[Array], tool: GripperFigures, low_m: float, high_m: float) -> list[Array]:
    """Returns the slabs that reach between the open pads."""
    spans = [_spans([slab], low_m, high_m) for slab in slabs]
    return [
        slab
        for slab, span in zip(slabs, spans, strict=True)
        if len(span) and span[0, 0] < tool.open_m and span[0, 1] > -tool.open_m
    ]


def _ends(spans: Array) -> tuple[float, float]:
    """Returns the common range of all spans; zeros where there are none."""
    return (float(spans[:, 0].min()), float(spans[:, 1].max())) if len(spans) else (0.0, 0.0)


def _touching(slabs: Sequence[Array], levels_m: Array, low_m: float, high_m: float) -> float:
    """Returns the share of levels at which solids reach from one pad to the other."""
    least, most = np.full(len(levels_m), np.inf), np.full(len(levels_m), -np.inf)
    for slab in slabs:
        steep = slab[slab[:, 0, 1] != slab[:, 1, 1]]
        start, way = steep[:, 0], steep[:, 1] - steep[:, 0]
        share = (levels_m[:, None] - start[:, 1]) / way[:, 1]
        x = start[:, 0] + way[:, 0] * share
        there = (share >= 0) & (share <= 1)
        least = np.minimum(least, np.where(there, x, np.inf).min(axis=1, initial=np.inf))
        most = np.maximum(most, np.where(there, x, -np.inf).max(axis=1, initial=-np.inf))
    return float(np.mean((least < low_m + PAD_GIVE_M) & (most > high_m - PAD_GIVE_M)))
