"""The state of the cell after some steps of a plan: from there it can be planned anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cellwright.core.errors import BadInput
from cellwright.orders import KitDesign
from cellwright.planning.actions import Action
from cellwright.planning.cell_records import CellRecords, KitRecord
from cellwright.planning.planner import PlanRequest
from cellwright.planning.rules import BrokenRule, RuleState
from cellwright.planning.state import CellState, HeldItem, HeldKind, KitState, PlannerRobot, ToolHolderState

__all__ = ["state_after"]


def state_after(request: PlanRequest, actions: Iterable[Action]) -> CellState:
    """Returns the cell after these steps were carried out one after the other, by the validator's rules.

    Which one of several equal slots of a kit is open is not known to the rules; here it is the last one.

    Raises:
        BadInput: A step cannot be carried out.
    """
    world = RuleState(request)
    for number, action in enumerate(actions, start=1):
        try:
            world.do(action)
        except BrokenRule as broken:
            raise BadInput(f"step {number} {action} cannot be carried out: {broken}") from None
    records, state = world.records, request.state
    return replace(
        state,
        robots=tuple(_robot(robot, records) for robot in state.robots),
        holders=tuple(ToolHolderState(holder.name, records.holders[holder.name]) for holder in state.holders),
        parts_trays=tuple(replace(tray, count=records.parts[tray.name].number) for tray in state.parts_trays),
        tray_stacks=tuple(replace(stack, count=records.stacks[stack.name].number) for stack in state.tray_stacks),
        outlets=tuple(replace(outlet, count=records.outlets[outlet.name].number) for outlet in state.outlets),
        kits=tuple(_kits(request, records)),
    )


def _robot(robot: PlannerRobot, records: CellRecords) -> PlannerRobot:
    record = records.robots[robot.name]
    hand = record.hand
    if hand is not None and hand.kind is HeldKind.KIT_TRAY:
        hand = HeldItem(HeldKind.KIT_TRAY, hand.sku)  # for which kit it was taken is planned anew
    return replace(robot, tool=record.tool, hand=hand)


def _kits(request: PlanRequest, records: CellRecords) -> Iterable[KitState]:
    """Yields kits that exist, trays on tables, and kits that are held; not those that are only wanted."""
    designs = {kit.name: kit.design for kit in request.state.kits} | {job.name: job.design for job in request.jobs}
    held = {robot.hand.kit for robot in records.robots.values() if robot.hand and robot.hand.kind is HeldKind.KIT}
    for name, kit in records.kits.items():
        if kit.place or name in held:
            created = kit.exists or kit.finished or name in held
            yield KitState(name, designs[name], kit.place, _filled(designs[name], kit), created, kit.fixed)


def _filled(design: KitDesign, kit: KitRecord) -> tuple[str | None, ...]:
    missing, wrong = dict(kit.missing), list(kit.wrong)
    filled: list[str | None] = []
    for slot in reversed(design.slots):
        if missing.get(slot.sku, 0):
            missing[slot.sku] -= 1
            filled.append(None)
            continue
        pair = next((pair for pair in reversed(wrong) if pair[1] == slot.sku), None)
        if pair is not None:
            wrong.remove(pair)
        filled.append(pair[0] if pair else slot.sku)
    return tuple(reversed(filled))
