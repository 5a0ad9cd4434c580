"""The interface of collision checkers."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["CollisionChecker", "CollisionPair", "Relaxed", "between"]

Array = npt.NDArray[np.float64]
Relaxed = Set[frozenset[str]]  # pairs of names to which a margin does not apply


@dataclass(frozen=True)
class CollisionPair:
    """Two things that touch, or are nearer to each other than the margin.

    Attributes:
        first: The name of the robot's link, tool or held object.
        second: The name of what it touches.
        distance_m: Between them, as far as the checker knows; negative when one is inside the other.
    """

    first: str
    second: str
    distance_m: float

    def __str__(self) -> str:
        apart = f" ({1e3 * self.distance_m:.1f} mm apart)" if self.distance_m > 0 else ""
        return f"{self.first} touches {self.second}{apart}"


class CollisionChecker(Protocol):
    """Says whether a configuration is free of collisions."""

    @property
    def checks(self) -> int:
        """The number of configurations that were checked."""

    def is_free(self, joints_rad: Any) -> bool:
        """Returns whether nothing touches."""

    def touch(self, joints_rad: Any) -> CollisionPair | None:
        """Returns a pair that touches, if there is one."""

    def tilt_rad(self, limit: Array, joints_rad: Any) -> float:
        """Returns the angle between the tool's axis and its direction, as in `kernel_motion`."""

    def is_motion_free(self, start_rad: Any, end_rad: Any, step_rad: float) -> bool:
        """Returns whether nothing touches on the straight line between two configurations, checked in steps."""


def between(path_rad: Array, step_rad: float) -> Array:
    """Returns the path with points between its own, so that no joint turns farther than a step from one to the next."""
    rows = [path_rad[:1]]
    for a, b in pairwise(path_rad):
        pieces = max(1, int(np.ceil(np.abs(b - a).max() / step_rad)))
        rows.append(a + (b - a) * (np.arange(1, pieces + 1) / pieces)[:, None])
    return np.concatenate(rows)
