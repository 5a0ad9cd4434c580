"""The base of followers, which run along a motion tick by tick, whatever their parameter is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from ruckig import ControlInterface, InputParameter, OutputParameter, Result, Ruckig, RuckigError

from cellwright.catalogue import ArmFigures
from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.motion.joint_brake import JointBrake
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.sample import JointSample

__all__ = ["Follower", "FollowerState", "RunState", "StopCategory"]

Array = npt.NDArray[np.float64]

MOST_TRIES, LESS_JERK = 5, 0.999
REST = 1e-9  # of the parameter and its rate: what is left by rounding


class StopCategory(StrEnum):
    """The stop categories of CRCL's StopMotion, the hardest first."""

    IMMEDIATE = "Immediate"  # every joint brakes by itself, harder than motions are planned; the path is left
    FAST = "Fast"  # on the path, as hard as the joints' limits allow there
    NORMAL = "Normal"  # on the path, as gently as the motion itself


class RunState(Enum):
    """The run state of a follower."""

    RUNNING = "running"
    PAUSED = "paused"  # or slowing down to it
    STOPPING = "stopping"
    STOPPED = "stopped"  # before the end, for good
    DONE = "done"


ENDED = (RunState.DONE, RunState.STOPPED)


class FollowerState(NamedTuple):
    """The state of a follower at some tick, so that it can be put back there and continue in another way."""

    place: float
    rate: float
    change: float
    state: RunState


class Follower(ABC):
    """Drives one parameter by an online generator of one degree of freedom, and the joints by the parameter.

    Attributes:
        state: Its run state.
        sample: The joints as of the last tick.

    Args:
        arm: The arm.
        period_s: Time from one tick to the next.
        end: The parameter's value at the end; it begins at 0.
    """

    def __init__(self, arm: ArmFigures, period_s: float, end: float) -> None:
        self.arm = arm
        self.period_s = period_s
        self._end = end
        self.state = RunState.RUNNING
        self.sample: JointSample
        self._override = 1.0
        self._generator = Ruckig(1, period_s)
        self._answer = OutputParameter(1)
        self._request: Any = InputParameter(1)
        self._request.target_position = [end]
        self._now = (0.0, 0.0, 0.0)  # the parameter, its rate, and the change of that
        self._brake: JointBrake | None = None

    @property
    def override(self) -> float:
        """The speed override, 0 to 1; 0 holds."""
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
        """The share of the parameter that is done; unchanged once an immediate stop has left the path."""
        return self.share_at(self._now[0])

    def share_at(self, place: float) -> float:
        """Returns the share that is done at a value of the parameter."""
        return min(1.0, place / self._end) if self._end > 0 else 1.0

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves and none will at the next tick, without a further command."""
        if self.state in ENDED:
            return True
        if self.state is not RunState.PAUSED and (self.state is not RunState.RUNNING or self._override > 0):
            return False
        return max(abs(self._now[1]), abs(self._now[2])) < REST

    @property
    def moment(self) -> FollowerState:
        """Its present state, for `put_back`."""
        return FollowerState(*self._now, self.state)

    def put_back(self, moment: FollowerState) -> None:
        """Goes back to a state; the next command counts from there."""
        self._place(moment.place, moment.rate, moment.change)
        self.state = moment.state
        self._brake = None
        self.sample = self._sampled(min(moment.place, self._end), moment.rate, moment.change)

    def pause(self) -> None:
        """Comes to rest on the path and waits there; does nothing when it is stopping or at its end."""
        if self.state is RunState.RUNNING:
            self.state = RunState.PAUSED
            self._slow(StopCategory.NORMAL)

    def resume(self) -> None:
        """Continues, even if it has not yet come to rest."""
        if self.state is RunState.PAUSED:
            self.state = RunState.RUNNING
            self._aim()

    def stop(self, category: StopCategory = StopCategory.NORMAL) -> None:
        """Comes to rest for good; a harder stop may follow a softer one."""
        if self.state in ENDED or self._brake is not None:
            return
        self.state = RunState.STOPPING
        if category is StopCategory.IMMEDIATE:
            self._brake = JointBrake(JointLimits.of(self.arm), self.sample, self.period_s)
        else:
            self._slow(category)

    def tick(self) -> JointSample:
        """Returns the joints one period later."""
        if self.state in ENDED:
            return self.sample
        if self._brake is not None:
            self.sample, rests = self._brake.tick()
            self.state = RunState.STOPPED if rests else RunState.STOPPING
            return self.sample
        self._advance()
        self.sample = self._sampled(min(self._now[0], self._end), *self._now[1:])
        return self.sample

    def run(self, most: int) -> tuple[Array, list[FollowerState]]:
        """Runs at least one tick and at most so many, until it rests; several at once are faster than one by one.

        Returns:
            Positions, velocities and accelerations, (ticks, 3, joints), and its state at each of them.
        """
        moments: list[FollowerState] = []
        if self.state in ENDED or self._brake is not None:
            rows: list[JointSample] = []
            while not rows or (len(rows) < most and not self.at_rest):
                rows.append(self.tick())
                moments.append(self.moment)
            return np.array(rows), moments
        while not moments or (len(moments) < most and not self.at_rest):
            if self.state is RunState.RUNNING and self._override > 0:
                self._stride(most - len(moments), moments)
            else:
                self._advance()
                moments.append(self.moment)
        made = self._sampled_many(moments)
        self.sample = JointSample(*made[-1])
        return made, moments

    def _stride(self, most: int, moments: list[FollowerState]) -> None:
        """Advances by so many periods, or until the parameter is at its end; adds its states."""
        answer, request, working, running = self._answer, self._request, Result.Working, RunState.RUNNING
        near = self._end * (1 - REST)
        for _ in range(most):
            result = self._generated()
            (place,), (rate,), (change,) = answer.new_position, answer.new_velocity, answer.new_acceleration
            if place >= near or result != working:
                self._take(result)
                moments.append(self.moment)
                return
            answer.pass_to_input(request)
            moments.append(FollowerState(place, rate, change, running))
            self._now = place, rate, change

    def _advance(self) -> None:
        """Advances the parameter by one period."""
        self._take(self._generated())

    def _take(self, result: Any) -> None:
        """Takes over what the generator made."""
        answer = self._answer
        answer.pass_to_input(self._request)
        (place,), (rate,), (change,) = answer.new_position, answer.new_velocity, answer.new_acceleration
        if result == Result.Finished:
            rate, change = float(self._request.target_velocity[0]), 0.0
            if self.state is RunState.STOPPING:
                self.state = RunState.STOPPED
        if place >= self._end * (1 - REST) and self._arrives(result == Result.Finished):
            place, rate, change = self._end, 0.0, 0.0
            if self.state is RunState.RUNNING:
                self.state = RunState.DONE
            elif self.state is RunState.STOPPING:
                self.state = RunState.STOPPED
            self._place(place, rate, change)
        self._now = place, rate, change

    def _generated(self) -> Any:
        """Returns the generator's next state; where limits fit each other exactly, it needs slightly lower ones."""
        for _ in range(MOST_TRIES):
            try:
                result = self._generator.update(self._request, self._answer)
            except RuckigError:
                self._request.max_jerk = [self._request.max_jerk[0] * LESS_JERK]
                continue
            if result == Result.Working or result == Result.Finished:
                return result
            break
        raise JobFailed(f"{self.arm.name} cannot go on along its path within its limits")

    def _sampled_many(self, moments: Sequence[FollowerState]) -> Array:
        """Returns the joints at several moments, (moments, 3, joints)."""
        return np.array([self._sampled(min(m.place, self._end), m.rate, m.change) for m in moments])

    @abstractmethod
    def _sampled(self, place: float, rate: float, change: float) -> JointSample:
        """Returns the joints by the parameter, its rate and the change of that."""

    @abstractmethod
    def _aim(self) -> None:
        """Heads for the end, no faster than the override says."""

    @abstractmethod
    def _slow(self, category: StopCategory) -> None:
        """Slows down to rest, on the path."""

    @abstractmethod
    def _arrives(self, finished: bool) -> bool:
        """Returns whether the motion is over now that the parameter is at its end."""

    def _limit(self, limits: PathLimits) -> None:
        self._request.max_velocity = [limits.velocity]
        self._request.max_acceleration = [limits.acceleration]
        self._request.max_jerk = [limits.jerk]

    def _keep_rate(self, rate: float) -> None:
        """Has the generator reach and keep a rate, wherever that leads."""
        self._request.control_interface = ControlInterface.Velocity
        self._request.target_velocity = [rate]

    def _place(self, place: float, rate: float, change: float) -> None:
        self._request.current_position, self._request.current_velocity = [place], [rate]
        self._request.current_acceleration = [change]
        self._now = place, rate, change
        self._generator.reset()
