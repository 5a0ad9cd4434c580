"""Heights that no detector measures: of the slot, the tray or the table that an object lies in or on.

A gear that lies on the axis of a slot is seated in it, cone in cone. Beside the axis it has climbed the slot's wall, by
about as much as it is beside it. What lies beside trays and partly over them rests on their rims: level between two of
them, leaning on one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures, TrayFigures, part_of_sku, seated_height_m, tray_of_sku
from cellwright.core.errors import UnknownName
from cellwright.perception.cfg import TrackerCfg
from cellwright.perception.table import TrackTable
from cellwright.shapes.part_shape import PartShape, part_shape

__all__ = ["Surface", "rest_on_support"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
CENTRED_M = 0.0015  # a part so near to a slot's axis is seated, as far as it is seen
SEATED_SD_M, SEATED_SD_RAD = 0.0005, 0.02
LOOSE_SD_RAD = 0.2  # a part that lies about may lean on something
MOVED_M = 0.0005  # after less it lies on what it lay on before
DOUBT = 2.0  # standard deviations by which an unseen tray may be off its drawing
SPACING_M = 0.002  # of points of an underside that are looked at for what holds them up


class Surface(NamedTuple):
    """A table by the drawings: its corners in the plane, and its height."""

    min_xy_m: tuple[float, float]
    max_xy_m: tuple[float, float]
    height_m: float


def rest_on_support(table: TrackTable, rows: Rows, surfaces: Sequence[Surface], cfg: TrackerCfg) -> None:
    """Sets the heights and leans of objects that were seen by a detector that measures neither.

    Those that have not moved since keep theirs.
    """
    stayed = np.abs(table.positions[rows, :2] - table.supported_at[rows]).max(axis=1) <= MOVED_M
    for row in rows[~stayed].tolist():
        table.supported_at[row] = table.positions[row, :2]
        height_m, sd_m, sd_rad = _support(table, row, surfaces, cfg)
        table.positions[row, 2] = height_m
        table.variances[row, 2:5] = sd_m**2, sd_rad**2, sd_rad**2


def _support(table: TrackTable, row: int, surfaces: Sequence[Surface], cfg: TrackerCfg) -> tuple[float, float, float]:
    """Returns the height of an object's origin, how far it may be off, and how far it may lean."""
    part, tray = _figures(table.skus[row])
    x, y, z = table.positions[row]
    bottom_m = part.bottom_m if part is not None else 0.0
    for number in table.trays.tolist():
        below = _figures(table.skus[number])[1]
        if number == row or below is None or table.misses[number] >= cfg.confirm or table.held[number]:
            continue
        beside = _in_frame(table, number, x, y)
        if tray is not None:
            is_on = table.positions[number, 2] + cfg.stacked_m < z and np.abs(beside).max() < cfg.beside_m
            if is_on:  # as it was when its height was last known
                return float(table.positions[number, 2]) + below.thickness_m, cfg.surface_sd_m, SEATED_SD_RAD
            continue
        if not _is_on(table, row, part, number, below):
            continue
        floor_m = float(table.positions[number, 2])
        gaps = [float(np.hypot(*(beside - slot.xy_m))) for slot in below.slots]
        nearest = int(np.argmin(gaps)) if gaps else -1
        # Of a tray that was never seen only the drawing is known: its slots may be as far off as that.
        doubt_m = 0.0 if table.sightings[number] else DOUBT * float(np.sqrt(table.variances[number, :2].max()))
        if part is not None and nearest >= 0 and gaps[nearest] <= cfg.in_slot_m + doubt_m:
            climbed_m = max(gaps[nearest] - CENTRED_M - doubt_m, 0.0)
            seat_m = seated_height_m(below, below.slots[nearest], part)
            return floor_m + seat_m, SEATED_SD_M + climbed_m, SEATED_SD_RAD + climbed_m / part.radius_m
        return floor_m + below.thickness_m - bottom_m, cfg.max_sd_m, LOOSE_SD_RAD
    for surface in surfaces:
        if _contains(surface, x, y):
            loose = tray is None
            raised_m = 0.0 if part is None else _raised_m(table, row, part, surface.height_m, cfg)
            return (
                surface.height_m + raised_m - bottom_m,
                cfg.max_sd_m if loose else cfg.surface_sd_m,
                LOOSE_SD_RAD if loose else SEATED_SD_RAD,
            )
    drawn = table.sightings[row] == 0 or tray is not None
    return float(z), cfg.surface_sd_m if drawn else cfg.max_sd_m, SEATED_SD_RAD if drawn else LOOSE_SD_RAD


def _is_on(table: TrackTable, row: int, part: PartFigures | None, number: int, tray: TrayFigures) -> bool:
    """Returns whether an object lies on a tray: with its middle, and not only about it."""
    half, middle = np.array(tray.size_m)[:, None] / 2, table.positions[row, :2]
    under = middle[None]
    if part is not None:
        middle, under = _outline(table, row, part)
    places = (middle[None], under[:, :2])
    return all(bool((np.abs(_in_frame(table, number, *xy.T)) <= half).all(axis=0).any()) for xy in places)


def _raised_m(table: TrackTable, row: int, part: PartFigures, floor_m: float, cfg: TrackerCfg) -> float:
    """Returns how far the middle of a part is held above a table by trays beside it that it reaches over."""
    (x, y), under = _outline(table, row, part)
    raised_m, beside_m, held_up = 0.0, part.radius_m, np.zeros(len(under), bool)
    for number in table.trays.tolist():
        tray = _figures(table.skus[number])[1]
        if number == row or tray is None or table.misses[number] >= cfg.confirm or table.held[number]:
            continue
        half = np.array(tray.size_m[:2]) / 2
        out_m = float(np.hypot(*np.maximum(np.abs(_in_frame(table, number, x, y)) - half, 0.0)))
        if out_m >= 2 * part.radius_m:
            continue
        is_over = (np.abs(_in_frame(table, number, *under[:, :2].T)) <= half[:, None]).all(axis=0)
        height_m = float(table.positions[number, 2]) + tray.thickness_m - floor_m
        height_m -= float(under[is_over, 2].min(initial=np.inf))
        if height_m > 0.0:
            held_up |= is_over
            beside_m, raised_m = min(beside_m, out_m), max(raised_m, height_m)
    if not held_up.any():
        return 0.0
    offsets = under[:, :2] - (x, y)
    angles = np.sort(np.arctan2(*offsets[held_up].T))
    if np.diff([*angles, angles[0] + 2 * np.pi]).max() <= np.pi:  # no half of its rim is free
        return raised_m
    towards = offsets[held_up].mean(axis=0)
    behind_m = float(-(offsets @ towards).min() / np.hypot(*towards))
    return raised_m * behind_m / (behind_m + beside_m)


def _outline(table: TrackTable, row: int, part: PartFigures) -> tuple[Array, Array]:
    """Returns the middle of a part that is seen, in the plane, and its underside: heights above its lowest point."""
    shape = part_shape(part)
    middle, under = shape.centre_m[:2], _underside(shape)
    w, i, j, k = table.quaternions[row]
    yaw = np.arctan2(2 * (i * j + w * k), 1 - 2 * (j * j + k * k))
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    place = table.positions[row, :2]
    return place + turn @ middle, np.column_stack([under[:, :2] @ turn.T + place, under[:, 2] - part.bottom_m])


@lru_cache
def _underside(shape: PartShape) -> Array:
    return shape.underside(SPACING_M)


@cache
def _figures(sku: str) -> tuple[PartFigures | None, TrayFigures | None]:
    tray = tray_of_sku(sku)
    try:
        return (None, tray) if tray is not None else (part_of_sku(sku), None)
    except UnknownName:
        return None, None


def _in_frame(table: TrackTable, tray: int, x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    """Returns points of the plane in the frame of a tray."""
    w, i, j, k = table.quaternions[tray]
    yaw = np.arctan2(2 * (i * j + w * k), 1 - 2 * (j * j + k * k))
    c, s = np.cos(yaw), np.sin(yaw)
    dx, dy = x - table.positions[tray, 0], y - table.positions[tray, 1]
    return np.array([c * dx + s * dy, c * dy - s * dx])


def _contains(surface: Surface, x: float, y: float) -> bool:
    (low_x, low_y), (high_x, high_y) = surface.min_xy_m, surface.max_xy_m
    return low_x <= x <= high_x and low_y <= y <= high_y
