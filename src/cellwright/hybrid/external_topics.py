"""The topics of an external robot: what it tells and is told, flagged by where it is; `/NAME/...` is its twin."""

from __future__ import annotations

import numpy as np

from cellwright.core.messages import CrclCommand, CrclStatus, JointState, ShadowReport, ToolStatus
from cellwright.crcl import GripperKind
from cellwright.hybrid.robot_report import RobotReport
from cellwright.lab import Lab

__all__ = ["ExternalTopics"]

KINDS = {
    "joint_states": JointState,
    "tool_status": ToolStatus,
    "crcl_command": CrclCommand,
    "crcl_status": CrclStatus,
    "shadow": ShadowReport,
}


class ExternalTopics:
    """The topics `/NAME/external/...` of one robot.

    Args:
        lab: The laboratory.
        name: The robot.
    """

    def __init__(self, lab: Lab, name: str) -> None:
        self._bus, self._clock, self._name = lab.bus, lab.clock, name
        self._joints = tuple(joint.name for joint in lab.robot(name).kinematics.arm.joints)
        self._sequences = dict.fromkeys(KINDS, 0)
        for what, kind in KINDS.items():
            self._bus.declare(self.topic(what), kind)

    def topic(self, what: str) -> str:
        """Returns the name of one of the topics."""
        return f"/{self._name}/external/{what}"

    def publish_text(self, kind: str, text: bytes, at: str) -> None:
        """Tells a document of the wire: a `command` that was sent there, or a `status` that came."""
        what = f"crcl_{kind}"
        if self._bus.has_listener(self.topic(what)):
            message = CrclCommand if kind == "command" else CrclStatus
            header = self._header(what, self._clock.time_s, at)
            self._bus.publish(self.topic(what), message(*header, document=text.decode(errors="replace")))

    def publish(self, report: RobotReport, at: str) -> None:
        """Tells what was reported, by the time at which it was so."""
        if report.joints_rad is not None:
            zeros = np.zeros(len(self._joints))
            message = JointState(
                *self._header("joint_states", report.time_s, at),
                names=self._joints,
                position=report.joints_rad,
                velocity=report.speeds_radps if report.speeds_radps is not None else zeros,
                effort=zeros,
            )
            self._bus.publish(self.topic("joint_states"), message)
        hand = report.gripper
        if hand is not None:
            status = ToolStatus(
                *self._header("tool_status", report.time_s, at),
                tool=hand.name,
                kind="vacuum" if hand.kind is GripperKind.VACUUM else "gripper",
                width_m=hand.separation_m,
                power=float(hand.is_powered),
                holding=hand.holding,
                locked=True,
            )
            self._bus.publish(self.topic("tool_status"), status)

    def _header(self, what: str, time_s: float, at: str) -> tuple[int, int, str]:
        number = self._sequences[what]
        self._sequences[what] += 1
        return round(time_s * 1e9), number, f"{self._name}@{at}"
