"""Orders as YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from cellwright.core.config import Cfg
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.orders.design import KitDesign
from cellwright.orders.order import Order

__all__ = ["KitDesignCfg", "OrderCfg"]

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=80)]
Count = Annotated[int, Field(ge=1, le=10_000, strict=True)]


class KitDesignCfg(Cfg):
    """A kit design of the user's own.

    Attributes:
        tray: SKU of the kit tray.
        parts: SKU of a part -> how many.
    """

    tray: str
    parts: dict[str, Count] = Field(min_length=1)


class OrderCfg(Cfg):
    """An order file: its name, its kits, and the designs that the library does not have.

    Attributes:
        order: Name of the order.
        priority: The higher, the earlier.
        designs: Name -> design; a name of the library may be repeated only with the same parts.
        kits: Name of a design -> how many.
    """

    order: Name
    priority: Annotated[int, Field(ge=0, le=100, strict=True)] = 0
    designs: dict[Name, KitDesignCfg] = Field(default_factory=dict)
    kits: dict[str, Count] = Field(min_length=1)

    def order_designs(self, library: Mapping[str, KitDesign], where: str) -> dict[str, KitDesign]:
        """Returns all designs that the order may name."""
        designs, collector = dict(library), ErrorCollector()
        for name, cfg in self.designs.items():
            try:
                made = KitDesign.of(name, cfg.tray, cfg.parts)
            except BadInput as error:
                for one in getattr(error, "errors", (error,)):
                    collector.add(ConfigError(where, f"designs.{name}", str(one)))
                continue
            known = library.get(name)
            if known is not None and (known.tray_sku, dict(known.parts)) != (made.tray_sku, dict(made.parts)):
                contents = ", ".join(f"{count} of {sku}" for sku, count in known.parts.items())
                problem = f"contradicts the known kit of that name ({contents} on {known.tray_sku}); use another name"
                collector.add(ConfigError(where, f"designs.{name}", problem))
            designs[name] = made
        collector.raise_errors()
        return designs

    def order_of(self, library: Mapping[str, KitDesign], where: str) -> Order:
        """Returns the order; a kit without a design is an error that lists the designs."""
        collector, designs = ErrorCollector(), dict(library)
        with collector.collecting():
            designs = self.order_designs(library, where)
        known = {*designs, *self.designs}
        for name in self.kits:
            if name not in known:
                collector.add(UnknownName("kit", name, known, f"{where}: kits.{name}"))
        collector.raise_errors()
        kits = {designs[name]: count for name, count in self.kits.items()}
        return Order.of(self.order, kits, self.priority)
