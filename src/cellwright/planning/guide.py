"""From the way of the counters to a plan: the same decisions with real kits, trays and times."""

from __future__ import annotations

from cellwright.planning.arms import RobotSchedule
from cellwright.planning.booking import Booking
from cellwright.planning.counter_moves import Deed, Move
from cellwright.planning.counters import CountedProblem
from cellwright.planning.hands import create_kits, empty_hand
from cellwright.planning.tasks import Shop, TaskKind
from cellwright.planning.work import Work

__all__ = ["follow"]

_KINDS = {
    Deed.LAY: TaskKind.LAY,
    Deed.FILL: TaskKind.FILL,
    Deed.FILL_STAYING: TaskKind.FILL,
    Deed.CORRECT: TaskKind.CORRECT,
    Deed.CLEAR: TaskKind.CLEAR,
}


def follow(work: Work, counters: CountedProblem, moves: tuple[Move, ...]) -> Shop:
    """Returns the shop after the moves that were possible; what the counters did not see may leave something to do."""
    booking = Booking(work)
    _smallest_first(booking)
    shop = Shop(work, booking, [job for job in work.jobs if job.started is None])
    create_kits(booking)
    shop.close_full()
    for move in moves:
        _make(shop, counters, move)
    return shop


def _smallest_first(booking: Booking) -> None:
    """Kits that lack least come first, as the counters take them."""
    kits = sorted(booking.kits.values(), key=lambda kit: sum(kit.missing.values()) + 2 * len(kit.wrong))
    booking.kits = {kit.place: kit for kit in kits}


def _make(shop: Shop, counters: CountedProblem, move: Move) -> None:
    booking = shop.booking
    arm = booking.arms[move.robot]
    if move.deed is Deed.WAIT:
        return
    if arm.hand is not None:
        _use_hand(shop, arm, move)
        return
    if move.deed is Deed.DROP:
        booking.drop_tool(arm)
    elif move.deed is Deed.CHANGE:
        booking.change_tool(arm, counters.names[move.number])
    elif arm.tool is not None and move.deed in _KINDS:
        wanted = _KINDS[move.deed]
        fitting = [task for task in shop.tasks(arm, arm.tool, arm.time_s) if task.kind is wanted]
        if wanted is TaskKind.FILL:
            stays = move.deed is Deed.FILL_STAYING
            fitting = [task for task in fitting if booking.kits[task.table].fixed == stays] or fitting
        if fitting:
            shop.do(arm, min(fitting, key=lambda task: task.number))


def _use_hand(shop: Shop, arm: RobotSchedule, move: Move) -> None:
    if move.deed is Deed.RETURN and arm.hand is not None and not shop.booking.return_part(arm, arm.hand.sku):
        shop.booking.return_tray(arm, arm.hand.sku)
    if arm.hand is not None:
        empty_hand(shop.booking, shop.work, arm, shop.waiting)
    shop.close_full()
