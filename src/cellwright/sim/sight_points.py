"""The points of an object by which a line of sight decides how much of it is seen, from its figures and solids."""

from __future__ import annotations

from itertools import product
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures, TrayFigures, part_of_sku
from cellwright.core.errors import UnknownName
from cellwright.models import build

__all__ = ["DECIDING", "DIRECTIONS", "POINTS", "facing_side", "surface_middle", "surface_points"]

Array = npt.NDArray[np.float64]

DECIDING, POINTS = 9, 17
"""Points that tell whether anything is in the way, and points that tell the share of what is seen then."""
DIRECTIONS: Array = np.array([[0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], float)
"""From where an object may be looked at, in its own frame."""
GRID = 16  # lines along each side of an object, to find its surface
FLAT_M = 0.0005
RIM_M = 0.003  # beyond what a part in a slot overhangs: it stands above the tray and is seen aslant
OTHER_RIM_M = 0.0065  # where nobody knows what part a slot is for
ROUNDS = 6

_found: dict[tuple[str, int], tuple[PartFigures | TrayFigures, Array, Array]] = {}


def surface_points(figures: PartFigures | TrayFigures, direction: int) -> Array:
    """Returns points of an object's surface, as seen from one of `DIRECTIONS`, in its own frame, evenly spread.

    The first `DECIDING` of them are spread as well. Of a tray's upper face those are taken that no part in a slot
    hides: a full tray is seen as well as an empty one.
    """
    return _surface(figures, direction)[1]


def surface_middle(figures: PartFigures | TrayFigures, direction: int) -> Array:
    """Returns the middle of an object's whole surface, as seen from one of `DIRECTIONS`, in its own frame.

    That of a round object is on its axis, however it is turned; the few `surface_points` are not so even.
    """
    return _surface(figures, direction)[2]


def facing_side(figures: PartFigures | TrayFigures, towards_eye: Array) -> int:
    """Returns the number of the direction from which most of an object is seen: of what is flat, mostly from above.

    Args:
        figures: The object.
        towards_eye: The way from it to an eye, in its own frame.
    """
    if isinstance(figures, TrayFigures):
        x, y, z = *figures.size_m, figures.thickness_m
    else:
        x, y, z = 2 * figures.radius_m, 2 * figures.radius_m, figures.height_m
    areas = np.array([x * y, x * y, y * z, y * z, x * z, x * z])
    return int(((DIRECTIONS @ towards_eye) * areas).argmax())


def _surface(figures: PartFigures | TrayFigures, direction: int) -> tuple[PartFigures | TrayFigures, Array, Array]:
    known = _found.get((figures.name, direction))
    if known is None or known[0] is not figures:
        points = _cast(figures, DIRECTIONS[direction])
        middle = points.mean(axis=0)
        if isinstance(figures, TrayFigures) and direction == 0:
            points = _solid(figures, points)
        spread = np.resize(_ordered(_spread(points)), (POINTS, 3))
        known = _found[figures.name, direction] = (figures, spread, middle)
    return known


def _cast(figures: PartFigures | TrayFigures, towards_eye: Array) -> Array:
    """Returns where parallel lines first meet an object's solids."""
    spec = build(figures)
    spec.discard_visual()
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    corners = _corners(model, data)
    low, high = corners.min(axis=0), corners.max(axis=0)
    aside = np.flatnonzero(towards_eye == 0.0)
    steps = (np.arange(GRID) + 0.5) / GRID
    hits, hit = [], np.zeros(1, np.int32)
    for shares in product(steps, steps):
        start = np.where(towards_eye > 0, high + 0.1, low - 0.1)
        start[aside] = low[aside] + np.array(shares) * (high - low)[aside]
        away_m = mujoco.mj_ray(model, data, start, -towards_eye, None, True, -1, hit)
        if away_m >= 0:
            hits.append(start - away_m * towards_eye)
    return np.array(hits) if hits else (low + high)[None] / 2


def _corners(model: Any, data: Any) -> Array:
    """Returns the corners of the boxes around all geoms."""
    centres, halves = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    local = centres[:, None] + signs * halves[:, None]
    turned = np.einsum("gij,gkj->gki", data.geom_xmat.reshape(-1, 3, 3), local)
    return np.asarray((turned + data.geom_xpos[:, None]).reshape(-1, 3))


def _solid(tray: TrayFigures, points: Array) -> Array:
    """Returns those points of a tray's upper face that stay clear of the parts in its slots."""
    face = points[np.abs(points[:, 2] - tray.thickness_m) < FLAT_M]
    clear = np.ones(len(face), bool)
    for slot in tray.slots:
        try:
            rim_m = max(part_of_sku(slot.accepts).radius_m, slot.top_radius_m) + RIM_M
        except UnknownName:
            rim_m = slot.top_radius_m + OTHER_RIM_M
        clear &= np.hypot(*(face[:, :2] - slot.xy_m).T) > rim_m
    for kept in (face[clear], face):
        if len(kept) >= DECIDING:
            return kept
    return points


def _spread(points: Array) -> Array:
    """Returns `POINTS` of the points, each in the middle of an equal share of them (Lloyd's algorithm)."""
    if len(points) <= POINTS:
        return points
    chosen = _ordered(points)
    for _ in range(ROUNDS):
        own = _squares(points, chosen).argmin(axis=1) == np.arange(POINTS)[:, None]
        middles = own @ points / np.maximum(own.sum(axis=1), 1)[:, None]
        chosen = points[_squares(points, middles).argmin(axis=0)]
    return np.unique(chosen, axis=0)


def _squares(points: Array, others: Array) -> Array:
    """Returns the squared distances of n points from m others, n x m."""
    result: Array = (others**2).sum(axis=1) - 2 * points @ others.T + (points**2).sum(axis=1)[:, None]
    return result


def _ordered(points: Array) -> Array:
    """Returns points in such an order that the first few are spread over all of them: each is farthest from before."""
    first = int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmin())
    order, away = [first], np.linalg.norm(points - points[first], axis=1)
    for _ in range(min(len(points), POINTS) - 1):
        order.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(points - points[order[-1]], axis=1))
    return points[order]
