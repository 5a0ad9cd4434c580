"""Commands that frame a session, and those that move nothing: waiting, telling, stopping, repeating."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cellwright.crcl.messages.base import DataThing, abstract
from cellwright.crcl.messages.data import Guard
from cellwright.crcl.messages.enums import StopConditionEnum
from cellwright.crcl.types import Double, Int, Long, String

__all__ = [
    "CRCLCommand",
    "Dwell",
    "EndCanon",
    "GetStatus",
    "InitCanon",
    "LoopBlockEnd",
    "LoopBlockStart",
    "Message",
    "MiddleCommand",
    "RunProgram",
    "StopMotion",
]


@abstract
@dataclass(frozen=True, slots=True)
class CRCLCommand(DataThing):
    """Root of all commands: a number that is unique in the session, and guards."""

    command_id: Long
    _: KW_ONLY
    guard: tuple[Guard, ...] = ()


@abstract
@dataclass(frozen=True, slots=True)
class MiddleCommand(CRCLCommand):
    """Root of all commands between the first and the last one of a session."""


@dataclass(frozen=True, slots=True)
class InitCanon(CRCLCommand):
    """Opens a session: the robot gets ready, units are the defaults again."""


@dataclass(frozen=True, slots=True)
class EndCanon(CRCLCommand):
    """Closes a session: nothing but InitCanon is executed after it."""


@dataclass(frozen=True, slots=True)
class GetStatus(MiddleCommand):
    """Asks for a status now; changes nothing else, the status' command number included."""


@dataclass(frozen=True, slots=True)
class Dwell(MiddleCommand):
    """Stands still for some seconds."""

    dwell_time: Double


@dataclass(frozen=True, slots=True)
class Message(MiddleCommand):
    """Shows a text to the operator."""

    message: String


@dataclass(frozen=True, slots=True)
class StopMotion(MiddleCommand):
    """Stops the motion under way."""

    stop_condition: StopConditionEnum


@dataclass(frozen=True, slots=True)
class RunProgram(MiddleCommand):
    """Runs a program in the robot controller's own language."""

    program_text: String


@dataclass(frozen=True, slots=True)
class LoopBlockStart(MiddleCommand):
    """Begins the commands that a program's runner repeats."""

    loop_name: String


@dataclass(frozen=True, slots=True)
class LoopBlockEnd(MiddleCommand):
    """Ends the commands that a program's runner repeats."""

    loop_name: String
    max_count: Int
