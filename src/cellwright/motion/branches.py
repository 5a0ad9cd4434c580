"""From the answers of a closed form to configurations of an arm: distinct rows within the limits.

All functions work on rows of many poses at once; `owner` says which pose a row is for, in ascending order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["FULL_TURNS_RAD", "LIMIT_ROOM_RAD", "distinct", "nearest_within_limits", "within_limits"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

FULL_TURNS_RAD = 2 * np.pi * np.arange(-1.0, 2.0)
LIMIT_ROOM_RAD = 1e-9


def distinct(rows: Array, owner: Indices, decimals: int) -> tuple[Array, Indices]:
    """Returns the rows without those that another one of the same owner repeats, in ascending order."""
    rounded = rows.round(decimals)
    order = np.lexsort((*rounded.T[::-1], owner))
    rounded, sorted_owner = rounded[order], owner[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (rounded[1:] != rounded[:-1]).any(axis=1) | (sorted_owner[1:] != sorted_owner[:-1])
    kept = order[fresh]
    return rows[kept], owner[kept]


def within_limits(rows: Array, owner: Indices, nears: Array, low: Array, high: Array) -> tuple[Array, Indices]:
    """Returns the rows and their turns by 2 pi that the limits allow, of each owner the nearest to its `near` first."""
    turns = rows + FULL_TURNS_RAD[:, None, None]
    allowed = (turns >= low - LIMIT_ROOM_RAD) & (turns <= high + LIMIT_ROOM_RAD)
    possible: npt.NDArray[np.bool_] = np.logical_or.reduce(allowed)
    source = np.flatnonzero(possible.all(axis=1))
    made = rows[source]
    for joint in range(rows.shape[1]):  # each joint multiplies the rows by the turns that it may take
        which, turn = np.nonzero(allowed[:, source, joint].T)
        source, made = source[which], made[which]
        made[:, joint] = turns[turn, source, joint]
    owners = owner[source]
    order = np.lexsort((((made - nears[owners]) ** 2).sum(axis=1), owners))
    return made[order], owners[order]


def nearest_within_limits(rows: Array, near: Array, low: Array, high: Array) -> Array:
    """Returns the first row of `within_limits` for a single pose (1 or 0, joints), without making all the others."""
    turns = rows + FULL_TURNS_RAD[:, None, None]
    allowed = (turns >= low - LIMIT_ROOM_RAD) & (turns <= high + LIMIT_ROOM_RAD)
    away = np.where(allowed, (turns - near) ** 2, np.inf)
    total = away.min(axis=0).sum(axis=1)
    if not np.isfinite(total).any():
        return np.empty((0, len(near)))
    best = int(total.argmin())
    return np.asarray(np.take_along_axis(turns[:, best], away[:, best].argmin(axis=0)[None], axis=0))
