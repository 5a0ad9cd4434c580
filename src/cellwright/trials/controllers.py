"""Controllers that work inside a trial's own process, by name."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

from cellwright.core.registry import Registry

if TYPE_CHECKING:
    from cellwright.trials.orders import OrderBook
    from cellwright.trials.session import TrialSession

__all__ = ["TRIAL_CONTROLLERS", "TrialController"]


class TrialController(Protocol):
    """A controller inside a trial. It is started with the trial and may return when it has nothing more to do.

    It works through the interfaces as external ones do: `session.crcl.connect(robot)` is a CRCL connection without a
    socket, what detectors see comes over `session.lab.bus`. `orders` gives the orders as they are announced and takes
    submissions. What it raises ends the trial and stands in the verdict.
    """

    def __call__(self, session: TrialSession, orders: OrderBook) -> Awaitable[None]:
        """Works until everything is done."""


TRIAL_CONTROLLERS: Registry[TrialController] = Registry("trial controller", "cellwright.trial_controllers")
"""Name -> controller. The word `external` is taken: it means a program at the interfaces."""


@TRIAL_CONTROLLERS.register("internal")
async def internal(session: TrialSession, orders: OrderBook) -> None:
    """Runs Cellwright's own controller, imported when it is used."""
    from cellwright.trials.internal import build_orders

    await build_orders(session, orders)
