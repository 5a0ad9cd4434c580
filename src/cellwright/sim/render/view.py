"""From where a picture is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutOfRange, UnknownName

__all__ = ["Frustum", "View", "auto_view"]

Array = npt.NDArray[np.float64]

VISIBLE_GROUPS = (0, 1, 2)  # group 3 holds what is touched and not seen
DEFAULT_FOVY_RAD = math.radians(32.0)  # a long lens: little distortion, as product photographs have


@dataclass(frozen=True, kw_only=True)
class View:
    """An eye that looks at a point with z up, or a camera of the model by its name.

    Attributes:
        eye_in_world_m: Where the eye is; ignored with `camera`.
        target_in_world_m: The point in the middle of the picture; ignored with `camera`.
        fovy_rad: Vertical angle of view; ignored with `camera`.
        camera: Name of a MuJoCo camera, which then decides everything.
    """

    eye_in_world_m: tuple[float, float, float] = (2.0, -2.0, 1.5)
    target_in_world_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    fovy_rad: float = DEFAULT_FOVY_RAD
    camera: str | None = None

    def resolve(self, model: Any, data: Any) -> Frustum:
        """The eye's place and axes in the world."""
        if self.camera is not None:
            index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, self.camera)
            if index < 0:
                raise UnknownName("camera", self.camera, [model.camera(i).name for i in range(model.ncam)])
            axes = data.cam_xmat[index].reshape(3, 3).copy()
            return Frustum(data.cam_xpos[index].copy(), axes, math.radians(model.cam_fovy[index]))
        if not 0.01 <= self.fovy_rad <= 3.0:
            raise OutOfRange("angle of view", self.fovy_rad, 0.01, 3.0, "rad")
        eye = np.array(self.eye_in_world_m, dtype=np.float64)
        return Frustum(eye, _looking_along(np.array(self.target_in_world_m) - eye), self.fovy_rad)


@dataclass(frozen=True)
class Frustum:
    """A resolved view: the eye in the world and the axes right, up and backwards as columns."""

    eye_in_world_m: Array
    axes_in_world: Array
    fovy_rad: float


def auto_view(model: Any, data: Any = None, *, aspect: float = 16 / 9) -> View:
    """The view from the front right and above that shows everything of finite size, and little else."""
    if data is None:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
    corners = _visible_corners(model, data)
    azimuth_rad, elevation_rad = math.radians(-62.0), math.radians(28.0)
    backwards = np.array(
        [
            math.cos(elevation_rad) * math.cos(azimuth_rad),
            math.cos(elevation_rad) * math.sin(azimuth_rad),
            math.sin(elevation_rad),
        ]
    )
    x, y, z = (corners @ _looking_along(-backwards)).T
    # Along each axis of the picture the eye must see the points under less than half the angle of view: a
    # point at depth d may be d * slope away from the middle. Left and right bounds meet where the eye belongs.
    slope = math.tan(DEFAULT_FOVY_RAD / 2) * 0.92
    depths, middles = [], []
    for coordinate, limit in ((x, slope * aspect), (y, slope)):
        high, low = (coordinate + limit * z).max(), (coordinate - limit * z).min()
        depths.append((high - low) / (2 * limit))
        middles.append((high + low) / 2)
    eye = _looking_along(-backwards) @ np.array([*middles, max(depths)])
    depth = float((eye - corners.mean(axis=0)) @ backwards)
    return View(
        eye_in_world_m=(float(eye[0]), float(eye[1]), float(eye[2])), target_in_world_m=_triple(eye - depth * backwards)
    )


def _triple(vector: Array) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])


def _looking_along(direction: Array) -> Array:
    length = float(np.linalg.norm(direction))
    if length < 1e-9:
        raise BadInput("a view needs an eye and a target that differ")
    forward = direction / length
    # Straight up or down, "up in the picture" is +y, as on a plan.
    reference = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.9999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, reference)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(right, forward), -forward])


def _visible_corners(model: Any, data: Any) -> Array:
    """The corners of the boxes round all visible geoms that have a size."""
    seen = np.isin(model.geom_group, VISIBLE_GROUPS) & (model.geom_rbound > 0)
    if not seen.any():
        return np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)
    local = model.geom_aabb[seen, None, :3] + signs[None] * model.geom_aabb[seen, None, 3:]
    world = np.einsum("gij,gcj->gci", data.geom_xmat[seen].reshape(-1, 3, 3), local)
    return np.asarray((world + data.geom_xpos[seen][:, None, :]).reshape(-1, 3))
