"""The database to plan an order on: the cell's own, or the kitting papers' workstation for the papers' parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.cells import Cell, Layout
from cellwright.core.errors import BadInput, UnknownName
from cellwright.drawings.workstation import workstation_of
from cellwright.knowledge import Database, Workstation, filled_database
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.orders import DESIGNS, KitDesign, Order
from cellwright.orders.design import PAPER_PART_SKUS, PAPER_TRAY_SKU

__all__ = ["designs_for", "planning_database", "planning_workstation"]


def planning_workstation(
    cell: Cell, orders: Sequence[Order], robots: Sequence[str] | None = None, layout: Layout | None = None
) -> tuple[Workstation, list[str]]:
    """Returns the cell's workstation, or that of the kitting papers with the cell's robots for the papers' parts.

    Args:
        cell: The cell.
        orders: What is wanted.
        robots: The robots in service; all by default.
        layout: As for `workstation_of`.

    Returns:
        The workstation, and a line for the user about each decision that was made for them.

    Raises:
        UnknownName: A robot that the cell does not have.
    """
    for name in robots or ():
        if name not in cell.robots:
            raise UnknownName("robot", name, cell.robots, cell.where)
    papers = {*PAPER_PART_SKUS.values(), PAPER_TRAY_SKU}
    wanted = {sku for order in orders for line in order.lines for sku in (line.design.tray_sku, *line.design.parts)}
    if not wanted & papers:
        return workstation_of(cell, layout), []
    named = list(robots or cell.robots)
    if not named:
        raise BadInput(f"{cell.where}: the cell has no robot; add one under robots")
    shown = ", ".join(order.name for order in orders)
    note = (
        f"{shown}: {cell.name} has no parts of the kitting papers; planned on the papers' workstation "
        f"with {' and '.join(named[:2])}, its poses estimated"
    )
    return paper_workstation(orders, robots=named[:2], tables=len(named[:2])), [note]


def planning_database(
    cell: Cell,
    orders: Sequence[Order],
    robots: Sequence[str] | None = None,
    layout: Layout | None = None,
    url: str | Path = "sqlite://",
) -> tuple[Database, list[str]]:
    """Returns a database filled for planning the orders in the cell, and notes for the user, a line each."""
    workstation, notes = planning_workstation(cell, orders, robots, layout)
    return filled_database(url, workstation, designs_for(orders)), notes


def designs_for(orders: Sequence[Order]) -> list[KitDesign]:
    """Returns the ordered designs, then the library's designs of other names."""
    designs = {line.design.name: line.design for order in orders for line in order.lines}
    for name in DESIGNS:
        designs.setdefault(name, DESIGNS.get(name))
    return list(designs.values())
