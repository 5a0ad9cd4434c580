"""Refinement of a plan of the counters: the same decisions with real kits, trays and times."""

from __future__ import annotations

from cellwright.planning.booking import Booking
from cellwright.planning.counter_node import CounterMove, MoveKind
from cellwright.planning.counter_problem import CounterProblem
from cellwright.planning.hands import create_kits, empty_hand
from cellwright.planning.partial_schedule import PartialSchedule, TaskKind
from cellwright.planning.resources import RobotSchedule
from cellwright.planning.work import Work

__all__ = ["refine_moves"]

_KINDS = {
    MoveKind.LAY: TaskKind.LAY,
    MoveKind.FILL: TaskKind.FILL,
    MoveKind.FILL_STAYING: TaskKind.FILL,
    MoveKind.CORRECT: TaskKind.CORRECT,
    MoveKind.CLEAR: TaskKind.CLEAR,
}


def refine_moves(work: Work, counters: CounterProblem, moves: tuple[CounterMove, ...]) -> PartialSchedule:
    """Carries out the moves that are possible; what the counters do not see may leave something to do."""
    booking = Booking(work)
    _smallest_first(booking)
    schedule = PartialSchedule(work, booking, [job for job in work.jobs if job.started is None])
    create_kits(booking)
    schedule.close_full()
    for move in moves:
        _make(schedule, counters, move)
    return schedule


def _smallest_first(booking: Booking) -> None:
    """Sorts kits that lack least first, as the counters take them."""
    kits = sorted(booking.kits.values(), key=lambda kit: sum(kit.missing.values()) + 2 * len(kit.wrong))
    booking.kits = {kit.place: kit for kit in kits}


def _make(schedule: PartialSchedule, counters: CounterProblem, move: CounterMove) -> None:
    booking = schedule.booking
    arm = booking.arms[move.robot]
    if move.kind is MoveKind.WAIT:
        return
    if arm.hand is not None:
        _use_hand(schedule, arm, move)
        return
    if move.kind is MoveKind.DROP:
        booking.drop_tool(arm)
    elif move.kind is MoveKind.CHANGE:
        booking.change_tool(arm, counters.names[move.number])
    elif arm.tool is not None and move.kind in _KINDS:
        wanted = _KINDS[move.kind]
        fitting = [task for task in schedule.tasks(arm, arm.tool, arm.time_s) if task.kind is wanted]
        if wanted is TaskKind.FILL:
            stays = move.kind is MoveKind.FILL_STAYING
            fitting = [task for task in fitting if booking.kits[task.table].fixed == stays] or fitting
        if fitting:
            schedule.do(arm, min(fitting, key=lambda task: task.number))


def _use_hand(schedule: PartialSchedule, arm: RobotSchedule, move: CounterMove) -> None:
    if move.kind is MoveKind.RETURN and arm.hand is not None and not schedule.booking.return_part(arm, arm.hand.sku):
        schedule.booking.return_tray(arm, arm.hand.sku)
    if arm.hand is not None:
        empty_hand(schedule.booking, schedule.work, arm, schedule.waiting)
    schedule.close_full()
