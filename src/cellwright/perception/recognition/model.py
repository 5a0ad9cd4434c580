"""Prior knowledge of recognition: figures of parts and trays, tables, how trays are usually turned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cellwright.catalogue import GearFigures, PartFigures, TrayFigures
from cellwright.catalogue.objects import TurnedFigures
from cellwright.catalogue.seating import seated_height_m
from cellwright.perception.support import Surface

__all__ = ["RecognitionModel", "RoundOutline"]

WIDEST_M = 0.001  # below the largest radius: what still belongs to the side that is seen from above


@dataclass(frozen=True)
class RoundOutline:
    """The outline of a round part as it is seen from above.

    Attributes:
        sku: Of the part.
        radius_m: Of the outline; of teeth the middle between root and tip.
        low_m: Height of the lower end of the side that makes the outline, above the part's origin.
        top_m: Height of its upper end.
        bottom_m: Height of the part's underside.
        seat_m: Height of the part's origin above the table, when it is seated in a tray; None where no tray takes it.
        teeth_m: How far teeth reach beyond the radius, and their gaps into it.
    """

    sku: str
    radius_m: float
    low_m: float
    top_m: float
    bottom_m: float
    seat_m: float | None
    teeth_m: float = 0.0

    @property
    def middle_m(self) -> float:
        """Height of the middle of the visible side: far from the camera's foot its top is seen, near it its bottom."""
        return (self.low_m + self.top_m) / 2


@dataclass(frozen=True, kw_only=True)
class RecognitionModel:
    """The drawings that recognition works by: nothing of how the cell really is.

    Attributes:
        parts: Parts that may be seen; those that are not round are not recognised.
        trays: Trays that may be seen.
        surfaces: Tables on which all this stands, with their heights; nothing is looked for beside them.
        tray_yaws_rad: SKU -> rotations in which trays are drawn. Of rotations that look alike the one next to these is
            reported; without any, the one next to zero.
    """

    parts: tuple[PartFigures, ...]
    trays: tuple[TrayFigures, ...]
    surfaces: tuple[Surface, ...]
    tray_yaws_rad: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @cached_property
    def outlines(self) -> tuple[RoundOutline, ...]:
        """The outlines of the round parts."""
        found = (self._outline(part) for part in self.parts)
        return tuple(outline for outline in found if outline is not None)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """SKUs of parts that are not round, which are not recognised."""
        known = {outline.sku for outline in self.outlines}
        return tuple(part.sku for part in self.parts if part.sku not in known)

    def _outline(self, part: PartFigures) -> RoundOutline | None:
        seat_m = self._seat_m(part)
        if isinstance(part, GearFigures):
            middle_m = (part.root_radius_m + part.tip_radius_m) / 2
            teeth_m = part.tip_radius_m - middle_m
            return RoundOutline(part.sku, middle_m, part.cone_height_m, part.disc_top_m, 0.0, seat_m, teeth_m)
        if isinstance(part, TurnedFigures) and part.is_round:
            wide = [height for radius, height in part.profile_rz_m if radius >= part.radius_m - WIDEST_M]
            return RoundOutline(part.sku, part.radius_m, min(wide), max(wide), part.bottom_m, seat_m)
        return None

    def _seat_m(self, part: PartFigures) -> float | None:
        for tray in self.trays:
            for slot in tray.slots:
                if slot.accepts == part.sku:
                    return seated_height_m(tray, slot, part)
        return None
