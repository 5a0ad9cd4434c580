"""Orders of a controller in a process of its own: one by name, or those that a trial's control interface announces."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from cellwright.core.errors import BadInput, JobFailed
from cellwright.crcl.connection import parse_address
from cellwright.orders import DESIGNS, KitDesign, Order, OrderLine
from cellwright.trials.announced import AnnouncedOrder, OrderedKit, ordered_kits

__all__ = ["ControlOrders", "GivenOrder", "control_orders"]

MAX_LINE_BYTES = 1024 * 1024
ANSWER_S = 10.0  # of real time
CONNECT_S = 5.0


class GivenOrder:
    """One order that is known from the beginning; nobody takes its submission but the user.

    Attributes:
        submitted: Whether it was claimed to be done.
    """

    def __init__(self, wanted: Order) -> None:
        self._order = AnnouncedOrder(wanted.name, wanted, ordered_kits(wanted.name, wanted), 0.0)
        self.submitted = False

    @property
    def announced(self) -> list[AnnouncedOrder]:
        """The order."""
        return [self._order]

    async def coming(self) -> AsyncIterator[AnnouncedOrder]:
        """Yields it."""
        yield self._order

    def submit(self, name: str) -> None:
        """Notes the claim."""
        self.submitted = self.submitted or name == self._order.name


class ControlOrders:
    """The orders that a trial announces on its control interface, to which they are submitted.

    Attributes:
        addresses: Of the trial's interfaces.
        ended: How the trial has ended; empty until then.
    """

    def __init__(self, writer: asyncio.StreamWriter, say: Callable[[str], None]) -> None:
        self._writer = writer
        self._say = say
        self._known: dict[str, AnnouncedOrder] = {}
        self._submitted: set[str] = set()
        self._unanswered = 0
        self._news = asyncio.Event()
        self.addresses: dict[str, Any] = {}
        self.ended = ""

    @property
    def announced(self) -> list[AnnouncedOrder]:
        """The orders that are known, in the order in which they became so."""
        return list(self._known.values())

    async def coming(self) -> AsyncIterator[AnnouncedOrder]:
        """Yields every order as it becomes known; ends with the trial."""
        told: set[str] = set()
        while True:
            new = next((order for order in self.announced if order.name not in told), None)
            if new is not None:
                told.add(new.name)
                yield new
            elif self.ended:
                return
            else:
                await self._news.wait()

    def submit(self, name: str) -> None:
        """Claims that an order is done."""
        if name in self._submitted:
            raise BadInput(f"order '{name}' was submitted already")
        self._submitted.add(name)
        order = self._known[name]
        self._known[name] = AnnouncedOrder(order.name, order.wanted, order.kits, order.announced_s, is_submitted=True)
        self._ask({"submit": name})

    async def answered(self) -> None:
        """Waits until everything that was asked is answered, or the trial is over."""
        async with asyncio.timeout(ANSWER_S):
            while self._unanswered and not self.ended:
                await self._news.wait()

    def _ask(self, line: dict[str, Any]) -> None:
        self._unanswered += 1
        self._writer.write(json.dumps(line).encode() + b"\n")

    def _take(self, line: dict[str, Any]) -> None:
        if "announce" in line:
            order = announced_order(line["announce"])
            self._known.setdefault(order.name, order)
        elif "end" in line:
            self.ended = str(line["end"])
        else:
            self._unanswered -= 1
            self.addresses = line.get("addresses", self.addresses)
            if "error" in line:
                self._say(f"the trial refuses: {line['error']}")
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def read(self, reader: asyncio.StreamReader) -> None:
        """Reads on to the end of the connection."""
        try:
            while text := await reader.readline():
                self._take(json.loads(text))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, BadInput) as error:
            self._say(f"the control interface says what cannot be understood: {error}")
        self.ended = self.ended or "the control interface has closed the connection"
        self._tell()


@asynccontextmanager
async def control_orders(address: str, say: Callable[[str], None]) -> AsyncIterator[ControlOrders]:
    """Connects to a trial's control interface, and asks where its other interfaces are.

    Raises:
        BadInput: The address makes no sense.
        JobFailed: No control interface is there.
    """
    host, port = parse_address(address)
    try:
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_connection(host, port, limit=MAX_LINE_BYTES)
    except OSError as error:  # a TimeoutError is one
        why = error.strerror or "no answer"
        raise JobFailed(f"no control interface at {address}: {why}") from None
    orders = ControlOrders(writer, say)
    reading = asyncio.create_task(orders.read(reader))
    try:
        orders._ask({"ask": "addresses"})
        try:
            await orders.answered()
        except TimeoutError:
            raise JobFailed(f"{address} is no control interface of a trial: it does not answer") from None
        yield orders
    finally:
        reading.cancel()
        writer.close()
        await asyncio.gather(reading, return_exceptions=True)


def announced_order(told: dict[str, Any]) -> AnnouncedOrder:
    """Returns an order from its announcement.

    Raises:
        BadInput, KeyError, TypeError: It makes no sense.
    """
    kits = [(_design(kit), kit.get("tray")) for kit in told["kits"]]
    counts = Counter(design.name for design, _ in kits)
    designs = {design.name: design for design, _ in kits}
    lines = tuple(OrderLine(designs[name], count) for name, count in counts.items())
    name = str(told["order"])
    ordered = tuple(OrderedKit(name, number, design, tray) for number, (design, tray) in enumerate(kits, start=1))
    return AnnouncedOrder(name, Order(name, lines, int(told["priority"])), ordered, float(told["announced_s"] or 0.0))


def _design(kit: dict[str, Any]) -> KitDesign:
    """Returns the design of a kit: the library's, if it is that, else one with these parts."""
    name, tray_sku, parts = kit["kit"], kit["tray_sku"], dict(kit["parts"])
    if name in DESIGNS:
        known = DESIGNS.get(name)
        if known.tray_sku == tray_sku and dict(known.parts) == parts:
            return known
    return KitDesign.of(name, tray_sku, parts)
