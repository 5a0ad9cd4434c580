"""Friction in a hand that moves on a curve: mends a term that MuJoCo leaves out of its contacts.

Two bodies that stick together at a contact have the same acceleration there:

    J a + J' v = 0        with J the contact's Jacobian, J' its derivative, v and a the joints' speeds, accelerations

MuJoCo knows ``J' v`` for welds and leaves it out for contacts, by its manual. Its friction asks for ``J a = -(J v) / T``
instead, where ``T`` is the time constant of the damping. So what sticks comes to creep at ``J v = T J' v``: out of the
hand, at the centripetal acceleration times ``T``, whatever the friction and however firm the grip. With steps of
length ``h`` the time is

    T = (impedance * time constant of the contact + h) / 2        1.5 ms for the pads at steps of 2 ms

Here the pads' surfaces get a speed of their own, ``-T J' v``, by which the creep comes to nothing. Only the point of
zero speed is moved. The forces are those of Coulomb's law as before: a grip that is too weak, or a load beyond it,
slips as it did, and a hand at rest has no such term.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.models.surfaces import PAD
from cellwright.sim.index import ToolIndex
from cellwright.sim.stepper import Order, Stepper
from cellwright.sim.world import World

__all__ = ["GripCorrection"]

RATE_HZ = 250.0

Array = npt.NDArray[np.float64]


class GripCorrection:
    """Keeps what friction holds from creeping; works while the pads of a gripper touch one loose object.

    It comes first among all that is due at a tick. What it reads is the state that the last step left behind, so
    whoever looks at the world in between does not change it.
    """

    def __init__(self, world: World, stepper: Stepper) -> None:
        self._world = world
        self._speeds: dict[str, Array] = {}  # robot -> the speeds of its two pads' surfaces, in the pads' frames
        self._lag_s = (PAD.solimp[1] * PAD.solref[0] + world.cell.timestep_s) / 2
        world.add_holder("grip correction", self)
        world.bind(self._look_up)
        period = world.clock.period_ticks(RATE_HZ)
        stepper.every(period, self._tick, order=Order.WORLD - 1, name="grip correction")

    def save(self) -> dict[str, Array]:
        """How the pads' surfaces move."""
        return dict(self._speeds)

    def load(self, state: dict[str, Array]) -> None:
        """Moves them so again."""
        self._speeds = dict(state)
        self._look_up()

    def let_go(self, part: str) -> None:
        """The next tick sees it."""

    def _look_up(self) -> None:
        model, world = self._world.model, self._world
        model.flg_surfacevel = 1
        self._tools = {name: robot.tool for name, robot in world.robots.items() if robot.tool is not None}
        self._loose = {item.body for item in world.objects.values()}
        self._jacobians = np.zeros((2, 6, model.nv))
        for name, tool in self._tools.items():
            model.geom_surfacevel[list(tool.pad_geoms)] = self._speeds.get(name, 0.0)

    def _tick(self) -> None:
        if not self._world.data.ncon and not self._speeds:
            return
        touched = self._touched()
        for name, tool in self._tools.items():
            bodies = touched.get(name, set())
            if len(bodies) == 1:
                self._set(name, tool, self._correction(tool, bodies.pop()))
            elif name in self._speeds:
                del self._speeds[name]
                self._world.model.geom_surfacevel[list(tool.pad_geoms)] = 0.0

    def _touched(self) -> dict[str, set[int]]:
        """Robot -> the loose bodies that its pads touch."""
        model = self._world.model
        pads = {pad: name for name, tool in self._tools.items() for pad in tool.pad_geoms}
        touched: dict[str, set[int]] = {}
        for pair in self._world.data.contact.geom.tolist():
            for pad, other in (pair, pair[::-1]):
                if pad in pads and (body := int(model.geom_bodyid[other])) in self._loose:
                    touched.setdefault(pads[pad], set()).add(body)
        return touched

    def _correction(self, tool: ToolIndex, part_body: int) -> Array:
        """The speeds of both pads' surfaces."""
        model, data = self._world.model, self._world.data
        of_tool, of_part = self._jacobians
        centre = data.site_xpos[tool.tcp_site]
        mujoco.mj_jacDot(model, data, of_tool[:3], of_tool[3:], centre, tool.body)
        mujoco.mj_jacDot(model, data, of_part[:3], of_part[3:], centre, part_body)
        speed = -self._lag_s * ((of_part - of_tool) @ data.qvel)
        rows = []
        for pad in tool.pad_geoms:
            turn = data.geom_xmat[pad].reshape(3, 3)
            away = data.geom_xpos[pad] - centre
            rows.append(np.concatenate([(speed[:3] + _cross(speed[3:], away)) @ turn, speed[3:] @ turn]))
        return np.array(rows)

    def _set(self, name: str, tool: ToolIndex, speeds: Array) -> None:
        self._speeds[name] = speeds
        self._world.model.geom_surfacevel[list(tool.pad_geoms)] = speeds


def _cross(a: Any, b: Any) -> Array:
    """The vector product; numpy's own takes longer than all the rest."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
