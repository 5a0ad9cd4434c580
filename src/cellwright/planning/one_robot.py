"""One robot carries out phases: all that a tool can do, then the next tool."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from cellwright.planning.booking import Booking
from cellwright.planning.corrections import correct
from cellwright.planning.phase_problem import KitKind, ToolPhase
from cellwright.planning.planner import KitJob
from cellwright.planning.resources import OpenKit, RobotSchedule

__all__ = ["OneRobot"]


@dataclass
class OneRobot:
    """The robot, the kits that wait for a tray, by kind, and the tables."""

    booking: Booking
    arm: RobotSchedule
    pools: dict[KitKind, deque[KitJob]]
    tables: list[str]

    def __post_init__(self) -> None:
        """Notes whether there are wrong parts: only those can leave a tool nothing to do, as there may be no room."""
        self._crowded = any(kit.wrong for kit in self.booking.kits.values())

    def carry_out(self, phase: ToolPhase) -> None:
        """Does all that the phase's tool can do, and lays the trays that the search chose."""
        booking, arm = self.booking, self.arm
        if phase.tool is None or (self._crowded and not self._useful(phase)):
            return
        if phase.tool != arm.tool and not booking.change_tool(arm, phase.tool):
            return
        handles, lays = booking.handles[phase.tool], deque(phase.lays)
        while True:
            if self._crowded:
                correct(booking, arm, handles)  # first of all: what comes out may go into another kit
            for kit in list(booking.kits.values()):
                self._fill(kit, handles)
                if self._full(kit) and kit.job.design.tray_sku in handles:
                    outlet = booking.outlet(arm)
                    if outlet is not None:
                        booking.clear(arm, kit, outlet)
            if not self._lay(lays):
                return

    def carry_on(self) -> list[str]:
        """Does what the phases have left, with whatever tool helps; returns the kits that nothing completes.

        The search does not see how much room there is for wrong parts, so that a tool may be needed once more.
        """
        while True:
            done = len(self.booking.actions)
            lays = tuple(kind for kind, pool in sorted(self.pools.items()) for _ in pool)
            for tool in sorted(self.arm.tools, key=lambda tool: (tool != self.arm.tool, tool)):
                if self._useful(ToolPhase(tool, lays)):
                    self.carry_out(ToolPhase(tool, lays))
                    break
            if len(self.booking.actions) == done:
                break
        open_kits = [kit.job.name for kit in self.booking.kits.values() if not (kit.fixed and self._full(kit, True))]
        return open_kits + [job.name for pool in self.pools.values() for job in pool]

    @staticmethod
    def _full(kit: OpenKit, fixed: bool = False) -> bool:
        return not kit.missing and not kit.wrong and kit.fixed == fixed

    def _useful(self, phase: ToolPhase) -> bool:
        """Returns whether there is anything to do with the phase's tool."""
        booking, arm = self.booking, self.arm
        handles = booking.handles[phase.tool or ""]
        for kit in booking.kits.values():
            if any(sku in handles and booking.source_s(arm, sku) is not None for sku in kit.missing):
                return True
            if any(sku in handles and booking.takes_part(arm, sku) for sku, _ in kit.wrong):
                return True
            if self._full(kit) and kit.job.design.tray_sku in handles and booking.outlet(arm):
                return True
        free = any(table not in booking.taken for table in self.tables)
        trays = {pool[0].design.tray_sku for kind in phase.lays if (pool := self.pools[kind])}
        return free and any(sku in handles and booking.stack(arm, sku) for sku in trays)

    def _lay(self, lays: deque[KitKind]) -> bool:
        """Lays trays onto the free tables; returns whether any."""
        laid = False
        for table in self.tables:
            if lays and table not in self.booking.taken:
                pool = self.pools[lays[0]]
                stack = self.booking.stack(self.arm, pool[0].design.tray_sku)
                if stack is None or pool[0].design.tray_sku not in self.booking.handles[self.arm.tool or ""]:
                    return laid
                lays.popleft()
                self.booking.lay(self.arm, pool.popleft(), table, stack)
                laid = True
        return laid

    def _fill(self, kit: OpenKit, handles: frozenset[str]) -> None:
        """Moves all parts that the tool handles from their trays into the kit."""
        for sku in [sku for sku in kit.missing if sku in handles]:
            while left := kit.missing.get(sku, 0):
                tray = self.booking.source(self.arm, sku, kit.place)
                if tray is None:
                    break
                self.booking.move_part(self.arm, kit, sku, tray, min(left, tray.count))
