"""Doors beside CRCL: what a cell shows to controllers from outside, in the words of other systems."""

from cellwright.bridges.vision_blocking import BlockingVisionClient
from cellwright.bridges.vision_client import Frame, NoFrame, VisionClient
from cellwright.bridges.vision_server import LineEncoder, VisionServer
from cellwright.bridges.vision_text import AngleUnit, VisionEncoder, VisionGroup, decode_line, encode_line

__all__ = [
    "AngleUnit",
    "BlockingVisionClient",
    "Frame",
    "LineEncoder",
    "NoFrame",
    "VisionClient",
    "VisionEncoder",
    "VisionGroup",
    "VisionServer",
    "decode_line",
    "encode_line",
]
