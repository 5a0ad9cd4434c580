"""Contact and support: which things touch and which carry others, by geometry: sleeping bodies have no contacts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures
from cellwright.shapes.part_shape import part_shape
from cellwright.sim import World

__all__ = ["TOUCH_M", "carried_by", "geoms_of", "loose_bodies", "nearest_m", "things_below", "things_on"]

IntArray = npt.NDArray[np.intp]

TOUCH_M = 0.0005
"""Bodies this near to each other touch; those at rest sink in by less."""

LOWER_M = 0.001
CARRIED = 0.2  # of that, by which what is carried then overlaps; side by side nothing does
LEVEL = 0.5  # what then overlaps by so much lies on the other, whatever else holds it up


def geoms_of(world: World, bodies: Iterable[int]) -> list[int]:
    """Returns all geoms of some bodies."""
    first, count = world.model.body_geomadr, world.model.body_geomnum
    return [geom for body in bodies for geom in range(first[body], first[body] + count[body])]


def loose_bodies(world: World) -> dict[str, tuple[int, ...]]:
    """Returns everything that no robot is made of and that may lie somewhere -> its bodies."""
    model, on_robots = world.model, set(world.mounts.on.values())
    tools = {name: tool.bodies for name, tool in world.loose_tools.items() if name not in on_robots}
    mobiles = {
        name: tuple(np.flatnonzero(model.body_rootid == robot.body).tolist()) for name, robot in world.mobiles.items()
    }
    return {name: (item.body,) for name, item in world.objects.items()} | tools | mobiles


def nearest_m(world: World, first: Sequence[int], second: Sequence[int], limit_m: float) -> float:
    """Returns the distance between two groups of geoms, or a little more than the limit when it is larger."""
    found = (distance_m for *_, distance_m in _near(world, first, second, limit_m))
    return min(found, default=limit_m + 1e-9)


def carried_by(
    world: World, lower: Sequence[int], upper: Sequence[int], gap_m: float = TOUCH_M, share: float = CARRIED
) -> list[tuple[int, int]]:
    """Returns pairs of geoms of which the first carries the second, if only in part.

    They touch, and would overlap if the upper ones were lowered. What leans on something is carried by it, too; what
    stands beside it, flush, is not, though its rim may be higher than the other's floor.

    Args:
        world: The world.
        lower: Geoms that may carry.
        upper: Geoms that may be carried.
        gap_m: How near they must be to touch.
        share: By which share of a millimetre they would overlap.
    """
    touching = list(_near(world, upper, lower, gap_m))
    if not touching:
        return []
    model, data = world.model, world.data
    here = data.geom_xpos[upper].copy()
    data.geom_xpos[upper, 2] -= gap_m + LOWER_M
    try:
        return [
            (low, up)
            for up, low, before_m in touching
            if mujoco.mj_geomDistance(model, data, up, low, gap_m, None) < min(before_m, 0.0) - share * LOWER_M
        ]
    finally:
        data.geom_xpos[upper] = here


def things_on(world: World, name: str, riding: Collection[str] = ()) -> list[str]:
    """Returns the loose things that stand or lean on one, or on those that ride on it; these are not among them.

    A part that touches them by a steep side, and would stay as it is without them, does not lean on them.
    """
    mine, others = _loose_geoms(world, name, riding)
    found = {others[up] for _, up in carried_by(world, mine, list(others))}
    own = [geom for geom, thing in others.items() if thing in found and _stands(world, thing)]
    lying = {others[up] for _, up in carried_by(world, mine, own, share=LEVEL)}
    return sorted(found - ({others[geom] for geom in own} - lying))


def _stands(world: World, thing: str) -> bool:
    """Returns whether a thing is a part that would stay as it is on a plane."""
    figures = world.objects[thing].figures if thing in world.objects else None
    return isinstance(figures, PartFigures) and part_shape(figures).stands(world.pose_of(thing))


def things_below(world: World, name: str) -> list[str]:
    """Returns the loose things that one stands or leans on."""
    mine, others = _loose_geoms(world, name)
    return sorted({others[low] for low, _ in carried_by(world, list(others), mine)})


def _loose_geoms(world: World, name: str, riding: Collection[str] = ()) -> tuple[list[int], dict[int, str]]:
    """Returns the geoms of a thing with those that ride on it; and geom -> name of all other loose things."""
    loose, ours = loose_bodies(world), (name, *riding)
    others = {geom: thing for thing, own in loose.items() if thing not in ours for geom in geoms_of(world, own)}
    return geoms_of(world, [body for thing in ours for body in loose[thing]]), others


def _near(
    world: World, first: Sequence[int], second: Sequence[int], limit_m: float
) -> Iterator[tuple[int, int, float]]:
    """Yields pairs of geoms within a distance of each other, with that distance, negative when they overlap."""
    model, data = world.model, world.data
    if not len(first) or not len(second):
        return
    one, other = np.asarray(first), np.asarray(second)
    one, other = one[_near_all(world, one, other, limit_m)], other[_near_all(world, other, one, limit_m)]
    apart_m = np.linalg.norm(data.geom_xpos[one][:, None] - data.geom_xpos[other], axis=2)
    radii_m = model.geom_rbound[one][:, None] + model.geom_rbound[other]
    endless = (model.geom_rbound[one][:, None] == 0) | (model.geom_rbound[other] == 0)
    for row, column in np.argwhere((apart_m < radii_m + limit_m) | endless):
        distance_m = mujoco.mj_geomDistance(model, data, int(one[row]), int(other[column]), limit_m + 1e-9, None)
        if distance_m <= limit_m:
            yield int(one[row]), int(other[column]), distance_m


def _near_all(world: World, geoms: IntArray, others: IntArray, limit_m: float) -> npt.NDArray[np.bool_]:
    """Returns which geoms may be near to any of the others: by one ball about all of these."""
    places, radii_m = world.data.geom_xpos, world.model.geom_rbound
    if (radii_m[others] == 0).any():
        return np.ones(len(geoms), bool)
    centre = places[others].mean(axis=0)
    room_m = (np.linalg.norm(places[others] - centre, axis=1) + radii_m[others]).max() + limit_m
    return np.asarray(
        (np.linalg.norm(places[geoms] - centre, axis=1) < room_m + radii_m[geoms]) | (radii_m[geoms] == 0)
    )
