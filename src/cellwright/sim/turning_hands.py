"""The term that MuJoCo leaves out of contacts: what a hand holds must turn with the hand.

A constraint of bodies in motion is ``J dv/dt + dJ/dt v``. MuJoCo has the second term for welds, not for contacts: in
every step friction sees a hand on a curve go straight on. What it holds creeps outwards at ``A tau``, by any friction,
where ``A = dJ/dt v`` is the acceleration of the hand's frame on its curve and ``tau`` the time in which the contact
answers. Along the normal the same error lifts pads off a heavy part.

Both go away when the contact sees the object lag by just that ``A tau``: before each step the lag is given to its
velocity, after the step it is taken out of velocity and position again. Nothing is glued and no force is added:
momentum changes by the forces of the contacts alone, and these are bounded by friction as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.sim.index import ObjectIndex

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["TurningHands", "answer_times_s"]

Array = npt.NDArray[np.float64]
CLOSING_M = 1e-6  # short of open, fingers are on their way to hold something
TURNING_RADPS = 0.02  # with slower joints, what is held creeps by less than a micrometre per second


class LaggingObject:
    """A loose object that a hand may hold: live views of its position and velocity, the lag that its contacts see."""

    __slots__ = ("_lag_m", "_lag_mps", "_velocity_mps", "position_m")

    def __init__(self, data: Any, item: ObjectIndex) -> None:
        self.position_m: Array = data.qpos[item.qpos : item.qpos + 3]
        self._velocity_mps: Array = data.qvel[item.dof : item.dof + 3]
        self._lag_mps, self._lag_m = np.zeros(3), np.zeros(3)

    def lead(self, lag_mps: Sequence[float], step_s: float) -> None:
        """Gives a lag to the velocity, before a step."""
        self._lag_mps[:] = lag_mps
        np.multiply(self._lag_mps, step_s, out=self._lag_m)
        np.add(self._velocity_mps, self._lag_mps, out=self._velocity_mps)

    def follow(self) -> None:
        """Takes the lag out of velocity and position, after the step."""
        np.subtract(self._velocity_mps, self._lag_mps, out=self._velocity_mps)
        np.subtract(self.position_m, self._lag_m, out=self.position_m)


class _Hand:
    """One hand that may hold something.

    Args:
        data: MuJoCo's data.
        joints: The arm's joints, in the velocities.
        body: Its root body.
        faces: Geom of a pad or a lip -> the finger or the cup that it belongs to.
        needed: How many fingers or cups must touch an object for it to be held.
        drive: Command of the fingers' drive, and the command from which on they are open.
        valves: Commands of the cups' vacuum, which is drawn while they seal.
    """

    def __init__(
        self,
        data: Any,
        joints: npt.NDArray[np.intp],
        body: int,
        faces: Mapping[int, int],
        needed: int,
        *,
        drive: tuple[int, float] | None = None,
        valves: Sequence[int] = (),
    ) -> None:
        self.body, self.faces, self.needed = body, faces, needed
        self._commands: Array = data.ctrl
        self._speeds_radps: Array = data.qvel[joints[0] : joints[-1] + 1]
        self._drive, self._valves = drive, tuple(valves)

    @property
    def grips(self) -> bool:
        """Whether it is commanded to hold something."""
        if self._drive is not None:
            command, open_m = self._drive
            return bool(self._commands.item(command) < open_m)
        return any(self._commands.item(valve) > 0.0 for valve in self._valves)

    @property
    def turns(self) -> bool:
        """Whether its arm moves."""
        speeds = self._speeds_radps.tolist()
        return bool(max(speeds) > TURNING_RADPS or min(speeds) < -TURNING_RADPS)

    def held(self, pairs: Sequence[Sequence[int]], owner: Sequence[int]) -> dict[int, list[int]]:
        """Returns the bodies that enough of its fingers or cups touch, with the contacts of each.

        Args:
            pairs: The geoms of every contact.
            owner: The body of every geom.
        """
        touching: dict[int, dict[int, int]] = {}  # body -> finger -> contact
        faces = self.faces
        for number, (first, second) in enumerate(pairs):
            if first in faces:
                touching.setdefault(owner[second], {}).setdefault(faces[first], number)
            elif second in faces:
                touching.setdefault(owner[first], {}).setdefault(faces[second], number)
        return {body: list(found.values()) for body, found in touching.items() if len(found) >= self.needed}


class TurningHands:
    """Steps a world in which hands hold loose objects.

    All is read from the last step's contacts: normals, and the times in which they answer, and so the settings of pads,
    cups and parts that a user has changed. There is no state of its own, and every step is taken alike, whether alone
    or as one of many: what else is due in between changes nothing.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        world.bind(self._look_up)

    def _look_up(self) -> None:
        world, data = self._world, self._world.data
        hands = []
        for robot in world.robots.values():
            if (tool := robot.gripper) is not None:
                drive = (tool.ctrl, tool.figures.open_m - CLOSING_M)
                hands.append(_Hand(data, robot.dof, tool.body, tool.pads, 2, drive=drive))
            elif (cups := robot.vacuum) is not None:
                faces = {geom: number for number, cup in enumerate(cups.cups) for geom in cup.lip}
                hands.append(_Hand(data, robot.dof, cups.body, faces, 1, valves=[cup.suck for cup in cups.cups]))
        self._hands = tuple(hands)
        self._objects = {item.body: LaggingObject(data, item) for item in world.objects.values()}
        self._owner = world.model.geom_bodyid.tolist()
        self._jacobian_rate, self._curving = np.zeros((3, world.model.nv)), np.zeros(3)

    def step(self, count: int) -> None:
        """Takes so many steps."""
        step, model, data = mujoco.mj_step, self._world.model, self._world.data
        hands = [hand for hand in self._hands if hand.grips]
        if not hands:
            step(model, data, count)
            return
        for _ in range(count):
            turning = [hand for hand in hands if hand.turns] if data.ncon else ()
            held = self._lead(turning) if turning else ()
            step(model, data)
            for item in held:
                item.follow()

    def _lead(self, hands: Sequence[_Hand]) -> list[LaggingObject]:
        """Gives each object that is held the lag that its contacts must see; returns them."""
        contacts = self._world.data.contact
        pairs, rows, leading = contacts.geom.tolist(), contacts.efc_address.tolist(), []
        for hand in hands:
            for body, numbers in hand.held(pairs, self._owner).items():
                active = [number for number in numbers if rows[number] >= 0]
                item = self._objects.get(body)
                if active and item is not None:
                    item.lead(self._lag_mps(hand.body, item, active[0], rows[active[0]]), self._world.cell.timestep_s)
                    leading.append(item)
        return leading

    def _lag_mps(self, hand: int, item: LaggingObject, contact: int, row: int) -> tuple[float, float, float]:
        """Returns the creep that a contact would leave."""
        model, data = self._world.model, self._world.data
        mujoco.mj_jacDot(model, data, self._jacobian_rate, None, item.position_m, hand)
        ax, ay, az = np.dot(self._jacobian_rate, data.qvel, out=self._curving).tolist()
        gains, normals = data.efc_KBIP, data.contact.frame
        across_s, along_s = answer_times_s(
            gains.item(row, 0), gains.item(row, 1), gains.item(row + 1, 1), self._world.cell.timestep_s
        )
        x, y, z = normals.item(contact, 0), normals.item(contact, 1), normals.item(contact, 2)
        across = (across_s - along_s) * (x * ax + y * ay + z * az)
        return -along_s * ax - across * x, -along_s * ay - across * y, -along_s * az - across * z


def answer_times_s(stiffness: float, damping: float, friction_damping: float, step_s: float) -> tuple[float, float]:
    """Returns the times in which a contact answers to a turning frame, along its normal and along its face.

    MuJoCo's `discrete` integrator takes a row's spring and damper at the end of a step: it pulls the relative
    velocity `v` towards zero by ``g v`` with ``g = (b + h k) / (1 + h b + h^2 k)``; along the face there is no spring.
    Nothing moves over a step when the velocity in its middle is zero, and that takes ``1/g - h/2``.
    """
    pull = (damping + step_s * stiffness) / (1 + step_s * damping + step_s**2 * stiffness)
    return 1 / pull - step_s / 2, 1 / friction_damping + step_s / 2
