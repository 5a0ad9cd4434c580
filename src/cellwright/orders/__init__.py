"""Orders: which kits somebody wants, how many and how urgently, and what belongs in each."""

from cellwright.orders.config import KitDesignCfg, OrderCfg
from cellwright.orders.design import KitDesign, KitSlot, known_part_skus, known_tray_skus
from cellwright.orders.library import DESIGNS, find_order
from cellwright.orders.order import Order, OrderLine

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
]
