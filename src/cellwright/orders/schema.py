"""The format of order files as a JSON schema."""

from __future__ import annotations

from typing import Any

from cellwright.orders.config import OrderCfg
from cellwright.orders.design import known_part_skus, known_tray_skus
from cellwright.orders.library import DESIGNS

__all__ = ["order_json_schema"]


def order_json_schema() -> dict[str, Any]:
    """Returns the format of order files as a JSON schema, for editors: keys, ranges, kits and SKUs that are known."""
    schema = OrderCfg.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["properties"]["kits"]["propertyNames"] = {"examples": DESIGNS.names()}
    design = schema["$defs"]["KitDesignCfg"]["properties"]
    design["tray"]["examples"] = known_tray_skus()
    design["parts"]["propertyNames"] = {"examples": known_part_skus()}
    return schema
