"""A part in the hand as planners see it: round ones by their own shape, others by the cylinder that they turn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cellwright.catalogue import GearFigures, PartFigures
from cellwright.catalogue.objects import TurnedFigures
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.motion.grasps import Grasp
from cellwright.motion.planning import AttachedObject, CatalogueModel, Cylinder
from cellwright.shapes.part_shape import part_shape

__all__ = ["at_every_turn", "attached_part", "is_round", "pitched", "turned"]

AXIS_M = 1e-6
STEP_M = 1e-6  # of height, in which a profile steps aside


def is_round(part: PartFigures) -> bool:
    """Returns whether a part looks the same from every side."""
    return isinstance(part, GearFigures) or (isinstance(part, TurnedFigures) and part.handle is None)


def at_every_turn(part: PartFigures) -> PartFigures:
    """Returns the round part that a body with a handle fills when it is turned all round; any other part as it is.

    Where such a part can be taken, its turn need not be known.
    """
    if not isinstance(part, TurnedFigures) or part.handle is None:
        return part
    grip_m, path = part.handle.radius_m, part.handle.path_xz_m
    low_m, high_m = min(z for _, z in path) - grip_m, max(z for _, z in path) + grip_m
    ring = [(part.radius_m, low_m), (part.radius_m, high_m)]
    below = [*(p for p in part.profile_rz_m if p[1] < low_m - STEP_M), (part.outer_radius_m(low_m), low_m - STEP_M)]
    above = [(part.outer_radius_m(high_m), high_m + STEP_M), *(p for p in part.profile_rz_m if p[1] > high_m + STEP_M)]
    return replace(part, profile_rz_m=(*below, *ring, *above), wall_m=0.0, handle=None)


def attached_part(part: PartFigures, grasps: Sequence[Grasp]) -> AttachedObject:
    """Returns a part as it is held by any of some grasps, which differ by a turn about its axis alone.

    Raises:
        BadInput: It is taken beside its axis, so that it would swing about the hand.
    """
    pose_part_in_tool = grasps[0].pose_tcp.inverse()
    if is_round(part):
        return AttachedObject(part.name, CatalogueModel(part), pose_part_in_tool)
    if any(np.hypot(*grasp.pose_tcp.position[:2]) > AXIS_M for grasp in grasps):
        raise BadInput(f"a {part.title.lower()} is taken beside its axis; only what is taken on it is planned for")
    points = part_shape(part).corners
    low_m, high_m = float(points[:, 2].min()), float(points[:, 2].max())
    about = Cylinder(float(np.hypot(points[:, 0], points[:, 1]).max()), high_m - low_m)
    middle = Pose.from_xyz_rpy((0.0, 0.0, (low_m + high_m) / 2))
    return AttachedObject(part.name, about, pose_part_in_tool @ middle)


def turned(pose: Pose, count: int) -> list[Pose]:
    """Returns a pose turned about its own z, evenly all round."""
    return [pose @ Pose.from_xyz_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 2 * np.pi * n / count)) for n in range(count)]


def pitched(grasp: Grasp, pitch_rad: float) -> Grasp:
    """Returns a grasp from the side whose gripper comes from above it, inclined about the line between its jaws.

    The pads touch the same lines of the part, turned in their planes; the part is lifted straight up, as before.
    """
    turn = Pose.from_xyz_rpy((0.0, 0.0, 0.0), (-pitch_rad, 0.0, 0.0))
    back = grasp.pose_tcp.inverse() @ grasp.pose_approach
    pose = grasp.pose_tcp @ turn
    lifted = Pose(grasp.pose_retreat.position, pose.quaternion)
    return replace(grasp, pose_tcp=pose, pose_approach=pose @ back, pose_retreat=lifted)
