"""Outlines of parts as they lie and lean, against trays and each other: no circles that they could reach."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import part_of_sku
from cellwright.core.pose import Pose
from cellwright.knowledge import BelievedPart
from cellwright.shapes.part_shape import part_shape
from cellwright.shapes.polygon import depths_m

__all__ = ["across_m", "is_over", "leans_on", "overlaps", "tray_gap_m"]

Array = npt.NDArray[np.float64]

OVER_M = 0.002  # how near to being over a tray, or how far inside of it, a part must seem to be to lie on it
LOWER_M = 0.001
STEEP, LEVEL = 0.1, 0.25
"""How much deeper inside of a tray a part would be per distance by which it is lowered: less, and they are flush; more,
and it lies on it. In between it leans on it, if it would not stand without it. Both are less than the judge's."""


def tray_gap_m(sku: str, pose_part_in_tray: Pose, size_m: tuple[float, float, float]) -> float:
    """Returns the distance between a part and the box of a tray, whose origin is in the middle of its bottom."""
    points = pose_part_in_tray.apply(part_shape(part_of_sku(sku)).surface)
    beyond = np.maximum(np.abs(points[:, :2]) - np.array(size_m[:2]) / 2, 0.0)
    above = np.maximum(points[:, 2] - size_m[2], 0.0)
    return float(np.sqrt((beyond**2).sum(axis=1) + above**2).min())


def leans_on(
    sku: str, pose_part_in_tray: Pose, size_m: tuple[float, float, float], near_m: float, lower_m: float = 0.0
) -> bool:
    """Returns whether the box of a tray may carry a part, if only in part.

    They touch, as near as that is known, and would overlap if the part were lowered. What stands beside a tray, flush,
    does not lean on it, nor what touches it by a steep side and would stay as it is without it.

    Args:
        sku: Of the part.
        pose_part_in_tray: Where it is believed to be.
        size_m: Of the tray.
        near_m: The distance within which they may touch.
        lower_m: By how much lower the part may be.
    """
    lowered = Pose.from_xyz_rpy([0.0, 0.0, -lower_m]) @ pose_part_in_tray
    if tray_gap_m(sku, lowered, size_m) >= near_m:
        return False
    shape = part_shape(part_of_sku(sku))
    points = pose_part_in_tray.apply(shape.surface)
    inside = (np.array(size_m[:2]) / 2 - np.abs(points[:, :2])).min(axis=1)
    below = size_m[2] - points[:, 2]
    way_m = lower_m + near_m + LOWER_M
    now_m, then_m = (float(np.minimum(inside, below + by_m).max()) for by_m in (0.0, way_m))
    slope = (then_m - now_m) / way_m
    return now_m > OVER_M or slope > LEVEL or (slope > STEEP and not shape.stands(pose_part_in_tray))


def is_over(sku: str, pose_part_in_tray: Pose, size_m: tuple[float, float, float]) -> bool:
    """Returns whether a part, with its middle or the middle of its foot, is over a tray: then it lies on it.

    Or on what is on it. What lies round the corner of a tray, and has its middle there only because it is hollow, does
    not.
    """
    shape = part_shape(part_of_sku(sku))
    points, half = pose_part_in_tray.apply(shape.surface), np.array(size_m[:2]) / 2
    if not (np.abs(points[:, :2]) <= half - OVER_M).all(axis=1).any():
        return False
    middles = (pose_part_in_tray.apply(shape.centre_m), shape.foot(pose_part_in_tray).mean(axis=0))
    return any(bool((np.abs(middle[:2]) <= half + OVER_M).all()) for middle in middles)


def across_m(part: BelievedPart, point: Array) -> float:
    """Returns the distance in the plane from a point to the nearest point of a part."""
    points = part.pose_in_world.apply(part_shape(part.figures).surface)
    return float(np.sqrt(((points[:, :2] - point[:2]) ** 2).sum(axis=1).min()))


def overlaps(part: BelievedPart, other: BelievedPart, by_m: float) -> bool:
    """Returns whether the outlines of two parts, as they are seen from above, overlap by more than a distance."""
    points = other.pose_in_world.apply(part_shape(other.figures).surface)[:, :2]
    outlines = part_shape(part.figures).outlines(part.pose_in_world)
    return any(bool((depths_m(corners, points) > by_m).any()) for corners in outlines)
