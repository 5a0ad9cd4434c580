"""The slots of a tray: from the figures of the catalogue, or estimated for the trays of the kitting papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from cellwright.catalogue import TRAYS, TrayFigures, part_of_sku, seated_pose, tray_of_sku
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.orders import KitDesign, known_tray_skus
from cellwright.orders.design import PAPER_PART_SKUS, PAPER_TRAY_SKU, PAPER_TRAY_SLOTS

__all__ = [
    "PAPER_PARTS_TRAY_SKUS",
    "SkuFigures",
    "SlotPlace",
    "TrayLayout",
    "design_slots",
    "is_tray_sku",
    "sku_figures",
    "tray_layout",
]

PAPER_PARTS_TRAY_SKUS: Mapping[str, str] = {sku: f"{sku}_tray" for sku in PAPER_PART_SKUS.values()}
"""Part of the papers -> the tray that supplies it."""

# The papers give no dimensions of parts A to E and of their trays: a cylinder of 50 mm by 40 mm, a tenth of a
# kilogram, 5 mm deep in the tray, is a guess that keeps the predicates of position meaningful.
PAPER_PART_DIAMETER_M, PAPER_PART_HEIGHT_M, PAPER_PART_MASS_KG = 0.050, 0.040, 0.1
PAPER_PITCH_M, PAPER_FLOOR_M, PAPER_THICKNESS_M, PAPER_COLUMNS = 0.070, 0.005, 0.010, 5
PAPER_PARTS_TRAY_SLOTS = 10


@dataclass(frozen=True)
class SlotPlace:
    """A place on a tray.

    Attributes:
        name: Name inside the tray.
        sku: The part that belongs there; empty where any does.
        pose_part_in_tray: Of a part that is seated.
    """

    name: str
    sku: str
    pose_part_in_tray: Pose


@dataclass(frozen=True)
class TrayLayout:
    """A kind of tray.

    Attributes:
        sku: Its SKU.
        title: In words.
        size_m: Along x, y and z.
        mass_kg: Of the empty tray.
        slots: Its places, in the order of their numbers.
    """

    sku: str
    title: str
    size_m: tuple[float, float, float]
    mass_kg: float
    slots: tuple[SlotPlace, ...]


@dataclass(frozen=True)
class SkuFigures:
    """A kind of part, as a cylinder around its axis."""

    sku: str
    title: str
    mass_kg: float
    diameter_m: float
    height_m: float


def sku_figures(sku: str) -> SkuFigures:
    """Returns weight and extent of a part.

    Raises:
        UnknownName: The SKU is not known.
    """
    if sku in PAPER_PARTS_TRAY_SKUS:
        title = f"Part {sku[-1].upper()} of the kitting papers; figures estimated"
        return SkuFigures(sku, title, PAPER_PART_MASS_KG, PAPER_PART_DIAMETER_M, PAPER_PART_HEIGHT_M)
    part = part_of_sku(sku)
    return SkuFigures(sku, part.title, part.mass_kg, 2 * part.radius_m, part.height_m)


@cache
def tray_layout(sku: str) -> TrayLayout:
    """Returns the tray that is sold under a SKU.

    Raises:
        UnknownName: There is none; lists those that there are.
    """
    for name in TRAYS:
        tray = TRAYS.get(name)
        if tray.sku == sku:
            return _of_figures(tray)
    if sku == PAPER_TRAY_SKU:
        return _grid(sku, "Kit tray of the kitting papers; figures estimated", PAPER_TRAY_SLOTS, "")
    for part, tray_sku in PAPER_PARTS_TRAY_SKUS.items():
        if tray_sku == sku:
            title = f"Tray for parts {part[-1].upper()} of the kitting papers; figures estimated"
            return _grid(sku, title, PAPER_PARTS_TRAY_SLOTS, part)
    known = {*known_tray_skus(), *PAPER_PARTS_TRAY_SKUS.values(), *(TRAYS.get(name).sku for name in TRAYS)}
    raise UnknownName("tray SKU", sku, known)


def is_tray_sku(sku: str) -> bool:
    """Returns whether a SKU is that of a tray, and not of a part."""
    return sku == PAPER_TRAY_SKU or sku in PAPER_PARTS_TRAY_SKUS.values() or tray_of_sku(sku) is not None


def design_slots(design: KitDesign) -> tuple[SlotPlace, ...]:
    """Returns the slots of a kit with the part that each shall hold, in the design's order."""
    places = {place.name: place.pose_part_in_tray for place in tray_layout(design.tray_sku).slots}
    return tuple(SlotPlace(slot.name, slot.sku, places[slot.name]) for slot in design.slots)


def _of_figures(tray: TrayFigures) -> TrayLayout:
    slots = (
        SlotPlace(slot.name, slot.accepts, seated_pose(tray, slot, part_of_sku(slot.accepts))) for slot in tray.slots
    )
    return TrayLayout(tray.sku, tray.title, (*tray.size_m, tray.thickness_m), tray.mass_kg, tuple(slots))


def _grid(sku: str, title: str, count: int, part: str) -> TrayLayout:
    rows = -(-count // PAPER_COLUMNS)
    slots = []
    for number in range(count):
        row, column = divmod(number, PAPER_COLUMNS)
        x_m = (column - (PAPER_COLUMNS - 1) / 2) * PAPER_PITCH_M
        y_m = ((rows - 1) / 2 - row) * PAPER_PITCH_M
        slots.append(SlotPlace(f"slot_{number + 1}", part, Pose.from_xyz_rpy([x_m, y_m, PAPER_FLOOR_M])))
    size_m = (PAPER_COLUMNS * PAPER_PITCH_M, rows * PAPER_PITCH_M, PAPER_THICKNESS_M)
    return TrayLayout(sku, title, size_m, 0.5, tuple(slots))
