"""The places from which a run is filmed: the cell's own view, a free one, or any of the cell's cameras."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cellwright.core.camera import Camera
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.models.furniture import vertical_fov_rad
from cellwright.rendering import Frustum, View
from cellwright.sensors import make_sensor
from cellwright.sensors.image_camera import ImageCamera
from cellwright.sim import World
from cellwright.sim.picture import cell_view

__all__ = ["Eye", "camera_names", "eye_of"]


class Eye:
    """An eye that may move with what carries it.

    Attributes:
        frustum: Returns its place and its cone at the moment that the world is posed in.
        size_px: The picture's own size; None where any will do.
    """

    def __init__(self, frustum: Callable[[], Frustum], size_px: tuple[int, int] | None = None) -> None:
        self.frustum = frustum
        self.size_px = size_px


def eye_of(world: World, camera: str | View | None, aspect: float) -> Eye:
    """Returns the eye for a camera by name, for a free view, or for the cell's own view."""
    if not isinstance(camera, str):
        view = cell_view(world, aspect) if camera is None else camera
        return Eye(lambda: view.resolve(*world.appearance.now()))
    lines = _sensor_lines(world)
    if camera in lines:
        line = lines[camera]
        if line.get("robot") is not None:
            return _flange_eye(world, line)
        camera = str(line.get("camera") or line.get("left"))
    if camera in world.layout.cameras:
        lens = world.layout.cameras[camera]
        return Eye(lambda: _frustum(lens, lens.pose_in_world), lens.resolution_px)
    if camera in _mobile_cameras(world):
        own = View(camera=camera)
        return Eye(lambda: own.resolve(*world.appearance.now()))
    raise UnknownName("camera", camera, camera_names(world), world.cell.where)


def camera_names(world: World) -> list[str]:
    """Returns the names of all cameras of a world, and of the sensors that look through them."""
    return [*world.layout.cameras, *_sensor_lines(world), *_mobile_cameras(world)]


def _sensor_lines(world: World) -> dict[str, Mapping[str, Any]]:
    """Returns the sensors that look through a camera, by their names."""
    looking = [line for _, line in world.cell.sensor_lines() if line.get("camera") or line.get("left") or _films(line)]
    return {str(line.get("name") or line.get("camera") or line.get("robot")): line for line in looking}


def _films(line: Mapping[str, Any]) -> bool:
    return line.get("robot") is not None and str(line.get("type")).endswith("camera")


def _mobile_cameras(world: World) -> list[str]:
    return [f"{name}/{robot.figures.camera.name}" for name, robot in world.mobiles.items()]


def _flange_eye(world: World, line: Mapping[str, Any]) -> Eye:
    sensor = make_sensor({**line, "rate_hz": 0.0}, world, f"{world.cell.where}: camera {line.get('name') or ''}")
    assert isinstance(sensor, ImageCamera)
    assert sensor.mount.robot is not None
    lens, robot = replace(sensor.mount.actual, lens_error=None), sensor.mount.robot
    carrier = world.pose_of if sensor.mount.is_mobile else world.flange_pose
    return Eye(lambda: _frustum(lens, carrier(robot) @ lens.pose_in_world), lens.resolution_px)


def _frustum(lens: Camera, pose_in_world: Pose) -> Frustum:
    forward, left, up = pose_in_world.rotation_matrix.T
    axes = np.column_stack([-left, up, -forward])
    return Frustum(np.array(pose_in_world.position), axes, vertical_fov_rad(lens.fov_rad, lens.resolution_px))
