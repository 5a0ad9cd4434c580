"""From the way of the counters to a plan: the same decisions with real kits, trays and times."""

from __future__ import annotations

from cellwright.planning.booking import Booking
from cellwright.planning.counter_problem import CounterProblem
from cellwright.planning.counter_rules import CounterMove, MoveKind
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
    """Returns the shop after the moves that were possible; what the counters did not see may leave something to do."""
    booking = Booking(work)
    _smallest_first(booking)
    shop = PartialSchedule(work, booking, [job for job in work.jobs if job.started is None])
    create_kits(booking)
    shop.close_full()
    for move in moves:
        _make(shop, counters, move)
    return shop


def _smallest_first(booking: Booking) -> None:
    """Kits that lack least come first, as the counters take them."""
    kits = sorted(booking.kits.values(), key=lambda kit: sum(kit.missing.values()) + 2 * len(kit.wrong))
    booking.kits = {kit.place: kit for kit in kits}


def _make(shop: PartialSchedule, counters: CounterProblem, move: CounterMove) -> None:
    booking = shop.booking
    arm = booking.arms[move.robot]
    if move.deed is MoveKind.WAIT:
        return
    if arm.hand is not None:
        _use_hand(shop, arm, move)
        return
    if move.deed is MoveKind.DROP:
        booking.drop_tool(arm)
    elif move.deed is MoveKind.CHANGE:
        booking.change_tool(arm, counters.names[move.number])
    elif arm.tool is not None and move.deed in _KINDS:
        wanted = _KINDS[move.deed]
        fitting = [task for task in shop.tasks(arm, arm.tool, arm.time_s) if task.kind is wanted]
        if wanted is TaskKind.FILL:
            stays = move.deed is MoveKind.FILL_STAYING
            fitting = [task for task in fitting if booking.kits[task.table].fixed == stays] or fitting
        if fitting:
            shop.do(arm, min(fitting, key=lambda task: task.number))


def _use_hand(shop: PartialSchedule, arm: RobotSchedule, move: CounterMove) -> None:
    if move.deed is MoveKind.RETURN and arm.hand is not None and not shop.booking.return_part(arm, arm.hand.sku):
        shop.booking.return_tray(arm, arm.hand.sku)
    if arm.hand is not None:
        empty_hand(shop.booking, shop.work, arm, shop.waiting)
    shop.close_full()
