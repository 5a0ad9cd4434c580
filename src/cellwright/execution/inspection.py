"""Inspection of all trays: which objects are present or missing, and at the end whether the kits are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.look_questions import Observation, Question
from cellwright.execution.outcome import KitReport
from cellwright.execution.robot_team import RobotTeam
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.surroundings import is_covered, is_movable, reaches
from cellwright.execution.verify import kit_reports
from cellwright.knowledge import Belief
from cellwright.orders import KitDesign

__all__ = ["CellInspector"]

ROUGHLY_M = 0.002  # how well a place must be known to plan with it; before a part is taken it is looked at again


class CellInspector:
    """Looks at all trays within reach.

    Args:
        belief: What is believed; its missing parts are updated.
        looks: Looks.
        clock: Time to wait by.
        robots: The robots whose trays are inspected.

    Attributes:
        kit_trays: SKUs of the kit trays that must be there, those that are ordered; None for all.
    """

    def __init__(self, belief: Belief, looks: LookPlanner, clock: AsyncClock, robots: Sequence[str]) -> None:
        self._belief = belief
        self._looks = looks
        self._clock = clock
        self._robots = robots
        self.kit_trays: frozenset[str] | None = None

    async def inspect(
        self,
        team: RobotTeam,
        designs: Mapping[str, KitDesign] | None = None,
        since_s: float | None = None,
        *,
        stock: bool = False,
    ) -> Observation:
        """Looks at every tray; parts, and trays that robots carry, are missing when they are in view and not seen.

        Args:
            team: The robots, which have nothing else to do now.
            designs: Kit -> what it shall become: its slots are looked at, too.
            since_s: What was seen since then is not looked at again; now by default.
            stock: Whether the slots of parts trays are looked at, too: there may be parts that nobody knows of.
        """
        believed = self._belief.state
        now_s = self._clock.time_s if since_s is None else since_s
        held = {believed.detected_as(thing) for thing in believed.held.values()}
        parts = [
            thing.name for thing in believed.of_kind("Part") if thing.name not in held and self._is_near(thing.name)
        ]
        movable = [tray for tray in believed.trays() if is_movable(believed, tray) and tray not in held]
        covered = [tray for tray in movable if is_covered(believed, tray)]
        asked = [Question(tray, now_s, is_fixed=self._is_needed(tray), within_m=ROUGHLY_M) for tray in self._trays()]
        asked += [Question(name, now_s, within_m=ROUGHLY_M) for name in (*parts, *movable) if name not in covered]
        asked += [
            Question(kit, now_s, slot.name)
            for kit, design in (designs or {}).items()
            if kit in believed.tree.index and believed.detected_as(kit) not in held and not believed.is_missing(kit)
            for slot in believed.slots_of_kit(kit, design)
        ]
        stocked = [tray for tray in self._trays() if stock and tray in believed.part_sku]
        asked += [Question(tray, now_s, slot.name) for tray in stocked for slot in believed.slots_of_tray(tray)]
        found = await self._looks.look(asked, team.in_service())
        gone = [question.name for question in found.unseen if not question.slot]
        seen = [question.name for question in found.seen if not question.slot]
        self._belief.note_missing(gone, found=seen)
        return found

    async def verify(
        self,
        team: RobotTeam,
        wanted: Mapping[str, KitDesign],
        settings: ExecutionSettings,
        since_s: float,
        felt: Mapping[str, str] | None = None,
    ) -> tuple[KitReport, ...]:
        """Returns the kits as they are seen since the last motion; what does not look right, for a while."""
        start_s = self._clock.time_s
        while True:
            await self.inspect(team, wanted, since_s)
            kits = kit_reports(self._belief, wanted, since_s, settings, felt)
            if all(kit.complete for kit in kits) or self._clock.time_s - start_s >= settings.verify_s:
                return kits
            await self._clock.sleep(settings.verify_s / 5)
            since_s = self._clock.time_s

    def _trays(self) -> list[str]:
        """Returns the trays that these robots work at, and that stay where they are."""
        believed = self._belief.state
        return [tray for tray in believed.trays() if not is_movable(believed, tray) and self._is_near(tray)]

    def _is_needed(self, tray: str) -> bool:
        """Returns whether nothing can be done without a tray: one with parts, or for a kit that is ordered."""
        thing = self._belief.state.objects[tray]
        return thing.kind != "KitTray" or self.kit_trays is None or thing.sku in self.kit_trays

    def _is_near(self, name: str) -> bool:
        """Returns whether something is where these robots work."""
        believed = self._belief.state
        return believed.has_pose(name) and any(
            reaches(believed, robot, believed.pose(name).position) for robot in self._robots
        )
