"""Light, sky and floor for pictures, the same for every cell."""

from __future__ import annotations

import math
from typing import Any

import mujoco

__all__ = ["FLOOR_MATERIAL", "add_environment"]

FLOOR_MATERIAL = "stage_floor"
TILE_M = 0.5
KEY_DIRECTION = (-0.42, 0.50, -1.0)  # from the front right, high: shadows fall to the back left
FILL_DIRECTION = (0.8, 0.35, -0.45)  # from the left, low, without shadows: opens up the dark sides


def add_environment(
    spec: Any, *, centre_m: tuple[float, float, float] = (0.0, 0.0, 0.5), radius_m: float = 2.0, shadows: bool = True
) -> None:
    """Adds lights, sky, the material `stage_floor` and picture settings to the spec of a world.

    Args:
        spec: The `MjSpec` of the world; the caller adds the floor itself, with the material `FLOOR_MATERIAL`.
        centre_m: Middle of what is to be seen.
        radius_m: Its radius; shadows are exact up to there.
        shadows: Whether the key light casts shadows; a camera that simulates a sensor may do without.
    """
    spec.stat.center = centre_m
    spec.stat.extent = radius_m
    _add_sky(spec)
    _add_floor_material(spec)
    _add_light(spec, "stage_key", KEY_DIRECTION, (0.68, 0.66, 0.62), 0.30, centre_m, radius_m, shadows)
    _add_light(spec, "stage_fill", FILL_DIRECTION, (0.15, 0.16, 0.19), 0.0, centre_m, radius_m, False)
    visual = spec.visual
    visual.headlight.active = 1
    visual.headlight.ambient = (0.39, 0.395, 0.41)
    visual.headlight.diffuse = (0.15, 0.15, 0.15)
    visual.headlight.specular = (0.08, 0.08, 0.08)
    visual.global_.offwidth, visual.global_.offheight = 1920, 1080
    visual.quality.offsamples = 8
    visual.quality.shadowsize = 4096
    visual.quality.numslices, visual.quality.numstacks, visual.quality.numquads = 48, 24, 8
    # The depth buffer must tell millimetres apart at 5 m: a near plane at 3 cm and no more far plane than needed.
    visual.map.znear = 0.03 / radius_m
    visual.map.zfar = max(60.0 / radius_m, 10.0)
    visual.map.shadowclip = 1.4
    visual.map.haze = 0.35
    visual.rgba.haze = (0.80, 0.83, 0.87, 1.0)


def _add_sky(spec: Any) -> None:
    spec.add_texture(
        name="stage_sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.95, 0.97, 0.99),
        rgb2=(0.72, 0.77, 0.83),
        width=256,
        height=1536,
    )


def _add_floor_material(spec: Any) -> None:
    """Adds light grey tiles with faint joints: they show the scale without drawing the eye away from the cell."""
    spec.add_texture(
        name=FLOOR_MATERIAL,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        mark=mujoco.mjtMark.mjMARK_EDGE,
        rgb1=(0.74, 0.755, 0.77),
        rgb2=(0.74, 0.755, 0.77),
        markrgb=(0.62, 0.635, 0.655),
        width=256,
        height=256,
    )
    material = spec.add_material(name=FLOOR_MATERIAL, specular=0.05, shininess=0.1, reflectance=0.0, rgba=(1, 1, 1, 1))
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = FLOOR_MATERIAL
    material.texuniform = True
    material.texrepeat = (2 / TILE_M, 2 / TILE_M)  # per two metres


def _add_light(
    spec: Any,
    name: str,
    direction: tuple[float, float, float],
    colour: tuple[float, float, float],
    specular: float,
    centre_m: tuple[float, float, float],
    radius_m: float,
    shadows: bool,
) -> None:
    length = math.hypot(*direction)
    # A directional light has no place, but the shadow map is drawn from one: outside of everything.
    place_m = [c - d / length * 3 * radius_m for c, d in zip(centre_m, direction, strict=True)]
    spec.worldbody.add_light(
        name=name,
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=place_m,
        dir=[d / length for d in direction],
        diffuse=colour,
        ambient=(0, 0, 0),
        specular=(specular,) * 3,
        castshadow=shadows,
    )
