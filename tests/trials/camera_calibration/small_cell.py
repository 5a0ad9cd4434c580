"""A small cell with a camera above a table, whose errors are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.perception.calibration import CalibratedCamera
from cellwright.sim import World

OPTICAL = Pose.from_xyz_rpy([0, 0, 0], [-np.pi / 2, 0, -np.pi / 2])
SMALL: dict[str, Any] = {
    "name": "small",
    "title": "A table under a camera",
    "fidelity": "kinematic",
    "fixtures": {"table": {"model": "shared_table", "pose": {"xyz_m": [0.0, 0.0, 0.0]}}},
    "cameras": {
        "eye": {
            "pose": {"xyz_m": [0.0, 0.0, 1.75], "rpy_deg": [0, 85, 90]},
            "fov_deg": 52,
            "resolution_px": [640, 480],
        }
    },
    "actual": {
        "camera": {"x_m": 0.02, "y_m": -0.015, "z_m": 0.01, "roll_deg": 1.0, "pitch_deg": -0.8, "yaw_deg": 1.5},
        "lens": {"edge_px": -6.0, "centre_column_px": 5.0, "centre_row_px": -4.0},
    },
}


def small_cell(**changes: Any) -> Cell:
    """Returns the cell, some of its sections replaced."""
    return Cell.model_validate({**SMALL, **changes})


def off_m(own: CalibratedCamera, cell: Cell, name: str, depth_m: float, seed: int = 0) -> tuple[float, float, float]:
    """Returns how far a calibrated camera is off: its position, its direction in degrees, and on a plane before it."""
    actual = World(cell, seed).layout.cameras[name]
    true = actual.pose_in_world @ OPTICAL
    grid = np.array([(x, y, 1.0) for x in np.linspace(-0.35, 0.35, 5) for y in np.linspace(-0.25, 0.25, 5)])
    points = true.apply(depth_m * grid)
    seen = actual.pixels(points)
    inside = own.pose.pose.inverse().apply(points)
    slopes = inside[:, :2] / inside[:, 2:]
    k1, k2, p1, p2, _ = own.distortion
    r2 = (slopes**2).sum(axis=1)
    x, y = slopes.T
    radial = 1 + k1 * r2 + k2 * r2**2
    bent = np.column_stack(
        [x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y]
    )
    told = bent * own.focal_px + own.centre_px
    on_plane = np.linalg.norm(told - seen, axis=1).max() * depth_m / actual.focal_px
    away = own.pose.pose
    return away.distance_m(true), float(np.degrees(away.angle_rad(true))), float(on_plane)
