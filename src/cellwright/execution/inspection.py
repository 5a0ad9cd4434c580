"""Inspection of all trays: which objects are present or missing, and at the end whether the kits are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.observation import Observer
from cellwright.execution.outcome import KitReport
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.verify import kit_reports
from cellwright.execution.view import CellView
from cellwright.orders import KitDesign

__all__ = ["CellInspector"]


class CellInspector:
    """Observes all trays within reach.

    Args:
        view: The belief; its missing parts are updated.
        observer: Waits for detections.
        clock: Time to wait by.
        robots: The robots whose trays are inspected.
    """

    def __init__(self, view: CellView, observer: Observer, clock: AsyncClock, robots: Sequence[str]) -> None:
        self._view, self._observer, self._clock, self._robots = view, observer, clock, robots

    async def inspect(self) -> None:
        """Observes every tray; parts, and trays that robots carry, are missing when they are not seen."""
        view = self._view
        held = {view.detected_as(thing) for thing in view.facts.held.values()}
        parts = [thing.name for thing in view.facts.of_kind("Part") if thing.name not in held]
        movable = [tray for tray in view.trays() if view.is_movable(tray) and tray not in held]
        observation = await self._observer.observe(self._trays(), [*parts, *movable])
        view.gone = {name for name in observation.unseen if name not in movable or not view.is_covered(name)}

    async def verify(self, wanted: Mapping[str, KitDesign], settings: ExecutionSettings) -> tuple[KitReport, ...]:
        """Returns the kits as they are seen from now on; what does not look right is observation at for a while."""
        since_s = self._clock.time_s
        while True:
            await self.inspect()
            kits = kit_reports(self._view, wanted, since_s, self._clock.time_s, settings)
            if all(kit.complete for kit in kits) or self._clock.time_s - since_s >= settings.verify_s:
                return kits

    def _trays(self) -> list[str]:
        """Returns the trays that these robots work at, and that stay where they are."""
        view = self._view
        fixed = [tray for tray in view.trays() if not view.is_movable(tray)]
        return [t for t in fixed if any(view.reaches(r, view.pose(t).position) for r in self._robots)]
