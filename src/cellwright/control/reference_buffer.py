"""The reference buffer: a motion sampled ahead of time, from which controllers read their reference row by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cellwright.motion import Follower, FollowerState, RunState

__all__ = ["ReferenceBuffer"]

Array = npt.NDArray[np.float64]

CHUNK_ROWS = 1000  # some seconds: a motion with a small override would fill the memory otherwise
MARGIN_ROWS = 100


class ReferenceBuffer:
    """The rows that a follower makes, and its state at each of them.

    A command at some row puts the follower back to that row, and what it does from there replaces the rows to come.
    So nothing jumps, and controllers need no Python while they follow.

    Attributes:
        rows: Positions, velocities and accelerations, (turns, 3, joints).

    Args:
        follower: Makes them.
        ahead: Whether a row is what should be reached by the end of its turn, as a servo wants it, and not what
            should be true at its beginning.
    """

    def __init__(self, follower: Follower, *, ahead: bool) -> None:
        self._follower = follower
        self._start = follower.moment
        self._begins_here = not ahead  # whether the first row is the start itself
        self.rows: Array = np.empty((0, 3, len(follower.arm.joints)))
        self._moments: list[FollowerState] = []
        self._run()

    @property
    def state(self) -> RunState:
        """The state of the follower after the last row."""
        return self._follower.state

    @property
    def complete(self) -> bool:
        """Whether the last row is at rest; otherwise more are to come."""
        return self._follower.at_rest

    def share(self, count: int, position_rad: Array | None = None) -> float:
        """Returns the share of the motion that is done after `count` rows, 0 to 1.

        Args:
            count: The number of rows that are done.
            position_rad: The angles of the arm, where they lag behind the reference.
        """
        if position_rad is not None and count:
            count = 1 + int(np.linalg.norm(self.rows[:count, 0] - position_rad, axis=1).argmin())
        place = (
            self._moments[min(count, len(self._moments)) - 1].place if count and self._moments else self._start.place
        )
        return self._follower.share_at(place)

    def change(self, count: int, order: Callable[[Follower], object]) -> None:
        """Gives the follower a command as of the row in force, after `count` rows are done."""
        self._drop(count)
        self._follower.put_back(self._start)
        order(self._follower)
        self._start = self._follower.moment  # the same place in another state
        self.rows = self.rows[:0]
        self._moments = []
        self._run()

    def extend(self, count: int) -> bool:
        """Drops rows that are done and makes more, when their end comes near; returns whether it did."""
        if self.complete or count < len(self.rows) - MARGIN_ROWS:
            return False
        self._drop(count)
        self._run()
        return True

    def _drop(self, count: int) -> None:
        count = min(count, len(self.rows))
        if count:
            self._start = self._moments[count - 1]
            self._begins_here = False
            self.rows = self.rows[count:]
            self._moments = self._moments[count:]

    def _run(self) -> None:
        parts = [self.rows]
        if self._begins_here and not self._moments:
            parts.append(np.array([self._follower.sample]))
            self._moments.append(self._start)
        if len(parts) == 1 or not self._follower.at_rest:
            rows, moments = self._follower.run(CHUNK_ROWS)
            parts.append(rows)
            self._moments += moments
        self.rows = np.concatenate(parts)
