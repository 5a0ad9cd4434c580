"""A schedule as a row of blocks, each some tasks of one kind that a robot does without a break, and better rows.

A row is carried out in its order, every block as soon as it can be. Tools are fetched when a block needs one, so a row
never has a change that serves nothing. What a row leaves undone is done as a list schedule.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from cellwright.planning.booking import Booking
from cellwright.planning.hands import create_kits, empty_hand
from cellwright.planning.partial_schedule import PartialSchedule, Task, TaskKind
from cellwright.planning.resources import OpenKit, RobotSchedule
from cellwright.planning.work import Work

__all__ = ["TaskBlock", "blocks_of", "carry_out", "neighbour"]

_FAR = 12  # places by which a block is moved at most


class TaskBlock(NamedTuple):
    """So many tasks of one kind at one kit, by one robot with one tool."""

    robot: int
    tool: str
    kind: TaskKind
    kit: str
    table: str
    sku: str
    number: int = 1


def blocks_of(schedule: PartialSchedule) -> list[TaskBlock]:
    """Returns the tasks of a schedule as blocks."""
    row: list[TaskBlock] = []
    for block in schedule.log:
        last = next((one for one in reversed(row) if one.robot == block[0]), None)
        if last is not None and last[:6] == block:
            at = len(row) - 1 - row[::-1].index(last)
            row[at] = last._replace(number=last.number + 1)
        else:
            row.append(TaskBlock(*block))
    return row


def carry_out(work: Work, row: Sequence[TaskBlock]) -> PartialSchedule:
    """Carries out everything of the row that is possible in its order; returns the schedule."""
    booking = Booking(work)
    schedule = PartialSchedule(work, booking, [job for job in work.jobs if job.started is None])
    create_kits(booking)
    schedule.close_full()
    for block in row:
        for _ in range(block.number):
            if not _do(schedule, block):
                break
    return schedule


def _do(schedule: PartialSchedule, block: TaskBlock) -> bool:
    booking = schedule.booking
    arm = booking.arms[block.robot]
    if arm.hand is not None:
        empty_hand(booking, schedule.work, arm, schedule.waiting)
        schedule.close_full()
    task = _task(schedule, arm, block) if arm.hand is None else None
    return task is not None and _has_tool(booking, arm, block.tool) and schedule.do(arm, task)


def _task(schedule: PartialSchedule, arm: RobotSchedule, block: TaskBlock) -> Task | None:
    """Returns the block's next task, if it is possible now."""
    booking, start_s = schedule.booking, arm.time_s
    if block.kind is TaskKind.LAY:
        job = next((job for job in schedule.waiting if job.name == block.kit), None)
        free = block.table not in booking.taken and block.table in arm.reach
        able = job is not None and free and booking.stack(arm, job.design.tray_sku) is not None
        return Task(start_s, TaskKind.LAY, 0, block.table, "", job) if able else None
    kit = next((kit for kit in booking.kits.values() if kit.job.name == block.kit), None)
    if kit is None or not _is_open(schedule, arm, kit, block):
        return None
    return Task(start_s, block.kind, 0, kit.place, block.sku)


def _is_open(schedule: PartialSchedule, arm: RobotSchedule, kit: OpenKit, block: TaskBlock) -> bool:
    booking, sku = schedule.booking, block.sku
    if block.kind is TaskKind.PASS:
        return schedule.way(arm, kit.place, sku, kit.missing.get(sku, 0)) is not None
    if kit.place not in arm.reach:
        return False
    if block.kind is TaskKind.CLEAR:
        return not kit.missing and not kit.wrong and not kit.fixed and booking.outlet(arm) is not None
    if block.kind is TaskKind.CORRECT:
        return any(there == sku for there, _ in kit.wrong) and booking.takes_part(arm, sku)
    return sku in kit.missing and booking.source_s(arm, sku) is not None


def _has_tool(booking: Booking, arm: RobotSchedule, tool: str) -> bool:
    """Gets the tool for the robot, from another one that has it and holds nothing; returns whether it has it."""
    if arm.tool == tool:
        return True
    if tool not in arm.tools:
        return False
    owner = next((other for other in booking.arms if other.tool == tool), None)
    if owner is not None and (owner.hand is not None or not booking.drop_tool(owner)):
        return False
    return booking.change_tool(arm, tool)


def neighbour(work: Work, row: Sequence[TaskBlock], rng: random.Random) -> list[TaskBlock]:
    """Returns a row that differs a little: a block elsewhere, by another robot, in two, or a kit on another table."""
    changed = list(row)
    at = rng.randrange(len(changed))
    block, way = changed[at], rng.random()
    if way < 0.2 and len(work.robots) > 1:
        other = rng.choice([number for number in range(len(work.robots)) if number != block.robot])
        changed[at] = block._replace(robot=other)
    elif way < 0.3 and block.kind is TaskKind.LAY:
        changed[at] = block._replace(table=rng.choice(work.request.state.tables))
    elif way < 0.4 and block.number > 1:
        first = rng.randint(1, block.number - 1)
        changed[at : at + 1] = [block._replace(number=first), block._replace(number=block.number - first)]
    else:
        del changed[at]
        to = rng.randint(max(at - _FAR, 0), min(at + _FAR, len(changed)))
        changed.insert(to, block)
    return changed
