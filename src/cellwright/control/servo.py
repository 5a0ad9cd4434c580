"""Following motions, and ending them in good order: by a stop, a pause, or because something went wrong."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import numpy as np

from cellwright.control.commander import Commander
from cellwright.control.drive import CommandMode
from cellwright.control.motion_check import check_motion
from cellwright.control.reference_buffer import ReferenceBuffer
from cellwright.control.state import MotionStopped, NotReady, RobotState
from cellwright.control.state_machine import RobotStateMachine
from cellwright.control.supervision import Supervision
from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import Follower, Motion, RunState, StopCategory, make_follower
from cellwright.sim import Stepper, World

__all__ = ["JointServo"]

HARDNESS = list(StopCategory)


class JointServo(RobotStateMachine):
    """The joints of one arm under a controller, and the state of the robot.

    Attributes:
        state: The state of the robot.
        reason: The reason why it was stopped or is in fault.
        commander: The arm's drives and the source of their commands.
        supervision: Watches motions.
    """

    def __init__(
        self,
        world: World,
        stepper: Stepper,
        robot: str,
        pose_base_in_world: Pose | None = None,
        controller: str = "pid",
    ) -> None:
        super().__init__(robot)
        base = pose_base_in_world or Pose.identity()
        self.commander = Commander(world, stepper, robot, base, controller, self._overspeed)
        self.supervision = Supervision(world, robot, self.drive)
        self._override = 1.0
        self._buffer: ReferenceBuffer | None = None
        self._stretch = (0.0, 1.0)
        self._done: asyncio.Future[None] | None = None
        self._stop: tuple[StopCategory, str] | None = None
        self._pausing = False
        world.add_component(f"{robot} servo", self)

    @property
    def moving(self) -> bool:
        """Whether a motion is in progress."""
        return self._done is not None

    @property
    def path_share(self) -> float | None:
        """The share of the path that is done, 0 to 1; None when nothing moves."""
        return None if self._buffer is None else self._share(self._buffer.share(self.controller.count))

    @property
    def override(self) -> float:
        """The speed override, 0 to 1: of the motion in progress and those to come; 0 holds."""
        return self._override

    @override.setter
    def override(self, share: float) -> None:
        if not 0 <= share <= 1:
            raise OutOfRange(f"{self.robot} speed override", share, 0, 1)
        self._override = share
        if self.moving and self._stop is None:
            self._change(lambda follower: setattr(follower, "override", share))

    async def follow(self, motion: Motion, stretch: tuple[float, float] = (0.0, 1.0)) -> None:
        """Follows a motion to its end.

        A task that is cancelled meanwhile comes to a stop on the path first; cancelled again, it holds at once.

        Args:
            motion: The motion to follow.
            stretch: The part of a longer path that it is, for reports of how far the arm came.

        Raises:
            NotReady: when the robot moves already, is locked or in fault.
            MotionStopped: when it was stopped.
            FollowingError: when a joint does not follow; the arm stays where it is.
            Collision: when it hits something hard enough.
            BadInput: for a motion that begins elsewhere, leaves the limits, or is no motion; the arm stays.
        """
        self.require_unlocked()
        if not self.commander.follows:
            why = f"takes {self.drive.mode.value} commands now; set its mode to position to move it"
            raise NotReady(self.robot, self.state, why)
        check_motion(self.robot, self.drive, motion, self.set_point_rad)
        follower = make_follower(motion, self.drive.figures, self.controller.period_s, self._override)
        self._stretch = stretch
        self._buffer = ReferenceBuffer(follower, ahead=self.controller.mode is CommandMode.POSITION)
        self._done = asyncio.get_running_loop().create_future()
        self.state = RobotState.MOVING
        self.reason = ""
        self._stop = None
        self._pausing = False
        self.supervision.begin()
        self._perform()
        try:
            await self._done
        except asyncio.CancelledError:
            await self._cancel()
            raise
        finally:
            self._done = self._buffer = None
            self.controller.rest()

    def stop(self, category: StopCategory, reason: str, *, lock: str = "") -> None:
        """Stops, if it moves, and is STOPPED then; with a lock, until `reset` removes it."""
        self.lock(lock, reason)
        if self.commander.direct.active:
            self.commander.halt()
        if self._done is None or self._done.done() or self.state is RobotState.PAUSED:
            if self.state is not RobotState.FAULT:
                self.state = RobotState.STOPPED
            if self._done is not None and not self._done.done():
                self._done.set_exception(MotionStopped(self.robot, category, reason))
            return
        if self._stop is not None and HARDNESS.index(category) >= HARDNESS.index(self._stop[0]):
            return
        self.state = RobotState.STOPPING
        self._stop = (category, reason)
        self._pausing = False
        self._change(lambda follower: follower.stop(category))

    def pause(self) -> None:
        """Slows down on the path and waits there; the motion is not over."""
        if self.state is not RobotState.MOVING:
            raise NotReady(self.robot, self.state, f"cannot pause: it is {self.state.value}, not moving")
        self.state = RobotState.STOPPING
        self._pausing = True
        self._change(Follower.pause)

    def resume(self) -> None:
        """Continues after a pause, along the path; also while it is still slowing down."""
        if not self._pausing:
            raise NotReady(self.robot, self.state, f"cannot resume: it is {self.state.value}, not paused")
        self.state = RobotState.MOVING
        self._pausing = False
        self._change(Follower.resume)

    def save(self) -> Any:
        """Returns the state of the commander and that of the robot."""
        return self.commander.save(), super().save()

    def load(self, state: Any) -> None:
        """Restores what `save` returned."""
        commander, own = state
        super().load(own)
        self.commander.load(commander, moving=self.moving)

    def let_go(self, part: str) -> None:
        """Does nothing: joints hold no parts."""

    def _overspeed(self, joint: str, speed_radps: float, limit_radps: float) -> None:
        self.commander.halt()
        self.fail(f"{joint} turned at {speed_radps:.3g} rad/s (limit {limit_radps:.3g} rad/s)")

    def _share(self, of_motion: float) -> float:
        begin, end = self._stretch
        return begin + (end - begin) * of_motion

    def _change(self, order: Any) -> None:
        assert self._buffer is not None
        self._buffer.change(self.controller.count, order)
        self._perform()

    def _perform(self) -> None:
        assert self._buffer is not None
        self.controller.watch = self._watch
        self.controller.follow(self._buffer.rows)

    async def _cancel(self) -> None:
        """Stops the arm after its task was cancelled, and with it the future that it waited for."""
        if self.state is not RobotState.PAUSED:
            self._done = asyncio.get_running_loop().create_future()
            self.stop(StopCategory.FAST, "its task was cancelled")
            try:
                with contextlib.suppress(JobFailed):
                    await self._done
            except asyncio.CancelledError:
                self.commander.hold(np.array(self.commander.in_force[0]))
        if self.state is not RobotState.FAULT:
            self.state = RobotState.STOPPED if self.locks else RobotState.IDLE

    def _watch(self) -> None:
        done, run = self._done, self._buffer
        if done is None or run is None or done.done() or self.state is RobotState.PAUSED:
            return
        error = self.supervision.error(
            self.commander.in_force[0],
            lambda: self._share(run.share(self.controller.count, self.drive.position_rad)),
        )
        if error is not None:
            self.fail(str(error))
            self.commander.hold(self.drive.position_rad)
            done.set_exception(error)
        elif run.extend(self.controller.count):
            self._perform()
        elif self.controller.count >= len(self.controller.reference):
            self._arrive(done, run)

    def _arrive(self, done: asyncio.Future[None], run: ReferenceBuffer) -> None:
        if self._pausing:
            self.state = RobotState.PAUSED
        elif self._stop is not None:
            self.state = RobotState.STOPPED
            done.set_exception(MotionStopped(self.robot, *self._stop))
        elif run.state is RunState.DONE:  # and not held by an override of 0
            self.state = RobotState.IDLE
            done.set_result(None)
