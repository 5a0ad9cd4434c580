"""The parts of a status that one connection asks for, and when it gets one unasked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cellwright.core.errors import BadInput
from cellwright.crcl import messages as m

__all__ = ["STATUS_WHEN_DONE", "JointReport", "Reports"]

STATUS_WHEN_DONE = "status_when_done"
"""The robot parameter, `true` or `false`, by which a connection asks for a status at the end of every command."""


@dataclass(frozen=True, slots=True)
class JointReport:
    """The values that are reported of one joint."""

    position: bool = False
    effort: bool = False
    velocity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """The parts of a status, what is in the joints' part, and whether one comes by itself when a command has ended.

    Everything is reported that there is, and all joints' positions, until a client says otherwise: the standard wants
    no joint before it was asked for, but NIST's servers report them and its client cannot do without.
    """

    per_joint: tuple[JointReport, ...]
    joints: bool = True
    pose: bool = True
    gripper: bool = True
    settings: bool = True
    sensors: bool = True
    guards: bool = True
    when_done: bool = False

    @classmethod
    def initial(cls, joint_count: int) -> Reports:
        """Returns the reports before anything was configured."""
        return cls(per_joint=(JointReport(position=True),) * joint_count)

    def after(self, command: m.CRCLCommand) -> Reports:
        """Returns the reports once a command was executed.

        Raises:
            BadInput: Joints are not in increasing order, occur twice, or do not exist; a switch is neither on nor off.
        """
        if isinstance(command, m.SetRobotParameters):
            return replace(self, when_done=self._when_done(command))
        if isinstance(command, m.ConfigureStatusReport):
            return replace(
                self,
                joints=command.report_joint_statuses,
                pose=command.report_pose_status,
                gripper=command.report_gripper_status,
                settings=command.report_settings_status,
                sensors=command.report_sensors_status,
                guards=command.report_guards_status,
            )
        if isinstance(command, m.ConfigureJointReports):
            return replace(self, per_joint=self._joints(command))
        return self

    def _when_done(self, command: m.SetRobotParameters) -> bool:
        wanted = self.when_done
        for setting in command.parameter_setting:
            if setting.parameter_name == STATUS_WHEN_DONE:
                if setting.parameter_value not in ("true", "false"):
                    raise BadInput(f"{STATUS_WHEN_DONE} is '{setting.parameter_value}' (allowed: true, false)")
                wanted = setting.parameter_value == "true"
        return wanted

    def _joints(self, command: m.ConfigureJointReports) -> tuple[JointReport, ...]:
        count = len(self.per_joint)
        reports = [JointReport()] * count if command.reset_all else list(self.per_joint)
        last = 0
        for report in command.configure_joint_report:
            number = report.joint_number
            if not 1 <= number <= count:
                raise BadInput(f"there is no joint {number} (allowed: 1 to {count})")
            if number <= last:
                raise BadInput(f"joint {number} stands after joint {last} (allowed: each once, in increasing order)")
            reports[number - 1] = JointReport(
                report.report_position, report.report_torque_or_force, report.report_velocity
            )
            last = number
        return tuple(reports)
