"""The trays of the APRS lab: parts trays that supply gears and kit trays that collect them.

Origin: the centre of the tray's outline at the height of its feet's soles, z up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from cellwright.catalogue.figures import Figures
from cellwright.catalogue.gears import LARGE_GEAR, MEDIUM_GEAR, SMALL_GEAR

__all__ = [
    "KIT_M2L1_TRAY",
    "KIT_S2L2_TRAY",
    "LARGE_GEAR_TRAY",
    "MEDIUM_GEAR_TRAY",
    "SMALL_GEAR_TRAY",
    "TRAYS",
    "SlotFigures",
    "TrayFigures",
    "TrayKind",
]


class TrayKind(StrEnum):
    """The purpose of a tray."""

    PARTS = "parts"
    KIT = "kit"


@dataclass(frozen=True, kw_only=True)
class SlotFigures:
    """A round pocket that widens towards the top; two equal radii make a straight wall.

    Attributes:
        name: Name inside the tray.
        accepts: SKU of the part that belongs there.
        xy_m: Centre in the tray's frame.
        bottom_radius_m: Radius at the floor.
        top_radius_m: Radius at the tray's upper face.
        floor_m: Height of the floor above the tray's origin.
        chamfer_m: Width and height of the chamfer at the rim, by which a straight slot is wider at the top.
    """

    name: str
    accepts: str
    xy_m: tuple[float, float]
    bottom_radius_m: float
    top_radius_m: float
    floor_m: float
    chamfer_m: float = 0.0

    @property
    def is_straight(self) -> bool:
        """Whether its wall is straight: a part fits by its clearance, and nothing centres it."""
        return self.bottom_radius_m == self.top_radius_m

    @property
    def mouth_radius_m(self) -> float:
        """Radius of its opening in the tray's upper face, the chamfer included."""
        return self.top_radius_m + self.chamfer_m


@dataclass(frozen=True, kw_only=True)
class TrayFigures(Figures):
    """A plate with slots on four feet.

    Attributes:
        sku: The stock-keeping unit under which orders and vision name it.
        kind: Whether it supplies parts or collects a kit.
        size_m: Extent along x and y.
        thickness_m: Height of the upper face above the soles.
        corner_radius_m: Radius of the outline's corners.
        foot_radius_m: Radius of the feet, which are concentric with the corners.
        foot_height_m: Height of the plate's underside above the soles.
        slots: The slots, in the order in which they are numbered.
        mass_kg: Mass of the empty tray.
        rgba: Colour.
    """

    sku: str
    kind: TrayKind
    size_m: tuple[float, float]
    thickness_m: float
    corner_radius_m: float
    foot_radius_m: float
    foot_height_m: float
    slots: tuple[SlotFigures, ...]
    mass_kg: float
    rgba: tuple[float, float, float, float]

    @property
    def feet_xy_m(self) -> tuple[tuple[float, float], ...]:
        """Centres of the four feet."""
        x, y = (side / 2 - self.corner_radius_m for side in self.size_m)
        return ((x, y), (-x, y), (-x, -y), (x, -y))


_SLOT_RADII_M = {  # gear -> bottom, top
    SMALL_GEAR.sku: (0.0070, 0.0201),
    MEDIUM_GEAR.sku: (0.0195, 0.0325),
    LARGE_GEAR.sku: (0.0320, 0.0450),
}
_THICKNESS_M, _FLOOR_M, _CORNER_M, _FOOT_HEIGHT_M = 0.017, 0.004, 0.010, 0.002
_CAD = "measured on the STL mesh of the tray in NIST's gzaprsros"
_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "sku": "names in the APRS lab's vision frames",
        "kind": "APRS lab: vision marks parts trays PT and kit trays KT",
        "size_m": _CAD,
        "thickness_m": _CAD,
        "corner_radius_m": "estimated: concentric with the feet",
        "foot_radius_m": "measured on the small-gear tray's mesh; estimated: the same for the others",
        "foot_height_m": "estimated: half the 4 mm below the slots' floors",
        "slots": _CAD,
        "mass_kg": "gzaprsros model: 0.39 kg",
        "rgba": "estimated: light, so that gears stand out; kit trays unlike parts trays",
    }
)


def _slots(*places_mm: tuple[str, float, float]) -> tuple[SlotFigures, ...]:
    return tuple(
        SlotFigures(
            name=f"slot_{number}",
            accepts=sku,
            xy_m=(x_mm / 1000, y_mm / 1000),
            bottom_radius_m=_SLOT_RADII_M[sku][0],
            top_radius_m=_SLOT_RADII_M[sku][1],
            floor_m=_FLOOR_M,
        )
        for number, (sku, x_mm, y_mm) in enumerate(places_mm, start=1)
    )


def _tray(
    name: str, title: str, sku: str, kind: TrayKind, size_m: tuple[float, float], slots: tuple[SlotFigures, ...]
) -> TrayFigures:
    return TrayFigures(
        name=name,
        title=title,
        sku=sku,
        kind=kind,
        size_m=size_m,
        thickness_m=_THICKNESS_M,
        corner_radius_m=_CORNER_M,
        foot_radius_m=_CORNER_M,
        foot_height_m=_FOOT_HEIGHT_M,
        slots=slots,
        mass_kg=0.39,
        rgba=(0.87, 0.86, 0.82, 1.0) if kind is TrayKind.PARTS else (0.50, 0.66, 0.84, 1.0),
        sources=_SOURCES,
    )


def _four(sku: str, half_pitch_mm: float) -> tuple[SlotFigures, ...]:
    h = half_pitch_mm
    return _slots((sku, -h, h), (sku, h, h), (sku, -h, -h), (sku, h, -h))


_S, _M, _L = SMALL_GEAR.sku, MEDIUM_GEAR.sku, LARGE_GEAR.sku

SMALL_GEAR_TRAY = _tray(
    "small_gear_tray", "Small-gear tray", "sku_small_gear_vessel", TrayKind.PARTS, (0.132, 0.132), _four(_S, 28)
)
MEDIUM_GEAR_TRAY = _tray(
    "medium_gear_tray", "Medium-gear tray", "sku_medium_gear_vessel", TrayKind.PARTS, (0.182, 0.182), _four(_M, 40.5)
)
LARGE_GEAR_TRAY = _tray(
    "large_gear_tray",
    "Large-gear tray",
    "sku_large_gear_vessel",
    TrayKind.PARTS,
    (0.1278, 0.2403),
    _slots((_L, 1.1, 55), (_L, 1.1, -55)),
)
KIT_M2L1_TRAY = _tray(
    "kit_m2l1_tray",
    "Kit tray for two medium gears and a large one",
    "sku_kit_m2l1_vessel",
    TrayKind.KIT,
    (0.160, 0.190),
    _slots((_M, -40, 55), (_M, 40, 55), (_L, 0, -40)),
)
KIT_S2L2_TRAY = _tray(
    "kit_s2l2_tray",
    "Kit tray for two small gears and two large ones",
    "sku_kit_s2l2_vessel",
    TrayKind.KIT,
    (0.220, 0.166),
    _slots((_S, -40, -55), (_S, 40, -55), (_L, -55, 28), (_L, 55, 28)),
)

TRAYS: Mapping[str, TrayFigures] = MappingProxyType(
    {tray.name: tray for tray in (SMALL_GEAR_TRAY, MEDIUM_GEAR_TRAY, LARGE_GEAR_TRAY, KIT_M2L1_TRAY, KIT_S2L2_TRAY)}
)
