"""Orders as controllers see them: what is wanted, and nothing of what is true of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cellwright.orders import KitDesign, Order
    from cellwright.trials.orders import OrderBook, TrialOrder

__all__ = ["AnnouncedOrder", "AnnouncedOrders", "OrderedKit", "ordered_kits"]


@dataclass(frozen=True)
class OrderedKit:
    """One kit of an order.

    Attributes:
        order: The order's name in the trial.
        number: Which of the order's kits, from 1.
        design: What it shall become.
        tray: On which tray; on any free one of the right kind when None.
    """

    order: str
    number: int
    design: KitDesign
    tray: str | None


@dataclass(frozen=True)
class AnnouncedOrder:
    """An order that was made known.

    Attributes:
        name: What it is submitted by.
        wanted: What is wanted, as planners take it.
        kits: The same, kit by kit.
        announced_s: When it became known.
        is_submitted: Whether it was submitted.
    """

    name: str
    wanted: Order
    kits: tuple[OrderedKit, ...]
    announced_s: float
    is_submitted: bool = False

    @classmethod
    def of(cls, order: TrialOrder) -> AnnouncedOrder:
        """Returns what a controller may know of an order of a trial."""
        known_s = order.announced_s or 0.0
        return cls(order.name, order.wanted, order.kits, known_s, order.submitted_s is not None)


class AnnouncedOrders:
    """The orders of a trial for a controller in its process.

    Args:
        book: All orders of the trial.
        submit: Submits one by its name.
    """

    def __init__(self, book: OrderBook, submit: Callable[[str], None]) -> None:
        self._book = book
        self._submit = submit

    @property
    def announced(self) -> list[AnnouncedOrder]:
        """The orders that are known, in the order in which they became so."""
        return [AnnouncedOrder.of(order) for order in self._book.announced]

    async def coming(self) -> AsyncIterator[AnnouncedOrder]:
        """Yields every order as it becomes known, those that are known first; ends after the last."""
        async for order in self._book.coming():
            yield AnnouncedOrder.of(order)

    def submit(self, name: str) -> None:
        """Claims that an order is done.

        Raises:
            BadInput: It is not known, or was submitted before.
        """
        self._submit(name)


def ordered_kits(name: str, wanted: Order, tray: str | None = None) -> tuple[OrderedKit, ...]:
    """Returns an order kit by kit; all of them on one tray, if one is named."""
    designs = [line.design for line in wanted.lines for _ in range(line.quantity)]
    return tuple(OrderedKit(name, number, design, tray) for number, design in enumerate(designs, start=1))
