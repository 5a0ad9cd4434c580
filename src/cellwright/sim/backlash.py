"""Play in the gears of an arm: the encoder sits on the motor, and the link follows only when the play is taken up.

The model is the play operator of hysteresis. A joint's link stands still while its motor crosses the play, then goes
with it, half the play behind:

    link = min(max(link, motor - b / 2), motor + b / 2)

So the tool stands at two places when a point is approached from two sides, and the encoders tell no difference.

What it leaves out: the motor is taken to be where it is asked to be, apart from the error with which the link follows;
loads, weight and impacts do not push a link through its play; the gears do not clatter. A real joint that bears a load
rests on one flank of its teeth and shows less of its play than this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["Backlash", "take_up"]

Array = npt.NDArray[np.float64]


def take_up(state: Array, motor: Array, speed: Array) -> None:
    """Moves the motors to other angles, with a speed; the state follows. Plain loops, so that it can be compiled, too.

    Args:
        state: Five rows of one number per joint: half the play; where the motor was; how far the link is beyond the
            motor; which share of the motor's last motion the link made; how much faster the motor turns than the link.
        motor: The commanded angles of the motors.
        speed: Their commanded speeds.
    """
    for k in range(state.shape[1]):
        half, before, goal = state[0, k], state[1, k], motor[k]
        if goal != before:
            link = before + state[2, k]
            follows = min(max(link, goal - half), goal + half)
            state[3, k] = min(max((follows - link) / (goal - before), 0.0), 1.0)
            state[2, k] = follows - goal
            state[1, k] = goal
        state[4, k] = (1.0 - state[3, k]) * speed[k]


class Backlash:
    """The backlash of one arm, which begins in the middle of its play.

    Set points are those of the motors. For as long as physics runs, the servos get the links' instead; so what
    commands the arm needs to know nothing. Torques have no set point: see `aim` and `drift`.

    Attributes:
        state: As `take_up` has it; always the same memory, for compiled controllers.
    """

    def __init__(self, world: World, robot: str) -> None:
        self._world = world
        self._robot = robot
        self._zeros = world.layout.joint_zeros_rad[robot]
        self.state = np.zeros((5, len(self._zeros)))
        self.state[0] = world.layout.backlash_rad[robot] / 2
        self.state[1] = np.radians(world.cell.robots[robot].home_deg)
        self.state[3] = 1.0
        self._commanded = self._applied = b""
        self._passed: Array = np.zeros(0)
        world.bind(self._look_up)
        world.add_component(f"{robot} backlash", self)

    def _look_up(self) -> None:
        index, data = self._world.robot(self._robot), self._world.data
        first, count = int(index.ctrl_position[0]), len(self._zeros)
        self._ctrl = data.ctrl[first : first + 3 * count]
        self._gains = self._world.model.actuator_biasprm[index.actuators[0]]

    @property
    def lag_rad(self) -> Array:
        """The angle of each link beyond its motor; a live view."""
        return np.asarray(self.state[2])

    @property
    def slip_radps(self) -> Array:
        """The speed of each motor beyond that of its link; a live view."""
        return np.asarray(self.state[4])

    def engage(self, duration_s: float) -> None:
        """Writes the commands of the links to the servos, before a stretch of time."""
        self._commanded = self._ctrl.tobytes()
        held, damped = self._gains[1] != 0.0, self._gains[2] != 0.0
        if not damped:
            return
        if not held or self._commanded != self._applied:
            command = np.frombuffer(self._commanded).reshape(-1, 3)
            motor = command[:, 0] - self._zeros if held else self.state[1] + command[:, 1] * duration_s
            take_up(self.state, motor, command[:, 1])
            passed = command.copy()
            passed[:, 0] += self.lag_rad
            passed[:, 1] *= self.state[3]
            self._passed = passed.ravel()
            self._applied = self._commanded
        self._ctrl[:] = self._passed

    def release(self) -> None:
        """Writes the commands of the motors back, after it."""
        self._ctrl[:] = np.frombuffer(self._commanded)

    def aim(self, reference: Array) -> Array:
        """Has the motors follow the reference of torques; returns the reference of the links."""
        take_up(self.state, reference[0], reference[1])
        return np.array([reference[0], reference[1], reference[2] * self.state[3]])

    def drift(self, link_rad: Array) -> None:
        """Updates the play for torques without a reference: the links' own motion takes it up, the motors ahead."""
        take_up(self.state, link_rad - self.lag_rad, np.zeros(len(link_rad)))
        self.rest(link_rad - self.lag_rad)

    def rest(self, motor_rad: Array) -> None:
        """Places the motors at other angles, without a motion."""
        self.state[1] = motor_rad
        self.state[3], self.state[4] = 1.0, 0.0
        self._applied = b""

    def save(self) -> Array:
        """Returns the place of each joint in its play."""
        return self.state.copy()

    def load(self, state: Array) -> None:
        """Restores what `save` returned."""
        self.state[:] = state
        self._applied = b""

    def let_go(self, part: str) -> None:
        """Does nothing: gears hold no parts."""
