"""Two parts that change places, between two pictures of any camera."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.sim import World

__all__ = ["exchange"]

STEP_M = 0.0005
LIMIT_M = 0.08
OVERLAP_M = 0.0001


def exchange(world: World, first: str, second: str) -> None:
    """Puts each where the other was, upright as it was, just above what supports it there; physics goes on."""
    from cellwright.sim.contacts import deepest_overlap

    poses = world.pose_of(first), world.pose_of(second)
    aside = np.array([0.0, 0.0, 5.0])
    for name, pose in zip((first, second), poses, strict=True):
        world.place(name, Pose(pose.position + aside, pose.quaternion))
    for name, own, other in ((first, poses[0], poses[1]), (second, poses[1], poses[0])):
        for height_m in np.arange(0.0, LIMIT_M, STEP_M):
            world.place(name, Pose(other.position + [0.0, 0.0, height_m], own.quaternion))
            overlap = deepest_overlap(world.model, world.data, world.objects[name].body)
            if overlap is None or overlap.depth_m <= OVERLAP_M:
                break
