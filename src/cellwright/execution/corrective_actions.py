"""Corrective actions beside a plan: parts out of the way, out and in again, and back into their trays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.execution.binding import blockers, exclusion_reason
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import KitReport
from cellwright.execution.surroundings import extras, reaches
from cellwright.execution.trays import top_trays
from cellwright.knowledge import BeliefState
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["clearing_actions", "put_back_actions", "reseating_actions"]


def clearing_actions(
    designs: Mapping[str, KitDesign],
    believed: BeliefState,
    manipulators: Mapping[str, Manipulator],
    reach: Mapping[str, frozenset[str]],
    left_out: Mapping[str, str],
) -> list[Action]:
    """Returns actions that remove a part from on top of a kit or across its slots: into its slot, or back."""
    parts = believed.parts()
    for kit, design in designs.items():
        able = [w for name, w in manipulators.items() if _can_correct(believed, w, kit, reach.get(name, frozenset()))]
        if not able or kit not in believed.tree.index:
            continue
        manipulator, empty = (
            able[0],
            [s for s in believed.slots_of_kit(kit, design) if believed.part_in(s, parts) is None],
        )
        across = [part for slot in empty for part in blockers(believed, slot, parts)]
        for part in {part.name: part for part in (*across, *extras(believed, kit, parts))}.values():
            if exclusion_reason(part, manipulator.recipe, left_out) or not reaches(
                believed, manipulator.name, part.position
            ):
                continue
            hand = _put_back(believed, manipulator, manipulator.held_sku, reach) if manipulator.held else []
            step = Action(Verb.LOOK_PART, manipulator.name, manipulator.tool, part.sku, part.name, kit)
            fetch = [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]
            put = _put_back(believed, manipulator, part.sku, reach)
            if any(slot.sku == part.sku for slot in empty):
                put = [step._replace(verb=verb, place=kit) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART)]
            if put and (hand or not manipulator.held):
                return [*hand, *fetch, *put]
    return []


def _can_correct(believed: BeliefState, manipulator: Manipulator, kit: str, reach: frozenset[str]) -> bool:
    """Returns whether a robot works, gets to where a kit is, and has fingers for the parts there."""
    if manipulator.out_of_service or manipulator.carries_tray or kit not in believed.objects:
        return False
    if kit not in reach and believed.objects[kit].reference not in reach:
        return False
    return any(sku in believed.handles.get(manipulator.tool, ()) for sku in believed.part_sku.values())


def _put_back(
    believed: BeliefState, manipulator: Manipulator, sku: str, reach: Mapping[str, frozenset[str]]
) -> list[Action]:
    """Returns the action that puts a held part into a parts tray with room, or a kit tray into its box."""
    if manipulator.carries_tray:
        boxes = [box.name for box in believed.of_kind("LargeBoxWithEmptyKitTrays")]
        stacks = [box for box in boxes if any(believed.objects[t].sku == sku for t in top_trays(believed, box))]
        is_kit = believed.objects[manipulator.held].kind == "Kit"
        return (
            []
            if is_kit
            else [Action(Verb.RETURN_TRAY, manipulator.name, manipulator.tool, sku, box) for box in stacks[:1]]
        )
    parts = believed.parts()
    for tray in sorted(reach.get(manipulator.name, frozenset()) & set(believed.part_sku)):
        empty = any(believed.part_in(slot, parts) is None for slot in believed.slots_of_tray(tray))
        if believed.part_sku[tray] == sku and empty:
            return [Action(Verb.RETURN_PART, manipulator.name, manipulator.tool, sku, tray)]
    return []


def put_back_actions(
    believed: BeliefState, manipulators: Mapping[str, Manipulator], reach: Mapping[str, frozenset[str]]
) -> list[Action]:
    """Returns actions that put back parts that are still in hands and not needed."""
    return [
        step
        for manipulator in manipulators.values()
        if manipulator.held and not manipulator.out_of_service
        for step in _put_back(believed, manipulator, manipulator.held_sku, reach)
    ]


def reseating_actions(
    kits: Sequence[KitReport],
    designs: Mapping[str, KitDesign],
    believed: BeliefState,
    manipulators: Mapping[str, Manipulator],
    reach: Mapping[str, frozenset[str]],
    left_out: Mapping[str, str],
) -> list[Action]:
    """Returns actions that reseat the parts that are in their slots and not seated: out and in again."""
    found: list[Action] = []
    for kit in kits:
        able = [
            name
            for name, w in manipulators.items()
            if _can_correct(believed, w, kit.name, reach.get(name, frozenset()))
        ]
        for slot in kit.slots:
            if slot.filled or slot.sku != slot.wanted or not slot.part or slot.part in left_out or not able:
                continue
            part = believed.part(slot.part)
            if part.tilt_rad > manipulators[able[0]].recipe.max_tilt_rad or manipulators[able[0]].held:
                continue
            step = Action(Verb.LOOK_PART, able[0], manipulators[able[0]].tool, slot.wanted, slot.part, kit.name)
            put = step._replace(place=kit.name)
            found += [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]
            found += [put._replace(verb=Verb.LOOK_SLOT), put._replace(verb=Verb.PLACE_PART)]
    return found
