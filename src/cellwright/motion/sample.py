"""The motion of the joints at one moment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["JointSample"]

Array = npt.NDArray[np.float64]


class JointSample(NamedTuple):
    """The joints at one tick."""

    position_rad: Array
    velocity_radps: Array
    acceleration_radps2: Array
