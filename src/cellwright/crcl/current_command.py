"""The present command of a robot with its state, and the connections to which it is reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cellwright.crcl import messages as m
from cellwright.crcl.messages import CommandStateEnum, CRCLCommandInstance
from cellwright.crcl.reports import Reports
from cellwright.crcl.units import CrclUnits

__all__ = ["CommandSource", "ConnectionAnswer", "CurrentCommand", "PrivateCommand"]

LONGEST_TEXT = 500  # of a description; clients show it in one line

PrivateCommand = (
    m.SetLengthUnits
    | m.SetAngleUnits
    | m.SetForceUnits
    | m.SetTorqueUnits
    | m.ConfigureStatusReport
    | m.ConfigureJointReports
)
"""Commands that change only the units or reports of their own connection."""


@dataclass(frozen=True, slots=True, eq=False)
class CurrentCommand:
    """A command, its state, and the description of its state. Every change makes a new object."""

    instance: CRCLCommandInstance
    state: CommandStateEnum
    text: str = ""

    def status(self, status_id: int, override_percent: int, activity: str = "") -> m.CommandStatus:
        """Returns the message; a command under way without a description is described by the robot's activity."""
        activity = activity if self.state is CommandStateEnum.CRCL_WORKING else ""
        return m.CommandStatus(
            self.instance.crcl_command.command_id,
            status_id,
            self.state,
            state_description=_clean(self.text or activity) or None,
            program_file=self.instance.program_file,
            program_index=self.instance.program_index,
            program_length=self.instance.program_length,
            override_percent=override_percent,
        )


@dataclass(slots=True, eq=False)
class ConnectionAnswer:
    """An answer for one connection alone: sent at least once, and then while the robot's command stays `beside`."""

    beside: CurrentCommand
    answer: CurrentCommand
    was_sent: bool = False


class CommandSource(Protocol):
    """The connection that a command comes from: it has units and reports, and sometimes an answer, of its own."""

    units: CrclUnits
    reports: Reports
    connection_answer: ConnectionAnswer | None

    def configure(self, command: m.CRCLCommand) -> None:
        """Takes the settings of a command for this connection alone."""


def _clean(text: str) -> str:
    """Returns a text that every XML reader takes."""
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT] + "..."
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " if letter in "\t\n\r" else "?" for letter in text)
