"""Straight slots in a cell file: their clearance and chamfer, and whether physics can represent them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from cellwright.catalogue import TRAYS, GearFigures, TrayFigures, part_of_sku, prefer_tray
from cellwright.catalogue.plug_trays import (
    LEAST_CLEARANCE_M,
    LEAST_RIM_M,
    clearance_m,
    coarsest_step_s,
    rim_m,
    with_clearance,
)
from cellwright.core.config import Cfg
from cellwright.core.errors import BadInput, ConfigError

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell, TrayCfg

__all__ = ["SlotsCfg", "tray_figures"]


class SlotsCfg(Cfg):
    """The straight slots of a tray, where they differ from those of its model.

    Attributes:
        clearance_m: Difference of the diameters of slot and plug.
        chamfer_m: Width and height of the chamfer at the rim.
    """

    clearance_m: float
    chamfer_m: Annotated[float, Field(ge=0, le=0.005)] = 0.001

    @field_validator("clearance_m")
    @classmethod
    def _fits(cls, value: float) -> float:
        if not value > 0:
            raise ValueError(f"with {value * 1000:g} mm no part fits: slot less plug, at least {LEAST_CLEARANCE_M:g}")
        if value < LEAST_CLEARANCE_M:
            raise ValueError(
                f"{value * 1000:g} mm is less than contacts can represent: at least {LEAST_CLEARANCE_M:g}, "
                "with timestep_s 0.001 or less"
            )
        return value


def tray_figures(cell: Cell, name: str) -> TrayFigures:
    """Returns the figures of a tray of a cell, registered in the catalogue, with the slots that the cell gives it.

    Raises:
        BadInput: There is no such model; it has no straight slots; or no part fits, or physics cannot represent it.
    """
    cfg: TrayCfg = cell.trays[name]
    key = f"trays.{name}.slots" if cfg.slots else f"trays.{name}.model"
    tray = TRAYS.get(cfg.model, f"{cell.where}: trays.{name}.model")
    if cfg.slots is not None:
        tray = _with_slots(cell, tray, cfg.slots, key)
    for slot in tray.slots:
        try:
            play_m = clearance_m(slot, part_of_sku(slot.accepts))
        except BadInput:
            continue  # a part of a model that the cell names elsewhere, which is checked there
        if play_m is None:
            continue
        if play_m < LEAST_CLEARANCE_M - 1e-9:
            why = "no part fits" if play_m <= 0 else "contacts cannot represent that"
            problem = f"{slot.name} is {play_m * 1000:g} mm wider than its plug: {why} (at least 0.2 mm)"
            raise ConfigError(cell.where, key, problem)
        step_s = coarsest_step_s(play_m + 1e-9)
        if cell.fidelity == "physics" and cell.timestep_s > step_s + 1e-9:
            problem = (
                f"a clearance of {play_m * 1000:.3g} mm takes steps of {step_s:g} s or less, "
                f"timestep_s is {cell.timestep_s:g}"
            )
            raise ConfigError(cell.where, key, problem)
    return tray


def _with_slots(cell: Cell, tray: TrayFigures, slots: SlotsCfg, key: str) -> TrayFigures:
    plugs: dict[str, float] = {}
    for slot in tray.slots:
        part = part_of_sku(slot.accepts)
        if not slot.is_straight or not isinstance(part, GearFigures) or not part.is_plug:
            straight = [n for n in TRAYS if "-" not in n and all(s.is_straight for s in TRAYS.get(n).slots)]
            problem = f"{slot.name} of {tray.name} is no straight slot for a plug (trays: {', '.join(straight)})"
            raise ConfigError(cell.where, key, problem)
        plugs[slot.accepts] = part.cone_bottom_radius_m
    made = with_clearance(tray, plugs, slots.clearance_m, slots.chamfer_m)
    if rim_m(made) < LEAST_RIM_M:
        problem = f"slots {slots.clearance_m * 1000:g} mm wider than their plugs cut into each other or into the edge"
        raise ConfigError(cell.where, key, problem)
    lowest = max(slot.floor_m for slot in made.slots)
    if slots.chamfer_m >= made.thickness_m - lowest:
        problem = f"a chamfer of {slots.chamfer_m * 1000:g} mm is as deep as the slot"
        raise ConfigError(cell.where, key, problem)
    if made.name not in TRAYS:
        TRAYS.add(made.name, made)
    prefer_tray(TRAYS.get(made.name))
    return TRAYS.get(made.name)
