"""The stop that leaves the path: every joint comes to rest by itself, as fast as brakes can do it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ruckig import ControlInterface, InputParameter, OutputParameter, Result, Ruckig, Synchronization

from cellwright.core.errors import JobFailed
from cellwright.motion.limits import JointLimits
from cellwright.motion.sample import JointSample

__all__ = ["JointBrake"]

BRAKE_ACCELERATION = 3.0  # times what motions are planned with: about what drives and brakes can give together
BRAKE_JERK = 12.0  # so a brake grips four times as quickly as a planned motion begins to slow down


class JointBrake:
    """Brings every joint to rest, each in its own time.

    A brake is harder than any planned motion: it may pass the accelerations and jerks that those keep. Speeds do not
    rise by more than what the acceleration at its beginning still adds while the brake grips.

    Args:
        limits: Of the joints, for planned motions.
        sample: Their present motion.
        period_s: Time from one tick to the next.
    """

    def __init__(self, limits: JointLimits, sample: JointSample, period_s: float) -> None:
        count = len(limits.velocity_radps)
        self._generator = Ruckig(count, period_s)
        self._answer = OutputParameter(count)
        self._request: Any = InputParameter(count)
        self._request.control_interface = ControlInterface.Velocity
        self._request.synchronization = Synchronization.No
        self._request.current_position = sample.position_rad.tolist()
        self._request.current_velocity = sample.velocity_radps.tolist()
        self._request.current_acceleration = sample.acceleration_radps2.tolist()
        self._request.max_acceleration = (limits.acceleration_radps2 * BRAKE_ACCELERATION).tolist()
        self._request.max_jerk = (limits.jerk_radps3 * BRAKE_JERK).tolist()

    def tick(self) -> tuple[JointSample, bool]:
        """Returns the joints one period later, and whether they rest."""
        result = self._generator.update(self._request, self._answer)
        if result != Result.Working and result != Result.Finished:
            raise JobFailed(f"the joints cannot be stopped within their limits: {result}")
        self._answer.pass_to_input(self._request)
        position = np.array(self._answer.new_position)
        if result == Result.Finished:
            return JointSample(position, np.zeros_like(position), np.zeros_like(position)), True
        velocity, acceleration = np.array(self._answer.new_velocity), np.array(self._answer.new_acceleration)
        return JointSample(position, velocity, acceleration), False
