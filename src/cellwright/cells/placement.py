"""A loose object at its place."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.core.pose import Pose

__all__ = ["Placement"]


@dataclass(frozen=True)
class Placement:
    """A loose object: its name, its model, its pose in the world.

    Attributes:
        key: Its place in the cell's file, such as `trays.kit.pose`; empty for objects that came later.
        tray: The tray that it was put into, if any.
        is_clamped: Whether it is held fast there.
    """

    name: str
    model: str
    pose_in_world: Pose
    key: str = ""
    tray: str = ""
    is_clamped: bool = False
