"""Joints that follow others, as mimics and linkages make them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

__all__ = ["follow"]

Array = npt.NDArray[np.float64]


def follow(model: Any, qpos: Array, leaders: Collection[int] | None = None) -> Array:
    """Returns the positions with every coupled joint where its leader puts it.

    Args:
        model: Compiled.
        qpos: Positions of all joints; changed in place.
        leaders: Addresses of positions whose followers alone are put; by default all.
    """
    for _ in range(3):  # followers of followers
        for number in range(model.neq):
            if model.eq_type[number] != mujoco.mjtEq.mjEQ_JOINT or model.eq_obj2id[number] < 0:
                continue
            follower, leader = (model.jnt_qposadr[ids[number]] for ids in (model.eq_obj1id, model.eq_obj2id))
            if leaders is not None and leader not in leaders:
                continue
            moved = qpos[leader] - model.qpos0[leader]
            powers = moved ** np.arange(5)
            qpos[follower] = model.qpos0[follower] + model.eq_data[number, :5] @ powers
    return qpos
