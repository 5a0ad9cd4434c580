"""The settings that a client has made, so that a new connection or another robot can be brought to the same.

Units and reports belong to a connection: a robot that gets 300 in millimetres on one connection takes 300 for
metres on the next. Speeds and tolerances belong to the robot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from math import inf

from cellwright.crcl.messages import (
    ConfigureJointReports,
    ConfigureStatusReport,
    CRCLCommand,
    CRCLStatus,
    EndCanon,
    InitCanon,
    ParameterSetting,
    SetAngleUnits,
    SetDefaultJointPositonsTolerances,
    SetEndPoseTolerance,
    SetForceUnits,
    SetIntermediatePoseTolerance,
    SetLengthUnits,
    SetMotionCoordination,
    SetRobotParameters,
    SetRotAccel,
    SetRotSpeed,
    SettingsStatus,
    SetTorqueUnits,
    SetTransAccel,
    SetTransSpeed,
)
from cellwright.crcl.reports import STATUS_WHEN_DONE
from cellwright.crcl.units import CrclUnits, to_si

__all__ = ["SETTING_COMMANDS", "UNIT_COMMANDS", "SessionSettings", "report_when_done"]

UNIT_COMMANDS = {"length": SetLengthUnits, "angle": SetAngleUnits, "force": SetForceUnits, "torque": SetTorqueUnits}
"""Kind of unit -> the command that sets it."""
SETTING_COMMANDS = {
    "trans_speed_relative": SetTransSpeed,
    "trans_speed_absolute": SetTransSpeed,
    "trans_accel_relative": SetTransAccel,
    "trans_accel_absolute": SetTransAccel,
    "rot_speed_relative": SetRotSpeed,
    "rot_speed_absolute": SetRotSpeed,
    "rot_accel_relative": SetRotAccel,
    "rot_accel_absolute": SetRotAccel,
    "end_pose_tolerance": SetEndPoseTolerance,
    "intermediate_pose_tolerance": SetIntermediatePoseTolerance,
    "joint_tolerances": SetDefaultJointPositonsTolerances,
    "motion_coordinated": SetMotionCoordination,
}
"""Field of SettingsStatus -> the command that sets it at the robot.

Where a server reports an absolute and a relative value, the absolute one comes last here, is set last, and holds.
"""
_ALWAYS_SET = ("length", "angle")
"""Units that are set at every robot; the others only if they were set or differ, for some servers do not know them."""
_ROBOT_SETTINGS = tuple(set(SETTING_COMMANDS.values()))


class SessionSettings:
    """The settings in force, as the commands that made them.

    Attributes:
        initialised: Whether InitCanon was done and EndCanon was not.
        units: Those in force: what was set, else what the robot reported after InitCanon, else the standard's.
        reports_when_done: Whether the robot reports the end of every command by itself, because it was asked to.
    """

    def __init__(self) -> None:
        self.initialised = False
        self.units = CrclUnits()
        self.reports_when_done = False
        self._units: dict[type[CRCLCommand], CRCLCommand] = {}
        self._robot_settings: dict[type[CRCLCommand], tuple[CrclUnits, CRCLCommand]] = {}
        self._status_report: CRCLCommand | None = None
        self._joint_reports: list[CRCLCommand] = []

    def note(self, command: CRCLCommand, status: CRCLStatus | None = None) -> None:
        """Takes in a command that was done, and the status that reported it."""
        if isinstance(command, InitCanon):
            self.initialised = True
            self.units = CrclUnits().with_reported(status.settings_status if status else None)
            self._units.clear()
            self._robot_settings.clear()
        elif isinstance(command, EndCanon):
            self.initialised = False
        elif isinstance(command, tuple(UNIT_COMMANDS.values())):
            self._units[type(command)] = command
            self.units = self.units.after(command)
        elif isinstance(command, _ROBOT_SETTINGS):
            # A speed of 300 is one in the units that held when it was set: they belong to it, and the order counts.
            self._robot_settings.pop(type(command), None)
            self._robot_settings[type(command)] = (self.units, command)
        elif isinstance(command, SetRobotParameters):
            given = {one.parameter_name: one.parameter_value for one in command.parameter_setting}
            self.reports_when_done = given.get(STATUS_WHEN_DONE, str(self.reports_when_done).lower()) == "true"
        elif isinstance(command, ConfigureStatusReport):
            self._status_report = command
        elif isinstance(command, ConfigureJointReports):
            kept = [] if command.reset_all else self._joint_reports
            self._joint_reports = [*kept, command]

    def connection_commands(self) -> list[CRCLCommand]:
        """Returns the commands that a new connection to the same robot needs."""
        told = [report_when_done()] if self.reports_when_done else []
        return [*self._units.values(), *self._reports(), *told]

    def robot_commands(self, ours: SettingsStatus | None, theirs: SettingsStatus | None) -> list[CRCLCommand]:
        """Returns the commands that another robot needs after InitCanon: its settings, then those of its connection.

        Args:
            ours: The settings of the robot that is left: speeds that hold there without having been set are kept.
            theirs: The settings that the other robot reports after InitCanon.
        """
        known = CrclUnits().with_reported(theirs)
        needed = {name for name, setter in UNIT_COMMANDS.items() if setter in self._units}
        needed |= {
            name for name in UNIT_COMMANDS if name in _ALWAYS_SET or getattr(known, name) != getattr(self.units, name)
        }
        commands: list[CRCLCommand] = []
        before: CrclUnits | None = None
        for units, command in (*self._robot_settings.values(), *((self.units, c) for c in self._unset_speeds(ours))):
            commands += [*_setters(before, units, needed), command]
            before = units
        return [*commands, *_setters(before, self.units, needed), *self._reports()]

    def in_si(self) -> list[CRCLCommand]:
        """Returns the settings of the robot in SI units; its joints are taken for turning ones."""
        return [to_si(command, units, ()) for units, command in self._robot_settings.values()]

    def _reports(self) -> list[CRCLCommand]:
        return [*([self._status_report] if self._status_report else []), *self._joint_reports]

    def _unset_speeds(self, ours: SettingsStatus | None) -> list[CRCLCommand]:
        if ours is None:
            return []
        trans, rot = ours.trans_speed_absolute, ours.rot_speed_absolute
        speeds: list[CRCLCommand] = [SetTransSpeed(0, trans)] if trans and 0 < trans.setting < inf else []
        speeds += [SetRotSpeed(0, rot)] if rot and 0 < rot.setting < inf else []
        return [command for command in speeds if type(command) not in self._robot_settings]


def report_when_done() -> SetRobotParameters:
    """Returns the command by which a robot reports the end of every command by itself, if it knows that parameter."""
    return SetRobotParameters(0, (ParameterSetting(STATUS_WHEN_DONE, "true"),))


def _setters(before: CrclUnits | None, units: CrclUnits, names: Iterable[str]) -> list[CRCLCommand]:
    """Returns the commands from one set of units to another; from None, all of `names`."""
    wanted = [field.name for field in fields(CrclUnits) if field.name in names]
    changed = (n for n in wanted if before is None or getattr(before, n) != getattr(units, n))
    return [UNIT_COMMANDS[name](0, getattr(units, name)) for name in changed]
