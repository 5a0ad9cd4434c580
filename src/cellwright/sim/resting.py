"""The resting pose of a part or a tray that is released, without forces: straight down, upright."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, PartFigures, TrayFigures, seated_pose
from cellwright.core.pose import Pose
from cellwright.models.contact_settings import GeomGroup
from cellwright.shapes.part_shape import part_shape

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["resting_pose"]

CAPTURE_DISTANCE_M = 0.003  # a slot centres a part that is dropped so near; contact physics captures a little more
OCCUPIED_DISTANCE_M = 0.02  # another part so near to a seat is in the slot
FALL_MARGIN_M = 0.002  # how deep a part may be let go inside what it then rests on
RAY_SPACING_M = 0.005  # less than the thickness of a peg
TRAY_RAYS = 12  # along each side of a tray


def resting_pose(world: World, part: str) -> Pose:
    """Returns the pose in the free slot below the part, or upright on what is there."""
    pose, figures = world.pose_of(part), world.objects[part].figures
    assert isinstance(figures, PartFigures | TrayFigures)
    for seat in _seats(world, figures) if isinstance(figures, GearFigures) else ():
        x, y, z = pose.position - seat.position
        if np.hypot(x, y) <= CAPTURE_DISTANCE_M and z >= -FALL_MARGIN_M and _is_free(world, seat, part):
            return seat
    upright = Pose.from_xyz_rpy(pose.position, [0, 0, pose.rpy[2]])
    return Pose(upright.position - np.array([0.0, 0.0, _fall_m(world, upright, part, figures)]), upright.quaternion)


def _seats(world: World, gear: GearFigures) -> Iterator[Pose]:
    """Yields the seated poses of a gear of that kind."""
    for name, item in world.objects.items():
        tray = item.figures
        if isinstance(tray, TrayFigures):
            for slot in (slot for slot in tray.slots if slot.accepts == gear.sku):
                yield world.pose_of(name) @ seated_pose(tray, slot, gear)


def _is_free(world: World, seat: Pose, part: str) -> bool:
    """Returns whether no other part is at a seat."""
    others = (n for n, o in world.objects.items() if n != part and isinstance(o.figures, PartFigures))
    return all(world.pose_of(n).distance_m(seat) > OCCUPIED_DISTANCE_M for n in others)


def _fall_m(world: World, pose: Pose, part: str, figures: PartFigures | TrayFigures) -> float:
    """Returns the height by which an upright part falls until its underside meets something, at last z = 0."""
    starts = pose.apply(_underside(figures) + np.array([0.0, 0.0, FALL_MARGIN_M]))
    hits = [fall_m for fall_m in (_down_m(world, start, part) for start in starts) if fall_m >= 0]
    return min(hits) - FALL_MARGIN_M if hits else float(pose.position[2])


def _down_m(world: World, start: Any, part: str) -> float:
    """Returns the distance to the first geom straight below a point, the part itself left out; negative if none."""
    groups = np.zeros(6, np.uint8)
    groups[GeomGroup.COLLISION] = 1
    down, hit = np.array([0.0, 0.0, -1.0]), np.zeros(1, np.int32)
    return float(mujoco.mj_ray(world.model, world.data, start, down, groups, 1, world.objects[part].body, hit))


def _underside(part: PartFigures | TrayFigures) -> npt.NDArray[np.float64]:
    """Returns points (n, 3) of a part's underside, in its frame: a grid and the edges; of round parts a disc.

    Of a tray its feet, and its rim, over which none of its own parts stands.
    """
    if isinstance(part, TrayFigures):
        (x, y), along = (side / 2 for side in part.size_m), np.linspace(-1.0, 1.0, TRAY_RAYS)
        rim = [(s * x, k * y) for k in along for s in (-1, 1)] + [(k * x, s * y) for k in along for s in (-1, 1)]
        return np.array([(*xy, part.foot_height_m) for xy in rim] + [(*xy, 0.0) for xy in part.feet_xy_m])
    if not part.is_round:
        return part_shape(part).underside(RAY_SPACING_M)
    radii = [part.radius_m]
    if isinstance(part, GearFigures):
        radii = [part.cone_bottom_radius_m, part.cone_top_radius_m, part.tip_radius_m]
    steps = np.arange(-radii[-1] // RAY_SPACING_M, radii[-1] // RAY_SPACING_M + 1) * RAY_SPACING_M
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 48, endpoint=False))
    edges = [radius * circle for radius in radii]
    xy = np.concatenate([grid, *(np.column_stack([edge.real, edge.imag]) for edge in edges)])
    radius = np.hypot(*xy.T)
    heights = np.full(len(xy), part.bottom_m)
    if isinstance(part, GearFigures):
        heights = np.interp(radius, radii[:2], [0.0, part.cone_height_m])
    return np.asarray(np.column_stack([xy, heights])[radius <= radii[-1] + 1e-9])
