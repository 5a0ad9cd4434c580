"""Following a motion: set-points from a trajectory to the joints' servos."""

from __future__ import annotations

import asyncio
import math
from itertools import chain

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import JobFailed
from cellwright.motion import Motion
from cellwright.sim import Order, Stepper, Ticking, World

__all__ = ["FollowingError", "JointServo"]

Array = npt.NDArray[np.float64]

RATE_HZ = 250.0
CHECK_EVERY = 5
FOLLOWING_LIMIT_RAD = 0.1
BLOCK = 250  # set-points made at once: a second's


class FollowingError(JobFailed):
    """A joint that could not follow: something is in its way, or it was asked for too much."""

    def __init__(self, robot: str, joint: str, error_rad: float) -> None:
        super().__init__(
            f"{robot} stopped: {joint} is {np.degrees(error_rad):.1f} deg away from where it should be "
            f"(limit {np.degrees(FOLLOWING_LIMIT_RAD):.1f} deg); is something in its way?"
        )


class JointServo:
    """One arm's joints, as its controller sees them.

    Positions are what the encoders say. The joints really are `joint_zero` beyond that, and neither the controller
    nor anybody above it can tell. Between motions nothing is called: the servos in the model hold the set-point.
    """

    def __init__(self, world: World, stepper: Stepper, robot: str) -> None:
        self._world, self._stepper, self._robot = world, stepper, robot
        self._zeros = world.layout.joint_zeros_rad[robot]
        self._motion: Motion | None = None
        self._rows: list[memoryview] = []
        self._count = self._turns = 0
        self._period_s = 0.0
        self._ticking: Ticking | None = None
        self._done: asyncio.Future[None] | None = None
        world.bind(self._look_up)

    def _look_up(self) -> None:
        index, data = self._world.robot(self._robot), self._world.data
        self._qpos = data.qpos[_span(index.qpos)]
        self._ctrl_position = data.ctrl[_span(index.ctrl_position)]
        self._ctrl_velocity = data.ctrl[_span(index.ctrl_velocity)]
        both = np.column_stack([index.ctrl_position, index.ctrl_velocity]).ravel()
        # As plain memory: after a physics step, numpy takes three times as long to copy a dozen numbers.
        self._ctrl = data.ctrl[_span(both)].data

    @property
    def position_rad(self) -> Array:
        """What the encoders say."""
        return np.asarray(self._qpos - self._zeros)

    @property
    def set_point_rad(self) -> Array:
        """Where the servos are told to hold: the start of the next motion."""
        return np.asarray(self._ctrl_position - self._zeros)

    @property
    def moving(self) -> bool:
        """Whether a motion is in progress."""
        return self._done is not None

    async def follow(self, motion: Motion) -> None:
        """Follows a motion to its end.

        Raises:
            FollowingError: when a joint strays; the arm stays where it is.
        """
        if self._done is not None:
            raise JobFailed(f"{self._robot} is already moving")
        clock = self._world.clock
        period = clock.period_ticks(RATE_HZ)
        self._motion, self._period_s = motion, period * clock.tick_s
        self._count, self._turns = 0, max(1, math.ceil(motion.duration_s / self._period_s))
        self._done = asyncio.get_running_loop().create_future()
        self._ticking = self._stepper.every(period, self._tick, order=Order.CONTROL, name=f"{self._robot} servo")
        try:
            await self._done
        finally:
            self._stop()

    def _tick(self) -> None:
        count, done = self._count, self._done
        if done is None or count == self._turns:
            return
        if count % BLOCK == 0:
            self._rows = self._set_points(count, min(count + BLOCK, self._turns))
        self._ctrl[:] = self._rows[count % BLOCK]
        self._count = count = count + 1
        if count % CHECK_EVERY == 0:
            self._check(done)
        if count == self._turns and not done.done():
            done.set_result(None)

    def _set_points(self, first: int, last: int) -> list[memoryview]:
        """Controls for some turns at once: one by one, between physics steps, they take several times as long."""
        assert self._motion is not None
        samples = (self._motion.at((turn + 1) * self._period_s) for turn in range(first, last))
        numbers = np.fromiter(chain.from_iterable(chain.from_iterable(samples)), float)
        position, velocity = numbers.reshape(last - first, 2, -1).swapaxes(0, 1)
        rows = np.stack([position + self._zeros, velocity], axis=2).reshape(last - first, -1)
        return [row.data for row in rows]

    def _check(self, done: asyncio.Future[None]) -> None:
        error = self._qpos - self._ctrl_position
        if error.dot(error) <= FOLLOWING_LIMIT_RAD**2 or done.done():  # then no joint is beyond the limit
            return
        joint = int(np.abs(error).argmax())
        if abs(error[joint]) <= FOLLOWING_LIMIT_RAD:
            return
        name = self._world.robot(self._robot).figures.joints[joint].name
        self._ctrl_position[:] = self._qpos
        done.set_exception(FollowingError(self._robot, name, float(abs(error[joint]))))

    def _stop(self) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
        self._motion = self._done = None
        self._ctrl_velocity[:] = 0.0


def _span(indices: npt.NDArray[np.intp]) -> slice | npt.NDArray[np.intp]:
    """The indices as a slice, so that numpy gives a live view and not a copy; they must be evenly spaced."""
    steps = np.diff(indices)
    if len(steps) and not (steps == steps[0]).all():
        raise ValueError(f"addresses {indices.tolist()} are not evenly spaced")
    step = int(steps[0]) if len(steps) else 1
    return slice(int(indices[0]), int(indices[-1]) + 1, step)
