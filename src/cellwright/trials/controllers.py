"""Controllers that work inside a trial's own process, by name; Cellwright's own is one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cellwright.core.errors import JobFailed
from cellwright.core.registry import Registry

if TYPE_CHECKING:
    from cellwright.knowledge import Database
    from cellwright.lab.lab import Lab
    from cellwright.planning.external_plan import ExternalPlan
    from cellwright.trials.kitting_controller import KittingController
    from cellwright.trials.orders import OrderBook
    from cellwright.trials.trial import Trial

__all__ = ["TRIAL_CONTROLLERS", "TrialController", "build_orders", "controller_database"]


class TrialController(Protocol):
    """A controller inside a trial. It is started with the trial and may return when it has nothing more to do.

    It works through the interfaces as external ones do: `trial.crcl.connect(robot)` is a CRCL connection without a
    socket, what detectors see comes over `trial.lab.bus`. `orders` gives the orders as they are announced and takes
    submissions. What it raises ends the trial and stands in the report.
    """

    def __call__(self, trial: Trial, orders: OrderBook, /) -> Awaitable[None]:
        """Works until everything is done."""


TRIAL_CONTROLLERS: Registry[TrialController] = Registry("trial controller", "cellwright.trial_controllers")
"""Name -> controller. The word `external` is taken: it means a program at the interfaces."""


@TRIAL_CONTROLLERS.register("internal")
async def internal(trial: Trial, orders: OrderBook) -> None:
    """Runs Cellwright's own controller with a database in memory; it is imported when it is used."""
    from cellwright.trials.kitting_controller import KittingController

    database = controller_database(trial.lab, orders)
    try:
        await build_orders(trial, orders, KittingController(trial.lab, trial.crcl, database))
    finally:
        database.close()


async def build_orders(
    trial: Trial,
    orders: OrderBook,
    controller: KittingController,
    *,
    resume: bool = False,
    plan: ExternalPlan | None = None,
) -> None:
    """Builds every order as it becomes known, and submits those that the controller believes to be done.

    Each time it is asked for all that is known so far: kits that it has built count, and are not built again.

    Args:
        trial: The trial, which gets the controller's account.
        orders: The orders.
        controller: The controller, which has a database.
        resume: Whether it goes on with what the database says was under way.
        plan: An external plan to begin with.

    Raises:
        JobFailed: Not everything could be done; what could be had was built.
    """
    tried: set[str] = set()
    async for order in orders.coming():
        if order.name in tried:
            continue
        known = orders.announced
        tried = {one.name for one in known}
        account = await controller.run([one.wanted for one in known], resume=resume, plan=plan)
        if (before := trial.account) is not None:
            account = replace(
                account,
                actions=before.actions + account.actions,
                plans=before.plans + account.plans,
                retries=before.retries + account.retries,
                start_s=before.start_s,
            )
        trial.account, resume, plan = account, False, None
        for one in known:
            if trial.account.done and one.submitted_s is None:
                orders.submit(one.name, trial.lab.clock.time_s)
    if trial.account is not None and not trial.account.done:
        raise JobFailed(trial.account.reason)


def controller_database(
    lab: Lab, orders: OrderBook, robots: Sequence[str] | None = None, url: str | Path = "sqlite://"
) -> Database:
    """Returns a new database with what the drawings say, in which the controller keeps what it believes.

    Unnamed trays of kinds of which every order names its own are left out: nothing is to be built on them.
    """
    from cellwright.drawings.database import designs_for, planning_workstation
    from cellwright.knowledge import filled_database

    wanted = [order.wanted for order in orders.orders.values()]
    workstation, _ = planning_workstation(lab.cell, wanted, robots, lab.seed)
    named = {kit.tray for kit in orders.kits if kit.tray is not None}
    bound = {kit.design.tray_sku for kit in orders.kits}
    bound -= {kit.design.tray_sku for kit in orders.kits if kit.tray is None}
    kits = tuple(kit for kit in workstation.kits if kit.name in named or kit.tray_sku not in bound)
    return filled_database(url, replace(workstation, kits=kits), designs_for(wanted))
