"""The drawings of a cell as recognition in pictures uses them."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import PARTS, TRAYS
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.drawings.prior import FLAT_DETECTORS, Drawings
from cellwright.perception.recognition import RecognitionModel
from cellwright.perception.support import Surface

__all__ = ["recognition_model"]


def recognition_model(drawings: Drawings) -> RecognitionModel:
    """Returns what recognition may know of a cell: its kinds of parts and trays, its tables, how trays are turned.

    A cell without tables has the planes of its overhead detectors instead, or else the heights of its trays.
    """
    cell = drawings.cell
    models = [part.model for part in cell.parts.values()] + [population.model for population in cell.populations]
    trays = {TRAYS.get(tray.model).sku: TRAYS.get(tray.model) for tray in drawings.layout.trays}
    yaws: dict[str, list[float]] = {}
    for tray in drawings.layout.trays:
        yaws.setdefault(TRAYS.get(tray.model).sku, []).append(float(tray.pose_in_world.rpy[2]))
    return RecognitionModel(
        parts=tuple({PARTS.get(model).sku: PARTS.get(model) for model in models}.values()),
        trays=tuple(trays.values()),
        surfaces=tuple(_tables(drawings) or _planes(drawings) or _tray_heights(drawings)),
        tray_yaws_rad={sku: tuple(some) for sku, some in yaws.items()},
    )


def _tables(drawings: Drawings) -> list[Surface]:
    found = []
    for _, figures, pose in drawings.fixtures:
        if isinstance(figures, TableFigures):
            x, y = figures.size_m[0] / 2, figures.size_m[1] / 2
            corners = pose.apply([[i, j, figures.top_m] for i in (-x, x) for j in (-y, y)])
            (low_x, low_y, _), (high_x, high_y, top_m) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            found.append(Surface((low_x, low_y), (high_x, high_y), top_m))
    return found


def _planes(drawings: Drawings) -> list[Surface]:
    found = {}
    for _, line in drawings.cell.sensor_lines():
        if line.get("type") in FLAT_DETECTORS and line.get("plane_m") is not None:
            low = tuple(np.asarray(line.get("min_xy_m", (-100.0, -100.0)), float).tolist())
            high = tuple(np.asarray(line.get("max_xy_m", (100.0, 100.0)), float).tolist())
            surface = Surface((low[0], low[1]), (high[0], high[1]), float(line["plane_m"]))
            found[surface] = surface
    return list(found)


def _tray_heights(drawings: Drawings) -> list[Surface]:
    heights = {round(float(tray.pose_in_world.position[2]), 4) for tray in drawings.layout.trays}
    return [Surface((-100.0, -100.0), (100.0, 100.0), height_m) for height_m in sorted(heights)]
