"""A camera on a robot's flange as it really is: mounted with an error, with the error of its lens."""

from __future__ import annotations

from dataclasses import replace

from cellwright.cells.actual import draw_error, draw_lens
from cellwright.core.camera import Camera
from cellwright.core.rng import RandomStreams
from cellwright.sim.world import World

__all__ = ["actual_flange_camera"]


def actual_flange_camera(world: World, told: Camera) -> Camera:
    """Returns the camera that is there in place of the one that is told; one draw per seed and name.

    Args:
        world: Whose errors of cameras and lenses are drawn from.
        told: The camera as it is known, its pose in the flange's frame.
    """
    streams, errors = RandomStreams(world.seed), world.cell.actual
    error = draw_error(errors.camera, streams.stream(f"layout/flange/{told.name}"))
    lens_error = draw_lens(errors.lens, streams.stream(f"layout/flange/{told.name}/lens"))
    return replace(told, pose_in_world=told.pose_in_world @ error, lens_error=lens_error)
