"""Automatic viewpoints: the whole work, large, from the side where it is not hidden."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.rendering.view import DEFAULT_FOVY_RAD, VISIBLE_GROUPS, View, looking_along

__all__ = ["auto_view", "owners"]

Array = npt.NDArray[np.float64]

AZIMUTH_RAD, ELEVATION_RAD = math.radians(-62.0), math.radians(28.0)  # from the front right, where the key light is
SIDES = 12  # from how many sides it is looked whether anything hides the work
AWAY, UNLIT = 0.25, 0.1  # what looking from the far side, or against the light, costs beside a share that is hidden
MOST_OBJECTS = 60  # things; of more every n-th
AROUND = 0.04  # how much of what stands around is shown, as a share of the work's extent
FILLED = 0.95  # of the picture

SIGNS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)


def auto_view(
    model: Any,
    data: Any = None,
    *,
    aspect: float = 16 / 9,
    work: Collection[str] = (),
    loose: Collection[str] = (),
) -> View:
    """Returns the view that shows the work and little else; everything of finite size when no work is named.

    Args:
        model: The model to show.
        data: Its poses; as the model was made when None.
        aspect: Width of the picture per height.
        work: Whose bodies are to be seen, by the first part of their names: robots, trays, parts.
        loose: Those of them that are worked on: they are seen from the side where robots do not hide them.
    """
    if data is None:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
    seen = np.isin(model.geom_group, VISIBLE_GROUPS) & (model.geom_rbound > 0)
    owner = owners(model)
    corners = _corners(model, data, seen)
    if (core := np.isin(owner[seen], list(work))).any():
        corners = _with_surroundings(corners, core)
    corners = corners.reshape(-1, 3)
    if not len(corners):
        corners = np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    tops = {name: top for name in loose if (top := _top(model, data, seen & (owner == name))) is not None}
    if not tops:
        return _framed(corners, AZIMUTH_RAD, aspect)
    makers = seen & np.isin(owner, [name for name in work if name not in tops])
    middle = data.geom_xpos[makers].mean(axis=0) if makers.any() else corners.mean(axis=0)
    forward = np.mean(list(tops.values()), axis=0)[:2] - middle[:2]
    front_rad = math.atan2(forward[1], forward[0]) if math.hypot(*forward) > 0.1 else AZIMUTH_RAD
    views = [
        (_framed(corners, azimuth_rad, aspect), azimuth_rad)
        for azimuth_rad in AZIMUTH_RAD + np.arange(SIDES) * 2 * math.pi / SIDES
    ]
    return max(views, key=lambda at: _score(model, data, owner, tops, at[0], _turn(at[1], front_rad), at[1]))[0]


def owners(model: Any) -> npt.NDArray[np.str_]:
    """Returns geom -> its owner: the first part of its body's name, such as `fanuc` of `fanuc/link_3`."""
    bodies = np.array([model.body(body).name.partition("/")[0] for body in range(model.nbody)], dtype=np.str_)
    return np.asarray(bodies[model.geom_bodyid])


def _score(
    model: Any, data: Any, owner: npt.NDArray[np.str_], tops: dict[str, Array], view: View, turn: float, azimuth: float
) -> float:
    """Returns the share of objects that can be seen from there, less a penalty for an unusual side."""
    eye, visible = np.array(view.eye_in_world_m), 0
    groups, geom = np.isin(np.arange(6), VISIBLE_GROUPS).astype(np.uint8), np.full(1, -1, np.int32)
    looked_for = list(tops.items())[:: max(1, math.ceil(len(tops) / MOST_OBJECTS))]
    for name, top in looked_for:
        distance = mujoco.mj_ray(model, data, eye, top - eye, groups, True, -1, geom)
        visible += distance < 0 or distance > 0.999 or owner[geom[0]] == name
    return visible / len(looked_for) - AWAY * turn / math.pi - UNLIT * _turn(azimuth, AZIMUTH_RAD) / math.pi


def _turn(first_rad: float, second_rad: float) -> float:
    """Returns the angle between two directions, without its sign."""
    return abs((first_rad - second_rad + math.pi) % (2 * math.pi) - math.pi)


def _framed(corners: Array, azimuth_rad: float, aspect: float) -> View:
    """Returns the nearest view from a side that shows all the corners."""
    level = math.cos(ELEVATION_RAD)
    backwards = np.array([level * math.cos(azimuth_rad), level * math.sin(azimuth_rad), math.sin(ELEVATION_RAD)])
    axes = looking_along(-backwards)
    x, y, z = (corners @ axes).T
    # Along each axis of the picture the eye must see the points under less than half the angle of view: a
    # point at depth d may be d * slope away from the middle. Left and right bounds meet where the eye belongs.
    slope = math.tan(DEFAULT_FOVY_RAD / 2) * FILLED
    depths, middles = [], []
    for coordinate, limit in ((x, slope * aspect), (y, slope)):
        high, low = (coordinate + limit * z).max(), (coordinate - limit * z).min()
        depths.append((high - low) / (2 * limit))
        middles.append((high + low) / 2)
    eye = axes @ np.array([*middles, max(depths)])
    depth = float((eye - corners.mean(axis=0)) @ backwards)
    return View(eye_in_world_m=_triple(eye), target_in_world_m=_triple(eye - depth * backwards))


def _with_surroundings(corners: Array, core: npt.NDArray[np.bool_]) -> Array:
    """Returns the corners of the work, and as much of tables and fences as stands in and about it."""
    low, high = corners[core].min(axis=(0, 1)), corners[core].max(axis=(0, 1))
    margin = AROUND * float(np.linalg.norm(high - low))
    others = corners[~core]
    near = ((others.max(axis=1) > low - margin) & (others.min(axis=1) < high + margin)).all(axis=1)
    return np.concatenate([corners[core], np.clip(others[near], low - margin, high + margin)])


def _corners(model: Any, data: Any, geoms: Any) -> Array:
    """Returns corners of the boxes round geoms, (n, 8, 3) in the world."""
    local = model.geom_aabb[geoms, None, :3] + SIGNS[None] * model.geom_aabb[geoms, None, 3:]
    turned = np.einsum("gij,gcj->gci", data.geom_xmat[geoms].reshape(-1, 3, 3), local)
    return np.asarray(turned + data.geom_xpos[geoms][:, None, :])


def _top(model: Any, data: Any, geoms: Any) -> Array | None:
    """Returns the middle of the upper side of an object."""
    corners = _corners(model, data, geoms).reshape(-1, 3)
    if not len(corners):
        return None
    low, high = corners.min(axis=0), corners.max(axis=0)
    return np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, high[2]])


def _triple(vector: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = vector
    return float(x), float(y), float(z)
