"""Cameras and sensors of a compiled specification, by the vocabulary of SDF."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import mujoco
import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import SensorDescription
from cellwright.models.exporting.text import number
from cellwright.models.furniture import CAMERA_TURN
from cellwright.models.importing.notes import Notes

__all__ = ["read_sensors"]

Kind = mujoco.mjtSensor
PAIRS = {
    (Kind.mjSENS_FORCE, Kind.mjSENS_TORQUE): "force_torque",
    (Kind.mjSENS_ACCELEROMETER, Kind.mjSENS_GYRO): "imu",
}
SINGLE = {Kind.mjSENS_MAGNETOMETER: "magnetometer"}


def read_sensors(
    spec: Any, compiled: Any, links: Mapping[int, str], prefix: str, notes: Notes
) -> list[SensorDescription]:
    """Returns the sensors on some links; what has no counterpart is noted.

    Args:
        spec: The specification.
        compiled: The compiled model.
        links: Number of a body -> its link, for those that are asked for.
        prefix: The prefix that is removed from names.
        notes: Gets a note for everything that is left out.
    """
    found = []
    for camera in range(compiled.ncam):
        if int(compiled.cam_bodyid[camera]) in links:
            found.append(_camera(compiled, camera, links, prefix))
    by_site: dict[int, dict[Any, str]] = {}
    for sensor in range(compiled.nsensor):
        kind, site = Kind(int(compiled.sensor_type[sensor])), int(compiled.sensor_objid[sensor])
        name = compiled.sensor(sensor).name or f"number {sensor}"
        if compiled.sensor_objtype[sensor] == mujoco.mjtObj.mjOBJ_SITE:
            if int(compiled.site_bodyid[site]) in links:
                by_site.setdefault(site, {})[kind] = name
        else:
            notes.dropped(f"sensor {name}", f"no counterpart for '{kind.name.removeprefix('mjSENS_').lower()}'")
    for site, kinds in by_site.items():
        pose = Pose(compiled.site_pos[site], compiled.site_quat[site])
        sensor_at = partial(SensorDescription, link=links[int(compiled.site_bodyid[site])], pose=pose)
        for pair, word in PAIRS.items():
            if any(kind in kinds for kind in pair):
                names = [kinds.pop(kind) for kind in pair if kind in kinds]
                settings = {"force_torque/frame": "sensor"} if word == "force_torque" else {}
                found.append(sensor_at(name=_common(names).removeprefix(prefix), kind=word, settings=settings))
        for kind, name in kinds.items():
            if kind in SINGLE:
                found.append(sensor_at(name=name.removeprefix(prefix), kind=SINGLE[kind]))
            else:
                what = kind.name.removeprefix("mjSENS_").lower()
                notes.dropped(f"sensor {name}", f"no counterpart for '{what}'")
    return found


def _camera(compiled: Any, camera: int, links: Mapping[int, str], prefix: str) -> SensorDescription:
    columns, rows = (max(1, int(n)) for n in compiled.cam_resolution[camera])
    vertical = np.radians(float(compiled.cam_fovy[camera]))
    return SensorDescription(
        name=compiled.camera(camera).name.removeprefix(prefix),
        kind="camera",
        link=links[int(compiled.cam_bodyid[camera])],
        pose=Pose(compiled.cam_pos[camera], compiled.cam_quat[camera]) @ CAMERA_TURN.inverse(),
        settings={
            "camera/horizontal_fov": number(2 * np.arctan(np.tan(vertical / 2) * columns / rows)),
            "camera/image/width": str(columns),
            "camera/image/height": str(rows),
        },
    )


def _common(names: list[str]) -> str:
    """Returns the common beginning of a pair's names: `wrist` of `wrist_force` and `wrist_torque`."""
    if len(names) == 1:
        return names[0]
    same = [a == b for a, b in zip(*names, strict=False)]
    length = same.index(False) if False in same else len(same)
    return names[0][:length].rstrip("_/") or names[0]
