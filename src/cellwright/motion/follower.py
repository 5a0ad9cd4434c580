"""Running along a path tick by tick, so that its speed can change, pause and stop at any moment without a jump."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from ruckig import ControlInterface, InputParameter, OutputParameter, Result, Ruckig, Synchronization

from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.profile import PathMotion

__all__ = ["JointSample", "PathFollower", "RunState", "StopCategory"]

Array = npt.NDArray[np.float64]

REST = 1e-9  # of the path's parameter and its rate: what is left by rounding


class StopCategory(Enum):
    """How to stop, in the words of CRCL's StopMotion."""

    IMMEDIATE = "Immediate"  # every joint brakes as hard as it can; the path is left
    FAST = "Fast"  # on the path, as hard as the joints allow there
    NORMAL = "Normal"  # on the path, within the acceleration and jerk of the motion itself


class RunState(Enum):
    """What a follower is doing."""

    RUNNING = "running"
    PAUSED = "paused"  # or slowing down to it
    STOPPING = "stopping"
    STOPPED = "stopped"  # before the end, for good
    DONE = "done"


@dataclass(frozen=True)
class JointSample:
    """The joints at one tick."""

    position_rad: Array
    velocity_radps: Array
    acceleration_radps2: Array


class PathFollower:
    """Drives the parameter of one motion's path by an online generator of one degree of freedom.

    The generator keeps speed, acceleration and jerk along the path, and those are chosen so that the joints keep
    theirs (`PathLimits.within`). At 100 % and undisturbed it makes the same motion as `PathMotion.at`.

    Args:
        motion: What to run.
        period_s: Time from one tick to the next.
        override: Share of the motion's speed, 0 to 1; 0 holds.
    """

    def __init__(self, motion: PathMotion, period_s: float, override: float = 1.0) -> None:
        self.motion, self.period_s = motion, period_s
        self.state = RunState.RUNNING
        self._generator, self._request, self._answer = Ruckig(1, period_s), InputParameter(1), OutputParameter(1)
        self._joints: _JointBrake | None = None
        self._request.target_position = [1.0]
        self._limit(motion.limits)
        self._override = 1.0
        self.sample = self._sampled(0.0, 0.0, 0.0)
        self.override = override

    @property
    def override(self) -> float:
        """Share of the motion's speed, 0 to 1."""
        return self._override

    @override.setter
    def override(self, share: float) -> None:
        if not 0 <= share <= 1:
            raise OutOfRange("speed override", share, 0, 1)
        self._override = share
        if self.state is RunState.RUNNING:
            self._aim()

    @property
    def fraction(self) -> float:
        """How much of the path lies behind; unchanged once an immediate stop has left it."""
        return min(1.0, float(self._request.current_position[0]))

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves and none will at the next tick, as things are."""
        if self.state in (RunState.DONE, RunState.STOPPED):
            return True
        holds = self.state is RunState.PAUSED or (self.state is RunState.RUNNING and self._override == 0)
        rate, change = self._request.current_velocity[0], self._request.current_acceleration[0]
        return holds and abs(rate) < REST and abs(change) < REST

    def pause(self) -> None:
        """Comes to rest on the path and waits there; nothing when it is stopping or at its end."""
        if self.state is RunState.RUNNING:
            self.state = RunState.PAUSED
            self._brake()

    def resume(self) -> None:
        """Goes on from where it is, even if it has not yet come to rest."""
        if self.state is RunState.PAUSED:
            self.state = RunState.RUNNING
            self._aim()

    def stop(self, category: StopCategory = StopCategory.NORMAL) -> None:
        """Comes to rest for good; a harder stop may follow a softer one."""
        if self.state in (RunState.DONE, RunState.STOPPED) or self._joints is not None:
            return
        self.state = RunState.STOPPING
        if category is StopCategory.IMMEDIATE:
            self._joints = _JointBrake(JointLimits.of(self.motion.arm), self.sample, self.period_s)
            return
        if category is StopCategory.FAST:
            self._limit(self.motion.hardest)
        self._brake()

    def tick(self) -> JointSample:
        """The joints one period later."""
        if self.state in (RunState.DONE, RunState.STOPPED):
            return self.sample
        if self._joints is not None:
            self.sample, rests = self._joints.tick()
            self.state = RunState.STOPPED if rests else RunState.STOPPING
            return self.sample
        result = self._generator.update(self._request, self._answer)
        if result != Result.Working and result != Result.Finished:
            raise JobFailed(f"{self.motion.arm.name} cannot go on along its path: {result}")
        self._answer.pass_to_input(self._request)
        (fraction,), (rate,), (change,) = (
            self._answer.new_position,
            self._answer.new_velocity,
            self._answer.new_acceleration,
        )
        if result == Result.Finished:
            rate = change = 0.0
            if self.state is RunState.STOPPING:
                self.state = RunState.STOPPED
            elif fraction >= 1 - REST:
                self.state, fraction = RunState.DONE, 1.0
        self.sample = self._sampled(min(fraction, 1.0), rate, change)
        return self.sample

    def _sampled(self, fraction: float, rate: float, change: float) -> JointSample:
        position, slope, bend = self.motion.path.at(fraction)
        return JointSample(position, slope * rate, bend * rate**2 + slope * change)

    def _limit(self, limits: PathLimits) -> None:
        self._request.max_velocity = [limits.velocity]
        self._request.max_acceleration = [limits.acceleration]
        self._request.max_jerk = [limits.jerk]

    def _aim(self) -> None:
        """At the path's end, no faster than the override says."""
        if self._override == 0:
            self._brake()
            return
        self._request.control_interface = ControlInterface.Position
        self._request.max_velocity = [self.motion.limits.top_rate * self._override]

    def _brake(self) -> None:
        self._request.control_interface = ControlInterface.Velocity
        self._request.target_velocity = [0.0]


class _JointBrake:
    """Brings every joint to rest by itself, as fast as its own limits allow."""

    def __init__(self, limits: JointLimits, sample: JointSample, period_s: float) -> None:
        count = len(limits.velocity_radps)
        self._generator, self._answer = Ruckig(count, period_s), OutputParameter(count)
        self._request: Any = InputParameter(count)
        self._request.control_interface = ControlInterface.Velocity
        self._request.synchronization = Synchronization.No
        self._request.current_position = sample.position_rad.tolist()
        self._request.current_velocity = sample.velocity_radps.tolist()
        self._request.current_acceleration = sample.acceleration_radps2.tolist()
        self._request.max_acceleration = limits.acceleration_radps2.tolist()
        self._request.max_jerk = limits.jerk_radps3.tolist()

    def tick(self) -> tuple[JointSample, bool]:
        """The joints one period later, and whether they rest."""
        result = self._generator.update(self._request, self._answer)
        if result != Result.Working and result != Result.Finished:
            raise JobFailed(f"the joints cannot be stopped within their limits: {result}")
        self._answer.pass_to_input(self._request)
        position = np.array(self._answer.new_position)
        if result == Result.Finished:
            return JointSample(position, np.zeros_like(position), np.zeros_like(position)), True
        velocity, acceleration = np.array(self._answer.new_velocity), np.array(self._answer.new_acceleration)
        return JointSample(position, velocity, acceleration), False
