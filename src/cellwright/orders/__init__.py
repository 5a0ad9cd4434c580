"""Orders: kits, their number and their priority, and the parts that belong in each."""

from cellwright.orders.config import KitDesignCfg, OrderCfg
from cellwright.orders.design import KitDesign, KitSlot, known_part_skus, known_tray_skus
from cellwright.orders.library import DESIGNS, find_order
from cellwright.orders.order import Order, OrderLine
from cellwright.orders.schema import order_json_schema

__all__ = [
    "DESIGNS",
    "KitDesign",
    "KitDesignCfg",
    "KitSlot",
    "Order",
    "OrderCfg",
    "OrderLine",
    "find_order",
    "known_part_skus",
    "known_tray_skus",
    "order_json_schema",
]
