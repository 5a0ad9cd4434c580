"""Rules for kit trays and kits as a whole: laying, creating, taking away."""

from __future__ import annotations

from cellwright.planning.actions import Action
from cellwright.planning.cell_records import BrokenRule, CellRecords, KitRecord, RobotRecord, Stock, TableRecord
from cellwright.planning.state import HeldItem, HeldKind

__all__ = [
    "create_kit",
    "kit_created",
    "kit_placed",
    "kit_taken",
    "place_kit",
    "place_tray",
    "return_tray",
    "take_kit",
    "take_tray",
    "tray_placed",
    "tray_returned",
    "tray_taken",
]


def _need_stack(records: CellRecords, action: Action) -> Stock:
    stack = records.stacks.get(action.place)
    if stack is None or stack.sku != action.sku:
        raise BrokenRule(f"{action.place} is no stack of {action.sku}")
    return stack


def _need_trayless(records: CellRecords, action: Action) -> KitRecord:
    kit = records.kit(action.kit)
    if kit.tray_sku != action.sku:
        raise BrokenRule(f"kit {action.kit} is built on {kit.tray_sku}, not {action.sku}")
    if kit.place or kit.exists or kit.finished:
        raise BrokenRule(f"kit {action.kit} has a tray already")
    return kit


def _need_table(records: CellRecords, name: str, kept_for: str | None) -> TableRecord:
    table = records.tables.get(name)
    if table is None:
        raise BrokenRule(f"{name or 'a place without a name'} is no table")
    if table.kit is not None or table.kept_for not in (None, kept_for):
        raise BrokenRule(f"{name} is not free")
    return table


def take_tray(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that a tray is there, and a table is free for it."""
    records.need_free_hand(robot, action.robot, action.tool, action.sku)
    stack = _need_stack(records, action)
    if stack.number < 1:
        raise BrokenRule(f"{action.place} has no kit tray left")
    _need_trayless(records, action)
    _need_table(records, action.table, None).kept_for = action.kit
    stack.number -= 1
    robot.closed = True


def tray_taken(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot holds the tray."""
    robot.hand = HeldItem(HeldKind.KIT_TRAY, action.sku, action.kit)


def place_tray(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot holds the tray, the table is free or kept for this kit."""
    records.need_held(robot, action.robot, HeldKind.KIT_TRAY, action.sku)
    _need_trayless(records, action)
    _need_table(records, action.place, action.kit).kept_for = action.kit
    robot.hand, robot.closed = None, True


def tray_placed(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the tray is on the table."""
    records.kits[action.kit].place = action.place
    records.tables[action.place] = TableRecord(kit=action.kit)


def return_tray(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot holds the tray, the stack is of that SKU."""
    records.need_held(robot, action.robot, HeldKind.KIT_TRAY, action.sku)
    _need_stack(records, action)
    robot.hand, robot.closed = None, True


def tray_returned(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the stack has one more."""
    records.stacks[action.place].number += 1


def create_kit(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the kit's tray is on the table."""
    table = records.tables.get(action.place)
    if table is None or table.kit != action.kit:
        raise BrokenRule(f"the tray of {action.kit} is not on {action.place}")
    if records.kit(action.kit).exists:
        raise BrokenRule(f"kit {action.kit} exists already")


def kit_created(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the kit exists."""
    records.kits[action.kit].exists = True


def take_kit(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the kit is on its table and full."""
    records.need_free_hand(robot, action.robot, action.tool, action.sku)
    kit = records.existing_kit(action.kit)
    if kit.tray_sku != action.sku:
        raise BrokenRule(f"kit {action.kit} is built on {kit.tray_sku}, not {action.sku}")
    if kit.place != action.place or kit.fixed:
        raise BrokenRule(f"kit {action.kit} cannot be taken from {action.place}")
    if kit.missing:
        raise BrokenRule(f"kit {action.kit} is not full, it lacks {kit.lacks}")
    if not kit.ready:
        raise BrokenRule(f"kit {action.kit} is not ready")
    kit.exists = False
    robot.closed = True


def kit_taken(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the robot holds the kit, the table is free."""
    robot.hand = HeldItem(HeldKind.KIT, action.sku, action.kit)
    kit = records.kits[action.kit]
    records.tables[kit.place] = TableRecord()
    kit.place = ""


def place_kit(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot holds this kit, the outlet has room."""
    records.need_held(robot, action.robot, HeldKind.KIT, action.sku)
    held = robot.hand.kit if robot.hand else ""
    if held != action.kit:
        raise BrokenRule(f"{action.robot} holds kit {held}, not {action.kit}")
    outlet = records.outlets.get(action.place)
    if outlet is None:
        raise BrokenRule(f"{action.place} is no outlet")
    if outlet.number >= outlet.capacity:
        raise BrokenRule(f"{action.place} is full")
    outlet.number += 1
    robot.hand, robot.closed = None, True


def kit_placed(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the kit is finished."""
    kit = records.kits[action.kit]
    kit.place, kit.finished = action.place, True
