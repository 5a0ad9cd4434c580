"""Inspection of all trays: which objects are present or missing, and at the end whether the kits are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.observation import Observer
from cellwright.execution.outcome import KitReport
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.surroundings import is_covered, is_movable, reaches
from cellwright.execution.verify import kit_reports
from cellwright.knowledge import Belief
from cellwright.orders import KitDesign

__all__ = ["CellInspector"]


class CellInspector:
    """Observes all trays within reach.

    Args:
        belief: What is believed; its missing parts are updated.
        observer: Waits for detections.
        clock: Time to wait by.
        robots: The robots whose trays are inspected.
    """

    def __init__(self, belief: Belief, observer: Observer, clock: AsyncClock, robots: Sequence[str]) -> None:
        self._belief = belief
        self._observer = observer
        self._clock = clock
        self._robots = robots

    async def inspect(self) -> None:
        """Observes every tray; parts, and trays that robots carry, are missing when they are not seen."""
        believed = self._belief.state
        held = {believed.detected_as(thing) for thing in believed.held.values()}
        parts = [thing.name for thing in believed.of_kind("Part") if thing.name not in held]
        movable = [tray for tray in believed.trays() if is_movable(believed, tray) and tray not in held]
        observation = await self._observer.observe(self._trays(), [*parts, *movable])
        gone = [name for name in observation.unseen if name not in movable or not is_covered(believed, name)]
        self._belief.note_missing(gone, found=believed.missing)

    async def verify(self, wanted: Mapping[str, KitDesign], settings: ExecutionSettings) -> tuple[KitReport, ...]:
        """Returns the kits as they are seen from now on; what does not look right is observation at for a while."""
        since_s = self._clock.time_s
        while True:
            await self.inspect()
            kits = kit_reports(self._belief, wanted, since_s, self._clock.time_s, settings)
            if all(kit.complete for kit in kits) or self._clock.time_s - since_s >= settings.verify_s:
                return kits

    def _trays(self) -> list[str]:
        """Returns the trays that these robots work at, and that stay where they are."""
        believed = self._belief.state
        fixed = [tray for tray in believed.trays() if not is_movable(believed, tray)]
        return [t for t in fixed if any(reaches(believed, r, believed.pose(t).position) for r in self._robots)]
