"""Viewing for people: scene and run document of the viewer, traces, live page, video."""

from cellwright.viewing.document import RunDocument
from cellwright.viewing.packet import Blob, pack, unpack
from cellwright.viewing.page import viewer_page
from cellwright.viewing.replay import ReplayWorld
from cellwright.viewing.scene import make_scene
from cellwright.viewing.trace import trace_blocks, write_comparison, write_trace
from cellwright.viewing.video import Video, write_video

__all__ = [
    "Blob",
    "ReplayWorld",
    "RunDocument",
    "Video",
    "make_scene",
    "pack",
    "trace_blocks",
    "unpack",
    "viewer_page",
    "write_comparison",
    "write_trace",
    "write_video",
]
