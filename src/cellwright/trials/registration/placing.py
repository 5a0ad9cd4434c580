"""Marks put into a simulated cell as a person puts them: near where they are meant to be, never just there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cellwright.catalogue import PARTS, TRAYS
from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.cells import Cell, Layout, actual_layout
from cellwright.core.rng import RandomStreams
from cellwright.trials.registration.places import MarkPlace

__all__ = ["cell_with_marks"]

SD_M = 0.003  # of a mark from where it is meant to be, along x and y; estimated: put down by eye at a line
MOST_M = 0.008
TRIES = 40  # to put a mark down beside what stands there, which a person sees
GAP_M = 0.001


def cell_with_marks(cell: Cell, places: Sequence[MarkPlace], seed: int) -> Cell:
    """Returns a cell in which marks stand near their places, each off by an error of the seed; only the world has it.

    Marks that the cell has already stand where its file has them.
    """
    new = [place for place in places if place.name not in cell.parts]
    rngs = {place.name: RandomStreams(seed).stream(f"calibrate/{place.name}") for place in new}
    errors_m = {name: _error_m(rng) for name, rng in rngs.items()}
    for _ in range(TRIES):
        changed = cell.changed({"parts": {place.name: _part(place, errors_m[place.name]) for place in new}})
        layout = actual_layout(changed, seed)
        blocked = [place.name for place in new if _overlaps(layout, place.name)]
        if not blocked:
            break
        errors_m |= {name: _error_m(rngs[name]) for name in blocked}
    return changed if new else cell


def _error_m(rng: np.random.Generator) -> np.ndarray:
    return np.clip(rng.normal(0.0, SD_M, 2), -MOST_M, MOST_M)


def _part(place: MarkPlace, error_m: np.ndarray) -> dict[str, object]:
    x, y, z = place.xyz_m
    return {"model": CALIBRATION_MARK.name, "pose": {"xyz_m": [x + float(error_m[0]), y + float(error_m[1]), z]}}


def _overlaps(layout: Layout, mark: str) -> bool:
    """Returns whether a mark stands in a tray or in another part."""
    foot_m, room_m = layout.objects[mark].pose_in_world.position, CALIBRATION_MARK.radius_m + GAP_M
    for tray in layout.trays:
        half = np.array(TRAYS.get(tray.model).size_m) / 2
        x, y, z = np.abs(tray.pose_in_world.inverse().apply(foot_m)) - [*half, CALIBRATION_MARK.height_m]
        if z < 0 and np.hypot(max(x, 0.0), max(y, 0.0)) < room_m:
            return True
    others = [part for part in layout.parts if part.name != mark and not part.tray]
    return any(
        np.hypot(*(part.pose_in_world.position - foot_m)[:2]) < room_m + PARTS.get(part.model).radius_m
        for part in others
    )
