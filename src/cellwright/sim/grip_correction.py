"""Friction in a hand that moves on a curve: a term that MuJoCo leaves out of its contacts.

Where two bodies stick together they have the same acceleration:

    J a + J' v = 0        J: Jacobian of the contact, J': its derivative, v and a: speeds, accelerations of the joints

MuJoCo knows ``J' v`` for welds and leaves it out for contacts; its manual says so. Its friction asks for
``J a = -(J v) / T`` instead, with ``T`` the time constant of its damping. So what sticks creeps at ``J v = T J' v``:
out of the hand, at the centripetal acceleration times ``T``, whatever the friction and however firm the grip. In steps
of length ``h``

    T = (impedance * time constant of the contact + h) / 2        1.5 ms for the pads at steps of 2 ms

Here the pads' surfaces get the speed ``-T J' v``, and the creep comes to nothing. This moves only the speed at which
friction is at rest. Its forces obey Coulomb's law as before: a grip that is too weak, or a load beyond it, slips as it
did. A hand at rest has no such term. Along the normal of a contact the term stays left out: a part may be pressed a few
micrometres deeper into one pad than into the other.
"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.models.surfaces import PAD
from cellwright.sim.index import ToolIndex
from cellwright.sim.stepper import Order, Stepper
from cellwright.sim.world import World

__all__ = ["GripCorrection"]

RATE_HZ = 62.5  # that it is late by some steps does not add up: what creeps as a swing begins returns as it ends

CROSS = np.cross(np.eye(3), np.eye(3)[:, None]).transpose(0, 2, 1)  # x @ (CROSS @ w) is w cross x; np.cross is slow

Array = npt.NDArray[np.float64]


class GripCorrection:
    """Keeps what friction holds from creeping; works while the pads of a gripper touch one loose object.

    It comes first of all that is due at a tick and reads what the last step has left. So whoever looks at the world
    does not change what it does.
    """

    def __init__(self, world: World, stepper: Stepper) -> None:
        self._world = world
        self._time_s = (PAD.solimp[1] * PAD.solref[0] + world.cell.timestep_s) / 2
        self._speeds: dict[str, Array] = {}  # robot -> speeds of the surfaces of its two pads, each in the pad's frame
        world.add_holder("grip correction", self)
        world.bind(self._look_up)
        period = world.clock.period_ticks(RATE_HZ)
        stepper.every(period, self._tick, order=Order.WORLD - 1, name="grip correction")

    def save(self) -> dict[str, Array]:
        """How the pads' surfaces move."""
        return dict(self._speeds)

    def load(self, state: dict[str, Array]) -> None:
        """Moves them like that again."""
        self._speeds = dict(state)
        self._look_up()

    def let_go(self, part: str) -> None:
        """Nothing to do: the next tick sees what the pads touch."""

    def _look_up(self) -> None:
        model, world = self._world.model, self._world
        self._tools = {name: robot.tool for name, robot in world.robots.items() if robot.tool is not None}
        self._robot_of_pad = {pad: name for name, tool in self._tools.items() for pad in tool.pad_geoms}
        self._body_of_geom: list[int] = model.geom_bodyid.tolist()
        self._loose = {item.body for item in world.objects.values()}
        self._of_tool, self._of_part = np.zeros((6, model.nv)), np.zeros((6, model.nv))
        model.flg_surfacevel = 1
        for name, tool in self._tools.items():
            model.geom_surfacevel[list(tool.pad_geoms)] = self._speeds.get(name, 0.0)

    def _tick(self) -> None:
        if not self._world.data.ncon and not self._speeds:
            return
        touched = self._touched()
        for name, tool in self._tools.items():
            bodies = touched.get(name, ())
            if len(bodies) == 1:
                self._speeds[name] = self._correction(tool, *bodies)
            elif name in self._speeds:
                del self._speeds[name]
            else:
                continue
            self._world.model.geom_surfacevel[list(tool.pad_geoms)] = self._speeds.get(name, 0.0)

    def _touched(self) -> dict[str, set[int]]:
        """Robot -> the loose bodies that its pads touch."""
        touched: dict[str, set[int]] = {}
        for first, second in self._world.data.contact.geom.tolist():
            for pad, other in ((first, second), (second, first)):
                body = self._body_of_geom[other]
                if pad in self._robot_of_pad and body in self._loose:
                    touched.setdefault(self._robot_of_pad[pad], set()).add(body)
        return touched

    def _correction(self, tool: ToolIndex, part_body: int) -> Array:
        """-T J' v at each pad: linear and angular, in the pad's frame. Hand and part turn alike, so one J' v does."""
        model, data, of_tool, of_part = self._world.model, self._world.data, self._of_tool, self._of_part
        centre = data.site_xpos[tool.tcp_site]
        mujoco.mj_jacDot(model, data, of_tool[:3], of_tool[3:], centre, tool.body)
        mujoco.mj_jacDot(model, data, of_part[:3], of_part[3:], centre, part_body)
        linear, angular = ((of_tool - of_part) @ data.qvel * self._time_s).reshape(2, 3)
        pads = list(tool.pad_geoms)
        field = np.empty((2, 2, 3))  # of each pad: linear, angular
        field[:, 0] = linear + (data.geom_xpos[pads] - centre) @ (CROSS @ angular)
        field[:, 1] = angular
        return np.asarray((field @ data.geom_xmat[pads].reshape(2, 3, 3)).reshape(2, 6))
