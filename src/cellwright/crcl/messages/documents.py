"""The three documents: a command, a status, a program."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cellwright.crcl.messages.base import DataThing
from cellwright.crcl.messages.commands import CRCLCommand, EndCanon, InitCanon, MiddleCommand
from cellwright.crcl.messages.sensors import GuardsStatuses, SensorStatuses
from cellwright.crcl.messages.status import CommandStatus, GripperStatus, JointStatuses, PoseStatus, SettingsStatus
from cellwright.crcl.types import Int, String

__all__ = ["CRCLCommandInstance", "CRCLProgram", "CRCLStatus", "Document"]


@dataclass(frozen=True, slots=True)
class CRCLCommandInstance(DataThing):
    """One command on its way to a robot, and its place in a program."""

    crcl_command: CRCLCommand
    _: KW_ONLY
    program_file: String | None = None
    program_index: Int | None = None
    program_length: Int | None = None


@dataclass(frozen=True, slots=True)
class CRCLStatus(DataThing):
    """The answer of a robot to GetStatus."""

    command_status: CommandStatus
    _: KW_ONLY
    joint_statuses: JointStatuses | None = None
    pose_status: PoseStatus | None = None
    gripper_status: GripperStatus | None = None
    settings_status: SettingsStatus | None = None
    sensor_statuses: SensorStatuses | None = None
    guards_statuses: GuardsStatuses | None = None


@dataclass(frozen=True, slots=True)
class CRCLProgram(DataThing):
    """A file of commands; it is not sent, its commands are."""

    _: KW_ONLY
    init_canon: InitCanon
    middle_command: tuple[MiddleCommand, ...] = ()
    end_canon: EndCanon


Document = CRCLCommandInstance | CRCLStatus | CRCLProgram
"""What is encoded and decoded as a whole."""
