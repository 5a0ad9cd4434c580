"""A tray's place from how it and the parts in it are seen, by robust least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TrayFigures
from cellwright.core.assignment import assign
from cellwright.fitting.least_squares import Solution, solve_robust
from cellwright.fitting.measured_files import SteadyObject

__all__ = ["FittedTray", "fit_tray"]

Array = npt.NDArray[np.float64]

TRAY_M, PART_M, TURN_RAD = 0.002, 0.001, 0.03  # standard deviations: of a tray's and a part's place, of its rotation
IN_SLOT_M = 0.02  # within which a part counts as one of a slot, before the fit
QUARTERS = (0, 2, 1, 3)  # turns to be tried: some recognition counts rotations from another side, or flips trays


@dataclass(frozen=True)
class FittedTray:
    """The fitted place of a tray in the plane.

    Attributes:
        xy_m: Its middle.
        yaw_rad: Its rotation.
        parts: How many parts in its slots were used.
        residuals_m: Of the tray's own place, then of its parts.
    """

    xy_m: tuple[float, float]
    yaw_rad: float
    parts: int
    residuals_m: tuple[float, ...]


def fit_tray(figures: TrayFigures, seen: SteadyObject, parts: Sequence[SteadyObject], yaw_rad: float) -> FittedTray:
    """Returns where a tray is that is seen there, with parts in its slots that are seen there.

    Parts tell more about a tray's rotation than its own outline, of which recognition may take any side for the first:
    four rotations are tried, and the one that fits the parts best is taken, or the one nearest to the drawing.

    Args:
        figures: The tray's figures.
        seen: Its detection.
        parts: All detections of parts.
        yaw_rad: Its rotation by the drawing.
    """
    starts = [seen.rotation_rad + quarter * np.pi / 2 for quarter in QUARTERS]
    fits = [_from(figures, seen, parts, start) for start in starts]
    used = max(count for _, count in fits)
    best = [fit for fit, count in fits if count == used]
    if used == 0:  # nothing but the outline: the half turn that the drawing has
        best = [fit for fit, _ in fits[:2]]
    least = min(fit.cost for fit in best)
    # A tray whose slots are the same after a turn fits as well either way: then the drawing decides.
    alike = [fit for fit in best if fit.cost <= 1.5 * least + 1.0]
    fit = min(alike, key=lambda one: abs(_turn(float(one.unknowns[2]) - yaw_rad)))
    x, y, yaw = fit.unknowns.tolist()
    places = fit.residuals[: 2 + 2 * used].reshape(-1, 2) * np.array([TRAY_M, *[PART_M] * used])[:, None]
    return FittedTray((x, y), _turn(yaw), used, tuple(np.hypot(*places.T).tolist()))


def _from(
    figures: TrayFigures, seen: SteadyObject, parts: Sequence[SteadyObject], yaw_rad: float
) -> tuple[Solution, int]:
    slots = np.array([slot.xy_m for slot in figures.slots]).reshape(-1, 2)
    start = np.array([*seen.xy_m, yaw_rad])
    pairs = _parts_in_slots(figures, slots, parts, start)
    at = np.array([parts[part].xy_m for _, part in pairs]).reshape(-1, 2)
    own = slots[[slot for slot, _ in pairs]]

    def residuals_of(unknowns: Array) -> Array:
        placed = _placed(own, unknowns) - at
        return np.concatenate(
            [
                (unknowns[:2] - seen.xy_m) / TRAY_M,
                placed.ravel() / PART_M,
                [_turn(float(unknowns[2]) - yaw_rad) / TURN_RAD],
            ]
        )

    return solve_robust(residuals_of, start), len(pairs)


def _parts_in_slots(
    figures: TrayFigures, slots: Array, parts: Sequence[SteadyObject], start: Array
) -> list[tuple[int, int]]:
    """Returns slots and the parts that are seen in them."""
    if not len(parts) or not len(slots):
        return []
    away = np.linalg.norm(_placed(slots, start)[:, None] - np.array([part.xy_m for part in parts])[None], axis=2)
    wrong = np.array([[part.sku != slot.accepts for part in parts] for slot in figures.slots])
    return assign(np.where(wrong, np.inf, away), IN_SLOT_M)


def _placed(points: Array, unknowns: Array) -> Array:
    c, s = np.cos(unknowns[2]), np.sin(unknowns[2])
    return np.asarray(points @ np.array([[c, s], [-s, c]]) + unknowns[:2])


def _turn(angle_rad: float) -> float:
    return float((angle_rad + np.pi) % (2 * np.pi) - np.pi)
