"""Pictures of a cell, with or without a graphics library and always without a display."""

from cellwright.rendering.choose import RendererStatus, available_renderers, choose_renderer
from cellwright.rendering.environment import FLOOR_MATERIAL, add_environment
from cellwright.rendering.framing import auto_view
from cellwright.rendering.gl import GlRenderer
from cellwright.rendering.png import save_png
from cellwright.rendering.quality import BEST, Quality
from cellwright.rendering.ray import RayRenderer
from cellwright.rendering.renderer import Renderer
from cellwright.rendering.shot import DEPTH, GEOM, RGB, Shot
from cellwright.rendering.soft import SoftRenderer
from cellwright.rendering.view import Frustum, View

__all__ = [
    "BEST",
    "DEPTH",
    "FLOOR_MATERIAL",
    "GEOM",
    "RGB",
    "Frustum",
    "GlRenderer",
    "Quality",
    "RayRenderer",
    "Renderer",
    "RendererStatus",
    "Shot",
    "SoftRenderer",
    "View",
    "add_environment",
    "auto_view",
    "available_renderers",
    "choose_renderer",
    "save_png",
]
