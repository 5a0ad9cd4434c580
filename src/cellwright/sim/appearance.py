"""The appearance of the world: a second model, with all visual geoms, posed as the first one is.

Physics pays for every geom in every step, seen or touched; 140 geoms without contacts cost a tenth of the speed.
So the world steps a model without them, and pictures are taken of this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["Appearance"]

STEPS = 2.0**20  # per metre or radian: what moves by less looks the same, and need not be drawn again
PAINT = (
    "geom_rgba", "geom_matid", "mat_rgba", "mat_emission", "mat_texid", "mat_specular", "mat_shininess",
    "light_pos", "light_dir", "light_diffuse", "light_specular", "light_ambient", "light_castshadow", "light_active",
)  # fmt: skip
NUMBERS = {int(mujoco.mjtJoint.mjJNT_FREE): 7, int(mujoco.mjtJoint.mjJNT_BALL): 4}


class Appearance:
    """The visual model, made when the first picture is taken, and anew after bodies were added or removed."""

    def __init__(self, world: World) -> None:
        self._world = world
        world.bind(self._forget)

    def _forget(self) -> None:
        self._model: Any = None

    def now(self) -> tuple[Any, Any]:
        """Returns model and data as the world is at this moment, for a renderer."""
        if self._model is None:
            spec = self._world.full_spec()
            spec.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)  # kinematics leave out what sleeps
            self._model = spec.compile()
            self._data = mujoco.MjData(self._model)
            self._from, self._to = _joint_numbers(self._world.model, self._model)
        self._data.qpos[self._to] = np.round(self._world.data.qpos[self._from] * STEPS) / STEPS
        self._data.time = self._world.data.time
        self._world.leds.paint(self._model)
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        return self._model, self._data

    def look(self) -> bytes:
        """Returns what tells whether anything looks otherwise than at another moment."""
        model, data = self.now()
        parts = [data.geom_xpos, data.geom_xmat, *(getattr(model, name) for name in PAINT)]
        return b"".join(part.tobytes() for part in parts)


def _joint_numbers(source: Any, target: Any) -> tuple[Any, Any]:
    """Returns the addresses of each joint's numbers in both models; the order may differ, the names do not."""
    places: tuple[list[int], list[int]] = ([], [])
    for i in range(source.njnt):
        count = NUMBERS.get(int(source.jnt_type[i]), 1)
        for found, first in zip(
            places, (source.jnt_qposadr[i], target.joint(source.joint(i).name).qposadr[0]), strict=True
        ):
            found.extend(range(first, first + count))
    return np.array(places[0], dtype=np.intp), np.array(places[1], dtype=np.intp)
