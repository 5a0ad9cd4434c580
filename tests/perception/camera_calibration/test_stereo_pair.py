"""Tests for the relative pose of two cameras."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perception.camera_calibration.synthetic import KNOWN, facing, view

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration import PatternView, fit_stereo_pair

RIGHT = Pose.from_xyz_rpy([0.08, 0.002, -0.001], np.radians([0.3, -2.0, 0.5]))


def _pair(seed: int, count: int = 10) -> tuple[list[PatternView], list[PatternView]]:
    rng = np.random.default_rng(seed)
    boards = [facing(rng) for _ in range(count)]
    left = [view(pose, rng, 0.05, "left") for pose in boards]
    return left, [view(RIGHT.inverse() @ pose, rng, 0.05, "right") for pose in boards]


def test_the_relative_pose_is_recovered_though_each_sees_other_corners() -> None:
    fit = fit_stereo_pair(*_pair(1), KNOWN, KNOWN)
    assert fit.pose_right_in_left.is_close(RIGHT, tolerance_m=0.0005, tolerance_rad=0.0005)
    assert fit.rms_px < 0.12
    assert fit.epipolar_px < 0.12


def test_pictures_of_different_moments_are_refused() -> None:
    left, right = _pair(1)
    with pytest.raises(JobFailed, match="same moment"):
        fit_stereo_pair(left, [*right[1:], right[0]], KNOWN, KNOWN)


def test_a_pair_that_sees_the_board_together_too_seldom_is_refused() -> None:
    left, right = _pair(1)
    right[3:] = [PatternView(source="right", reason="hidden")] * 7
    with pytest.raises(JobFailed, match=r"left and right.*3 of 10"):
        fit_stereo_pair(left, right, KNOWN, KNOWN)
