"""The registration of a vision system to a robot by a few touched points (the APRS paper, Eqn 1), and its inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput

__all__ = ["OffsetMap"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OffsetMap:
    """Offsets measured at registration points, interpolated by inverse distance.

    With d_j the distance to registration point j, the offset at a point is
    ``sum_i delta_i prod_{j != i} d_j / sum_i prod_{j != i} d_j``: the inverse-distance mean with the infinities
    at the registration points multiplied out. Offsets may be translations or rotation vectors.

    Attributes:
        points: Registration points as the vision system reported them, (n, k).
        offsets: To be added there to get robot coordinates, (n, m).
    """

    points: Array
    offsets: Array

    def __post_init__(self) -> None:
        points, offsets = _table(self.points, "points"), _table(self.offsets, "offsets")
        if len(points) != len(offsets):
            raise BadInput(f"offset map: {len(points)} points and {len(offsets)} offsets; need as many, at least 1")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "offsets", offsets)

    def offset_at(self, point: npt.ArrayLike) -> Array:
        """Returns the interpolated offset at one point."""
        distance = np.linalg.norm(self.points - self._checked(point), axis=1)
        nearest = float(distance.min())
        # d_nearest / d_i, the products of Eqn 1 divided by the largest of them: no overflow, exact at the points.
        weight = nearest / distance if nearest > 0.0 else (distance == 0.0).astype(float)
        return np.asarray(weight @ self.offsets / weight.sum())

    def to_robot(self, point: npt.ArrayLike) -> Array:
        """Returns the robot coordinates of a point that the vision system reported."""
        if self.points.shape != self.offsets.shape:
            raise BadInput(
                f"offset map: offsets of {self.offsets.shape[1]} numbers cannot be added to "
                f"points of {self.points.shape[1]}"
            )
        return np.asarray(self._checked(point) + self.offset_at(point))

    def to_vision(self, point: npt.ArrayLike, *, tolerance: float = 1e-12, iterations: int = 200) -> Array:
        """Returns the inverse, used in simulation: the point that the vision system would report for robot coordinates.

        Solves p + delta(p) = q by fixed-point iteration, which converges while offsets change more slowly than
        position, as they do wherever the registration is of any use. With the sum over all pairs of registration
        points of ``|delta_i - delta_j| / |p_i - p_j|`` below 1 the answer is the only one: that sum bounds the slope.

        Raises:
            BadInput: when offsets change as fast as position, as between frames that are turned.
        """
        target = self._checked(point)
        guess = target
        for _ in range(iterations if self._steepest() < 1.0 else 0):
            step = target - self.to_robot(guess)
            guess = guess + step
            if float(np.abs(step).max()) <= tolerance * max(1.0, float(np.abs(target).max())):
                return np.asarray(guess)
        raise BadInput(
            f"offset map: cannot be inverted at {target.tolist()}: the offsets change as fast as the position"
        )

    def _steepest(self) -> float:
        """Returns the largest change of offset per distance between two registration points."""
        distance, change = (
            np.linalg.norm(table[:, None] - table[None], axis=2) for table in (self.points, self.offsets)
        )
        return float((change[distance > 0] / distance[distance > 0]).max(initial=0.0))

    def _checked(self, point: npt.ArrayLike) -> Array:
        checked = np.asarray(point, float)
        if checked.shape != self.points.shape[1:] or not np.isfinite(checked).all():
            raise BadInput(f"offset map: a point has {self.points.shape[1]} finite numbers, not {checked.tolist()}")
        return checked


def _table(rows: npt.ArrayLike, what: str) -> Array:
    """Returns a read-only (n, k) copy."""
    try:
        table = np.atleast_2d(np.array(rows, float))
    except ValueError:
        raise BadInput(f"offset map: {what} must be rows of as many numbers each") from None
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise BadInput(f"offset map: {what} must be one or more rows of finite numbers, not shape {table.shape}")
    table.flags.writeable = False
    return table
