"""The distance between a part and a tray: by its outline as it leans, not by the circle that it could reach."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, part_of_sku
from cellwright.core.pose import Pose

__all__ = ["is_over", "tray_gap_m"]

Array = npt.NDArray[np.float64]

STEP_M = 0.001  # between two points of an outline; what lies between them is missed by less than half of it
OVER_M = 0.002  # a part whose middle is so near to being over a tray counts as over it


def tray_gap_m(sku: str, pose_part_in_tray: Pose, size_m: tuple[float, float, float]) -> float:
    """Returns the distance between a part and the box of a tray, whose origin is in the middle of its bottom."""
    points = pose_part_in_tray.apply(_surface(sku))
    beyond = np.maximum(np.abs(points[:, :2]) - np.array(size_m[:2]) / 2, 0.0)
    above = np.maximum(points[:, 2] - size_m[2], 0.0)
    return float(np.sqrt((beyond**2).sum(axis=1) + above**2).min())


def is_over(sku: str, pose_part_in_tray: Pose, size_m: tuple[float, float, float]) -> bool:
    """Returns whether the middle of a part is over a tray: then it lies on it, or on what is on it."""
    figures = part_of_sku(sku)
    middle = pose_part_in_tray.apply([0.0, 0.0, figures.bottom_m + figures.height_m / 2])
    lowest = pose_part_in_tray.position
    return any(bool((np.abs(point[:2]) <= np.array(size_m[:2]) / 2 + OVER_M).all()) for point in (middle, lowest))


@lru_cache
def _surface(sku: str) -> Array:
    """Returns points all over a part, which is taken to be round."""
    figures = part_of_sku(sku)
    low_m = figures.bottom_m
    corners = [(figures.radius_m, low_m), (figures.radius_m, low_m + figures.height_m)]
    if isinstance(figures, GearFigures):
        corners = [
            (figures.cone_bottom_radius_m, 0.0),
            (figures.cone_top_radius_m, figures.cone_height_m),
            (figures.tip_radius_m, figures.cone_height_m),
            (figures.tip_radius_m, figures.disc_top_m),
            (figures.peg_radius_m, figures.disc_top_m),
            (figures.peg_radius_m, figures.height_m),
        ]
    rings = [np.array([0.0, corners[0][1]])]
    for start, end in zip([(0.0, corners[0][1]), *corners], [*corners, (0.0, corners[-1][1])], strict=True):
        count = max(int(np.ceil(np.hypot(end[0] - start[0], end[1] - start[1]) / STEP_M)), 1)
        rings += [np.array(start) + (np.array(end) - start) * step / count for step in range(1, count + 1)]
    around = np.linspace(0.0, 2 * np.pi, max(int(np.ceil(2 * np.pi * figures.radius_m / STEP_M)), 8), endpoint=False)
    radius, height = np.array(rings).T[:, :, None]
    points = np.stack(
        [radius * np.cos(around), radius * np.sin(around), np.broadcast_to(height, (len(rings), len(around)))], axis=-1
    )
    result: Array = points.reshape(-1, 3)
    return result
