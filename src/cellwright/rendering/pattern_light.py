"""Patterns of light that are thrown onto a scene: a pass over pictures that any renderer has drawn.

The depth of each pixel tells the point that is seen there; the light that falls on the point is added to the pixel.
What hides the point from the light is in the light's own depths, drawn by the same renderer. Colours that were cut off
at white stay white with more light, so that to add afterwards is the same as to add before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.rendering.renderer import Renderer
from cellwright.rendering.shot import DEPTH, Shot
from cellwright.rendering.view import Frustum

__all__ = ["PatternLight", "ThrownPattern", "add_light"]

Array = npt.NDArray[np.float64]
BIAS_M = 1.5e-3  # how far behind the surface that the light meets first a point must be to be in its shadow


@dataclass(frozen=True)
class PatternLight:
    """A point that throws a pattern.

    Attributes:
        frustum: Its place and its cone; its axis is in the middle of the pattern.
        pattern: Share of its light in each pixel of the pattern.
        light: Red, green and blue that the whole of it adds to what it falls on, white being 1; on every surface alike.
        range_m: Nearest and farthest that it lights, along its axis.
    """

    frustum: Frustum
    pattern: npt.NDArray[np.float32]
    light: tuple[float, float, float]
    range_m: tuple[float, float]

    def throw(self, renderer: Renderer, model: Any, data: Any) -> ThrownPattern:
        """Returns it as it falls on a scene at this moment."""
        rows, columns = self.pattern.shape
        depth_m = renderer.shoot(model, data, self.frustum, (columns, rows), layers=(DEPTH,)).depth_m
        return ThrownPattern(self, np.where(np.isfinite(depth_m), depth_m, np.float32(np.inf)))


@dataclass(frozen=True)
class ThrownPattern:
    """A pattern on a scene.

    Attributes:
        source: What throws it.
        depth_m: How far along its axis it comes, in each pixel of the pattern.
    """

    source: PatternLight
    depth_m: npt.NDArray[np.float32]

    def share(self, points_in_world_m: Array) -> npt.NDArray[np.float32]:
        """Returns the share of its light that falls on points, n x 3."""
        frustum, pattern = self.source.frustum, self.source.pattern
        rows, columns = pattern.shape
        focal_px = _focal_px(frustum, rows)
        right, up, backwards = _turned(points_in_world_m - frustum.eye_in_world_m, frustum.axes_in_world.T).T
        away = -backwards
        share = np.zeros(len(points_in_world_m), np.float32)
        near, far = self.source.range_m
        seen = np.flatnonzero((away >= near) & (away <= far))
        column = columns / 2 + focal_px * right[seen] / away[seen] - 0.5
        row = rows / 2 - focal_px * up[seen] / away[seen] - 0.5
        inside = (column >= 0) & (row >= 0) & (column < columns - 1) & (row < rows - 1)
        seen, column, row = seen[inside], column[inside], row[inside]
        i, j = column.astype(np.intp), row.astype(np.intp)
        first, down = j * columns + i, columns
        corners = (first, first + 1, first + down, first + down + 1)
        # A surface between four pixels is no deeper than the deepest of them: steep ones do not shade themselves.
        depths = self.depth_m.reshape(-1)
        deepest = np.maximum.reduce([depths[corner] for corner in corners])
        lit = away[seen] <= deepest + BIAS_M
        fx, fy, flat = column - i, row - j, pattern.reshape(-1)
        weights = ((1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy)
        mixed = sum(weight * flat[corner] for weight, corner in zip(weights, corners, strict=True))
        share[seen] = np.where(lit, mixed, 0.0)
        return share


def add_light(shot: Shot, frustum: Frustum, patterns: tuple[ThrownPattern, ...], exposure: float) -> Shot:
    """Returns a picture with the light of patterns; it needs colours and depths.

    Args:
        shot: The picture.
        frustum: What it was drawn with.
        patterns: As they fall on the scene.
        exposure: With which it was drawn.
    """
    rows, columns = shot.depth_m.shape
    row, column = np.nonzero(np.isfinite(shot.depth_m))
    focal_px, (middle_right, middle_up) = _focal_px(frustum, rows), frustum.middle
    slopes = np.column_stack(
        [
            middle_right + (column + 0.5 - columns / 2) / focal_px,
            middle_up - (row + 0.5 - rows / 2) / focal_px,
            np.full(len(row), -1.0),
        ]
    )
    points = frustum.eye_in_world_m + shot.depth_m[row, column, None] * _turned(slopes, frustum.axes_in_world)
    total = np.zeros((len(row), 3), np.float32)
    for pattern in patterns:
        total += pattern.share(points)[:, None] * np.array(pattern.source.light, np.float32)
    rgb = shot.rgb.copy()
    levels = np.round(np.float32(255 * exposure) * total)
    rgb[row, column] = np.minimum(rgb[row, column] + levels, 255)
    return Shot(rgb, shot.depth_m, shot.geom)


def _turned(vectors: Array, rotation: Array) -> Array:
    """Returns rotated vectors, n x 3; every number is the same sum, however many there are."""
    x, y, z = vectors.T
    return np.column_stack([x * row[0] + y * row[1] + z * row[2] for row in rotation])


def _focal_px(frustum: Frustum, rows: int) -> float:
    return rows / 2 / math.tan(frustum.fovy_rad / 2)
