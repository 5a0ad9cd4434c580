"""Viewing for people: scene and run document of the viewer, traces, live page, video."""

from cellwright.viewing.page import viewer_page

__all__ = ["viewer_page"]
