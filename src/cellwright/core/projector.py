"""Projectors that throw a random pattern, for stereo cameras to find corresponding points by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose

__all__ = ["Projector"]

PATTERN_SEED = 0x5EED  # a pattern is etched once: it is the same in every cell, with every seed


@dataclass(frozen=True)
class Projector:
    """A projector of a cell: where it really is, and what it throws.

    Attributes:
        name: Its name in the cell.
        pose_in_world: Its centre of projection; x is the way it throws, y the left of its pattern, z the top.
        fov_rad: Angle of its cone across the columns.
        resolution_px: Columns and rows of its pattern.
        dot_px: Side of a dot.
        colour: Of its light, red, green and blue from 0 to 1.
        strength: Light that a dot adds to what it falls on, white being 1.
        range_m: Nearest and farthest that it lights, along its axis.
        is_on: Whether it is on when the cell starts.
    """

    name: str
    pose_in_world: Pose
    fov_rad: float
    resolution_px: tuple[int, int] = (800, 800)
    dot_px: int = 3
    colour: tuple[float, float, float] = (1.0, 0.0, 0.0)
    strength: float = 0.4
    range_m: tuple[float, float] = (0.1, 10.0)
    is_on: bool = False

    @cached_property
    def pattern(self) -> npt.NDArray[np.float32]:
        """The pattern, rows and columns of 0 and 1: half of all dots, at random, are bright."""
        columns, rows = self.resolution_px
        wide, high = -(-columns // self.dot_px), -(-rows // self.dot_px)
        dots = np.random.default_rng(PATTERN_SEED).random((high, wide)) < 0.5
        whole = dots.repeat(self.dot_px, axis=0).repeat(self.dot_px, axis=1)
        return whole[:rows, :columns].astype(np.float32)
