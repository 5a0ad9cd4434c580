"""Orders to pick one object and set it down on an area: what is moved where."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.catalogue import PARTS, PartFigures
from cellwright.core.registry import Registry

__all__ = ["PICK_ORDERS", "PickOrder"]


@dataclass(frozen=True)
class PickOrder:
    """An order for one object of a kind, wherever it stands on one area, to be set down on another.

    Attributes:
        name: Its name.
        model: The object's kind: its name in the catalogue.
        pick_area: The area on which one is looked for: a raised plate of a table of the cell, by name.
        place_area: The area in whose middle it is set down.
        variant: The variant of the published cell in which one stands there; empty when the cell itself has it.
    """

    name: str
    model: str
    pick_area: str = "pick_area"
    place_area: str = "place_area"
    variant: str = ""

    @property
    def part(self) -> PartFigures:
        """The figures of the object."""
        return PARTS.get(self.model)


PICK_ORDERS: Registry[PickOrder] = Registry("pick order", "cellwright.pick_orders")
"""Orders of the ROVI cell by name."""

for _name, _model, _variant in (
    ("bottle", "bottle", ""),
    ("can", "coffee_can", "can"),
    ("milk", "milk_carton", "milk"),
    ("mug", "mug", "mug"),
):
    PICK_ORDERS.add(f"pick_{_name}", PickOrder(f"pick_{_name}", _model, variant=_variant))
