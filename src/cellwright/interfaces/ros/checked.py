"""Checks of what ROS programs send: finite numbers, numbers within limits, poses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, CellwrightError, OutOfRange
from cellwright.core.pose import Pose

__all__ = ["finite", "pose_of", "refusing", "require_inside"]

Array = npt.NDArray[np.float64]

FARTHEST_M = 1000.0  # from an origin: nothing in a laboratory is so far away
TURN_ERROR = 1e-3  # by which a quaternion may differ from length 1


@contextmanager
def refusing() -> Iterator[None]:
    """Makes every error of a command a `BadInput`: what a robot cannot do now is refused, too."""
    try:
        yield
    except BadInput:
        raise
    except CellwrightError as error:
        raise BadInput(str(error)) from None


def finite(what: str, values: Any) -> Array:
    """Returns numbers after checking that all are finite."""
    numbers = np.asarray(values, float)
    if not np.isfinite(numbers).all():
        raise BadInput(f"{what} has a number that is not finite: {numbers.tolist()}")
    return numbers


def require_inside(what: str, value: float, limits: tuple[float, float], unit: str) -> None:
    """Refuses a number outside limits."""
    low, high = limits
    if not low - 1e-9 <= value <= high + 1e-9:
        raise OutOfRange(what, float(value), low, high, unit)


def pose_of(pose: Any) -> Pose:
    """Returns the pose of a message, its quaternion of length 1."""
    place, turn = pose.position, pose.orientation
    position = finite("position", [place.x, place.y, place.z])
    for axis, value in zip("xyz", position, strict=True):
        require_inside(f"position.{axis}", value, (-FARTHEST_M, FARTHEST_M), "m")
    quaternion = finite("orientation", [turn.w, turn.x, turn.y, turn.z])
    length = math.hypot(*quaternion.tolist())  # which does not overflow
    if not abs(length - 1.0) <= TURN_ERROR:
        raise BadInput(f"the quaternion of a pose has length {length:.6g} (allowed: 1 within {TURN_ERROR})")
    return Pose(position, quaternion / length)
