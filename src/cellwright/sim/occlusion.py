"""Occlusion by trays, for a detector that looks straight down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import Figures, TrayFigures

__all__ = ["TrayOcclusion"]

Array = npt.NDArray[np.float64]

ABOVE_M = 0.008  # a tray is so much above what it hides; a stacked one is by its thickness, a part in it is higher


class TrayOcclusion:
    """The trays among some objects, which hide objects below them."""

    def __init__(self, figures: Sequence[Figures]) -> None:
        trays = [(k, item) for k, item in enumerate(figures) if isinstance(item, TrayFigures)]
        self._rows = np.array([k for k, _ in trays], dtype=np.intp)
        self._half_x, self._half_y = (
            np.array([[tray.size_m[axis] / 2] for _, tray in trays]).reshape(-1, 1) for axis in (0, 1)
        )
        self._reach = np.hypot(self._half_x, self._half_y)

    def hidden(self, poses: Array) -> npt.NDArray[np.bool_]:
        """Returns which objects have a tray above their middle, by positions and quaternions in rows of `poses`."""
        x, y, z = poses[:, 0], poses[:, 1], poses[:, 2]
        trays = poses[self._rows]
        dx, dy = x - trays[:, :1], y - trays[:, 1:2]
        near = (trays[:, 2:3] - z > ABOVE_M) & (np.abs(dx) < self._reach) & (np.abs(dy) < self._reach)
        if not near.any():
            return np.zeros(len(poses), dtype=np.bool_)
        qw, qx, qy, qz = (trays[:, k : k + 1] for k in range(3, 7))
        c, s = 1 - 2 * (qy * qy + qz * qz), 2 * (qw * qz + qx * qy)
        inside = (np.abs(c * dx + s * dy) < self._half_x) & (np.abs(c * dy - s * dx) < self._half_y)
        return np.asarray((near & inside).any(axis=0))
