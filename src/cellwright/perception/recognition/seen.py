"""Objects as they are told: parts among the circles that were found, and trays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.perception.recognition.lens import CalibratedLens
from cellwright.perception.recognition.model import RoundOutline
from cellwright.perception.recognition.round_fit import FittedCircle
from cellwright.perception.recognition.trays import FoundTray
from cellwright.perception.support import Surface

__all__ = ["SeenObject", "pick_parts", "seen_tray"]

Array = npt.NDArray[np.float64]
RADIUS_OFF = 0.075  # of the radius: what is farther off is another thing
LEAST_SHARE, LEAST_SOLID = 0.55, 0.6
LEAST_DARK_SHARE = 0.8  # of a disc without a colour of its own: a shadow is one, and partly below what casts it
SHADOWED_OFF = 0.13  # the same where a thing has the colour of its shadow, and both seem one
APART = 0.95  # of the sum of two radii: what is nearer is the same part
PLACE_SD_M = 0.0003
POOR = 0.6  # of the score of what seems larger than it is
ANGLES = 48


@dataclass(frozen=True)
class SeenObject:
    """One object as it was recognised.

    Attributes:
        sku: Its class.
        xyz_m: Its origin in the world.
        yaw_rad: Its rotation.
        variances: Of x, y, z, roll, pitch, yaw.
        score: 0 to 1.
        outline_m: Points (k, 3) of its outline.
    """

    sku: str
    xyz_m: tuple[float, float, float]
    yaw_rad: float
    variances: tuple[float, ...]
    score: float
    outline_m: Array


def pick_parts(
    circles: Sequence[FittedCircle],
    boards: Sequence[FoundTray],
    outlines: Sequence[RoundOutline],
    lens: CalibratedLens,
    surface: Surface,
    height_m: float,
) -> list[SeenObject]:
    """Returns the circles that are parts: of the right size, with enough of their edge, a disc and no hole."""
    taken: list[tuple[Array, float]] = []
    found = []
    for circle in sorted(circles, key=lambda one: -one.share):
        if circle.share < LEAST_SHARE or circle.solid < LEAST_SOLID or not circle.is_disc:
            continue
        if not circle.is_coloured and circle.share < LEAST_DARK_SHARE:
            continue
        if not circle.is_coloured and any(board.has_floor_at(circle.xy_m, circle.radius_m) for board in boards):
            continue
        most = RADIUS_OFF if circle.is_coloured else SHADOWED_OFF
        near = [one for one in outlines if -RADIUS_OFF < circle.radius_m / one.radius_m - 1 < most]
        if not near:
            continue
        outline = min(near, key=lambda one: abs(one.radius_m - circle.radius_m))
        reach = outline.radius_m
        if any(np.hypot(*(circle.xy_m - place)) < APART * (reach + radius) for place, radius in taken):
            continue
        taken.append((circle.xy_m, reach))
        found.append(_seen(circle, boards, outline, lens, surface, height_m))
    return found


def seen_tray(board: FoundTray, surface: Surface) -> SeenObject:
    """Returns a tray as it is told."""
    x, y = board.xy_m.tolist()
    place, turn = PLACE_SD_M**2 + board.residual_m**2 / 2, (PLACE_SD_M / (max(board.tray.size_m) / 2)) ** 2
    infinite = float("inf")
    return SeenObject(
        board.tray.sku,
        (x, y, surface.height_m),
        board.yaw_rad,
        (place, place, infinite, infinite, infinite, turn),
        min(1.0, board.score),
        board.corners_m(surface.height_m + board.tray.thickness_m),
    )


def _seen(
    circle: FittedCircle,
    boards: Sequence[FoundTray],
    outline: RoundOutline,
    lens: CalibratedLens,
    surface: Surface,
    height_m: float,
) -> SeenObject:
    is_seated = outline.seat_m is not None and any(board.inside(circle.xy_m) for board in boards)
    origin_m = surface.height_m + (outline.seat_m if is_seated and outline.seat_m is not None else -outline.bottom_m)
    middle_m = origin_m + outline.middle_m
    x, y = lens.at_height(circle.xy_m[None], height_m, middle_m)[0].tolist()
    angles = 2 * np.pi * np.arange(ANGLES) / ANGLES
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) * outline.radius_m + [x, y]
    excess_m = max(0.0, circle.radius_m - (1 + RADIUS_OFF / 2) * outline.radius_m)
    variance = PLACE_SD_M**2 + circle.spread_m**2 / 20 + excess_m**2
    infinite = float("inf")
    return SeenObject(
        outline.sku,
        (x, y, origin_m),
        0.0,
        (variance, variance, infinite, infinite, infinite, infinite),
        min(1.0, circle.share) * (1.0 if excess_m == 0.0 else POOR),
        np.column_stack([ring, np.full(ANGLES, middle_m)]),
    )
