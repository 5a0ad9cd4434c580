"""Lighting: the lights of a model and the Phong terms that MuJoCo's own renderer uses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.view import Frustum

__all__ = ["Light", "scene_lights"]

Array = npt.NDArray[np.float64]
Colour = npt.NDArray[np.float32]

FAR = 1000.0  # in extents: from there a directional light's rays are parallel to a milliradian


@dataclass(frozen=True)
class Light:
    """One light in the world.

    Attributes:
        source_in_world_m: The start of its rays; far away for a directional one.
        axis_in_world: The direction in which it shines.
        casts_shadows: Whether things hide it.
        spot_cos: Cosine of the cone's half angle; None = directional.
    """

    source_in_world_m: Array
    axis_in_world: Array
    ambient: Colour
    diffuse: Colour
    specular: Colour
    casts_shadows: bool
    spot_cos: float | None = None
    spot_exponent: float = 0.0
    attenuation: tuple[float, float, float] = (1.0, 0.0, 0.0)

    def to_light(self, points_in_world_m: Array) -> tuple[Colour, Colour]:
        """Returns unit directions from the points towards the light, and how much of it arrives there."""
        if self.spot_cos is None:
            away = np.broadcast_to(-self.axis_in_world.astype(np.float32), points_in_world_m.shape)
            return away, np.ones(len(points_in_world_m), dtype=np.float32)
        rays = points_in_world_m - self.source_in_world_m
        length = np.linalg.norm(rays, axis=1)
        rays /= length[:, None]
        cosine = rays @ self.axis_in_world
        constant, linear, quadratic = self.attenuation
        strength = np.where(cosine >= self.spot_cos, np.maximum(cosine, 0) ** self.spot_exponent, 0.0)
        strength /= constant + linear * length + quadratic * length**2
        return (-rays).astype(np.float32), strength.astype(np.float32)

    def shine(
        self, points: Array, normal: Colour, to_eye: Colour, gloss: Colour, shininess: Colour
    ) -> tuple[Colour, Colour]:
        """Returns diffuse and specular light (n, 3) that leaves each point towards the eye, without shadows."""
        to_light, strength = self.to_light(points)
        facing = np.einsum("ij,ij->i", normal, to_light)
        half_way = to_light + to_eye
        half_way /= np.maximum(np.linalg.norm(half_way, axis=1, keepdims=True), 1e-6)
        glint = np.maximum(np.einsum("ij,ij->i", normal, half_way), 0) ** np.maximum(shininess * 128, 1)
        glint = np.where(facing > 0, glint * gloss * strength, 0)
        return (np.maximum(facing, 0) * strength)[:, None] * self.diffuse, glint[:, None] * self.specular


def scene_lights(model: Any, data: Any, frustum: Frustum) -> list[Light]:
    """Returns the head light at the eye, then every active light of the model that this renderer knows."""
    head = model.vis.headlight
    lights = []
    if head.active:
        forward = -frustum.axes_in_world[:, 2]
        colours = (_colour(head.ambient), _colour(head.diffuse), _colour(head.specular))
        lights.append(Light(frustum.eye_in_world_m, forward, *colours, casts_shadows=False))
    for index in np.flatnonzero(model.light_active):
        axis = data.light_xdir[index].copy()
        colours = (
            _colour(model.light_ambient[index]),
            _colour(model.light_diffuse[index]),
            _colour(model.light_specular[index]),
        )
        shadows = bool(model.light_castshadow[index])
        if model.light_type[index] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL:
            source = np.array(model.stat.center) - FAR * model.stat.extent * axis
            lights.append(Light(source, axis, *colours, casts_shadows=shadows))
        elif model.light_type[index] == mujoco.mjtLightType.mjLIGHT_SPOT:
            cutoff_cos = math.cos(math.radians(model.light_cutoff[index]))
            attenuation = tuple(float(a) for a in model.light_attenuation[index])
            exponent = float(model.light_exponent[index])
            source = data.light_xpos[index].copy()
            lights.append(Light(source, axis, *colours, shadows, cutoff_cos, exponent, attenuation))  # type: ignore[arg-type]
    return lights


def _colour(values: Any) -> Colour:
    return np.array(values, dtype=np.float32)
