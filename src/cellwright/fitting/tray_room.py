"""Trays that cannot stand where they are drawn, because others are seen there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, TRAYS
from cellwright.cells import Cell
from cellwright.core.pose import Pose

__all__ = ["without_trays_in_the_way"]

GAP_M = 0.002


def without_trays_in_the_way(cell: Cell, seen: Mapping[str, Pose]) -> tuple[Cell, list[tuple[str, str]]]:
    """Returns the cell without the trays that overlap others that are seen, and the names of both.

    Parts of such trays go with them; populations lose their slots.

    Args:
        cell: The cell, with the seen trays where they are.
        seen: Tray -> where it is.
    """
    corners = {name: _corners(tray.model, tray.pose.pose) for name, tray in cell.trays.items()}
    gone = []
    for name in cell.trays:
        others = [other for other in seen if other != name and _overlap(corners[name], corners[other])]
        if name not in seen and others:
            gone.append((name, others[0]))
    if not gone:
        return cell, []
    names = {name for name, _ in gone}
    parts = {n: p for n, p in cell.parts.items() if p.slot is None or p.slot.partition("/")[0] not in names}
    populations = []
    for population in cell.populations:
        trays = tuple(tray for tray in population.trays if tray not in names)
        if population.trays and not trays:
            continue
        sku = PARTS.get(population.model).sku
        room = sum(slot.accepts == sku for tray in trays for slot in TRAYS.get(cell.trays[tray].model).slots)
        count = min(population.count, room) if population.trays else population.count
        populations.append(population.model_copy(update={"trays": trays, "count": count}))
    kept = {name: tray for name, tray in cell.trays.items() if name not in names}
    return cell.model_copy(update={"trays": kept, "parts": parts, "populations": tuple(populations)}), gone


def _corners(model: str, pose: Pose) -> npt.NDArray[np.float64]:
    x, y = (side / 2 for side in TRAYS.get(model).size_m)
    return pose.apply([[x, y, 0.0], [-x, y, 0.0], [-x, -y, 0.0], [x, -y, 0.0]])[:, :2]


def _overlap(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    """Returns whether two rectangles overlap: no side of either separates them."""
    for side in (*np.diff(one[:3], axis=0), *np.diff(other[:3], axis=0)):
        axis = side / np.hypot(*side)
        a, b = one @ axis, other @ axis
        if a.max() + GAP_M <= b.min() or b.max() + GAP_M <= a.min():
            return False
    return True
