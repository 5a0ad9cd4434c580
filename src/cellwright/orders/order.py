"""An order: kits of some designs, with quantities and a priority."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cellwright.core.errors import BadInput
from cellwright.orders.design import KitDesign

__all__ = ["Order", "OrderLine"]


@dataclass(frozen=True, slots=True)
class OrderLine:
    """So many kits of one design."""

    design: KitDesign
    quantity: int


@dataclass(frozen=True)
class Order:
    """An order.

    Attributes:
        name: Its name in reports.
        lines: Designs and quantities; each design once.
        priority: The higher, the earlier it gets trays, tables and scarce parts; 0 is ordinary.
    """

    name: str
    lines: tuple[OrderLine, ...]
    priority: int = 0

    def __post_init__(self) -> None:
        """Refuses an order for nothing, and one with a design twice."""
        if not self.lines:
            raise BadInput(f"order '{self.name}' asks for no kit; name at least one")
        seen: set[str] = set()
        for line in self.lines:
            if line.quantity < 1:
                raise BadInput(f"order '{self.name}': {line.quantity} of {line.design.name}, 1 or more can be ordered")
            if line.design.name in seen:
                raise BadInput(f"order '{self.name}' names {line.design.name} twice; give one line with the sum")
            seen.add(line.design.name)

    @classmethod
    def of(cls, name: str, kits: Mapping[KitDesign, int], priority: int = 0) -> Order:
        """Returns an order from kit designs and how many of each are wanted.

        >>> pair = cw.KitDesign.of("pair", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 2})
        >>> cw.Order.of("two pairs", {pair: 2}).kit_count
        2
        """
        return cls(name, tuple(OrderLine(design, quantity) for design, quantity in kits.items()), priority)

    @property
    def kit_count(self) -> int:
        """The number of kits in all."""
        return sum(line.quantity for line in self.lines)
