"""Viewpoints of pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutOfRange, UnknownName

__all__ = ["Frustum", "View", "looking_along"]

Array = npt.NDArray[np.float64]

VISIBLE_GROUPS = (0, 1, 2)  # group 3 holds collision geoms
DEFAULT_FOVY_RAD = math.radians(32.0)  # a long lens: little distortion, as product photographs have


@dataclass(frozen=True, kw_only=True)
class View:
    """An eye that looks at a point with z up, or a camera of the model by its name.

    Attributes:
        eye_in_world_m: Position of the eye; ignored with `camera`.
        target_in_world_m: The point in the middle of the picture; ignored with `camera`.
        fovy_rad: Vertical angle of view; ignored with `camera`.
        camera: Name of a MuJoCo camera, which then decides everything.
    """

    eye_in_world_m: tuple[float, float, float] = (2.0, -2.0, 1.5)
    target_in_world_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    fovy_rad: float = DEFAULT_FOVY_RAD
    camera: str | None = None

    def resolve(self, model: Any, data: Any) -> Frustum:
        """Returns the eye's position and axes in the world."""
        if self.camera is not None:
            index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, self.camera)
            if index < 0:
                raise UnknownName("camera", self.camera, [model.camera(i).name for i in range(model.ncam)])
            axes = data.cam_xmat[index].reshape(3, 3).copy()
            return Frustum(data.cam_xpos[index].copy(), axes, math.radians(model.cam_fovy[index]))
        if not 0.01 <= self.fovy_rad <= 3.0:
            raise OutOfRange("angle of view", self.fovy_rad, 0.01, 3.0, "rad")
        eye = np.array(self.eye_in_world_m, dtype=np.float64)
        return Frustum(eye, looking_along(np.array(self.target_in_world_m) - eye), self.fovy_rad)


@dataclass(frozen=True)
class Frustum:
    """A resolved view.

    Attributes:
        eye_in_world_m: The eye.
        axes_in_world: Its axes right, up and backwards, as columns.
        fovy_rad: Vertical angle of view of a picture as high as this one with the axis in its middle.
        middle: Where the middle of the picture is beside the axis, to the right and upwards, as slopes.
    """

    eye_in_world_m: Array
    axes_in_world: Array
    fovy_rad: float
    middle: tuple[float, float] = (0.0, 0.0)


def looking_along(direction: Array) -> Array:
    """Returns the axes right, up and backwards of an eye that looks that way with z up."""
    length = float(np.linalg.norm(direction))
    if length < 1e-9:
        raise BadInput("a view needs an eye and a target that differ")
    forward = direction / length
    # Straight up or down, "up in the picture" is +y, as on a plan.
    reference = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.9999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, reference)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(right, forward), -forward])
