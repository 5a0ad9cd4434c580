"""Pictures of a cell, with or without a graphics library and always without a display."""

from cellwright.rendering.choose import Renderer, RendererStatus, available_renderers, choose_renderer
from cellwright.rendering.environment import FLOOR_MATERIAL, add_environment
from cellwright.rendering.framing import auto_view
from cellwright.rendering.gl import GlRenderer
from cellwright.rendering.png import save_png
from cellwright.rendering.ray import RayRenderer
from cellwright.rendering.view import View

__all__ = [
    "FLOOR_MATERIAL",
    "GlRenderer",
    "RayRenderer",
    "Renderer",
    "RendererStatus",
    "View",
    "add_environment",
    "auto_view",
    "available_renderers",
    "choose_renderer",
    "save_png",
]
