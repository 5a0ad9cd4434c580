"""Corrective actions beside a plan: parts out of the way, out and in again, and back into their trays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.execution.binding import blockers, exclusion_reason
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import KitReport
from cellwright.execution.trays import top_trays
from cellwright.execution.view import CellView
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["clearing_actions", "put_back_actions", "reseating_actions"]


def clearing_actions(
    designs: Mapping[str, KitDesign],
    view: CellView,
    manipulators: Mapping[str, Manipulator],
    reach: Mapping[str, frozenset[str]],
    left_out: Mapping[str, str],
) -> list[Action]:
    """Returns actions that remove a part from on top of a kit or across its slots: into its slot, or back."""
    parts = view.parts()
    for kit, design in designs.items():
        able = [w for name, w in manipulators.items() if _can_correct(view, w, kit, reach.get(name, frozenset()))]
        if not able or kit not in view.facts.tree.index:
            continue
        manipulator, empty = able[0], [s for s in view.seats_of_kit(kit, design) if view.in_seat(s, parts) is None]
        across = [part for seat in empty for part in blockers(view, seat, parts)]
        for part in {part.name: part for part in (*across, *view.extras(kit, parts))}.values():
            if exclusion_reason(part, manipulator.recipe, left_out) or not view.reaches(
                manipulator.name, part.position
            ):
                continue
            hand = _put_back(view, manipulator, manipulator.held_sku, reach) if manipulator.held else []
            step = Action(Verb.LOOK_PART, manipulator.name, manipulator.tool, part.sku, part.name, kit)
            fetch = [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]
            put = _put_back(view, manipulator, part.sku, reach)
            if any(seat.sku == part.sku for seat in empty):
                put = [step._replace(verb=verb, place=kit) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART)]
            if put and (hand or not manipulator.held):
                return [*hand, *fetch, *put]
    return []


def _can_correct(view: CellView, manipulator: Manipulator, kit: str, reach: frozenset[str]) -> bool:
    """Returns whether a robot works, gets to where a kit is, and has fingers for the parts there."""
    if manipulator.out_of_service or manipulator.carries_tray or kit not in view.facts.things:
        return False
    if kit not in reach and view.facts.things[kit].reference not in reach:
        return False
    return any(sku in view.facts.handles.get(manipulator.tool, ()) for sku in view.facts.part_sku.values())


def _put_back(view: CellView, manipulator: Manipulator, sku: str, reach: Mapping[str, frozenset[str]]) -> list[Action]:
    """Returns the action that puts a held part into a parts tray with room, or a kit tray into its box."""
    if manipulator.carries_tray:
        boxes = [box.name for box in view.facts.of_kind("LargeBoxWithEmptyKitTrays")]
        stacks = [box for box in boxes if any(view.facts.things[t].sku == sku for t in top_trays(view, box))]
        is_kit = view.facts.things[manipulator.held].kind == "Kit"
        return (
            []
            if is_kit
            else [Action(Verb.RETURN_TRAY, manipulator.name, manipulator.tool, sku, box) for box in stacks[:1]]
        )
    parts = view.parts()
    for tray in sorted(reach.get(manipulator.name, frozenset()) & set(view.facts.part_sku)):
        empty = any(view.in_seat(seat, parts) is None for seat in view.seats_of_tray(tray))
        if view.facts.part_sku[tray] == sku and empty:
            return [Action(Verb.RETURN_PART, manipulator.name, manipulator.tool, sku, tray)]
    return []


def put_back_actions(
    view: CellView, manipulators: Mapping[str, Manipulator], reach: Mapping[str, frozenset[str]]
) -> list[Action]:
    """Returns actions that put back parts that are still in hands and not needed."""
    return [
        step
        for manipulator in manipulators.values()
        if manipulator.held and not manipulator.out_of_service
        for step in _put_back(view, manipulator, manipulator.held_sku, reach)
    ]


def reseating_actions(
    kits: Sequence[KitReport],
    designs: Mapping[str, KitDesign],
    view: CellView,
    manipulators: Mapping[str, Manipulator],
    reach: Mapping[str, frozenset[str]],
    left_out: Mapping[str, str],
) -> list[Action]:
    """Returns actions that reseat the parts that are in their slots and not seated: out and in again."""
    found: list[Action] = []
    for kit in kits:
        able = [
            name for name, w in manipulators.items() if _can_correct(view, w, kit.name, reach.get(name, frozenset()))
        ]
        for slot in kit.slots:
            if slot.filled or slot.sku != slot.wanted or not slot.part or slot.part in left_out or not able:
                continue
            part = view.part(slot.part)
            if part.tilt_rad > manipulators[able[0]].recipe.max_tilt_rad or manipulators[able[0]].held:
                continue
            step = Action(Verb.LOOK_PART, able[0], manipulators[able[0]].tool, slot.wanted, slot.part, kit.name)
            put = step._replace(place=kit.name)
            found += [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]
            found += [put._replace(verb=Verb.LOOK_SLOT), put._replace(verb=Verb.PLACE_PART)]
    return found
