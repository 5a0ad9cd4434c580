"""Gears in kits that no robot has set down there: touched before a kit is called done, where no detector tells heights.

Cameras that look down do not tell a gear that is seated from one that stands on its head in its slot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cellwright.catalogue import GearFigures
from cellwright.execution.failure import StepFailed
from cellwright.execution.height_touch import touch_table
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.seat_touch import rim_height_m
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.surroundings import reaches
from cellwright.execution.verify import kit_reports
from cellwright.knowledge import Belief, BelievedPart, BelievedSlot
from cellwright.orders import KitDesign

__all__ = ["StrangeParts"]


@dataclass
class StrangeParts:
    """The parts in kits by who put them there.

    Attributes:
        belief: What is believed.
        settings: What counts as seated.
        seated: Part -> the slot, as `kit/slot`, into which a robot has set it, or in which it was felt to be seated.
        felt: Part -> why it is not in its seat, by touch.
        notes: What could not be touched, and why.
    """

    belief: Belief
    settings: ExecutionSettings
    seated: dict[str, str]
    felt: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note_seated(self, part: str, kit: str, design: KitDesign) -> None:
        """Notes that a part is in its seat in a kit: a robot has set it down there, or felt it."""
        believed = self.belief.state
        slots = believed.slots_of_kit(kit, design)
        nearest = min(slots, key=lambda slot: believed.part(part).across_m(slot.position))
        self.seated[part] = f"{kit}/{nearest.name}"
        self.felt.pop(part, None)

    async def feel(self, workers: Collection[Manipulator], designs: Mapping[str, KitDesign], since_s: float) -> bool:
        """Touches every gear that looks seated and that no robot has set down there, once; before it, its table.

        One that no robot can touch is believed to be as it is seen.

        Args:
            workers: The robots, which have nothing else to do now.
            designs: Kit -> what it shall be.
            since_s: What was seen earlier does not count.

        Returns:
            Whether one is not in its seat.
        """
        found, touching = False, dict[str, Manipulator]()
        for kit, part, slot in self._strange(designs, since_s):
            near = [one for one in workers if not one.held and reaches(self.belief.state, one.name, slot.position)]
            met_m = await self._touch(near[0], part, slot, kit) if near else None
            touching |= {one.name: one for one in near[:1]}
            if met_m:
                self.felt[part.name] = f"stands {1000 * met_m:.1f} mm too high beside its peg, by touch"
                found = True
            else:
                self.note_seated(part.name, kit, designs[kit])
        for worker in touching.values():
            await worker.withdraw()  # out of the way of the look that comes next
        return found

    def _strange(
        self, designs: Mapping[str, KitDesign], since_s: float
    ) -> list[tuple[str, BelievedPart, BelievedSlot]]:
        believed, found = self.belief.state, []
        for kit in kit_reports(self.belief, designs, since_s, self.settings, self.felt):
            rows = {row.slot: row for row in kit.slots if row.filled and "height" in row.unmeasured}
            for slot in believed.slots_of_kit(kit.name, designs[kit.name]) if rows else ():
                if slot.name not in rows or self.seated.get(rows[slot.name].part) == f"{kit.name}/{slot.name}":
                    continue
                part = believed.part(rows[slot.name].part)
                if isinstance(part.figures, GearFigures):
                    found.append((kit.name, part, slot))
        return found

    async def _touch(self, worker: Manipulator, part: BelievedPart, slot: BelievedSlot, kit: str) -> float | None:
        assert isinstance(part.figures, GearFigures)
        try:
            async with worker.busy:
                surface = worker.heights.at(slot.position)
                if surface is not None and not surface.is_touched(slot.position):
                    await touch_table(
                        worker, slot.position
                    )  # one that is not as drawn would look like a part that is not
                met_m = await rim_height_m(worker, part.figures, slot.position)
        except StepFailed as failure:
            self.notes.append(f"{part.name} in {slot.name} of {kit} could not be touched: {failure}")
            return None
        return met_m
