"""The fit of an upright body of revolution to points: x and y by the distances from its profile."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cellwright.perception.stereo.sought_model import SoughtModel

__all__ = ["ProfileField", "fit_turned"]

Array = npt.NDArray[np.float64]
GRID_M = 0.001
MARGIN_M = 0.03
GATE_M = 0.012  # points farther from the surface belong to something else
STEPS = 40
DONE_M = 1e-5
LEAST_POINTS = 60


@dataclass(frozen=True, eq=False)
class ProfileField:
    """Signed distances from the outside of a body of revolution, over radius and height, positive outside.

    Attributes:
        distance_m: (radii, heights), every millimetre.
        bottom_m: The height of the first column.
    """

    distance_m: Array
    bottom_m: float

    @classmethod
    def of(cls, model: SoughtModel) -> ProfileField:
        """Returns the field of a model that has a profile; its foot stands on the table, and is no outside."""
        profile = np.array([*model.profile_rz_m, (0.0, model.profile_rz_m[-1][1])])
        low, high = profile[0, 1] - MARGIN_M, profile[-1, 1] + MARGIN_M
        r, z = np.meshgrid(
            np.arange(0.0, profile[:, 0].max() + MARGIN_M, GRID_M), np.arange(low, high, GRID_M), indexing="ij"
        )
        nearest = np.full(r.shape, np.inf)
        for a, b in pairwise(profile):
            way = b - a
            part = np.clip(((r - a[0]) * way[0] + (z - a[1]) * way[1]) / (way @ way), 0.0, 1.0)
            nearest = np.minimum(nearest, np.hypot(r - a[0] - part * way[0], z - a[1] - part * way[1]))
        wide = np.interp(z, profile[:-1, 1], profile[:-1, 0], left=profile[0, 0])
        return cls(np.where((r < wide) & (z < profile[-1, 1]), -nearest, nearest), float(low))

    def at(self, radius_m: Array, height_m: Array) -> tuple[Array, Array]:
        """Returns distances, and how they grow with the radius."""
        radii, heights = self.distance_m.shape
        r = np.clip(radius_m / GRID_M, 0, radii - 1.001)
        z = np.clip((height_m - self.bottom_m) / GRID_M, 0, heights - 1.001)
        i, j = r.astype(int), z.astype(int)
        u, v = r - i, z - j
        field = self.distance_m
        inner = field[i, j] * (1 - v) + field[i, j + 1] * v
        outer = field[i + 1, j] * (1 - v) + field[i + 1, j + 1] * v
        return inner * (1 - u) + outer * u, (outer - inner) / GRID_M


def fit_turned(field: ProfileField, points: Array, start_xy_m: Array) -> tuple[Array, Array, float] | None:
    """Fits x and y by iteratively reweighted least squares; Tukey's weights leave out what belongs to something else.

    Args:
        field: Of the object.
        points: (n, 3), heights above the object's origin.
        start_xy_m: Where to begin.

    Returns:
        The place, the weighted normal matrix of the last step (2, 2), and the scatter of the points that count in
        metres; None where too few points are near.
    """
    xy = np.array(start_xy_m, float)
    for _ in range(STEPS):
        aside = points[:, :2] - xy
        radius = np.maximum(np.hypot(aside[:, 0], aside[:, 1]), 1e-6)
        distance, slope = field.at(radius, points[:, 2])
        near = np.abs(distance) < GATE_M
        if np.count_nonzero(near) < LEAST_POINTS:
            return None
        off, jacobian = distance[near], -(slope[near] / radius[near])[:, None] * aside[near]
        spread = float(np.clip(1.4826 * np.median(np.abs(off)), 0.0008, GATE_M / 3))
        weight = np.maximum(1 - (off / (4.685 * spread)) ** 2, 0.0) ** 2
        normal = (jacobian * weight[:, None]).T @ jacobian
        step = np.linalg.lstsq(normal, -(jacobian * weight[:, None]).T @ off, rcond=None)[0]
        xy += np.clip(step, -0.01, 0.01)
        if np.abs(step).max() < DONE_M:
            break
    return xy, normal, spread
