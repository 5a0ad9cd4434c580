"""Pictures of a cell, with or without a graphics library and always without a display."""

from cellwright.sim.render.choose import Renderer, RendererStatus, available_renderers, choose_renderer
from cellwright.sim.render.framing import auto_view
from cellwright.sim.render.gl import GlRenderer
from cellwright.sim.render.png import save_png
from cellwright.sim.render.ray import RayRenderer
from cellwright.sim.render.stage import FLOOR_MATERIAL, dress_stage
from cellwright.sim.render.view import View

__all__ = [
    "FLOOR_MATERIAL",
    "GlRenderer",
    "RayRenderer",
    "Renderer",
    "RendererStatus",
    "View",
    "auto_view",
    "available_renderers",
    "choose_renderer",
    "dress_stage",
    "save_png",
]
