"""Progress of orders, stored beside belief: enough to resume after a crash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from weakref import WeakSet

from sqlalchemy import Column, Integer, MetaData, Table, Text, delete, insert, inspect, select

from cellwright.knowledge import Database
from cellwright.orders import KitDesign, KitSlot, Order, OrderLine

__all__ = ["OrderProgress", "load_progress", "save_progress"]

PROGRESS = Table("execution_progress", MetaData(), Column("id", Integer, primary_key=True), Column("content", Text))
"""Not among the tables of the ontology: a database that no executor has used does not have it."""

MADE: WeakSet[Database] = WeakSet()
"""Databases that are known to have it."""


@dataclass
class OrderProgress:
    """The progress of the orders under way.

    Attributes:
        orders: What is wanted.
        robots: The robots that work.
        plan: The steps, robot -> as in a plan file.
        index: Robot -> how many of its steps are done.
        left_out: Part -> why it is not taken any more.
        rest_rad: Robot -> where it waits.
        rest_point: Robot -> where its tool is then.
        drawn: Tray -> x, y, z by the drawings, and how far it may be off.
        seated: Part -> the slot, as `kit/slot`, into which a robot has set it, or in which it was felt to be seated.
        plans: How many plans were made.
        retries: How many steps were repeated.
        finished: Whether the work has ended.
    """

    orders: list[dict[str, Any]] = field(default_factory=list)
    robots: list[str] = field(default_factory=list)
    plan: dict[str, list[str]] = field(default_factory=dict)
    index: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    rest_rad: dict[str, list[float]] = field(default_factory=dict)
    rest_point: dict[str, list[float]] = field(default_factory=dict)
    drawn: dict[str, list[float]] = field(default_factory=dict)
    seated: dict[str, str] = field(default_factory=dict)
    plans: int = 0
    retries: int = 0
    finished: bool = False

    def set_orders(self, orders: Sequence[Order]) -> None:
        """Stores the orders."""
        self.orders = json.loads(json.dumps([asdict(order) for order in orders]))

    def get_orders(self) -> list[Order]:
        """Returns the orders."""
        return [_order(data) for data in self.orders]


def save_progress(database: Database, progress: OrderProgress) -> None:
    """Writes it, in place of what was written before."""
    with database.transaction() as connection:
        if database not in MADE:
            PROGRESS.create(connection, checkfirst=True)
            MADE.add(database)
        connection.execute(delete(PROGRESS))
        connection.execute(insert(PROGRESS).values(id=1, content=json.dumps(asdict(progress))))


def load_progress(database: Database) -> OrderProgress | None:
    """Returns the stored progress; None without any."""
    with database.transaction() as connection:
        if not inspect(connection).has_table(PROGRESS.name):
            return None
        content = connection.scalar(select(PROGRESS.c.content))
    return OrderProgress(**json.loads(content)) if content else None


def _order(data: dict[str, Any]) -> Order:
    lines = []
    for line in data["lines"]:
        design = line["design"]
        slots = tuple(KitSlot(**slot) for slot in design["slots"])
        lines.append(OrderLine(**{**line, "design": KitDesign(design["name"], design["tray_sku"], slots)}))
    return Order(**{**data, "lines": tuple(lines)})
