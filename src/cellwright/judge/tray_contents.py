"""The contents of a tray: parts, which move with it when it is carried, or another tray of its stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellwright.catalogue import TrayFigures
from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.sim import World

__all__ = ["is_covered", "is_still_on_tray", "poses_on_tray"]

ABOVE_M = 0.1
LEFT_M = 0.015  # a gear that has come so far is out of its slot, which is 13 mm deep


def poses_on_tray(world: World, tray: str) -> dict[str, Pose]:
    """Returns part -> its pose in the tray that it lies on; nothing lies on what is no tray."""
    from cellwright.judge.kit import parts_on

    figures = world.objects[tray].figures
    if not isinstance(figures, TrayFigures):
        return {}
    world_in_tray = world.pose_of(tray).inverse()
    return {part: world_in_tray @ world.pose_of(part) for part in parts_on(world, tray, figures)}


def is_still_on_tray(world: World, tray: str, part: str, pose_in_tray: Pose) -> bool:
    """Returns whether a part is still where it lay on its tray."""
    if part not in world.objects:
        return False
    return (world.pose_of(tray).inverse() @ world.pose_of(part)).distance_m(pose_in_tray) <= LEFT_M


def is_covered(world: World, name: str) -> bool:
    """Returns whether it is a tray on which another tray stands."""
    item = world.objects[name]
    if not isinstance(item.figures, TrayFigures):
        return False
    x_m, y_m, z_m = world.pose_of(name).position
    half_m = min(item.figures.size_m) / 2
    for other, thing in world.objects.items():
        if thing.is_tray and other != name:
            x, y, z = world.pose_of(other).position - (x_m, y_m, z_m)
            if abs(x) < half_m and abs(y) < half_m and item.figures.thickness_m / 2 < z < ABOVE_M:
                return True
    return False
