"""The pose in which a thing rests that is seen from above: the height and lean that a detector does not measure."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import PartFigures, TrayFigures
from cellwright.catalogue.seating import TRACKED_IN_SLOT, seated_pose
from cellwright.core.pose import Pose
from cellwright.hybrid.seen_things import SeenThing
from cellwright.judge.support import things_on
from cellwright.sim import World

__all__ = ["far_off", "rest_pose", "riders_of"]

CENTRED_M = 0.0015  # what is seen so near to a slot's axis is seated in it
UPRIGHT_RAD = 0.05
RAISE_M, HIGHEST_M = 0.002, 0.060
OFF_M, OFF_RAD = 0.001, 0.015  # from which on a thing is put elsewhere
FIRST_M, FIRST_RAD = 0.0003, 0.003  # the same with the first frames


def far_off(here: Pose, there: Pose, is_first: bool) -> bool:
    """Returns whether a thing is not where it is seen."""
    off_m, off_rad = (FIRST_M, FIRST_RAD) if is_first else (OFF_M, OFF_RAD)
    return here.distance_m(there) > off_m or here.angle_rad(there) > off_rad


def rest_pose(world: World, name: str, seen: SeenThing, position: np.ndarray, *, is_near: bool) -> Pose | None:
    """Returns the pose in which a thing rests that is seen; None where it has no room.

    A part in a slot is seated. Anything else keeps its own height and lean, or gets those that the detector tells when
    it comes from elsewhere, and is raised out of what it would be inside of: it falls from there.

    Args:
        world: The simulated world.
        name: The thing.
        seen: What is seen of it.
        position: Where its middle is taken to be.
        is_near: Whether it is near to there already.
    """
    here, figures = world.pose_of(name), world.objects[name].figures
    if isinstance(figures, PartFigures):
        seat = _seat(world, name, figures, position)
        if seat is not None:
            upright = _tilt_rad(here, seat) < UPRIGHT_RAD
            return Pose(seat.position, seen.yawed(here.quaternion if upright else seat.quaternion))
    height_m = here.position[2] if is_near and not seen.has_height else position[2]
    lean = here.quaternion if is_near else seen.quaternions[-1]
    pose = Pose(np.array([*position[:2], height_m]), seen.yawed(lean))
    if isinstance(figures, TrayFigures):
        return pose
    for raised_m in np.arange(0.0, HIGHEST_M, RAISE_M).tolist():
        higher = Pose(pose.position + (0.0, 0.0, raised_m), pose.quaternion)
        if world.overlap_at(name, higher) is None:
            return higher
    return None


def riders_of(world: World, tray: str) -> list[str]:
    """Returns all objects that lie on a tray, or on what lies on it."""
    riders: list[str] = []
    while found := [thing for thing in things_on(world, tray, riders) if thing in world.objects]:
        riders += found
    return riders


def _seat(world: World, name: str, part: PartFigures, position: np.ndarray) -> Pose | None:
    """Returns the pose of a part that is seated in a slot there; beside its axis it has climbed the slot's wall."""
    for item in world.objects.values():
        if not isinstance(item.figures, TrayFigures):
            continue
        pose_tray = world.pose_of(item.name)
        for slot in item.figures.slots:
            seat = pose_tray @ seated_pose(item.figures, slot, part)
            beside_m = float(np.hypot(*(seat.position[:2] - position[:2])))
            if beside_m <= CENTRED_M:
                return seat
            if beside_m <= TRACKED_IN_SLOT.beside_m:
                return Pose(np.array([*position[:2], seat.position[2] + beside_m]), seat.quaternion)
    return None


def _tilt_rad(one: Pose, other: Pose) -> float:
    """Returns the angle between the axes of two things."""
    cosine = one.rotation_matrix[:, 2] @ other.rotation_matrix[:, 2]
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))
