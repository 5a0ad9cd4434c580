"""The projectors of a world: which of them are on, and the light that they throw. Physics knows nothing of light."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cellwright.core.projector import Projector
from cellwright.rendering import Frustum
from cellwright.rendering.pattern_light import PatternLight

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["Projectors"]


class Projectors:
    """The states of all projectors.

    Attributes:
        on: Projector -> whether it is on.
    """

    def __init__(self, world: World) -> None:
        self._all = world.layout.projectors
        self.on = {name: projector.is_on for name, projector in self._all.items()}
        world.add_component("projectors", self)

    def save(self) -> dict[str, bool]:
        """Returns the states of all projectors."""
        return dict(self.on)

    def load(self, state: dict[str, bool]) -> None:
        """Restores what `save` returned."""
        self.on = dict(state)

    def let_go(self, part: str) -> None:
        """Does nothing: projectors hold no parts."""

    def lights(self) -> list[PatternLight]:
        """Returns what the projectors throw that are on."""
        return [_light(self._all[name]) for name, is_on in self.on.items() if is_on]


def _light(projector: Projector) -> PatternLight:
    columns, rows = projector.resolution_px
    x, y, z = projector.pose_in_world.rotation_matrix.T
    fovy_rad = 2 * math.atan(rows / columns * math.tan(projector.fov_rad / 2))
    frustum = Frustum(np.array(projector.pose_in_world.position), np.column_stack([-y, z, -x]), fovy_rad)
    red, green, blue = (projector.strength * channel for channel in projector.colour)
    return PatternLight(frustum, projector.pattern, (red, green, blue), projector.range_m)
