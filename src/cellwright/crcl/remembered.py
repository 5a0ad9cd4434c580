"""What a client has set, so that a new connection or another robot can be brought to the same settings.

Units and reports belong to a connection: a robot that is told 300 in millimetres on one connection takes 300 for
metres on the next. Speeds and tolerances belong to the robot.
"""

from __future__ import annotations

from cellwright.crcl.messages import (
    ConfigureJointReports,
    ConfigureStatusReport,
    CRCLCommand,
    EndCanon,
    InitCanon,
    SetAngleUnits,
    SetDefaultJointPositonsTolerances,
    SetEndPoseTolerance,
    SetForceUnits,
    SetIntermediatePoseTolerance,
    SetLengthUnits,
    SetMotionCoordination,
    SetRotAccel,
    SetRotSpeed,
    SetTorqueUnits,
    SetTransAccel,
    SetTransSpeed,
)

__all__ = ["Remembered"]

_UNITS = (SetLengthUnits, SetAngleUnits, SetForceUnits, SetTorqueUnits)
_OF_ROBOT = (
    SetTransSpeed,
    SetTransAccel,
    SetRotSpeed,
    SetRotAccel,
    SetEndPoseTolerance,
    SetIntermediatePoseTolerance,
    SetDefaultJointPositonsTolerances,
    SetMotionCoordination,
)


class Remembered:
    """The settings in force, as the commands that made them.

    Attributes:
        initialised: Whether InitCanon was done and EndCanon was not.
    """

    def __init__(self) -> None:
        self.initialised = False
        self._units: dict[type[CRCLCommand], CRCLCommand] = {}
        self._of_robot: dict[type[CRCLCommand], tuple[CRCLCommand, ...]] = {}
        self._status_report: CRCLCommand | None = None
        self._joint_reports: list[CRCLCommand] = []

    def note(self, command: CRCLCommand) -> None:
        """Takes in a command that was done."""
        if isinstance(command, InitCanon):
            self.initialised = True
            self._units.clear()
            self._of_robot.clear()
        elif isinstance(command, EndCanon):
            self.initialised = False
        elif isinstance(command, _UNITS):
            self._units[type(command)] = command
        elif isinstance(command, _OF_ROBOT):
            # A speed of 300 is one in the units that held when it was set: they belong to it, and the order counts.
            self._of_robot.pop(type(command), None)
            self._of_robot[type(command)] = (*self._units.values(), command)
        elif isinstance(command, ConfigureStatusReport):
            self._status_report = command
        elif isinstance(command, ConfigureJointReports):
            kept = [] if command.reset_all else self._joint_reports
            self._joint_reports = [*kept, command]

    def of_connection(self) -> list[CRCLCommand]:
        """What a new connection to the same robot needs."""
        report = [self._status_report] if self._status_report else []
        return [*self._units.values(), *report, *self._joint_reports]

    def of_robot(self) -> list[CRCLCommand]:
        """What another robot needs after InitCanon: the settings, then what its connection needs."""
        settings = [command for group in self._of_robot.values() for command in group]
        return [*settings, *self.of_connection()]
