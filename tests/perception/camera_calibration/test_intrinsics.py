"""Tests for intrinsics from views of a board."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perception.camera_calibration.synthetic import CENTRE, FOCAL, KNOWN, SIZE, facing, seen, view

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration import PatternView, board_pose, fit_intrinsics


def test_the_known_camera_is_recovered_from_noisy_views() -> None:
    rng = np.random.default_rng(3)
    fit = fit_intrinsics([view(facing(rng), rng) for _ in range(15)])
    found = fit.intrinsics
    assert found.focal_px == pytest.approx((FOCAL, FOCAL), rel=0.003)
    assert found.centre_px == pytest.approx(CENTRE, abs=1.5)
    assert fit.rms_px < 0.1
    assert fit.focal_sd_px < 0.003 * FOCAL
    grid = np.array([(x, y, 1.0) for x in np.linspace(-0.35, 0.35, 8) for y in np.linspace(-0.25, 0.25, 6)])
    assert np.abs(found.project(grid) - seen(grid)).max() < 2.0  # all over the picture, axis and lens together


def test_projection_is_the_inverse_of_a_pose_from_the_same_view() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        pose = facing(rng)
        one = view(pose, rng, sd_px=0.0)
        assert np.abs(KNOWN.project(pose.apply(one.points_m)) - one.pixels).max() < 1e-9
        assert board_pose(one, KNOWN).is_close(pose, tolerance_m=1e-4, tolerance_rad=1e-4)


def test_a_view_with_wrong_corners_is_left_out_and_the_rest_fits() -> None:
    rng = np.random.default_rng(4)
    views = [view(facing(rng), rng) for _ in range(12)]
    wrong = views[4]
    shifted = wrong.pixels + rng.normal(0, 4.0, wrong.pixels.shape)
    views[4] = PatternView(source="eye", size_px=SIZE, numbers=wrong.numbers, points_m=wrong.points_m, pixels=shifted)
    fit = fit_intrinsics(views)
    assert not fit.used[4]
    assert fit.used.sum() == 11
    assert fit.rms_px < 0.1


def test_too_few_views_are_refused_with_the_reason_of_those_that_failed() -> None:
    rng = np.random.default_rng(0)
    views = [view(facing(rng), rng) for _ in range(4)]
    views += [PatternView(source="eye", reason="the board is not in view of eye: 3 of its 35 corners")] * 6
    with pytest.raises(JobFailed, match=r"too few views of the board: 4 of 10.*not in view.*show it"):
        fit_intrinsics(views)


def test_views_that_are_all_alike_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(JobFailed, match=r"too much alike.*tilt it"):
        fit_intrinsics([view(Pose.from_xyz_rpy([0.01 * k, 0, 0.9], [np.pi, 0, 0]), rng) for k in range(10)])


def test_pictures_of_two_sizes_are_refused() -> None:
    rng = np.random.default_rng(0)
    views = [view(facing(rng), rng) for _ in range(8)]
    other = views[0]
    views[0] = PatternView(
        source="eye", size_px=(640, 480), numbers=other.numbers, points_m=other.points_m, pixels=other.pixels
    )
    with pytest.raises(BadInput, match="different sizes"):
        fit_intrinsics(views)


def test_views_of_the_middle_alone_come_with_a_note_that_the_edges_are_guessed() -> None:
    rng = np.random.default_rng(8)
    views = []
    for _ in range(12):
        pose = facing(rng, aside=0.02)
        views.append(view(Pose(pose.position * [1, 1, 2.2], pose.quaternion), rng, sd_px=0.01))
    assert any("edges are guessed" in note for note in fit_intrinsics(views).notes)
