"""The drives of one arm: their measurements, their commands, and their three command modes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.sim import World

__all__ = ["CommandMode", "Drive"]

Array = npt.NDArray[np.float64]

SWITCH_SPEED_LIMIT_RADPS = 0.05
SWITCH_OFFSET_LIMIT_RAD = 0.02
STEP_LIMIT_RAD = 0.05


class CommandMode(StrEnum):
    """The kind of command that a drive takes: joint angles, joint speeds, or torques."""

    POSITION = "position"
    VELOCITY = "velocity"
    EFFORT = "effort"


class Drive:
    """One arm's joints, as its controller sees them.

    Positions are those of the encoders, on the motors' side of the gears. The joints really are `joint_zero` beyond
    that, and somewhere in the gears' play, and neither the controller nor a program above it can tell.

    A mode is a set of gains of the `pid` in the model: all of them, the speed's alone, or none, which leaves a motor.
    In effort mode the drive no longer carries the arm's weight by itself: the command is the whole torque at the
    joint, as `effort_nm` reports it.
    """

    def __init__(self, world: World, robot: str) -> None:
        self._world = world
        self._robot = robot
        self.figures = world.robot(robot).figures
        self.zeros_rad = world.layout.joint_zeros_rad[robot]
        self.backlash = world.backlash.get(robot)
        self._velocity_limits = np.array([j.velocity_limit_radps for j in self.figures.joints])
        self._effort_limits = np.array([j.effort_limit_nm for j in self.figures.joints])
        self.mode = CommandMode.POSITION
        self._weightless_tool = True
        self._effort_caps = self._effort_limits.copy()
        self._model = world.model  # the one whose gains are known
        self._gains = world.model.actuator_biasprm[world.robot(robot).actuators, 1:3].copy()
        self._written = self._gains.copy()
        world.bind(self._look_up)
        world.add_component(f"{robot} drive", self)

    def _look_up(self) -> None:
        index, data = self._world.robot(self._robot), self._world.data
        self.qpos = data.qpos[_span(index.qpos)]
        self.qvel = data.qvel[_span(index.dof)]
        self.ctrl_position = data.ctrl[_span(index.ctrl_position)]
        self.ctrl_velocity = data.ctrl[_span(index.ctrl_velocity)]
        self.ctrl_effort = data.ctrl[_span(index.ctrl_effort)]
        every = np.column_stack([index.ctrl_position, index.ctrl_velocity, index.ctrl_effort]).ravel()
        # As plain memory: after a physics step, numpy takes three times as long to copy a dozen numbers.
        self.ctrl = data.ctrl[_span(every)].data
        self._force = data.qfrc_actuator[_span(index.dof)]

    @property
    def position_rad(self) -> Array:
        """Joint angles by the encoders."""
        return np.asarray(self._motors_rad - self.zeros_rad)

    @property
    def velocity_radps(self) -> Array:
        """The speeds of the motors, in terms of the joints."""
        return np.array(self.qvel) if self.backlash is None else np.asarray(self.qvel + self.backlash.slip_radps)

    @property
    def effort_nm(self) -> Array:
        """The whole torque of each drive, the weight that it carries included."""
        return np.array(self._force)

    @property
    def set_point_rad(self) -> Array:
        """The set points of the servos."""
        return np.asarray(self.ctrl_position - self.zeros_rad)

    @property
    def _motors_rad(self) -> Array:
        """The angles that the joints would have if their gears had no play."""
        return self.qpos if self.backlash is None else np.asarray(self.qpos - self.backlash.lag_rad)

    def aim(self, reference: Array) -> Array:
        """Has torques follow a reference (positions, velocities, accelerations); returns what passes the play."""
        if self.backlash is None or self.mode is not CommandMode.EFFORT:
            return reference
        return self.backlash.aim(reference)

    def drift(self) -> None:
        """Updates the play under torques without a reference: the joints take it up as they go."""
        if self.backlash is not None and self.mode is CommandMode.EFFORT:
            self.backlash.drift(self.qpos - self.zeros_rad)

    def halt(self) -> None:
        """Stops whatever the arm does in whatever mode: the servos hold it where it is, as hard as they can."""
        self.mode = CommandMode.POSITION
        self._apply()
        self.ctrl_position[:] = self._motors_rad
        self.ctrl_velocity[:] = self.ctrl_effort[:] = 0.0
        self._rest()

    def switch(self, mode: CommandMode, *, weightless_tool: bool = False) -> None:
        """Switches to another mode without a jump: the new mode begins with the torque of this moment.

        Args:
            mode: The mode to change to.
            weightless_tool: In effort mode, whether the drive goes on to carry the tool's weight by itself.

        Raises:
            JobFailed: while a joint moves.
        """
        if mode is not CommandMode.POSITION and self._world.cell.fidelity != "physics":
            raise BadInput(f"{self._robot} takes {mode.value} commands only in a cell of fidelity 'physics'")
        fastest = int(np.abs(self.qvel).argmax())
        if abs(self.qvel[fastest]) > SWITCH_SPEED_LIMIT_RADPS:
            raise JobFailed(
                f"{self._robot} cannot change to {mode.value} commands while {self.figures.joints[fastest].name} moves "
                f"at {abs(self.qvel[fastest]):.3g} rad/s, allowed {SWITCH_SPEED_LIMIT_RADPS} rad/s"
            )
        whole = self.effort_nm
        held = CommandMode.POSITION in (self.mode, mode)
        self.mode = mode
        self._weightless_tool = weightless_tool
        self._apply()
        load = whole - self._carried()
        if mode is CommandMode.POSITION:
            # A stiff drive holds a load a little below its set point: begin with it there already.
            sag = load / np.array(self.figures.stiffness_nm_per_rad)
            self.ctrl_position[:] = self._motors_rad + np.clip(sag, -SWITCH_OFFSET_LIMIT_RAD, SWITCH_OFFSET_LIMIT_RAD)
        self.ctrl_velocity[:] = 0.0
        self.ctrl_effort[:] = 0.0 if mode is CommandMode.POSITION else load
        self._rest(held=held)

    def write_position(self, position_rad: npt.ArrayLike, velocity_radps: npt.ArrayLike | None = None) -> None:
        """Commands angles; refused when they are far from the present set point, which would be a jump.

        Args:
            position_rad: The angles.
            velocity_radps: The speeds of a set point that moves on; none by default.
        """
        lower, upper = np.array([j.position_limits_rad for j in self.figures.joints]).T
        goal = self._checked(position_rad, lower, upper, "position", "rad")
        near = self.set_point_rad
        goal = self._checked(goal, near - STEP_LIMIT_RAD, near + STEP_LIMIT_RAD, "position step to", "rad")
        self.ctrl_velocity[:] = 0.0 if velocity_radps is None else self.clip_velocity(np.asarray(velocity_radps, float))
        self.ctrl_position[:] = goal + self.zeros_rad

    def write_velocity(self, velocity_radps: npt.ArrayLike) -> None:
        """Commands speeds, which hold until the next command."""
        self.ctrl_velocity[:] = self._checked(
            velocity_radps, -self._velocity_limits, self._velocity_limits, "velocity", "rad/s"
        )

    def write_effort(self, effort_nm: npt.ArrayLike) -> None:
        """Commands torques, which hold until the next command."""
        self.ctrl_effort[:] = self._checked(effort_nm, -self._effort_limits, self._effort_limits, "effort", "Nm")

    def cap_effort(self, caps_nm: Mapping[int, float | None]) -> None:
        """Caps the torque of the servos of some joints; None removes the cap.

        What the drives carry of the arm's own weight comes on top. Only position and velocity commands are capped.
        """
        for joint, cap_nm in caps_nm.items():
            most_nm = self._effort_limits[joint]
            if cap_nm is not None and not 0 < cap_nm <= most_nm:
                what = f"{self._robot} {self.figures.joints[joint].name} effort"
                raise OutOfRange(what, cap_nm, 0.0, float(most_nm), "Nm")
            self._effort_caps[joint] = most_nm if cap_nm is None else cap_nm
        self._apply_caps()

    def clip_effort(self, effort_nm: Array) -> Array:
        """Returns the torques, limited to what the drives can give."""
        return np.clip(effort_nm, -self._effort_limits, self._effort_limits)

    def clip_velocity(self, velocity_radps: Array) -> Array:
        """Returns the speeds, limited to what the drives can turn."""
        return np.clip(velocity_radps, -self._velocity_limits, self._velocity_limits)

    def _checked(self, values: npt.ArrayLike, lower: Array, upper: Array, what: str, unit: str) -> Array:
        numbers = np.asarray(values, float)
        if numbers.shape != lower.shape or not np.isfinite(numbers).all():
            raise BadInput(f"{self._robot} needs {len(lower)} finite {what} commands, got {numbers.tolist()}")
        for joint, value, low, high in zip(self.figures.joints, numbers, lower, upper, strict=True):
            if not low - 1e-9 <= value <= high + 1e-9:
                raise OutOfRange(f"{self._robot} {joint.name} {what}", value, low, high, unit)
        return numbers

    def _carried(self) -> Array:
        """Returns the torques that the drives add by themselves against gravity in the present mode."""
        index, data = self._world.robot(self._robot), self._world.data
        mujoco.mj_passive(self._world.model, data)
        return np.array(data.qfrc_gravcomp[index.dof])

    def _apply(self) -> None:
        """Sets gains and gravity compensation of the mode in the model."""
        model, index = self._world.model, self._world.robot(self._robot)
        position, effort = self.mode is CommandMode.POSITION, self.mode is CommandMode.EFFORT
        known = self._model.actuator_biasprm[index.actuators, 1:3]
        self._gains = np.where(known != self._written, known, self._gains)  # a user may have changed them in the model
        self._written, self._model = self._gains * [position, not effort], model
        model.actuator_biasprm[index.actuators, 1:3] = self._written
        for name in (link.name for link in self.figures.links):
            model.body_gravcomp[model.body(f"{self._robot}/{name}").id] = 0.0 if effort else 1.0
        carried = float(not effort or self._weightless_tool)
        if index.fixed_bodies:
            model.body_gravcomp[list(index.fixed_bodies)] = carried
        if index.changer is not None:
            model.body_gravcomp[index.changer.body] = carried
            model.body_gravcomp[index.changer.balance] = carried * index.balance

    def _apply_caps(self) -> None:
        rows = np.column_stack([-self._effort_caps, self._effort_caps])
        self._world.model.actuator_forcerange[self._world.robot(self._robot).actuators] = rows

    def _rest(self, *, held: bool = True) -> None:
        """Places the motors at their set points, or, with none, at their encoders."""
        if self.backlash is not None:
            self.backlash.rest(self.set_point_rad if held else self.position_rad)

    def save(self) -> tuple[CommandMode, bool, Array]:
        """Returns the mode and the caps: they are in the model, of which a snapshot has no copy."""
        return self.mode, self._weightless_tool, self._effort_caps.copy()

    def load(self, state: tuple[CommandMode, bool, Array]) -> None:
        """Restores a mode and caps that `save` returned."""
        self.mode, self._weightless_tool, caps = state
        self._effort_caps = caps.copy()
        if self._world.cell.fidelity == "physics":
            self._apply()
            self._apply_caps()

    def let_go(self, part: str) -> None:
        """Does nothing: drives hold no parts."""


def _span(indices: npt.NDArray[np.intp]) -> slice | npt.NDArray[np.intp]:
    """Returns the indices as a slice, so that numpy gives a live view and not a copy; they must be evenly spaced."""
    steps = np.diff(indices)
    if len(steps) and not (steps == steps[0]).all():
        raise ValueError(f"addresses {indices.tolist()} are not evenly spaced")
    step = int(steps[0]) if len(steps) else 1
    return slice(int(indices[0]), int(indices[-1]) + 1, step)
