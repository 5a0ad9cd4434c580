"""The orders of a trial: what is announced when, and what was submitted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.catalogue import TRAYS, TrayKind
from cellwright.cells import Cell
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, ConfigErrors, UnknownName
from cellwright.drawings.prior import expected_parts
from cellwright.judge import KitVerdict
from cellwright.orders import KitDesign, Order, find_order
from cellwright.trials.announced import OrderedKit, ordered_kits
from cellwright.trials.cfg import AnnounceCfg, TrialOrderCfg

__all__ = ["OrderBook", "OrderedKit", "TrialOrder"]


@dataclass
class TrialOrder:
    """An order, and how far it is.

    Attributes:
        name: What it is submitted by.
        wanted: What is wanted, as planners take it.
        kits: The same, kit by kit.
        announce: When it becomes known.
        announced_s: When it did.
        submitted_s: The time at which it was submitted.
        complete_s: Since when it is complete by the truth; None while it is not.
        claimed: The kits as they were when it was submitted.
    """

    name: str
    wanted: Order
    kits: tuple[OrderedKit, ...]
    announce: AnnounceCfg
    announced_s: float | None = None
    submitted_s: float | None = None
    complete_s: float | None = None
    claimed: tuple[KitVerdict, ...] = ()

    @classmethod
    def of(cls, name: str, wanted: Order, tray: str | None = None, announce: AnnounceCfg | None = None) -> TrialOrder:
        """Returns an order that nobody knows of yet."""
        return cls(name, wanted, ordered_kits(name, wanted, tray), announce or AnnounceCfg())

    def as_dict(self) -> dict[str, Any]:
        """Returns the announcement for controllers."""
        kits = [
            {"kit": kit.design.name, "tray": kit.tray, "tray_sku": kit.design.tray_sku, "parts": dict(kit.design.parts)}
            for kit in self.kits
        ]
        return {"order": self.name, "priority": self.wanted.priority, "kits": kits, "announced_s": self.announced_s}


@dataclass
class OrderBook:
    """All orders of a trial.

    Attributes:
        orders: By name, in the file's order.
        kit_trays: Kit trays of the cell -> their SKU.
        on_announce: Told of every order when it becomes known.
        on_submit: Told of every order when it is submitted.
    """

    orders: dict[str, TrialOrder]
    kit_trays: dict[str, str]
    on_announce: list[Callable[[TrialOrder], None]] = field(default_factory=list)
    on_submit: list[Callable[[TrialOrder], None]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        wanted: Sequence[TrialOrderCfg],
        cell: Cell,
        where: str = "trial",
        numbers: Sequence[int] | None = None,
    ) -> OrderBook:
        """Returns the orders, checked against the cell.

        Args:
            wanted: What is asked for.
            cell: The cell.
            where: What errors call the trial.
            numbers: Which of the trial's orders these are; all of them when not given.

        Raises:
            BadInput: All orders, trays and names that do not fit, with what is allowed.
        """
        book = cls({}, _kit_trays(cell))
        collector, before = ErrorCollector(), list[str]()
        for number, cfg in zip(range(len(wanted)) if numbers is None else numbers, wanted, strict=True):
            at, other = f"orders.{number}", cfg.announce.after_order
            if other is not None and other not in before:
                problem = str(UnknownName("order before it", other, before))
                collector.add(ConfigError(where, f"{at}.announce.after_order", problem))
            before.append(cfg.name or cfg.order)  # also of one that is wrong: who waits for it is not
            with collector.collecting():
                made = book._made(cfg, where, at)
                before[-1] = made.name
                if made.name in book.orders:
                    problem = f"'{made.name}' is the name of two orders; give this one a name of its own"
                    raise ConfigError(where, f"{at}.name", problem)
                book.orders[made.name] = made
        collector.raise_errors()
        return book

    @classmethod
    def of_run(cls, orders: Sequence[Order], cell: Cell) -> OrderBook:
        """Returns the orders of a run, all known from its beginning; two of one name are numbered."""
        book = cls({}, _kit_trays(cell))
        for order in orders:
            name, number = order.name, 1
            while name in book.orders:
                name, number = f"{order.name}_{number + 1}", number + 1
            book.orders[name] = TrialOrder.of(name, order)
        return book

    def _made(self, cfg: TrialOrderCfg, where: str, at: str) -> TrialOrder:
        try:
            order = find_order(cfg.order, cfg.quantity, cfg.priority)
        except BadInput as error:
            collector = ErrorCollector()
            problems = error.errors if isinstance(error, ConfigErrors) else (error,)
            collector.found += [ConfigError(where, f"{at}.order", str(one)) for one in problems]
            if cfg.tray is not None and cfg.tray not in self.kit_trays:
                collector.add(ConfigError(where, f"{at}.tray", self._unfit(cfg.tray, [])))
            raise ConfigErrors(collector.found) from None
        name = cfg.name or order.name
        made = TrialOrder.of(
            name, replace(order, name=name, priority=order.priority or cfg.priority), cfg.tray, cfg.announce
        )
        if cfg.tray is not None and (problem := self._unfit(cfg.tray, [kit.design for kit in made.kits])):
            raise ConfigError(where, f"{at}.tray", problem)
        return made

    def _unfit(self, tray: str, designs: Sequence[KitDesign]) -> str:
        """Returns the reason why kits cannot be built on that tray; empty when they can."""
        if tray not in self.kit_trays:
            return str(UnknownName("kit tray", tray, self.kit_trays))
        if len(designs) > 1:
            return f"one tray cannot hold {len(designs)} kits; leave it out"
        right = [name for name, sku in self.kit_trays.items() if sku == designs[0].tray_sku]
        return "" if tray in right else str(UnknownName(f"tray for {designs[0].name}", tray, right))

    @property
    def kits(self) -> list[OrderedKit]:
        """The kits of all orders."""
        return [kit for order in self.orders.values() for kit in order.kits]

    @property
    def announced(self) -> list[TrialOrder]:
        """The announced orders, in the order in which they became known."""
        known = [order for order in self.orders.values() if order.announced_s is not None]
        return sorted(known, key=lambda order: order.announced_s or 0.0)

    def lacking(self, cell: Cell) -> list[str]:
        """Returns the parts and trays that the cell lacks for all orders together; a line each."""
        have = expected_parts(cell) + Counter(self.kit_trays.values())
        need: Counter[str] = Counter()
        for kit in self.kits:
            need += Counter(kit.design.parts) + Counter([kit.design.tray_sku])
        return [
            f"{count} of {sku} are needed, the cell has {have[sku]}" for sku, count in need.items() if count > have[sku]
        ]

    def announce_due(self, time_s: float) -> None:
        """Makes known whatever is due."""
        for order in self.orders.values():
            if order.announced_s is not None:
                continue
            other = self.orders.get(order.announce.after_order or "")
            if other is not None and other.submitted_s is None and other.complete_s is None:
                continue
            if time_s >= (order.announce.at_s or 0.0):
                order.announced_s = time_s
                for tell in self.on_announce:
                    tell(order)

    def submit(self, name: str, time_s: float) -> TrialOrder:
        """Submits an order: a controller claims that it is done.

        Raises:
            UnknownName: for one that is not announced.
            BadInput: for one that was submitted before.
        """
        order = self.orders.get(name)
        if order is None or order.announced_s is None:
            raise UnknownName("announced order", name, [known.name for known in self.announced])
        if order.submitted_s is not None:
            raise BadInput(f"order '{name}' was submitted at {order.submitted_s:.2f} s already")
        order.submitted_s = time_s
        for tell in self.on_submit:
            tell(order)
        return order

    async def coming(self) -> AsyncIterator[TrialOrder]:
        """Yields every order as it becomes known, those that are known first; ends after the last."""
        queue: asyncio.Queue[TrialOrder] = asyncio.Queue()
        for order in self.announced:
            queue.put_nowait(order)
        self.on_announce.append(queue.put_nowait)
        for _ in range(len(self.orders)):
            yield await queue.get()


def _kit_trays(cell: Cell) -> dict[str, str]:
    """Returns the kit trays of a cell with their SKUs, by the drawings."""
    trays = {name: TRAYS.get(tray.model) for name, tray in cell.trays.items()}
    return {name: tray.sku for name, tray in trays.items() if tray.kind is TrayKind.KIT}
