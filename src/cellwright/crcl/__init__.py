"""CRCL, NIST's Canonical Robot Command Language: messages, codec, checker.

>>> from cellwright.crcl import CRCLCommandInstance, Dwell, decode, encode
>>> decode(encode(CRCLCommandInstance(Dwell(7, 0.5))))
CRCLCommandInstance(name=None, crcl_command=Dwell(name=None, command_id=7, guard=(), dwell_time=0.5), ...)
"""

from cellwright.crcl import messages
from cellwright.crcl.blocking import BlockingCrclClient
from cellwright.crcl.check import DocumentProblem, check
from cellwright.crcl.client import CrclClient
from cellwright.crcl.command_timeouts import CommandTimeouts
from cellwright.crcl.connection import Connection, ConnectionFailed, Connector, tcp
from cellwright.crcl.endpoints import EndpointCfg, TargetsCfg
from cellwright.crcl.errors import CrclError, DecodeError, EncodeError, FramingError
from cellwright.crcl.example_robot.robot import ExampleArm, serve_example_arm
from cellwright.crcl.framing import MAX_MESSAGE_BYTES, MessageStream
from cellwright.crcl.link import LinkLost, NoAnswer
from cellwright.crcl.messages.base import DataThing as DataThing
from cellwright.crcl.messages.commands import *  # noqa: F403
from cellwright.crcl.messages.data import *  # noqa: F403
from cellwright.crcl.messages.documents import *  # noqa: F403
from cellwright.crcl.messages.enums import *  # noqa: F403
from cellwright.crcl.messages.motion import *  # noqa: F403
from cellwright.crcl.messages.sensors import *  # noqa: F403
from cellwright.crcl.messages.settings import *  # noqa: F403
from cellwright.crcl.messages.status import *  # noqa: F403
from cellwright.crcl.messages.tools import *  # noqa: F403
from cellwright.crcl.options import ClientOptions, ProgramPlace
from cellwright.crcl.outcome import CommandFailed, Outcome, OutcomeState
from cellwright.crcl.parser import MAX_BYTES
from cellwright.crcl.proxy import CrclProxy, ProxiedMessage
from cellwright.crcl.reader import decode
from cellwright.crcl.robot import (
    BeyondLimit,
    CrclRobot,
    GripperKind,
    GripperReading,
    JointFacts,
    JointTarget,
    NotAvailable,
    Pace,
    RobotClock,
    RobotReading,
    SensorReading,
    Tolerance,
    Waypoint,
)
from cellwright.crcl.runner import ProgramProgress, ProgramReport, run_program
from cellwright.crcl.screw import Screw
from cellwright.crcl.server import DEFAULT_PORT, CrclServer
from cellwright.crcl.targets import SwitchRefused, SwitchReport, Target, Targets
from cellwright.crcl.units import UNIT_PROFILES, CrclUnits, Quantity
from cellwright.crcl.wall_clock import WallClock
from cellwright.crcl.writer import encode
from cellwright.crcl.xml_log import XmlLog, read_xml_log

__all__ = [
    "DEFAULT_PORT",
    "MAX_BYTES",
    "MAX_MESSAGE_BYTES",
    "UNIT_PROFILES",
    "BeyondLimit",
    "BlockingCrclClient",
    "ClientOptions",
    "CommandFailed",
    "CommandTimeouts",
    "Connection",
    "ConnectionFailed",
    "Connector",
    "CrclClient",
    "CrclError",
    "CrclProxy",
    "CrclRobot",
    "CrclServer",
    "CrclUnits",
    "DecodeError",
    "DocumentProblem",
    "EncodeError",
    "EndpointCfg",
    "ExampleArm",
    "FramingError",
    "GripperKind",
    "GripperReading",
    "JointFacts",
    "JointTarget",
    "LinkLost",
    "MessageStream",
    "NoAnswer",
    "NotAvailable",
    "Outcome",
    "OutcomeState",
    "Pace",
    "ProgramPlace",
    "ProgramProgress",
    "ProgramReport",
    "ProxiedMessage",
    "Quantity",
    "RobotClock",
    "RobotReading",
    "Screw",
    "SensorReading",
    "SwitchRefused",
    "SwitchReport",
    "Target",
    "Targets",
    "TargetsCfg",
    "Tolerance",
    "WallClock",
    "Waypoint",
    "XmlLog",
    "check",
    "decode",
    "encode",
    "read_xml_log",
    "run_program",
    "serve_example_arm",
    "tcp",
]
__all__ += messages.__all__
