"""Interfaces between a cell and controllers outside: CRCL, sockets for vision, pictures and control.

The names are imported when they are used: CRCL alone takes longer than the rest of a small command.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.interfaces.control import ControlInterface
    from cellwright.interfaces.crcl import CrclInterface
    from cellwright.interfaces.crcl_arm import CrclArm
    from cellwright.interfaces.crcl_frames import CrclArmFrame
    from cellwright.interfaces.picture_server import PICTURE_PORT, PictureServer
    from cellwright.interfaces.pictures import PictureInterface
    from cellwright.interfaces.usartruth import USARTRUTH_PORT, UsarTruthInterface
    from cellwright.interfaces.vision import VisionInterface
    from cellwright.interfaces.vision_blocking import BlockingDetectionsClient, BlockingVisionClient
    from cellwright.interfaces.vision_client import DetectionsClient, Frame, NoFrame, VisionClient
    from cellwright.interfaces.vision_frames import decode_frame, encode_frame
    from cellwright.interfaces.vision_server import LineEncoder, VisionServer
    from cellwright.interfaces.vision_text import AngleUnit, VisionEncoder, VisionGroup, decode_line, encode_line

__all__ = [
    "PICTURE_PORT",
    "USARTRUTH_PORT",
    "AngleUnit",
    "BlockingDetectionsClient",
    "BlockingVisionClient",
    "ControlInterface",
    "CrclArm",
    "CrclArmFrame",
    "CrclInterface",
    "DetectionsClient",
    "Frame",
    "LineEncoder",
    "NoFrame",
    "PictureInterface",
    "PictureServer",
    "UsarTruthInterface",
    "VisionClient",
    "VisionEncoder",
    "VisionGroup",
    "VisionInterface",
    "VisionServer",
    "decode_frame",
    "decode_line",
    "encode_frame",
    "encode_line",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".control": "ControlInterface",
        ".crcl": "CrclInterface",
        ".crcl_arm": "CrclArm",
        ".crcl_frames": "CrclArmFrame",
        ".picture_server": "PICTURE_PORT PictureServer",
        ".pictures": "PictureInterface",
        ".usartruth": "USARTRUTH_PORT UsarTruthInterface",
        ".vision": "VisionInterface",
        ".vision_blocking": "BlockingDetectionsClient BlockingVisionClient",
        ".vision_client": "DetectionsClient Frame NoFrame VisionClient",
        ".vision_frames": "decode_frame encode_frame",
        ".vision_server": "LineEncoder VisionServer",
        ".vision_text": "AngleUnit VisionEncoder VisionGroup decode_line encode_line",
    },
)
