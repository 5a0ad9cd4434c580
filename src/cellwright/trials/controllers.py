"""Controllers that work inside a trial's own process, by name; Cellwright's own is one of them."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

from cellwright.core.registry import Registry

if TYPE_CHECKING:
    from cellwright.trials.orders import OrderBook
    from cellwright.trials.trial import Trial

__all__ = ["TRIAL_CONTROLLERS", "TrialController"]


class TrialController(Protocol):
    """A controller inside a trial. It is started with the trial and may return when it has nothing more to do.

    It works through the interfaces as external ones do: `trial.crcl.connect(robot)` is a CRCL connection without a
    socket, what detectors see comes over `trial.lab.bus`. `orders` gives the orders as they are announced and takes
    submissions. What it raises ends the trial and stands in the report.
    """

    def __call__(self, trial: Trial, orders: OrderBook, /) -> Awaitable[None]:
        """Works until everything is done."""


TRIAL_CONTROLLERS: Registry[TrialController] = Registry(
    "trial controller", "cellwright.trial_controllers", of_plugins=True
)
"""Name -> controller. The word `external` is taken: it means a program at the interfaces."""


@TRIAL_CONTROLLERS.register("internal")
async def internal(trial: Trial, orders: OrderBook) -> None:
    """Runs Cellwright's own controller with a database in memory; it is imported when it is used."""
    from cellwright.trials.kitting_controller import KittingController, controller_database

    database = controller_database(trial.lab, orders)
    try:
        await KittingController(trial.lab, trial.crcl, database).build(trial, orders)
    finally:
        database.close()
