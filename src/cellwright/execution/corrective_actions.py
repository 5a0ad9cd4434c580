"""Corrective actions beside a plan: parts out of the way, out and in again, and back into their trays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cellwright.execution.binding import blockers, exclusion_reason
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import KitReport
from cellwright.execution.surroundings import extras, reaches
from cellwright.execution.trays import top_trays
from cellwright.knowledge import BeliefState
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["Corrections"]


@dataclass(frozen=True)
class Corrections:
    """Corrections that the working robots can make.

    Attributes:
        believed: What is believed.
        designs: Kit -> what it shall become.
        manipulators: Robot -> its arm and hand.
        reach: Robot -> trays, kits and tables that it gets to.
        left_out: Part -> why it is not to be taken.
    """

    believed: BeliefState
    designs: Mapping[str, KitDesign]
    manipulators: Mapping[str, Manipulator]
    reach: Mapping[str, frozenset[str]]
    left_out: Mapping[str, str]

    def clearing(self) -> list[Action]:
        """Returns actions that remove a part from on top of a kit or across its slots: into its slot, or back."""
        believed = self.believed
        parts = believed.parts()
        for kit, design in self.designs.items():
            manipulator = self._able(kit)
            if manipulator is None or kit not in believed.tree.index:
                continue
            empty = [slot for slot in believed.slots_of_kit(kit, design) if believed.part_in(slot, parts) is None]
            across = [part for slot in empty for part in blockers(believed, slot, parts)]
            on_it = extras(believed, kit, design, parts)
            for part in {part.name: part for part in (*across, *on_it)}.values():
                is_in_reach = reaches(believed, manipulator.name, part.position)
                if not is_in_reach or exclusion_reason(part, manipulator.recipe, self.left_out):
                    continue
                hand = self._put_back(manipulator, manipulator.held_sku) if manipulator.held else []
                fetch = _fetch(manipulator, part.sku, part.name, kit)
                put = self._put_back(manipulator, part.sku)
                if any(slot.sku == part.sku for slot in empty):
                    put = _place(fetch[0], kit)
                if put and (hand or not manipulator.held):
                    return [*hand, *fetch, *put]
        return []

    def reseating(self, kits: Sequence[KitReport]) -> list[Action]:
        """Returns actions that reseat the parts that are in their slots and not seated: out and in again."""
        found: list[Action] = []
        for kit in kits:
            manipulator = self._able(kit.name)
            for slot in kit.slots:
                if slot.filled or slot.sku != slot.wanted or not slot.part or slot.part in self.left_out:
                    continue
                if manipulator is None or manipulator.held:
                    continue
                if self.believed.part(slot.part).tilt_rad > manipulator.recipe.max_tilt_rad:
                    continue
                fetch = _fetch(manipulator, slot.wanted, slot.part, kit.name)
                found += [*fetch, *_place(fetch[0], kit.name)]
        return found

    def put_back(self) -> list[Action]:
        """Returns actions that put back parts that are still in hands and not needed."""
        return [
            step
            for manipulator in self.manipulators.values()
            if manipulator.held and not manipulator.out_of_service
            for step in self._put_back(manipulator, manipulator.held_sku)
        ]

    def _able(self, kit: str) -> Manipulator | None:
        """Returns the first robot that works, gets to where a kit is, and has fingers for the parts there."""
        believed = self.believed
        if kit not in believed.objects:
            return None
        for name, manipulator in self.manipulators.items():
            reach = self.reach.get(name, frozenset())
            handles = believed.handles.get(manipulator.tool, ())
            if manipulator.out_of_service or manipulator.carries_tray:
                continue
            if kit not in reach and believed.objects[kit].reference not in reach:
                continue
            if any(sku in handles for sku in believed.part_sku.values()):
                return manipulator
        return None

    def _put_back(self, manipulator: Manipulator, sku: str) -> list[Action]:
        """Returns the action that puts a held part into a parts tray with room, or a kit tray into its box."""
        believed = self.believed
        if manipulator.carries_tray:
            if believed.objects[manipulator.held].kind == "Kit":
                return []
            boxes = [box.name for box in believed.of_kind("LargeBoxWithEmptyKitTrays")]
            stacks = [box for box in boxes if any(believed.objects[t].sku == sku for t in top_trays(believed, box))]
            return [Action(Verb.RETURN_TRAY, manipulator.name, manipulator.tool, sku, box) for box in stacks[:1]]
        parts = believed.parts()
        for tray in sorted(self.reach.get(manipulator.name, frozenset()) & set(believed.part_sku)):
            empty = any(believed.part_in(slot, parts) is None for slot in believed.slots_of_tray(tray))
            if believed.part_sku[tray] == sku and empty:
                return [Action(Verb.RETURN_PART, manipulator.name, manipulator.tool, sku, tray)]
        return []


def _fetch(manipulator: Manipulator, sku: str, part: str, kit: str) -> list[Action]:
    step = Action(Verb.LOOK_PART, manipulator.name, manipulator.tool, sku, part, kit)
    return [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]


def _place(step: Action, kit: str) -> list[Action]:
    return [step._replace(verb=verb, place=kit) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART)]
