"""Reservations of zones: a robot that is booked later may go in before one booked earlier, if there is time."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable

__all__ = ["ZoneTimes"]

_EPS = 1e-9


class ZoneTimes:
    """Times during which some robot is in a zone.

    Args:
        zones: Place and its zone; a place that is not named is a zone of its own.
        alone: Only one robot works, so nothing has to be kept free for another.
    """

    def __init__(self, zones: Iterable[tuple[str, str]], alone: bool) -> None:
        self.zone_of = dict(zones)
        self.alone = alone
        self._taken: dict[str, list[tuple[float, float]]] = {}  # zone -> beginnings and ends, in order

    def start_s(self, place: str, from_s: float, duration_s: float) -> float:
        """Returns the earliest time from then on at which a robot can go to a place for so long."""
        taken = self._taken.get(self.zone_of.get(place, place))
        if not taken or taken[-1][1] <= from_s:
            return from_s
        for begin_s, end_s in taken[max(bisect_right(taken, (from_s,)) - 1, 0) :]:
            if begin_s >= from_s + duration_s - _EPS:
                break
            from_s = max(from_s, end_s)
        return from_s

    def take(self, place: str, start_s: float, duration_s: float) -> None:
        """Keeps the zone of a place for a robot."""
        if not self.alone:
            insort(self._taken.setdefault(self.zone_of.get(place, place), []), (start_s, start_s + duration_s))
