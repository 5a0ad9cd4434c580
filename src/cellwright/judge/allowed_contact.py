"""Allowed contacts: pairs of bodies that may touch."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import inf

import numpy as np

__all__ = ["AllowedContact"]


@dataclass(frozen=True)
class AllowedContact:
    """A pair of bodies that may touch, by patterns such as `ur5/tool/pad_*`; everywhere, or only near a place.

    Attributes:
        first: One of them: a body as `robot/link`, an object, a fixture, or a pad by its own name.
        second: The other.
        near_m: The place on the floor plan, x and y.
        radius_m: How far from there.
        limit_n: How hard; a larger force counts.
        one_way: Whether only the first, while it is held, may touch the second, and not the other way round.
    """

    first: str
    second: str
    near_m: tuple[float, float] | None = None
    radius_m: float = 0.0
    limit_n: float = inf
    one_way: bool = False

    @property
    def always(self) -> bool:
        """True if it holds everywhere, however hard they touch."""
        return self.near_m is None and self.limit_n == inf

    def covers(self, one: str, other: str) -> bool:
        """Returns whether it is about this pair."""
        return any(fnmatchcase(a, self.first) and fnmatchcase(b, self.second) for a, b in ((one, other), (other, one)))

    def covers_place(self, x_m: float, y_m: float) -> bool:
        """Returns whether it holds there."""
        if self.near_m is None:
            return True
        return bool(np.hypot(x_m - self.near_m[0], y_m - self.near_m[1]) <= self.radius_m)
