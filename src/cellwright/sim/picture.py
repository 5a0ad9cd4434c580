"""A picture of a world, as its cell wants to be seen."""

from __future__ import annotations

from pathlib import Path

from cellwright.sim.render import View, auto_view, choose_renderer, save_png
from cellwright.sim.world import World

__all__ = ["cell_view", "take_picture"]

SIZE_PX = (1280, 720)


def cell_view(world: World) -> View:
    """The view that the cell's file asks for, or one that shows everything."""
    wanted = world.cell.view
    if wanted is None:
        return auto_view(*world.appearance.now())
    return View(eye_in_world_m=wanted.eye_m, target_in_world_m=wanted.target_m)


def take_picture(world: World, path: Path, size_px: tuple[int, int] = SIZE_PX) -> str:
    """Renders the world to a PNG file; returns the name of the renderer that did it."""
    renderer = choose_renderer()
    save_png(renderer.render(*world.appearance.now(), cell_view(world), size_px), path)
    return renderer.name
