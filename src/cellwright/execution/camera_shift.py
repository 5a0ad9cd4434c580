"""Detection of a camera that has moved: all its trays are farther from the drawings than trays are ever put."""

from __future__ import annotations

import numpy as np

from cellwright.execution.surroundings import is_movable
from cellwright.knowledge import BeliefState, Unknown

__all__ = ["detector_shift", "nominal_places"]

DEVIATIONS = 4.0
CAMERA_M = 0.001  # by which cameras may be off, as mounted
LEAST_TRAYS = 3


def nominal_places(believed: BeliefState) -> dict[str, list[float]]:
    """Returns tray -> nominal x, y, z and its tolerance, for trays that are neither seen yet nor carried."""
    found = {}
    for tray in believed.trays():
        if believed.source(tray) or is_movable(believed, tray):
            continue
        known = [believed.deviation_m(name) for name in (tray, believed.objects[tray].reference or "")]
        spreads = [deviation_m for deviation_m in known if not isinstance(deviation_m, Unknown)]
        found[tray] = [*(float(x) for x in believed.pose(tray).position), max(spreads, default=0.0)]
    return found


def detector_shift(believed: BeliefState, drawn: dict[str, list[float]]) -> str:
    """Returns a text about the detector whose trays are all shifted by more than chance; empty without one."""
    by_source: dict[str, list[tuple[np.ndarray, float]]] = {}
    for tray, (x, y, _, sd_m) in drawn.items():
        if tray in believed.tree.index and (source := believed.source(tray)):
            by_source.setdefault(source, []).append((believed.pose(tray).position[:2] - np.array([x, y]), sd_m))
    for source, offsets in by_source.items():
        middle = np.median([offset for offset, _ in offsets], axis=0)  # of most: single trays may have been pushed
        rows = [row for row in offsets if float(np.abs(row[0] - middle).max()) <= DEVIATIONS * row[1] + CAMERA_M]
        if len(rows) < LEAST_TRAYS or 2 * len(rows) <= len(offsets):
            continue
        mean = np.mean([offset for offset, _ in rows], axis=0)
        sd_m = float(np.sqrt(np.mean([sd**2 for _, sd in rows]) / len(rows) + CAMERA_M**2))
        if sd_m > 0 and float(np.abs(mean).max()) > DEVIATIONS * sd_m:
            x, y = (1000 * float(v) for v in mean)
            return (
                f"{source} sees {len(rows)} trays shifted alike by ({x:.1f}, {y:.1f}) mm; "
                f"by the drawings {1000 * DEVIATIONS * sd_m:.1f} mm are possible"
            )
    return ""
