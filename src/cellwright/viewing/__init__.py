"""Viewing for people: scene and run document of the viewer, traces, live page, video."""

from cellwright.viewing.document import RunDocument
from cellwright.viewing.packet import Blob, pack, unpack
from cellwright.viewing.page import viewer_page
from cellwright.viewing.scene import make_scene

__all__ = ["Blob", "RunDocument", "make_scene", "pack", "unpack", "viewer_page"]
