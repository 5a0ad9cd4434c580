"""Lines of sight: whether capsules and boxes stand between a camera and some points, for many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, part_of_sku, tray_of_sku
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.shapes.part_shape import part_shape

__all__ = ["Boxes", "SkuExtent", "capsules_of_sku", "extent_of", "hidden_by_boxes", "hidden_by_capsules", "swept"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
TINY = 1e-12
BOW = 0.1  # share of its way by which what turns leaves the straight line: right up to 0.8 rad between two readings
SOME = 16  # of so many capsules one is looked at first
CLOSE_M = 1e-6  # more than rounding: what is so near to a ball is looked at
TOUCHING_M = 0.005  # what is hit no farther before a point is what the point lies on, or that itself
UNKNOWN_RADIUS_M = 0.05  # of what is not in the catalogue
STRIPS = 3


@dataclass(frozen=True)
class SkuExtent:
    """The extent of a kind of object: what of it is seen from above, and what it hides.

    Attributes:
        half_x_m: Half of its extent along its x axis.
        half_y_m: The same along y.
        bottom_m: Height of its underside above its origin.
        top_m: Height of its upper face; pegs are too thin to be counted.
        is_tray: Whether it is a tray.
        is_round: Whether it is round about its z axis.
    """

    half_x_m: float
    half_y_m: float
    bottom_m: float
    top_m: float
    is_tray: bool
    is_round: bool = False

    @property
    def radius_m(self) -> float:
        """The radius within which it is looked for."""
        return max(self.half_x_m, self.half_y_m)


@cache
def extent_of(sku: str) -> SkuExtent:
    """Returns the extent of a kind of object; a ball for one that is not in the catalogue."""
    tray = tray_of_sku(sku)
    if tray is not None:
        return SkuExtent(tray.size_m[0] / 2, tray.size_m[1] / 2, 0.0, tray.thickness_m, is_tray=True)
    try:
        part = part_of_sku(sku)
    except UnknownName:
        return SkuExtent(UNKNOWN_RADIUS_M, UNKNOWN_RADIUS_M, 0.0, UNKNOWN_RADIUS_M, is_tray=False, is_round=True)
    top_m = part.disc_top_m if isinstance(part, GearFigures) else part.bottom_m + part.height_m
    if part.is_round:
        return SkuExtent(part.radius_m, part.radius_m, part.bottom_m, top_m, is_tray=False, is_round=True)
    half_x_m, half_y_m, _ = np.abs(part_shape(part).extent_m).max(axis=0).tolist()
    return SkuExtent(half_x_m, half_y_m, part.bottom_m, top_m, is_tray=False)


def capsules_of_sku(sku: str, pose_in_world: Pose) -> Array:
    """Returns capsules that contain an object, k x 7: two end points and a radius each; for what a hand holds."""
    extent = extent_of(sku)
    low_m, high_m = extent.bottom_m, extent.top_m
    if extent.is_round:
        ends = pose_in_world.apply([[0.0, 0.0, low_m], [0.0, 0.0, high_m]])
        return np.array([[*ends[0], *ends[1], extent.radius_m]])
    long, across = (0, 1) if extent.half_x_m >= extent.half_y_m else (1, 0)
    halves = (extent.half_x_m, extent.half_y_m)
    strip_m = halves[across] / STRIPS
    rows = []
    for number in range(STRIPS):
        ends = np.zeros((2, 3))
        ends[:, 2] = (low_m + high_m) / 2
        ends[:, across] = (2 * number + 1) * strip_m - halves[across]
        ends[:, long] = -halves[long], halves[long]
        rows.append([*pose_in_world.apply(ends).ravel(), float(np.hypot(strip_m, (high_m - low_m) / 2))])
    return np.array(rows)


def swept(before: Array, after: Array) -> Array:
    """Returns capsules that contain those of two readings of an arm, and all that it passed between them.

    What only one of them has, such as a part that was taken meanwhile, moved no farther than the rest.
    """
    both = min(len(before), len(after))
    ends = (before[:both, :6] + after[:both, :6]) / 2
    gone = (after[:both, :6] - before[:both, :6]).reshape(-1, 2, 3)
    way_m = np.sqrt((gone**2).sum(axis=2).max(axis=1, initial=0.0))
    radii = np.maximum(before[:both, 6], after[:both, 6]) + (0.5 + BOW) * way_m
    rest = np.concatenate([before[both:], after[both:]])
    rest[:, 6] += way_m.max(initial=0.0)
    return np.concatenate([np.column_stack([ends, radii]), rest])


def hidden_by_capsules(eye: Array, points: Array, radii: Array, capsules: Array) -> Mask:
    """Returns the points of which a disc of some radius may be hidden from an eye, even in part.

    The cone from the eye to the disc is as wide as a share of the disc where the line of sight passes a capsule; that
    share is taken a little farther on than where it passes nearest, where a cone comes nearest to a slanted capsule.

    Args:
        eye: The centre of projection.
        points: The middles of the discs, n x 3.
        radii: Their radii, n.
        capsules: Two end points and a radius each, m x 7.
    """
    rays, axes, apart = points - eye, capsules[:, 3:6] - capsules[:, :3], eye - capsules[:, :3]
    ray2, axis2 = np.maximum(_dot(rays, rays), TINY), np.maximum(_dot(axes, axes), TINY)
    # Balls in and about capsules tell at once which lines of sight pass through them, or far from them.
    middles, is_hidden = axes / 2 - apart, np.zeros(len(points), bool)
    some = slice(None, None, SOME)  # of an arm that may be anywhere, they are enough
    is_hidden[:] = _passes(rays, ray2, middles[some], capsules[some, 6])[1].any(axis=1)
    left = np.flatnonzero(~is_hidden)
    if not len(left):
        return is_hidden
    rays, ray2, radii = rays[left], ray2[left], radii[left]
    past2, through = _passes(rays, ray2, middles, capsules[:, 6])
    is_through: Mask = np.array(through.any(axis=1))
    ball_m = np.sqrt(axis2) / 2 + capsules[:, 6] + CLOSE_M
    rows, columns = ((past2 < (ball_m + radii[:, None]) ** 2) & ~is_through[:, None]).nonzero()
    rays, axes, apart, ray2, axis2 = rays[rows], axes[columns], apart[columns], ray2[rows], axis2[columns]
    along_axis, along_ray, both = _dot(axes, apart), _dot(rays, apart), _dot(rays, axes)
    square = np.maximum(ray2 * axis2 - both**2, TINY * TINY)
    s = _share((both * along_axis - along_ray * axis2) / square)
    t = _share((both * s + along_axis) / axis2)
    s = _share((both * t - along_ray) / ray2)  # nearest to the end of the axis, where that is nearest
    gap2 = s * (s * ray2 + 2 * (along_ray - t * both)) + t * (t * axis2 - 2 * along_axis) + _dot(apart, apart)
    gap, radius = np.sqrt(np.maximum(gap2, 0.0)), radii[rows]
    farther = s + radius * gap * axis2 / square
    is_through[rows[gap < capsules[columns, 6] + radius * np.minimum(farther, 1.0)]] = True
    is_hidden[left] = is_through
    return is_hidden


def _passes(rays: Array, ray2: Array, middles: Array, balls_m: Array) -> tuple[Array, Mask]:
    """Returns the squares of the distances at which lines pass points, and which of them meet balls about these."""
    along = rays @ middles.T
    share = along / ray2[:, None]
    past2 = _dot(middles, middles) - along * share
    return past2, (past2 < balls_m**2) & (share >= 0.0) & (share <= 1.0)


def _dot(ones: Array, others: Array) -> Array:
    """Returns the scalar products of rows."""
    result: Array = np.einsum("ij,ij->i", ones, others)  # several times as quick as a sum
    return result


def _share(values: Array) -> Array:
    return np.minimum(np.maximum(values, 0.0), 1.0)  # quicker than clip


@dataclass(frozen=True)
class Boxes:
    """Upright boxes that may hide what is below them: trays and parts as they are believed to be.

    Attributes:
        centres: m x 3.
        halves: Half extents along their own axes, m x 3.
        yaws: Their turns about the vertical.
        are_trays: Which of them are trays; parts hide parts, and no tray that they lie in.
    """

    centres: Array
    halves: Array
    yaws: Array
    are_trays: Mask


def hidden_by_boxes(eye: Array, points: Array, radii: Array, boxes: Boxes, by_parts: Mask) -> Mask:
    """Returns the points of which a good share of the disc about them is hidden by boxes.

    Args:
        eye: The centre of projection.
        points: The middles of the discs, n x 3.
        radii: Their radii, n.
        boxes: What may be in the way.
        by_parts: Points that parts hide, too.
    """
    hidden = np.zeros(len(points), bool)
    rays = eye - points
    ray2 = np.maximum(_dot(rays, rays), TINY)[:, None]
    top_m = boxes.centres[:, 2] + boxes.halves[:, 2]
    above = top_m > points[:, 2:] + TOUCHING_M * np.abs(rays[:, 2:]) / np.sqrt(ray2)
    above &= by_parts[:, None] | boxes.are_trays
    rows, columns = above.nonzero()
    if not len(rows):
        return hidden
    c, sn = np.cos(boxes.yaws[columns]), np.sin(boxes.yaws[columns])
    start, way = points[rows] - boxes.centres[columns], rays[rows]
    halves = boxes.halves[columns] + np.outer(radii[rows] / 2, [1.0, 1.0, 0.0])
    enter, leave = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for origin, step, half in (
        (c * start[:, 0] + sn * start[:, 1], c * way[:, 0] + sn * way[:, 1], halves[:, 0]),
        (c * start[:, 1] - sn * start[:, 0], c * way[:, 1] - sn * way[:, 0], halves[:, 1]),
        (start[:, 2], way[:, 2], halves[:, 2]),
    ):
        step = np.where(np.abs(step) < TINY, TINY, step)
        first, second = (-half - origin) / step, (half - origin) / step
        enter, leave = np.maximum(enter, np.minimum(first, second)), np.minimum(leave, np.maximum(first, second))
    from_point_m = leave * np.sqrt(ray2[rows, 0])  # where the line of sight comes out of the box, above the point
    hidden[rows[(enter < leave) & (enter < 1.0) & (from_point_m > TOUCHING_M)]] = True
    return hidden
