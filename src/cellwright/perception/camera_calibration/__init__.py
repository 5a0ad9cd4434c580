"""Calibration of cameras from pictures of printed patterns: intrinsics, poses, hand-eye, stereo pairs."""

from cellwright.perception.camera_calibration.camera_pose import CameraPoseFit, locate_camera
from cellwright.perception.camera_calibration.hand_eye import HandEyeFit, fit_hand_eye, solve_hand_eye
from cellwright.perception.camera_calibration.intrinsics import Intrinsics, IntrinsicsFit, board_pose, fit_intrinsics
from cellwright.perception.camera_calibration.stereo_pair import StereoPairFit, fit_stereo_pair
from cellwright.perception.camera_calibration.views import (
    BoardFinder,
    PatternView,
    TagFinder,
    need_vision,
    tag_corners_m,
)

__all__ = [
    "BoardFinder",
    "CameraPoseFit",
    "HandEyeFit",
    "Intrinsics",
    "IntrinsicsFit",
    "PatternView",
    "StereoPairFit",
    "TagFinder",
    "board_pose",
    "fit_hand_eye",
    "fit_intrinsics",
    "fit_stereo_pair",
    "locate_camera",
    "need_vision",
    "solve_hand_eye",
    "tag_corners_m",
]
