"""Colours that change while a cell runs, such as those of LEDs, as rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.sim import World
from cellwright.viewing.rows import Row

__all__ = ["ColourRows", "changing_materials"]


def changing_materials(world: World, model: Any) -> dict[int, str]:
    """Returns the materials of a model whose colours may change: those of the mobile robots, with their names."""
    names = {number: str(model.material(number).name) for number in range(model.nmat)}
    return {number: name for number, name in names.items() if name.partition("/")[0] in world.mobiles}


class ColourRows:
    """Tells which materials have another colour than the last time; the first time, than in the scene.

    Args:
        world: The world, as it is in the scene.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._names: dict[int, str] = {}
        self._told = self._now()

    def take(self, time_s: float) -> Row | None:
        """Returns a row with the colours and the glow of what has changed; None when nothing has."""
        now = self._now()
        if now.shape != self._told.shape:
            self._told = np.full_like(now, -1.0)
        changed = np.flatnonzero((now != self._told).any(axis=1))
        if not len(changed):
            return None
        self._told = now
        names = [*self._names.values()]
        return {"time_s": time_s, "colours": {names[row]: now[row].tolist() for row in changed}}

    def _now(self) -> Any:
        model, _ = self._world.appearance.now()
        self._names = changing_materials(self._world, model)
        numbers = [*self._names]
        return np.round(np.hstack([model.mat_rgba[numbers, :3], model.mat_emission[numbers, None]]).astype(float), 4)
