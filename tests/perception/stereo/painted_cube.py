"""Pictures of a cube on a plate, painted by plain geometry: no renderer, no cell."""

from __future__ import annotations

import cv2
import numpy as np

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.perception.stereo.sparse_projection import project
from cellwright.perception.stereo.sparse_silhouette import cube_corners

TASK = CubeOnPlate(min_xy_m=(0.0, 0.9), max_xy_m=(0.8, 1.2), plate_z_m=0.75, edge_m=0.08)
OPTICAL = Pose.from_xyz_rpy([0, 0, 0], [-np.pi / 2, 0, -np.pi / 2])
FOCAL_PX, SIZE_PX = 732.2, 800
PLATE, TABLE, SHADE = (205, 194, 160), (120, 124, 130), (0.50, 0.515, 0.54)
COLOURS = {"white": (215, 215, 215), "red": (165, 26, 22), "wood": (158, 117, 73), "grey": (110, 110, 112)}
FINE = 3
FACES = ((1, 3, 7, 5), (0, 1, 5, 4), (2, 3, 7, 6), (0, 1, 3, 2), (4, 5, 7, 6))  # the top first, then the sides
NORMALS = ((0, 0, 1), (0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0))


def picture(side: str, **changes) -> Picture:
    """Returns a black picture of one of two parallel cameras, as they hang in the ROVI workcell."""
    x = {"left": 0.44, "right": 0.36}[side]
    facts = {
        "source": f"stereo_{side}",
        "time_s": 1.0,
        "pixels": np.zeros((SIZE_PX, SIZE_PX, 3), np.uint8),
        "matrix": np.array([[FOCAL_PX, 0, SIZE_PX / 2], [0, FOCAL_PX, SIZE_PX / 2], [0, 0, 1]]),
        "distortion": np.zeros(5),
        "pose_camera_in_world": Pose.from_xyz_rpy((x, 1.40, 1.50), (0, 1.2, -np.pi / 2)) @ OPTICAL,
    }
    return Picture(**{**facts, **changes})


def painted(place=None, colour="grey", shadow=None, edge_m=0.08, sd=0.0, seed=0):
    """Returns left and right picture.

    Args:
        place: x, y and yaw of the cube; None for the empty plate.
        colour: A key of `COLOURS`, of its lit top.
        shadow: Corners (n, 2) of a shadow on the plate.
        edge_m: Its edge.
        sd: Noise in grey levels.
        seed: Of the noise.
    """
    rng = np.random.default_rng(seed)
    return tuple(_painted(picture(side), place, colour, shadow, edge_m, sd, rng) for side in ("left", "right"))


def _painted(empty, place, colour, shadow, edge_m, sd, rng):
    canvas = np.full((SIZE_PX * FINE, SIZE_PX * FINE, 3), TABLE, np.uint8)
    (x0, y0), (x1, y1) = TASK.min_xy_m, TASK.max_xy_m
    _fill(canvas, empty, [(x, y, 0.75) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))], PLATE)
    dark = tuple(int(c * s) for c, s in zip(PLATE, SHADE, strict=True))
    if shadow is not None:
        _fill(canvas, empty, [(x, y, 0.75) for x, y in shadow], dark)
    if place is not None:
        corners = cube_corners(np.array([*place, edge_m]), 0.75)[0]
        fallen = corners[1::2, :2] + np.array([-0.42, 0.50]) * edge_m  # the top's, along the light
        _fill(canvas, empty, [(*p, 0.75) for p in np.vstack([corners[::2, :2], fallen])], dark)
        eye = empty.pose_camera_in_world.position
        cos, sin = np.cos(place[2]), np.sin(place[2])
        for face, (a, b, c) in zip(FACES[::-1], NORMALS[::-1], strict=True):
            normal = np.array([cos * a - sin * b, sin * a + cos * b, c])
            light = 1.0 if c else 0.38 + 0.06 * a + 0.03 * b
            if normal @ (eye - corners[list(face)].mean(axis=0)) > 0:
                _fill(canvas, empty, corners[list(face)], tuple(int(light * v) for v in COLOURS[colour]))
    pixels = cv2.resize(canvas, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA)
    if sd:
        pixels = np.clip(np.round(pixels + rng.normal(0, sd, pixels.shape)), 0, 255).astype(np.uint8)
    return Picture(**{**empty.__dict__, "pixels": pixels})


def _fill(canvas, empty, points, colour):
    seen = np.float32(project(empty, np.array(points)) * FINE - 0.5)
    outline = np.round(cv2.convexHull(seen) * 16).astype(np.int32)
    cv2.fillConvexPoly(canvas, outline, colour, shift=4)
