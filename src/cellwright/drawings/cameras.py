"""Cameras of the drawings: those of the cell, those on flanges, and pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from cellwright.core.camera import Camera
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.drawings.prior import Drawings
from cellwright.perception.calibration.camera import DrawnCamera

__all__ = ["camera_of_sensor", "drawn_cameras", "named_cameras"]

PICTURES = ("color_camera", "depth_camera", "segmentation_camera")
USUAL: dict[str, Any] = {
    "xyz_m": (0.0, 0.0, 0.0),
    "rpy_deg": (0.0, -90.0, 0.0),
    "fov_deg": 60.0,
    "resolution_px": (640, 480),
}  # of a camera on a flange, as sensors have them
PAIR_M, PAIR_DEG = 0.5, 20.0  # two cameras that are nearer and turned less are a pair


def drawn_cameras(drawings: Drawings) -> dict[str, DrawnCamera]:
    """Returns name -> camera: those of the cell, and sensors on flanges by the names of the sensors."""
    found = {name: DrawnCamera(name, camera) for name, camera in drawings.layout.cameras.items()}
    for _, line in drawings.cell.sensor_lines():
        robot = line.get("robot")
        if line.get("type") in PICTURES and robot in drawings.cell.robots and line.get("camera") is None:
            name = str(line.get("name") or robot)
            one = {key: line.get(key) or usual for key, usual in USUAL.items()}
            pose = Pose.from_xyz_rpy(one["xyz_m"], np.radians(one["rpy_deg"]))
            columns, rows = one["resolution_px"]
            camera = Camera(name, pose, float(np.radians(one["fov_deg"])), (int(columns), int(rows)), rate_hz=5000.0)
            found.setdefault(name, DrawnCamera(name, camera, str(robot)))
    return found


def camera_of_sensor(drawings: Drawings, sensor: str, side: str = "") -> str:
    """Returns the camera through which a sensor takes pictures, under whose name its calibration is kept.

    Args:
        drawings: Of the cell.
        sensor: The source in its messages.
        side: `left` or `right` of a pair.
    """
    for _, line in drawings.cell.sensor_lines():
        if str(line.get("name") or line.get("camera") or line.get("robot")) == sensor:
            if line.get("type") == "stereo_camera":
                return str(line.get(side or "left"))
            return str(line.get("camera") or sensor)
    return sensor


def named_cameras(drawings: Drawings, names: Sequence[str]) -> tuple[list[DrawnCamera], list[tuple[str, str]]]:
    """Returns the cameras of some names, of cameras or of sensors; and which two are a stereo pair, left first.

    Raises:
        UnknownName: One is neither.
        BadInput: One is named twice.
    """
    known = drawn_cameras(drawings)
    sensors = {str(line.get("name")): line for _, line in drawings.cell.sensor_lines() if line.get("name")}
    wanted: list[str] = []
    for name in names:
        line = sensors.get(name, {})
        if name not in known and line.get("type") == "stereo_camera":
            wanted += [str(line["left"]), str(line["right"])]
        else:
            wanted.append(name if name in known else str(line.get("camera") or name))
    for name in wanted:
        if name not in known:
            raise UnknownName("camera", name, known, drawings.cell.where)
        if wanted.count(name) > 1:
            raise BadInput(f"--camera {name} is named twice")
    cameras = [known[name] for name in wanted]
    return cameras, [pair for one, other in combinations(cameras, 2) if (pair := _pair(one, other))]


def _pair(one: DrawnCamera, other: DrawnCamera) -> tuple[str, str] | None:
    """Returns two cameras as left and right, if they look the same way from near each other."""
    if one.robot is not None or other.robot is not None or one.camera.resolution_px != other.camera.resolution_px:
        return None
    between = one.camera.pose_in_world.inverse() @ other.camera.pose_in_world
    if np.linalg.norm(between.position) > PAIR_M or np.degrees(between.angle_rad(Pose.identity())) > PAIR_DEG:
        return None
    return (one.name, other.name) if between.position[1] < 0 else (other.name, one.name)
