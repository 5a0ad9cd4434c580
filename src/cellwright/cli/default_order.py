"""The order that is meant when none is named."""

from __future__ import annotations

from cellwright.catalogue import TRAYS
from cellwright.cells import Cell
from cellwright.orders import DESIGNS

__all__ = ["DEFAULT_ORDER", "fitting_orders"]

DEFAULT_ORDER = "kit_m2l1"


def fitting_orders(cell: Cell) -> list[str]:
    """Returns the orders by name that a cell has a kit tray for, the default one first if it is among them."""
    skus = {TRAYS.get(tray.model).sku for tray in cell.trays.values() if tray.model in TRAYS}
    return [order for order in dict.fromkeys((DEFAULT_ORDER, *DESIGNS)) if DESIGNS.get(order).tray_sku in skus]
