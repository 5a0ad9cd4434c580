"""Replanning begins with what the robots hold, and with trays that were put down and are no kits yet."""

from __future__ import annotations

from cellwright.planning.booking import Booking
from cellwright.planning.planner import KitJob
from cellwright.planning.resources import RobotSchedule
from cellwright.planning.state import HeldKind
from cellwright.planning.work import Work

__all__ = ["create_kits", "empty_hand", "empty_hands", "put_down_part"]


def empty_hands(booking: Booking, work: Work, waiting: list[KitJob]) -> dict[str, str]:
    """Puts everything that robots hold where it belongs.

    Args:
        booking: Gets the steps.
        work: The work to be done.
        waiting: Kits that have no tray yet; one that gets the tray in a robot's hand is removed.

    Returns:
        Robot -> why its hand cannot be emptied; such a robot can do nothing.
    """
    create_kits(booking)
    stuck = {}
    for arm in booking.arms:
        hand = arm.hand
        if hand is not None and not empty_hand(booking, work, arm, waiting):
            stuck[arm.name] = f"{arm.name} holds {hand.kit or hand.sku} and no place in its reach takes it"
    return stuck


def create_kits(booking: Booking) -> None:
    """Makes kits of the trays that were put down and are none yet."""
    for kit in booking.kits.values():
        started = kit.job.started
        arm = next((arm for arm in booking.arms if kit.place in arm.reach), None)
        if started and not started.created and arm:
            booking.create(arm, kit)


def empty_hand(booking: Booking, work: Work, arm: RobotSchedule, waiting: list[KitJob]) -> bool:
    """Puts what the robot holds where it is wanted, or back; False when neither is possible."""
    hand = arm.hand
    if hand is None:
        return True
    if hand.kind is HeldKind.PART:
        return put_down_part(booking, arm, hand.sku)
    if hand.kind is HeldKind.KIT_TRAY:
        return _put_down_tray(booking, work, arm, hand.sku, waiting)
    outlet = booking.outlet(arm)
    if outlet is not None:
        booking.put_kit(arm, hand.kit, hand.sku, outlet)
    return outlet is not None


def put_down_part(booking: Booking, arm: RobotSchedule, sku: str) -> bool:
    """Puts the part that the robot holds into a kit that lacks it, or back; False when neither is possible."""
    for kit in booking.kits.values():
        if sku in kit.missing and kit.place in arm.reach:
            booking.put_part(arm, kit, sku)
            return True
    return booking.return_part(arm, sku)


def _put_down_tray(booking: Booking, work: Work, arm: RobotSchedule, sku: str, waiting: list[KitJob]) -> bool:
    for job in waiting:
        if job.design.tray_sku != sku:
            continue
        for table in work.tables_of[job.design.name]:
            if table in arm.reach and table not in booking.taken:
                booking.lay_held(arm, job, table)
                waiting.remove(job)
                return True
    return booking.return_tray(arm, sku)
