"""Loose parts in a cell file: one by one, or several of a kind."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cellwright.cells.fields import Coordinate, Name, PoseCfg
from cellwright.core.config import Cfg

__all__ = ["PartCfg", "PopulationCfg", "RegionCfg"]


class PartCfg(Cfg):
    """A loose part: at a pose, or in a slot.

    Attributes:
        model: The part's model.
        pose: Its place.
        slot: The slot that it lies in instead, written `tray/slot`.
    """

    model: str
    pose: PoseCfg | None = None
    slot: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.pose is None) == (self.slot is None):
            raise ValueError("give either pose or slot")
        if self.slot is not None and self.slot.count("/") != 1:
            raise ValueError(f"slot should be written tray/slot, got '{self.slot}'")
        return self


class RegionCfg(Cfg):
    """A rectangle on a surface where the middles of parts may lie.

    Attributes:
        min_xy_m: The corner with the lowest x and y.
        max_xy_m: The corner with the highest x and y.
        z_m: The height of the surface.
    """

    min_xy_m: tuple[Coordinate, Coordinate]
    max_xy_m: tuple[Coordinate, Coordinate]
    z_m: Coordinate

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.min_xy_m[0] < self.max_xy_m[0] and self.min_xy_m[1] < self.max_xy_m[1]):
            raise ValueError("min_xy_m must be below max_xy_m in both coordinates")
        return self


class PopulationCfg(Cfg):
    """Several parts of one kind: in the free slots of trays, or scattered over a region by the seed.

    Parts are named `<model>_<n>`, counted through the whole cell.

    Attributes:
        model: The parts' model.
        count: Their number.
        trays: The trays in whose free slots they lie.
        region: The rectangle over which they are scattered instead.
        shuffle: Whether the seed picks the slots, instead of the trays' own order.
    """

    model: str
    count: Annotated[int, Field(ge=1, le=500)]
    trays: tuple[Name, ...] = ()
    region: RegionCfg | None = None
    shuffle: bool = False

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if bool(self.trays) == (self.region is not None):
            raise ValueError("give either trays or region")
        return self
