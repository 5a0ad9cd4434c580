"""Timeouts of commands, after which the client gives up: those of NIST's own client.

Servers are built to these: a robot that needs longer is stuck as far as the lab's programs are concerned.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from cellwright.crcl.messages import (
    ActuateJoints,
    CRCLCommand,
    CRCLStatus,
    Dwell,
    EnableSensor,
    InitCanon,
    JointSpeedAccel,
    MoveScrew,
    MoveThroughTo,
    MoveTo,
    RunProgram,
)

__all__ = ["CommandTimeouts"]


@dataclass(frozen=True)
class CommandTimeouts:
    """Timeouts by kind of command, in seconds.

    Attributes:
        move_s: For MoveTo, MoveThroughTo, MoveScrew, RunProgram, and joints whose speed or place is not known.
        init_s: For InitCanon and EnableSensor.
        other_s: For what should be done at once.
        margin_s: Added to all.
    """

    move_s: float = 90.0
    init_s: float = 30.0
    other_s: float = 3.0
    margin_s: float = 5.0

    def timeout_s(self, command: CRCLCommand, status: CRCLStatus | None = None) -> float:
        """Returns the timeout of a command, given the status before it."""
        return self.margin_s + self._needed_s(command, status)

    def _needed_s(self, command: CRCLCommand, status: CRCLStatus | None) -> float:
        if isinstance(command, MoveTo | MoveThroughTo | MoveScrew | RunProgram):
            return self.move_s
        if isinstance(command, InitCanon | EnableSensor):
            return self.init_s
        if isinstance(command, Dwell):
            return 1.5 + command.dwell_time
        if isinstance(command, ActuateJoints):
            expected_s = _expected_s(command, status)
            return self.move_s if expected_s is None else max(2.0 + 15.0 * expected_s, self.other_s)
        return self.other_s


def _expected_s(command: ActuateJoints, status: CRCLStatus | None) -> float | None:
    """Returns the duration of the slowest joint's motion; None if its speed or position is not known."""
    joints = status.joint_statuses.joint_status if status and status.joint_statuses else ()
    positions = {joint.joint_number: joint.joint_position for joint in joints}
    longest_s = 0.0
    for joint in command.actuate_joint:
        details, position = joint.joint_details, positions.get(joint.joint_number)
        speed = details.joint_speed if isinstance(details, JointSpeedAccel) else None
        if position is None or not isfinite(position) or speed is None or speed <= 0:
            return None
        longest_s = max(longest_s, abs(joint.joint_position - position) / speed)
    return longest_s
