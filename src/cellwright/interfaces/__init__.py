"""Interfaces: how a controller from outside talks to a cell, over CRCL, the vision socket and the control socket.

The names are imported when they are used: CRCL alone takes longer than the rest of a small command.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.interfaces.control import ControlDoor
    from cellwright.interfaces.crcl import CrclDoors
    from cellwright.interfaces.crcl_arm import CrclArm
    from cellwright.interfaces.crcl_frames import ArmDoor
    from cellwright.interfaces.vision import VisionDoors
    from cellwright.interfaces.vision_blocking import BlockingVisionClient
    from cellwright.interfaces.vision_client import Frame, NoFrame, VisionClient
    from cellwright.interfaces.vision_server import LineEncoder, VisionServer
    from cellwright.interfaces.vision_text import AngleUnit, VisionEncoder, VisionGroup, decode_line, encode_line

__all__ = [
    "AngleUnit",
    "ArmDoor",
    "BlockingVisionClient",
    "ControlDoor",
    "CrclArm",
    "CrclDoors",
    "Frame",
    "LineEncoder",
    "NoFrame",
    "VisionClient",
    "VisionDoors",
    "VisionEncoder",
    "VisionGroup",
    "VisionServer",
    "decode_line",
    "encode_line",
]

__getattr__ = lazy_names(
    __name__,
    {
        "ArmDoor": ".crcl_frames",
        "BlockingVisionClient": ".vision_blocking",
        "ControlDoor": ".control",
        "CrclArm": ".crcl_arm",
        "CrclDoors": ".crcl",
        "VisionDoors": ".vision",
    }
    | dict.fromkeys(("Frame", "NoFrame", "VisionClient"), ".vision_client")
    | dict.fromkeys(("LineEncoder", "VisionServer"), ".vision_server")
    | dict.fromkeys(("AngleUnit", "VisionEncoder", "VisionGroup", "decode_line", "encode_line"), ".vision_text"),
)
