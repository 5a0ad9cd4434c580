"""Configurations of a compiled mechanism: drawn within its limits, followers where their leaders put them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

__all__ = ["configurations", "follow"]

Array = npt.NDArray[np.float64]
_SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def configurations(model: Any, count: int, seed: int = 0) -> Iterator[Array]:
    """Positions of all joints: first all zeros as far as the limits allow, then random ones."""
    rng = np.random.default_rng(seed)
    single = np.isin(model.jnt_type, _SINGLE)
    at = model.jnt_qposadr[single]
    low, high = model.jnt_range[single].T.copy()
    free = model.jnt_limited[single] == 0
    low[free], high[free] = -np.pi, np.pi
    for number in range(count):
        qpos = model.qpos0.copy()
        qpos[at] = np.clip(np.zeros(len(at)), low, high) if number == 0 else rng.uniform(low, high)
        yield follow(model, qpos)


def follow(model: Any, qpos: Array) -> Array:
    """The same with every coupled joint where its leader puts it."""
    for _ in range(3):  # followers of followers
        for number in range(model.neq):
            if model.eq_type[number] != mujoco.mjtEq.mjEQ_JOINT or model.eq_obj2id[number] < 0:
                continue
            follower, leader = (model.jnt_qposadr[ids[number]] for ids in (model.eq_obj1id, model.eq_obj2id))
            moved = qpos[leader] - model.qpos0[leader]
            powers = moved ** np.arange(5)
            qpos[follower] = model.qpos0[follower] + model.eq_data[number, :5] @ powers
    return qpos
