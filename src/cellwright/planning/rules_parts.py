"""Rules for parts: finding, grasping, taking, placing, and taking wrong ones out again.

Most steps of a plan are of these, so each rule reads its step once and words its reason only when it is broken.
"""

from __future__ import annotations

from cellwright.planning.actions import Action
from cellwright.planning.cell_records import BrokenRule, CellRecords, KitRecord, RobotRecord, Stock
from cellwright.planning.state import HeldKind

__all__ = [
    "grasp_set",
    "look_part",
    "look_slot",
    "part_found",
    "part_placed",
    "part_removed",
    "part_returned",
    "part_taken",
    "place_part",
    "remove_part",
    "return_part",
    "set_grasp",
    "slot_found",
    "take_part",
]


def _need_part(records: CellRecords, action: Action, robot: RobotRecord) -> Stock:
    """Checks for a free hand that handles the part and a kit that exists; returns the tray with such a part."""
    _, name, tool, sku, place, kit_name, _, _, _ = action
    if robot.tool != tool or robot.hand is not None or robot.closed or sku not in records.handles[tool]:
        records.need_free_hand(robot, name, tool, sku)  # says which
    kit, tray = records.kits.get(kit_name), records.parts.get(place)
    if kit is None or not kit.exists:
        records.existing_kit(kit_name)
    if tray is None or tray.sku != sku:
        raise BrokenRule(f"{place} is no parts tray of {sku}")
    if tray.number < 1:
        raise BrokenRule(f"{place} has no part left")
    return tray


def _need_open_slot(records: CellRecords, action: Action, robot: RobotRecord) -> KitRecord:
    """Checks that the part is in hand and that a slot for it is open; returns the kit."""
    _, name, _, sku, place, kit_name, _, _, _ = action
    hand, kit = robot.hand, records.kits.get(kit_name)
    if hand is None or hand.sku != sku or hand.kind is not HeldKind.PART:
        records.need_held(robot, name, HeldKind.PART, sku)  # says what it holds
    if kit is None or not kit.exists:
        kit = records.existing_kit(kit_name)
    if kit.place != place:
        raise BrokenRule(f"kit {kit_name} is not on {place}")
    if sku not in kit.missing:
        raise BrokenRule(f"kit {kit_name} has no open slot for {sku}")
    return kit


def look_part(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the tool handles the part, the hand is empty, a part is there, the kit exists."""
    _need_part(records, action, robot)


def part_found(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot knows where the part is."""
    robot.found = (action.sku, action.place)


def set_grasp(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot has found the part."""
    if robot.found is None or robot.found[0] != action.sku:
        found = robot.found[0] if robot.found else "nothing"
        raise BrokenRule(f"{action.robot} has found {found}, not {action.sku}")


def grasp_set(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot knows how to grasp it."""
    robot.grasp = action.sku


def take_part(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the part is found, its grasp is set, and it is still there."""
    sku, place = action[3], action[4]
    if robot.hand is None and robot.found != (sku, place):
        raise BrokenRule(f"{action.robot} has not found {sku} in {place}")
    if robot.hand is None and robot.grasp != sku:
        raise BrokenRule(f"no grasp is set for {sku}")
    _need_part(records, action, robot).number -= 1
    robot.found = robot.grasp = None
    robot.closed = True


def part_taken(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot holds the part."""
    robot.hand = records.held_part(action.sku)


def return_part(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot holds the part, the parts tray is of that SKU and has room."""
    records.need_held(robot, action.robot, HeldKind.PART, action.sku)
    tray = records.parts.get(action.place)
    if tray is None or tray.sku != action.sku:
        raise BrokenRule(f"{action.place} is no parts tray of {action.sku}")
    if tray.number + tray.promised >= tray.capacity:
        raise BrokenRule(f"{action.place} is full")
    tray.promised += 1
    robot.hand, robot.slot_of, robot.closed = None, None, True


def part_returned(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the parts tray has one more."""
    tray = records.parts[action.place]
    tray.number += 1
    tray.promised -= 1


def remove_part(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the tool handles the part, the hand is empty, the kit holds it in a slot of another."""
    _, name, tool, sku, place, kit_name, _, _, _ = action
    records.need_free_hand(robot, name, tool, sku)
    kit = records.existing_kit(kit_name)
    if kit.place != place:
        raise BrokenRule(f"kit {kit_name} is not on {place}")
    if all(there != sku for there, _ in kit.wrong):
        raise BrokenRule(f"kit {kit_name} holds no {sku} in a wrong slot")
    kit.coming += 1
    robot.closed = True


def part_removed(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot holds the part, the slot is open for the part that belongs there."""
    kit = records.kits[action.kit]
    pair = next(pair for pair in kit.wrong if pair[0] == action.sku)
    kit.wrong.remove(pair)
    kit.missing[pair[1]] = kit.missing.get(pair[1], 0) + 1
    kit.coming -= 1
    robot.hand = records.held_part(action.sku)


def look_slot(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot holds the part, a slot for it is open."""
    _need_open_slot(records, action, robot)


def slot_found(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot knows where the slot is."""
    robot.slot_of = action.kit


def place_part(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot holds the part, a slot for it is found and still open."""
    sku = action[3]
    if robot.hand is not None and robot.slot_of != action[5]:
        raise BrokenRule(f"{action.robot} has not found a slot in {action.kit}")
    kit = _need_open_slot(records, action, robot)
    if kit.missing[sku] > 1:
        kit.missing[sku] -= 1
    else:
        del kit.missing[sku]
    kit.coming += 1
    robot.hand, robot.slot_of, robot.closed = None, None, True


def part_placed(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the kit has one more."""
    records.kits[action.kit].coming -= 1
