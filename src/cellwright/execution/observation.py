"""Observations: waiting until objects were detected often enough from now on; the rest stays unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellwright.core.errors import JobFailed
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.surroundings import is_movable
from cellwright.knowledge import Belief, Unknown

__all__ = ["Observation", "ObservationTimeout", "Observer"]

POLL_S = 0.05


class ObservationTimeout(JobFailed):
    """An object that must be seen was not, within the time limit."""


@dataclass(frozen=True)
class Observation:
    """The result of an observation.

    Attributes:
        seen: Objects that were seen.
        unseen: Objects that were not, while the anchors around them were.
    """

    seen: frozenset[str]
    unseen: frozenset[str]


class Observer:
    """Waits for detections.

    Args:
        belief: Takes in the detections.
        clock: Time to wait by.
        sightings: The number of detections of an observation.
        limit_s: How long to wait.
    """

    def __init__(self, belief: Belief, clock: AsyncClock, sightings: int, limit_s: float) -> None:
        self.belief = belief
        self._clock = clock
        self._sightings = sightings
        self._limit_s = limit_s

    async def observe(
        self, anchors: Iterable[str], others: Iterable[str] = (), sightings: int | None = None
    ) -> Observation:
        """Waits until the anchors were seen often enough after now.

        Args:
            anchors: Things that are certain to be there: trays.
            others: Things that may be gone.
            sightings: The number of detections; as configured when not given.

        Raises:
            ObservationTimeout: An anchor was not seen within the time limit; says since when.
        """
        wanted = sightings or self._sightings
        start_s = self._clock.time_s
        fixed, rest = list(dict.fromkeys(anchors)), list(dict.fromkeys(others))
        counts: dict[str, int] = dict.fromkeys([*fixed, *rest], 0)
        last: dict[str, float] = {}
        while True:
            now_s = self._clock.time_s
            self.belief.watch(counts, now_s)
            for name in counts:
                seen_s = self.belief.state.seen_s(name)
                if (
                    not isinstance(seen_s, Unknown)
                    and seen_s >= start_s - 1e-6
                    and seen_s > last.get(name, -1.0) + 1e-6
                ):
                    counts[name], last[name] = counts[name] + 1, seen_s
            if all(counts[name] >= wanted for name in fixed):
                seen = frozenset(name for name in rest if counts[name])
                if fixed or len(seen) == len(rest) or now_s - start_s >= self._limit_s:
                    return Observation(frozenset(fixed) | seen, frozenset(rest) - seen)
            elif now_s - start_s >= self._limit_s:
                missing = next(name for name in fixed if counts[name] < wanted)
                seen_s = self.belief.state.seen_s(missing)
                ago = "ever" if isinstance(seen_s, Unknown) else f"for {now_s - seen_s:.1f} s"
                raise ObservationTimeout(f"{missing} was not seen {ago}")
            await self._clock.sleep(POLL_S)


async def observe_trays(
    observer: Observer, trays: Sequence[str], others: Iterable[str] = (), sightings: int | None = None
) -> Observation:
    """Returns a fresh observation of trays, and of other things that may be missing.

    Raises:
        StepFailed: A tray that is carried about is not seen, although what stands still is; it is gone then.
        ObservationTimeout: Nothing is seen any more.
    """
    believed = observer.belief.state
    movable = [tray for tray in trays if is_movable(believed, tray)]
    fixed = [tray for tray in trays if tray not in movable]
    if movable and not fixed:
        sources = {believed.source(tray) for tray in movable}
        fixed = [tray for tray in believed.trays() if not is_movable(believed, tray)]
        fixed = [tray for tray in fixed if believed.source(tray) in sources][:1]
        if not fixed:
            fixed, movable = movable, []
    observation = await observer.observe(fixed, [*movable, *others], sightings)
    gone = [tray for tray in movable if tray in observation.unseen]
    if gone:
        observer.belief.note_missing(gone)
        raise StepFailed(FailureKind.NOT_THERE, f"{gone[0]} is not seen any more", gone[0])
    return observation
