"""Rules for changing tools."""

from __future__ import annotations

from cellwright.planning.actions import Action
from cellwright.planning.cell_records import BrokenRule, CellRecords, RobotRecord

__all__ = ["attach", "attached", "detach", "detached"]


def _need_holder(records: CellRecords, place: str) -> str | None:
    if place not in records.holders:
        raise BrokenRule(f"{place} is no tool holder")
    return records.holders[place]


def attach(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Takes the tool off its holder, which must have it; the robot must have none."""
    if robot.tool is not None or robot.closed:
        raise BrokenRule(f"{action.robot} already has {robot.tool}")
    there = _need_holder(records, action.place)
    if there is None or there != action.tool:
        raise BrokenRule(f"{action.place} holds {there or 'no tool'}")
    records.holders[action.place] = None
    robot.closed = True


def attached(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the tool is on the robot."""
    robot.tool = action.tool


def detach(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Checks that the robot has the tool and holds nothing, the holder is empty."""
    records.need_free_hand(robot, action.robot, action.tool, "")
    if robot.tool is None:
        raise BrokenRule(f"{action.robot} has no tool")
    there = _need_holder(records, action.place)
    if there is not None:
        raise BrokenRule(f"{action.place} is not empty, it holds {there}")
    robot.tool, records.holders[action.place] = None, "a tool on its way"
    robot.found = robot.grasp = None


def detached(records: CellRecords, action: Action, robot: RobotRecord) -> None:
    """Applies the effect: the tool is on the holder."""
    records.holders[action.place] = action.tool
