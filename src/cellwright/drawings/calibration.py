"""Drawings and calibrations: the drawings that one belongs to, told by digests, and drawings corrected by it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np

from cellwright.catalogue import FURNITURE
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.drawings.cameras import drawn_cameras
from cellwright.drawings.prior import DETECTORS, FLAT_DETECTORS, Drawings
from cellwright.perception.calibration import Calibration, DrawnPlaces
from cellwright.perception.calibration.files import FARTHEST_M

__all__ = ["calibrated_drawings", "drawn_places"]

DIGITS = 9
ON_TABLE_M = 0.02  # a tray that is drawn so near to the height of a table stands on it
DETECTOR_KEYS = ("camera", "plane_m", "planes")  # that say where it takes things to be, besides its kind


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
        kind = FLAT_DETECTORS[0] if line.get("type") in FLAT_DETECTORS else line.get("type")  # whatever their source
        entries[f"detectors.{name}"] = [kind, *(line.get(key) for key in DETECTOR_KEYS)]
    return DrawnPlaces(
        cell=cell.name,
        digests={entry: _digest(drawn) for entry, drawn in entries.items()},
        bases=layout.bases,
        fixtures=layout.fixtures,
        detectors=frozenset(detectors),
        cameras=drawn_cameras(drawings),
    )


def _numbers(pose: Pose) -> list[float]:
    return [round(float(number), DIGITS) + 0.0 for number in np.concatenate([pose.position, pose.quaternion])]


def _digest(drawn: Any) -> str:
    return hashlib.sha256(json.dumps(drawn, sort_keys=True, default=str).encode()).hexdigest()[:12]


def calibrated_drawings(drawings: Drawings, calibration: Calibration) -> Drawings:
    """Returns drawings corrected by a calibration: bases, tools, tables with what stands on them, fixtures, cameras."""
    cell = drawings.cell
    robots = {name: {"base": _pose_keys(robot.base.pose)} for name, robot in calibration.robots.items()}
    fixtures = {name: {"pose": _pose_keys(fixture.pose)} for name, fixture in calibration.fixtures.items()}
    trays: dict[str, Any] = {}
    for name, surface in calibration.surfaces.items():
        figures, pose = FURNITURE.get(cell.fixtures[name].model), drawings.layout.fixtures[name]
        if not isinstance(figures, TableFigures):
            raise BadInput(f"surfaces.{name}: the cell's {name} is no table; calibrate the cell again")
        top_m = float(pose.position[2]) + figures.top_m
        up_m = surface.height_at(pose.position) - top_m
        if abs(up_m) > FARTHEST_M:
            raise BadInput(
                f"surfaces.{name}: {abs(up_m):.3g} m {'above' if up_m > 0 else 'below'} its drawing (allowed "
                f"{FARTHEST_M:g} m): units mixed up, or something else was measured; calibrate the cell again"
            )
        if name not in fixtures:
            fixtures[name] = {"pose": _pose_keys(_raised(pose, up_m))}
        for tray in drawings.layout.trays:
            at, half_m = pose.inverse() @ tray.pose_in_world, np.array(figures.size_m) / 2
            if (np.abs(at.position[:2]) <= half_m).all() and abs(at.position[2] - figures.top_m) <= ON_TABLE_M:
                up_m = surface.height_at(tray.pose_in_world.position) - top_m
                trays[tray.name] = {"pose": _pose_keys(_raised(tray.pose_in_world, up_m))}
    cameras = {
        name: {"pose": _pose_keys(camera.pose_of_camera)}
        for name, camera in calibration.cameras.items()
        if camera.frame == "world"
    }
    changes = {"robots": robots, "fixtures": fixtures, "trays": trays} | ({"cameras": cameras} if cameras else {})
    changed = cell.changed(changes, cell.where)
    offsets = {name: robot.tool.pose for name, robot in calibration.robots.items()}
    return replace(
        Drawings.of(changed),
        tool_offsets={name: pose for name, pose in offsets.items() if _is_some(pose)},
        registered_detectors=frozenset(calibration.detectors),
    )


def _raised(pose: Pose, up_m: float) -> Pose:
    return Pose(pose.position + [0.0, 0.0, up_m], pose.quaternion)


def _is_some(pose: Pose) -> bool:
    return not pose.is_close(Pose.identity(), tolerance_m=0.0, tolerance_rad=0.0)


def _pose_keys(pose: Pose) -> dict[str, list[float]]:
    return {"xyz_m": pose.position.tolist(), "rpy_deg": np.degrees(pose.rpy).tolist()}
