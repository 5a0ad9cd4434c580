"""Following a motion, and ending it in good order: by a stop, a pause, or because something went wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.control.control_block import NO_PAYLOAD
from cellwright.control.controller import CONTROLLERS, Controller, ControllerSite
from cellwright.control.direct import DirectCommands
from cellwright.control.drive import CommandMode, Drive
from cellwright.control.state import (
    Collision,
    CollisionLimits,
    FollowingError,
    MotionStopped,
    NotReady,
    RobotState,
    StopCategory,
)
from cellwright.control.stopping import Brake, Paced, sample
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import Motion
from cellwright.sim import Stepper, World

__all__ = ["JointServo"]

Array = npt.NDArray[np.float64]

FOLLOWING_LIMIT_RAD = 0.1
START_LIMIT_RAD = 0.02
SHORTEST_RAMP_S = 0.1
HARD_BRAKE = 3.0  # times the acceleration that is planned with: about what the drives can give


class JointServo:
    """One arm's joints under a controller, and the state that the robot is in.

    Attributes:
        state: What the robot is doing.
        reason: Why it does not move, when it does not.
        drive: The arm's drives.
        controller: Who commands them.
        chosen: The controller's registered name, and the gains that it was given.
        collision_limits: What counts as a collision.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        robot: str,
        pose_base_in_world: Pose | None = None,
        controller: str = "pid",
    ) -> None:
        self._world, self._robot = world, robot
        self.drive = Drive(world, robot)
        base = pose_base_in_world or Pose.identity()
        self.site = ControllerSite(world, stepper, robot, self.drive, base, NO_PAYLOAD)
        self.state, self.reason = RobotState.IDLE, ""
        self.collision_limits = CollisionLimits()
        self._locks: set[str] = set()
        self._motion: Motion | None = None
        self._paused: Motion | None = None
        self._stop: tuple[StopCategory, str] | None = None
        self._done: asyncio.Future[None] | None = None
        self._rest_wrench: Array = np.zeros(6)
        self.direct = DirectCommands(world, stepper, robot, self.drive, self._overspeed)
        self.controller: Controller = CONTROLLERS.get(controller)(self.site)
        self.chosen: tuple[str, dict[str, Any]] = (controller, {})
        self.controller.start()
        world.add_holder(f"{robot} servo", self)

    @property
    def position_rad(self) -> Array:
        """What the encoders say."""
        return self.drive.position_rad

    @property
    def set_point_rad(self) -> Array:
        """Where the arm is held: the start of the next motion."""
        if self.drive.mode is CommandMode.POSITION:
            return self.drive.set_point_rad
        return np.array(self.controller.reference[-1, 0])

    @property
    def moving(self) -> bool:
        """Whether a motion is in progress."""
        return self._done is not None

    def use(self, controller: str, **gains: Any) -> None:
        """Goes over to another controller by name; the arm stays where it is.

        Raises:
            NotReady: while the arm moves.
            UnknownName: when there is none of that name.
        """
        self._require_still()
        self._require_unlocked()
        chosen = CONTROLLERS.get(controller)(self.site, **gains)
        self.direct.cancel()
        self.controller.stop()
        self.controller, self.chosen = chosen, (controller, gains)
        chosen.start()

    def take_commands(self, mode: CommandMode) -> None:
        """Has the drives take commands directly, in one of the modes; in position mode motions can be followed, too."""
        self._require_still()
        self._require_unlocked()
        self.controller.stop()
        self.direct.cancel()
        if mode is CommandMode.POSITION:
            self.use("pid")
        else:
            self.drive.switch(mode)
            self.direct.start()

    def command(self, values: npt.ArrayLike) -> None:
        """Angles, speeds or torques for the drives, whichever they take now; they hold until the next ones.

        Raises:
            NotReady: when the robot moves by itself, is locked or in fault, or a controller commands its drives.
            OutOfRange: beyond a limit; names the joint.
        """
        self._require_still()
        self._require_unlocked()
        if self.drive.mode is CommandMode.POSITION:
            self.drive.write_position(values)
        elif self.direct.active:
            self.direct.write(values)
        else:
            raise NotReady(self._robot, self.state, "takes its commands from a controller; set its mode first")

    async def follow(self, motion: Motion) -> None:
        """Follows a motion to its end.

        Raises:
            NotReady: when the robot moves already, is locked or in fault.
            MotionStopped: when somebody stopped it.
            FollowingError: when a joint strays; the arm stays where it is.
            Collision: when it hits something hard enough.
            BadInput: for a motion that begins elsewhere, leaves the limits, or is no motion; the arm stays.
        """
        self._require_ready()
        self._require_followable(motion)
        self._done = asyncio.get_running_loop().create_future()
        self.state, self.reason, self._stop = RobotState.MOVING, "", None
        self._rest_wrench = self._wrench()
        self._begin(motion)
        try:
            await self._done
        finally:
            cancelled = not self._done.done() or self._done.cancelled()
            self._done = self._motion = self._paused = None
            if cancelled:
                self._hold(np.array(self._row()[0]))
                self.state = RobotState.IDLE
            self.controller.rest()

    def stop(self, category: StopCategory, reason: str, *, lock: str = "") -> None:
        """Stops, if it moves, and is STOPPED then; with a lock, until that is taken away by `reset`."""
        if lock:
            self._locks.add(lock)
        self.reason = reason
        if self.direct.active:
            self._catch()
        if self._done is None or self.state is RobotState.PAUSED:
            if self.state is not RobotState.FAULT:
                self.state = RobotState.STOPPED
            if self._done is not None:
                self._done.set_exception(MotionStopped(self._robot, category, reason))
            return
        harder = list(StopCategory)
        stopping = self._stop is not None and self._paused is None
        if stopping and self._stop is not None and harder.index(category) >= harder.index(self._stop[0]):
            return
        self.state, self._stop, self._paused = RobotState.STOPPING, (category, reason), None
        if category is StopCategory.NORMAL:
            self._begin(self._slowing())
        else:
            position, velocity, _ = self._row()
            share = HARD_BRAKE if category is StopCategory.IMMEDIATE else 1.0
            self._begin(Brake(self._world.robot(self._robot), position.copy(), velocity.copy(), share))

    def pause(self) -> None:
        """Slows down on the path and waits there; the motion is not over."""
        if self.state is not RobotState.MOVING:
            raise NotReady(self._robot, self.state, f"cannot pause: it is {self.state.value}, not moving")
        slowing = self._slowing()
        self.state, self._stop = RobotState.STOPPING, (StopCategory.NORMAL, "paused")
        self._begin(slowing)
        self._paused = slowing

    def resume(self) -> None:
        """Goes on from a pause, along the path."""
        if self.state is not RobotState.PAUSED or self._paused is None:
            raise NotReady(self._robot, self.state, f"cannot resume: it is {self.state.value}, not paused")
        slowed = self._paused
        assert isinstance(slowed, Paced)
        self.state, self._paused, self._stop = RobotState.MOVING, None, None
        self._begin(slowed.resumed(SHORTEST_RAMP_S * 3))

    def reset(self, lock: str = "") -> None:
        """Takes away a lock, or, without its name, ends a fault; ready again when nothing else is in the way."""
        self._locks.discard(lock)
        if self.moving:
            raise NotReady(self._robot, self.state, f"cannot be reset: it is {self.state.value}")
        if not lock or self.state is not RobotState.FAULT:
            self.state = RobotState.STOPPED if self._locks else RobotState.IDLE
            self.reason = self.reason if self._locks else ""

    def save(self) -> Any:
        """Who controls, where it holds the arm, and the robot's state."""
        commander = self.controller, self.controller.save(), self.chosen, self.direct.save()
        return commander, self.state, self.reason, frozenset(self._locks)

    def load(self, state: Any) -> None:
        """Goes back to what `save` gave."""
        (controller, own, self.chosen, direct), self.state, self.reason, locks = state
        self.direct.load(direct)
        self._locks = set(locks)
        if controller is not self.controller:
            self.controller.stop()
            self.controller = controller
        if not self.moving:
            controller.load(own)

    def let_go(self, part: str) -> None:
        """Joints hold no parts."""

    def _require_still(self) -> None:
        if self.moving:
            raise NotReady(self._robot, self.state, "is already moving")

    def _require_ready(self) -> None:
        self._require_still()
        self._require_unlocked()
        if self.drive.mode is not self.controller.mode or self.direct.active:
            why = f"takes {self.drive.mode.value} commands now; set its mode to position to move it"
            raise NotReady(self._robot, self.state, why)

    def _require_unlocked(self) -> None:
        if self.state is RobotState.FAULT:
            raise NotReady(self._robot, self.state, f"is in fault and needs a reset: {self.reason}")
        if self._locks:
            why = f"is locked by {', '.join(sorted(self._locks))} and needs a reset: {self.reason}"
            raise NotReady(self._robot, self.state, why)

    def _require_followable(self, motion: Motion) -> None:
        """Whether a motion begins where the arm is held, consists of numbers, and ends within the limits."""
        joints = self.drive.figures.joints
        first, last = (np.asarray(motion.at(time_s)[0], float) for time_s in (0.0, motion.duration_s))
        rows = np.array([first, last])
        if rows.shape != (2, len(joints)) or not (np.isfinite(rows).all() and np.isfinite(motion.duration_s)):
            raise BadInput(f"{self._robot} needs motions of {len(joints)} finite angles, got {rows.tolist()}")
        for joint, begin, held, end in zip(joints, first, self.set_point_rad, last, strict=True):
            if abs(begin - held) > START_LIMIT_RAD:
                low, high = held - START_LIMIT_RAD, held + START_LIMIT_RAD
                raise OutOfRange(f"{self._robot} {joint.name} at the start of a motion", begin, low, high, "rad")
            low, high = joint.position_limits_rad
            if not low - 1e-6 <= end <= high + 1e-6:
                raise OutOfRange(f"{self._robot} {joint.name} at the end of a motion", end, low, high, "rad")

    def _catch(self) -> None:
        """Ends direct commands: the servos hold the arm."""
        self.direct.cancel()
        self.drive.catch()
        self.controller, self.chosen = CONTROLLERS.get("pid")(self.site), ("pid", {})
        self.controller.start()

    def _overspeed(self, joint: str, speed_radps: float, limit_radps: float) -> None:
        self._catch()
        self.state = RobotState.FAULT
        self.reason = f"{joint} turned at {speed_radps:.3g} rad/s (limit {limit_radps:.3g} rad/s)"

    def _begin(self, motion: Motion) -> None:
        self._motion = motion
        self.controller.watch = self._watch
        period_s, ahead = self.controller.period_s, self.controller.mode is CommandMode.POSITION
        self.controller.follow(sample(motion, period_s, len(self.drive.figures.joints), ahead=ahead))

    def _row(self) -> Array:
        """The part of the reference that is in force."""
        reference = self.controller.reference
        return np.asarray(reference[max(0, min(self.controller.count, len(reference)) - 1)])

    def _slowing(self) -> Paced:
        assert self._motion is not None
        limits = np.array([j.acceleration_limit_radps2 for j in self.drive.figures.joints])
        ramp_s = max(SHORTEST_RAMP_S, 1.5 * float((np.abs(self._row()[1]) / limits).max()))
        return Paced(self._motion, self.controller.count * self.controller.period_s, (1.0, 0.0), ramp_s)

    def _hold(self, position_rad: Array) -> None:
        still = np.zeros_like(position_rad)
        self.controller.follow(np.array([[position_rad, still, still]]))
        if self.drive.mode is CommandMode.POSITION:
            self.drive.ctrl_position[:] = position_rad + self.drive.zeros_rad

    def _watch(self) -> None:
        done = self._done
        if done is None or done.done() or self.state is RobotState.PAUSED:
            return
        error = self._trouble()
        if error is not None:
            self.state, self.reason = RobotState.FAULT, str(error)
            self._hold(self.drive.position_rad)
            done.set_exception(error)
        elif self.controller.count >= len(self.controller.reference):
            self._arrive(done)

    def _arrive(self, done: asyncio.Future[None]) -> None:
        if self._paused is not None:
            self.state = RobotState.PAUSED
        elif self._stop is not None:
            self.state = RobotState.STOPPED
            done.set_exception(MotionStopped(self._robot, *self._stop))
        else:
            self.state = RobotState.IDLE
            done.set_result(None)

    def _trouble(self) -> FollowingError | Collision | None:
        joints = self.drive.figures.joints
        error = np.abs(self.drive.position_rad - self._row()[0])
        worst = int(error.argmax())
        if error[worst] > FOLLOWING_LIMIT_RAD:
            return FollowingError(self._robot, joints[worst].name, float(error[worst]), FOLLOWING_LIMIT_RAD)
        limits = self.collision_limits
        wrench = self._wrench() - self._rest_wrench
        for what, value, limit, unit in (
            ("the force at the wrist", float(np.linalg.norm(wrench[:3])), limits.force_n, "N"),
            ("the torque at the wrist", float(np.linalg.norm(wrench[3:])), limits.torque_nm, "Nm"),
        ):
            if value > limit:
                return Collision(self._robot, what, value, limit, unit)
        if np.isfinite(limits.effort_share):
            for joint, effort in zip(joints, np.abs(self.drive.effort_nm), strict=True):
                if effort > limits.effort_share * joint.effort_limit_nm:
                    most = limits.effort_share * joint.effort_limit_nm
                    return Collision(self._robot, f"the effort of {joint.name}", float(effort), most, "Nm")
        return None

    def _wrench(self) -> Array:
        index, readings = self._world.robot(self._robot), self._world.data.sensordata
        force, torque = index.force_sensor, index.torque_sensor
        return np.concatenate([readings[force : force + 3], readings[torque : torque + 3]])
