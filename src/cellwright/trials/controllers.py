"""Controllers that work inside a trial's own process, by name; Cellwright's own is one of them."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

from cellwright.core.registry import Registry

if TYPE_CHECKING:
    from cellwright.trials.controller_ports import ControllerOrders, ControllerPorts

__all__ = ["TRIAL_CONTROLLERS", "TrialController"]


class TrialController(Protocol):
    """A controller inside a trial. It is started with the trial and may return when it has nothing more to do.

    It has what programs outside have: `ports` are the robots over CRCL, the frames of the detectors, the drawings and
    the clock; `orders` gives the orders as they are announced and takes submissions. What it raises ends the trial and
    stands in the report.
    """

    def __call__(self, ports: ControllerPorts, orders: ControllerOrders, /) -> Awaitable[object]:
        """Works until everything is done."""


TRIAL_CONTROLLERS: Registry[TrialController] = Registry(
    "trial controller", "cellwright.trial_controllers", of_plugins=True
)
"""Name -> controller. The word `external` is taken: it means a program at the interfaces."""


@TRIAL_CONTROLLERS.register("internal")
async def internal(ports: ControllerPorts, orders: ControllerOrders) -> None:
    """Runs Cellwright's own controller; it is imported when it is used."""
    from cellwright.trials.kitting_controller import KittingController, controller_database

    database = controller_database(ports.drawings, orders.announced, url=ports.database)
    try:
        await KittingController(ports, database).build(orders)
    finally:
        database.close()
