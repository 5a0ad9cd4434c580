"""Replanning begins with what the robots hold, and with trays that were put down and are no kits yet."""

from __future__ import annotations

from cellwright.planning.bench import Arm, Bench
from cellwright.planning.planner import KitJob
from cellwright.planning.state import HandKind
from cellwright.planning.work import Work

__all__ = ["settle"]


def settle(bench: Bench, work: Work, waiting: list[KitJob]) -> dict[str, str]:
    """Puts everything that is held where it belongs.

    Args:
        bench: Gets the steps.
        work: What is to be done.
        waiting: Kits that have no tray yet; one that gets the tray in a robot's hand is removed.

    Returns:
        Robot -> why its hand cannot be emptied; such a robot can do nothing.
    """
    for kit in bench.kits.values():
        started = kit.job.started
        arm = next((arm for arm in bench.arms if kit.place in arm.reach), None)
        if started and not started.created and arm:
            bench.create(arm, kit)
    stuck = {}
    for arm in bench.arms:
        hand = arm.hand
        if hand is None:
            continue
        if hand.kind is HandKind.PART:
            settled = _settle_part(bench, arm, hand.sku)
        elif hand.kind is HandKind.KIT_TRAY:
            settled = _settle_tray(bench, work, arm, waiting)
        else:
            outlet = bench.outlet(arm)
            settled = outlet is not None
            if outlet:
                bench.put_kit(arm, hand.kit, hand.sku, outlet)
        if not settled:
            stuck[arm.name] = f"{arm.name} holds {hand.kit or hand.sku} and no place in its reach takes it"
    return stuck


def _settle_part(bench: Bench, arm: Arm, sku: str) -> bool:
    for kit in bench.kits.values():
        if sku in kit.missing and kit.place in arm.reach:
            bench.put_part(arm, kit, sku)
            return True
    return bench.return_part(arm, sku)


def _settle_tray(bench: Bench, work: Work, arm: Arm, waiting: list[KitJob]) -> bool:
    sku = arm.hand.sku if arm.hand else ""
    for job in waiting:
        if job.design.tray_sku != sku:
            continue
        for table in work.tables_of[job.design.name]:
            if table in arm.reach and table not in bench.taken:
                bench.lay_held(arm, job, table)
                waiting.remove(job)
                return True
    return bench.return_tray(arm, sku)
