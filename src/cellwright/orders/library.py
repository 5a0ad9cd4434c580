"""The orders of the papers and of NIST's laboratory by name, and orders in files of the user's own."""

from __future__ import annotations

from pathlib import Path

from cellwright.catalogue.plug_trays import KIT_M2L1_PLUG_TRAY
from cellwright.catalogue.trays import KIT_M2L1_TRAY, KIT_S2L2_TRAY
from cellwright.core.config import read_yaml
from cellwright.core.errors import BadInput
from cellwright.core.registry import Registry
from cellwright.orders.config import OrderCfg
from cellwright.orders.design import PAPER_PART_SKUS, PAPER_TRAY_SKU, KitDesign
from cellwright.orders.order import Order

__all__ = ["DESIGNS", "find_order"]

DESIGNS: Registry[KitDesign] = Registry("kit", "cellwright.kits")
"""Kit designs by name. The letters and digits of a name say what is in it: a2b1c1 has two A, one B, one C."""

_PAPER = ("a2b1c1", "a2b2c1", "a4b3c3", "a4b4c2", "a2b3c5", "a4b3c2d1", "a2b3c3d1e1")


def _paper_design(name: str) -> KitDesign:
    pairs = zip(name[::2], name[1::2], strict=True)
    return KitDesign.of(name, PAPER_TRAY_SKU, {PAPER_PART_SKUS[letter]: int(count) for letter, count in pairs})


def _tray_design(name: str, tray_name: str) -> KitDesign:
    tray = {tray.name: tray for tray in (KIT_M2L1_TRAY, KIT_S2L2_TRAY, KIT_M2L1_PLUG_TRAY)}[tray_name]
    counts: dict[str, int] = {}
    for slot in tray.slots:
        counts[slot.accepts] = counts.get(slot.accepts, 0) + 1
    return KitDesign.of(name, tray.sku, counts)


for _name in _PAPER:
    DESIGNS.add(_name, _paper_design(_name))
for _name, _tray in (
    ("s2b2", KIT_S2L2_TRAY.name),  # NIST's first gear demonstration: two small, two big gears
    ("kit_s2l2", KIT_S2L2_TRAY.name),
    ("kit_m2l1", KIT_M2L1_TRAY.name),
    ("kit_m2l1_plug", KIT_M2L1_PLUG_TRAY.name),  # the same with plugs in straight slots
):
    DESIGNS.add(_name, _tray_design(_name, _tray))


def find_order(name_or_file: str | Path, quantity: int = 1, priority: int = 0) -> Order:
    """Returns the order of a name, which is one kit of the design of that name, or of a YAML file.

    Quantity and priority are for orders by name; a file says both itself.
    """
    text = str(name_or_file)
    if not (isinstance(name_or_file, Path) or text.endswith((".yaml", ".yml")) or "/" in text):
        return Order.of(text, {DESIGNS.get(text): quantity}, priority)
    path = Path(text)
    if not path.exists():
        raise BadInput(f"order file {text} does not exist (orders by name: {', '.join(DESIGNS)})")
    return read_yaml(path, OrderCfg).order_of({name: DESIGNS.get(name) for name in DESIGNS}, str(path))
