"""Rays into a world: how far it is to what can be touched."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput

__all__ = ["Vector", "cast_ray"]

Vector = npt.ArrayLike

SEEN = np.array([1, 1, 1, 1, 1, 0], np.uint8)
UNSEEN_GROUP = 5  # no model has geoms in it; those of the bodies to look through are in it for one ray


def cast_ray(
    model: Any, data: Any, origin_m: Vector, direction: Vector, max_m: float, without: Collection[int] = ()
) -> float | None:
    """Returns the distance along a ray to the first surface, by the positions of this moment; None without one.

    Args:
        model: The model.
        data: Its state.
        origin_m: Where the ray begins.
        direction: Where to, of any length.
        max_m: How far it reaches.
        without: Bodies that it goes through.
    """
    towards = np.asarray(direction, float)
    length = float(np.linalg.norm(towards))
    if towards.shape != (3,) or not 0.0 < length < np.inf:
        raise BadInput(f"the direction of a ray should be three numbers, not all of them 0, got {towards.tolist()}")
    mujoco.mj_kinematics(model, data)
    own = np.isin(model.geom_bodyid, list(without)).nonzero()[0]
    groups = model.geom_group[own].copy()
    model.geom_group[own] = UNSEEN_GROUP
    try:
        hit = np.zeros(1, np.int32)
        away_m = mujoco.mj_ray(model, data, np.asarray(origin_m, float), towards / length, SEEN, True, -1, hit)
    finally:
        model.geom_group[own] = groups
    return float(away_m) if 0.0 <= away_m <= max_m else None
