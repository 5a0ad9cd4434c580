"""The catalogue as tables of names, open to other packages through entry points."""

from __future__ import annotations

from typing import Any

from cellwright.catalogue import gears, trays
from cellwright.catalogue.arms import ArmFigures
from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER, ChangerFigures
from cellwright.catalogue.epuck import EPUCK
from cellwright.catalogue.figures import Figures
from cellwright.catalogue.flat_parts import FLAT_PARTS
from cellwright.catalogue.furniture import FURNITURE as OWN_FURNITURE
from cellwright.catalogue.furniture import FurnitureFigures
from cellwright.catalogue.grippers import GRIPPERS, GripperFigures
from cellwright.catalogue.kitting_furniture import KITTING_FURNITURE
from cellwright.catalogue.lr_mate_200id import LR_MATE_200ID
from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.catalogue.mobiles import MobileFigures
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.plug_trays import PLUG_TRAYS
from cellwright.catalogue.printed import CALIBRATION_BOARD, CALIBRATION_TAGS
from cellwright.catalogue.robotiq_2f_85 import ROBOTIQ_2F_85
from cellwright.catalogue.rovi_furniture import ROVI_FURNITURE
from cellwright.catalogue.rovi_objects import ROVI_OBJECTS
from cellwright.catalogue.sia20f import SIA20F
from cellwright.catalogue.tools import ToolFigures
from cellwright.catalogue.trays import TrayFigures
from cellwright.catalogue.ur5 import UR5
from cellwright.catalogue.vacuum import VACUUM_TOOLS
from cellwright.catalogue.wsg_50 import WSG_50
from cellwright.core.errors import UnknownName
from cellwright.core.registry import Registry

__all__ = [
    "CHANGERS",
    "FURNITURE",
    "KINDS",
    "MOBILES",
    "PARTS",
    "ROBOTS",
    "TOOLS",
    "TRAYS",
    "find_model",
    "gripper_model",
    "part_of_sku",
    "prefer_part",
    "prefer_tray",
    "tray_of_sku",
]

ROBOTS: Registry[ArmFigures] = Registry("robot model", "cellwright.robots")
MOBILES: Registry[MobileFigures] = Registry("mobile robot model", "cellwright.mobiles")
CHANGERS: Registry[ChangerFigures] = Registry("tool changer", "cellwright.changers")
TOOLS: Registry[ToolFigures] = Registry("tool model", "cellwright.tools")
PARTS: Registry[PartFigures] = Registry("part model", "cellwright.parts")
TRAYS: Registry[TrayFigures] = Registry("tray model", "cellwright.trays")
FURNITURE: Registry[FurnitureFigures] = Registry("furniture model", "cellwright.furniture")

KINDS: dict[str, Registry[Any]] = {
    "robot": ROBOTS,
    "mobile": MOBILES,
    "tool": TOOLS,
    "changer": CHANGERS,
    "part": PARTS,
    "tray": TRAYS,
    "furniture": FURNITURE,
}
"""Kind of model -> its table."""

for _arm in (LR_MATE_200ID, SIA20F, UR5):
    ROBOTS.add(_arm.name, _arm)
MOBILES.add(EPUCK.name, EPUCK)
for _tool in (*GRIPPERS.values(), WSG_50, ROBOTIQ_2F_85, *VACUUM_TOOLS.values()):
    TOOLS.add(_tool.name, _tool)
CHANGERS.add(TOOL_CHANGER.name, TOOL_CHANGER)
_LOOSE = (*gears.GEARS.values(), *ROVI_OBJECTS.values(), *FLAT_PARTS.values(), *gears.PLUG_GEARS.values())
for _part in (*_LOOSE, CALIBRATION_MARK, CALIBRATION_BOARD, *CALIBRATION_TAGS.values()):
    PARTS.add(_part.name, _part)
for _tray in (*trays.TRAYS.values(), *PLUG_TRAYS.values()):
    TRAYS.add(_tray.name, _tray)
for _item in (*OWN_FURNITURE.values(), *ROVI_FURNITURE.values(), *KITTING_FURNITURE.values(), TOOL_HOLDER):
    FURNITURE.add(_item.name, _item)


def find_model(name: str) -> tuple[str, Figures]:
    """Returns kind and figures of a model of any kind."""
    for kind, registry in KINDS.items():
        if name in registry:
            return kind, registry.get(name)
    raise UnknownName("model", name, [n for registry in KINDS.values() for n in registry])


def gripper_model(name: str, where: str = "") -> GripperFigures:
    """Returns a tool that has fingers.

    Raises:
        UnknownName: it has none, or there is no such tool.
    """
    figures = TOOLS.get(name, where)
    if not isinstance(figures, GripperFigures):
        raise UnknownName("gripper", name, [n for n in TOOLS if isinstance(TOOLS.get(n), GripperFigures)], where)
    return figures


_last_of_sku: dict[str, PartFigures] = {}


def part_of_sku(sku: str) -> PartFigures:
    """Returns the part with a stock-keeping unit."""
    known = _last_of_sku.get(sku)  # asked for with every frame of a detector
    if known is not None and known.name in PARTS and PARTS.get(known.name) is known:
        return known
    for name in PARTS:
        if PARTS.get(name).sku == sku:
            _last_of_sku[sku] = PARTS.get(name)
            return _last_of_sku[sku]
    raise UnknownName("part SKU", sku, [PARTS.get(name).sku for name in PARTS])


def prefer_part(part: PartFigures) -> None:
    """Makes a part that of its SKU: of several imports of one SKU, that of the cell that was read last counts."""
    _last_of_sku[part.sku] = part


_tray_of_sku: dict[str, TrayFigures] = {}


def prefer_tray(tray: TrayFigures) -> None:
    """Makes a tray that of its SKU: of several clearances, that of the cell that was laid out last counts."""
    _tray_of_sku[tray.sku] = tray


def tray_of_sku(sku: str) -> TrayFigures | None:
    """Returns the tray with a stock-keeping unit of vision and orders; None where it is no tray's."""
    known = _tray_of_sku.get(sku)
    if known is not None and known.name in TRAYS:
        return known
    return next((TRAYS.get(name) for name in TRAYS if TRAYS.get(name).sku == sku), None)
