"""The entries of a cell's drawings that a calibration belongs to, with digests: another layout is told by name."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from cellwright.core.pose import Pose
from cellwright.drawings.prior import DETECTORS, Drawings
from cellwright.perception.calibration import DrawnPlaces

__all__ = ["drawn_places"]

DIGITS = 9
DETECTOR_KEYS = ("type", "camera", "plane_m", "planes")  # that say where it takes things to be


def drawn_places(drawings: Drawings) -> DrawnPlaces:
    """Returns the entries that a calibration is about: robots, fixtures, cameras, detectors.

    Trays and parts are loose, and errors are not drawn: neither makes a calibration an old one.
    """
    cell, layout = drawings.cell, drawings.layout
    entries: dict[str, Any] = {}
    for name, robot in cell.robots.items():
        entries[f"robots.{name}"] = [robot.model, robot.tool, robot.changer, _numbers(layout.bases[name])]
    for name, fixture in cell.fixtures.items():
        entries[f"fixtures.{name}"] = [fixture.model, _numbers(layout.fixtures[name])]
    for name, camera in layout.cameras.items():
        entries[f"cameras.{name}"] = [
            _numbers(camera.pose_in_world),
            round(camera.fov_rad, DIGITS),
            list(camera.resolution_px),
        ]
    detectors = {str(line.get("name")): line for _, line in cell.sensor_lines() if line.get("type") in DETECTORS}
    for name, line in detectors.items():
        entries[f"detectors.{name}"] = [line.get(key) for key in DETECTOR_KEYS]
    return DrawnPlaces(
        cell=cell.name,
        digests={entry: _digest(drawn) for entry, drawn in entries.items()},
        bases=layout.bases,
        fixtures=layout.fixtures,
        detectors=frozenset(detectors),
    )


def _numbers(pose: Pose) -> list[float]:
    return [round(float(number), DIGITS) + 0.0 for number in np.concatenate([pose.position, pose.quaternion])]


def _digest(drawn: Any) -> str:
    return hashlib.sha256(json.dumps(drawn, sort_keys=True, default=str).encode()).hexdigest()[:12]
