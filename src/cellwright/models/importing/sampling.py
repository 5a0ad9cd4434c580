"""Configurations of a compiled mechanism: sampled within its limits, followers where their leaders put them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.models.coupling import follow

__all__ = ["configurations"]

Array = npt.NDArray[np.float64]
_SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def configurations(model: Any, count: int, seed: int = 0) -> Iterator[Array]:
    """Yields positions of all joints: first all zeros as far as the limits allow, then random ones."""
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
