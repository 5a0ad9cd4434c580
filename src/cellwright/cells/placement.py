"""A loose object at its place."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.core.pose import Pose

__all__ = ["Placement"]


@dataclass(frozen=True)
class Placement:
    """A loose object: its name, its model, its pose in the world."""

    name: str
    model: str
    pose_in_world: Pose
