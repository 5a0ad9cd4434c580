"""Views of patterns as a camera that is known would have them, computed by itself: a pinhole and Brown's lens."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue.printed import CALIBRATION_BOARD
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration import BoardFinder, Intrinsics, PatternView

SIZE = (800, 600)
FOCAL, CENTRE, K1 = 900.0, (412.0, 287.0), -0.12
MATRIX = np.array([[FOCAL, 0, CENTRE[0]], [0, FOCAL, CENTRE[1]], [0, 0, 1.0]])
KNOWN = Intrinsics(SIZE, MATRIX, np.array([K1, 0, 0, 0, 0]))
BOARD = BoardFinder(CALIBRATION_BOARD)


def seen(points_in_camera_m: np.ndarray, k1: float = K1) -> np.ndarray:
    """Returns the pixels of points, by the definition of the model."""
    slopes = points_in_camera_m[:, :2] / points_in_camera_m[:, 2:]
    bent = slopes * (1 + k1 * (slopes**2).sum(axis=1, keepdims=True))
    return FOCAL * bent + CENTRE


def view(pose_board_in_camera: Pose, rng: np.random.Generator, sd_px: float = 0.05, source: str = "eye") -> PatternView:
    """Returns the view of the board at a pose, with noise; corners outside of the picture are left out."""
    pixels = seen(pose_board_in_camera.apply(BOARD.points_m)) + rng.normal(0, sd_px, (len(BOARD.points_m), 2))
    inside = ((pixels > 0) & (pixels < SIZE)).all(axis=1)
    numbers = np.flatnonzero(inside)
    return PatternView(
        source=source, size_px=SIZE, numbers=numbers, points_m=BOARD.points_m[numbers], pixels=pixels[numbers]
    )


def facing(rng: np.random.Generator, tilt_deg: float = 30.0, aside: float = 0.25) -> Pose:
    """Returns a board before the camera that faces it, tilted at random."""
    away = rng.uniform(0.7, 1.1)
    turn = np.radians([180 + rng.uniform(-tilt_deg, tilt_deg), rng.uniform(-tilt_deg, tilt_deg), rng.uniform(-40, 40)])
    return Pose.from_xyz_rpy([rng.uniform(-aside, aside) * away, rng.uniform(-aside, aside) * 0.7 * away, away], turn)
