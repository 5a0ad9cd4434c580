"""Cellwright's own controller in a trial: it uses the same interfaces as external ones, without the sockets."""

from __future__ import annotations

from dataclasses import replace

from cellwright.core.errors import JobFailed
from cellwright.drawings.database import designs_for, planning_workstation
from cellwright.knowledge import Database, Workstation, fill
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.trials.kitting_controller import KittingController
from cellwright.trials.orders import OrderBook, TrialOrder
from cellwright.trials.session import TrialSession

__all__ = ["build_orders"]


async def build_orders(session: TrialSession, orders: OrderBook) -> None:
    """Builds every order as it becomes known, and submits those that it believes to be done.

    Each time it is asked for all that is known so far: kits that it has built count, and are not built again.

    Raises:
        JobFailed: Not everything could be done; what could be had was built.
    """
    lab, wanted = session.lab, [_order(order) for order in orders.orders.values()]
    workstation, _ = planning_workstation(lab.cell, wanted, None, lab.seed)
    database = Database("sqlite://")
    try:
        fill(database, _with_named_trays(workstation, orders), designs_for(wanted))
        controller = KittingController(lab, session.crcl, database)
        failure = ""
        async for _ in orders.coming():
            known = orders.announced
            report = await controller.run([_order(order) for order in known])
            failure = "" if report.done else report.reason
            for order in known:
                if report.done and order.submitted_s is None:
                    orders.submit(order.name, lab.clock.time_s)
        if failure:
            raise JobFailed(failure)
    finally:
        database.close()


def _with_named_trays(workstation: Workstation, orders: OrderBook) -> Workstation:
    """Removes unnamed trays of kinds of which every order names its own: nothing is to be built on them."""
    named = {kit.tray for kit in orders.kits if kit.tray is not None}
    free = {kit.design.tray_sku for kit in orders.kits if kit.tray is None}
    bound = {kit.design.tray_sku for kit in orders.kits} - free
    kits = tuple(kit for kit in workstation.kits if kit.name in named or kit.tray_sku not in bound)
    return replace(workstation, kits=kits)


def _order(order: TrialOrder) -> Order:
    counts: dict[str, tuple[KitDesign, int]] = {}
    for kit in order.kits:
        counts[kit.design.name] = (kit.design, counts.get(kit.design.name, (kit.design, 0))[1] + 1)
    return Order(order.name, tuple(OrderLine(*line) for line in counts.values()), order.priority)
