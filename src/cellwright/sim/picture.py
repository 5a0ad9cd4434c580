"""A picture of a world, from the view of its cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cellwright.rendering import View, auto_view, choose_renderer, save_png
from cellwright.sim.world import World

__all__ = ["cell_view", "take_picture"]

SIZE_PX = (1280, 720)
ASTRAY_M = 0.5  # what has fallen so far beside the work is not looked for


def cell_view(world: World, aspect: float = 16 / 9) -> View:
    """Returns the view of the cell's file, or one that shows the work: robots, trays, parts, the tables below."""
    wanted = world.cell.view
    if wanted is not None:
        return View(eye_in_world_m=wanted.eye_m, target_in_world_m=wanted.target_m)
    loose = [*_at_work(world), *world.loose_tools]
    arena = ["arena"] if world.cell.arena is not None else []
    work = [*world.robots, *world.mobiles, *loose, *arena]
    return auto_view(*world.appearance.now(), aspect=aspect, work=work, loose=loose or [*world.mobiles])


def _at_work(world: World) -> list[str]:
    """Returns the loose objects, without those that were pushed out of the work area."""
    layout = world.layout
    drawn = [item.pose_in_world.position for item in layout.objects.values()]
    places = np.array([*drawn, *(base.position for base in layout.bases.values())]).reshape(-1, 3)
    if not len(places):
        return list(world.objects)
    low, high = places.min(axis=0) - ASTRAY_M, places.max(axis=0) + ASTRAY_M
    positions = {name: np.array(world.pose_of(name).position) for name in world.objects}
    return [name for name, at in positions.items() if (at > low).all() and (at < high).all()]


def take_picture(world: World, path: Path, size_px: tuple[int, int] = SIZE_PX) -> str:
    """Renders the world to a PNG file; returns the name of the renderer that did it."""
    renderer, (width, height) = choose_renderer(), size_px
    save_png(renderer.render(*world.appearance.now(), cell_view(world, width / height), size_px), path)
    return renderer.name
