"""Furniture in a camera's view: which points are behind solid pieces of what never moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose

__all__ = ["FurnitureBoxes", "hidden_by_furniture"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
TINY = 1e-12
TOUCHING_M = 0.005  # what is hit no farther before a point is what the point lies on
SHARE = 0.5  # of the radius of a disc: when less of it is hidden, it is still recognised


@dataclass(frozen=True)
class FurnitureBoxes:
    """Solid boxes that stand about, by the drawings.

    Attributes:
        centres: m x 3, in the world.
        turns: Their axes as the columns of matrices, m x 3 x 3.
        halves: Half extents along these, m x 3.
    """

    centres: Array
    turns: Array
    halves: Array

    @classmethod
    def of(cls, boxes: Iterable[tuple[Pose, tuple[float, float, float]]]) -> FurnitureBoxes:
        """Returns boxes by their poses in the world and their half extents."""
        rows = list(boxes)
        return cls(
            np.array([pose.position for pose, _ in rows]).reshape(-1, 3),
            np.array([pose.rotation_matrix for pose, _ in rows]).reshape(-1, 3, 3),
            np.array([half for _, half in rows], float).reshape(-1, 3),
        )

    @property
    def tops_m(self) -> Array:
        """The heights of their highest points."""
        tops: Array = self.centres[:, 2] + (np.abs(self.turns[:, 2, :]) * self.halves).sum(axis=1)
        return tops


def hidden_by_furniture(eye: Array, points: Array, radii: Array, boxes: FurnitureBoxes, margin_m: float) -> Mask:
    """Returns the points of which a good share of the level disc about them is behind a box.

    Args:
        eye: The centre of projection.
        points: The middles of the discs, n x 3.
        radii: Their radii, n.
        boxes: The furniture.
        margin_m: By how much cameras may be elsewhere than they are drawn.
    """
    hidden = np.zeros(len(points), bool)
    high = boxes.tops_m > points[:, 2].min(initial=np.inf) + TOUCHING_M
    if not high.any():
        return hidden
    turns, halves = boxes.turns[high], boxes.halves[high]
    ways = points - eye
    lengths = np.maximum(np.linalg.norm(ways, axis=1), TINY)
    start = np.einsum("mij,mi->mj", turns, eye - boxes.centres[high])  # in the boxes' frames
    steps = np.einsum("mij,ni->nmj", turns, ways)
    # The lines to a disc fill a cone, which is widest where a box is farthest from the eye; discs are level.
    along = -(steps * start).sum(axis=2) / lengths[:, None] ** 2
    farthest = np.clip(along + np.linalg.norm(halves, axis=1) / lengths[:, None], 0.0, 1.0)
    level = np.sqrt(np.maximum(1.0 - turns[:, 2, :] ** 2, 0.0))
    grown = halves + (SHARE * radii[:, None] * farthest + margin_m)[:, :, None] * level
    steps = np.where(np.abs(steps) < TINY, TINY, steps)
    one, two = (-grown - start) / steps, (grown - start) / steps
    enter, leave = np.minimum(one, two).max(axis=2), np.maximum(one, two).min(axis=2)
    before = 1.0 - TOUCHING_M / lengths[:, None]
    hidden |= ((enter < leave) & (leave > 0.0) & (enter < before)).any(axis=1)
    return hidden
