"""Plans of an order from a cell's drawings, before anything is built or moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.cells import Cell, nominal_layout
from cellwright.drawings.database import planning_database
from cellwright.lab.cell_file import read_cell
from cellwright.orders import Order, find_order
from cellwright.planning import Planner, PlanResult, plan
from cellwright.planning.belief import request_of

__all__ = ["plan_order"]


def plan_order(
    cell: str | Path | Cell,
    order: str | Path | Order = "kit_m2l1",
    *,
    quantity: int = 1,
    robots: Sequence[str] | None = None,
    planner: str | Planner | None = None,
    seed: int = 0,
) -> PlanResult:
    """Plans an order from a cell's drawings, as a controller does before it has looked.

    >>> result = cw.plan_order("aprs", "kit_m2l1", robots=["fanuc"])
    >>> print(result.status, len(result.actions), result.actions[0].verb)
    optimal 15 look-for-part

    Args:
        cell: A cell's name, its file, or a cell.
        order: A kit's name, an order file, or an order.
        quantity: How many, of an order by name.
        robots: The robots in service; all by default.
        planner: The name of a task planner, or one; by default the sequencer for one robot, the scheduler for several.
        seed: Decides which slots of the drawings hold parts.

    Raises:
        BadInput: The cell, the order or a robot's name makes no sense; a state that is merely hopeless is a result.
    """
    loaded = cell if isinstance(cell, Cell) else read_cell(cell, seed)
    orders = [order if isinstance(order, Order) else find_order(order, quantity)]
    database, _ = planning_database(loaded, orders, robots, nominal_layout(loaded, seed))
    try:
        return plan(request_of(database, orders, robots=robots), planner)
    finally:
        database.close()
