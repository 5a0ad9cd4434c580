"""Tests for hand-eye calibration, with the camera in the hand and with the board in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.perception.camera_calibration.synthetic import KNOWN, facing, view

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration import PatternView, fit_hand_eye, solve_hand_eye


def _case(camera_moves: bool, rng: np.random.Generator, count: int = 12) -> tuple[list[Pose], list[Pose], Pose, Pose]:
    """Returns boards in the camera, hands in the base, the camera and the board, of a robot without errors."""
    if camera_moves:
        camera = Pose.from_xyz_rpy([0.05, -0.03, 0.08], np.radians([3, -8, 40]))  # in the hand
        board = Pose.from_xyz_rpy([0.4, 0.1, 0.02], np.radians([0, 0, 25]))  # in the base
    else:
        camera = Pose.from_xyz_rpy([0.5, 0.2, 1.4], np.radians([178, 4, 30]))  # in the base
        board = Pose.from_xyz_rpy([0.02, 0.1, 0.25], np.radians([80, 10, 15]))  # in the hand
    boards = [facing(rng, 25.0) for _ in range(count)]
    if camera_moves:
        hands = [board @ (camera @ t).inverse() for t in boards]
    else:
        hands = [camera @ t @ board.inverse() for t in boards]
    return boards, hands, camera, board


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_closed_form_is_exact_without_errors(seed: int, camera_moves: bool) -> None:
    boards, hands, camera, board = _case(camera_moves, np.random.default_rng(seed), 6)
    x, y = solve_hand_eye([h.inverse() if camera_moves else h for h in hands], boards)
    assert x.is_close(camera, tolerance_m=1e-7, tolerance_rad=1e-7)
    assert y.is_close(board, tolerance_m=1e-7, tolerance_rad=1e-7)


@pytest.mark.parametrize("camera_moves", [True, False])
def test_noise_of_robot_and_corners_averages_out_and_the_deviation_told_is_honest(camera_moves: bool) -> None:
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        boards, hands, camera, _ = _case(camera_moves, rng, 15)
        views = [view(pose, rng, 0.1) for pose in boards]
        reported = [h @ Pose.from_xyz_rpy(rng.normal(0, 0.0003, 3), rng.normal(0, 0.0005, 3)) for h in hands]
        fit = fit_hand_eye(views, reported, KNOWN, camera_moves=camera_moves)
        away = camera.inverse() @ fit.pose_camera
        assert np.linalg.norm(away.position) < 0.004
        assert camera.angle_rad(fit.pose_camera) < np.radians(0.3)
        ratios.append(np.linalg.norm(away.position) / np.linalg.norm(fit.sd[:3]))
    assert 0.3 < np.median(ratios) < 2.5


def test_a_view_at_which_the_robot_reported_another_pose_is_left_out_by_number() -> None:
    rng = np.random.default_rng(1)
    boards, hands, camera, _ = _case(True, rng, 14)
    hands[5] = hands[5] @ Pose.from_xyz_rpy([0.02, 0, 0])
    fit = fit_hand_eye([view(pose, rng) for pose in boards], hands, KNOWN, camera_moves=True)
    assert not fit.used[5]
    assert fit.used.sum() == 13
    assert "view 6" in fit.notes[0]
    assert fit.pose_camera.is_close(camera, tolerance_m=0.002, tolerance_rad=0.002)


def test_hands_that_turn_about_one_axis_alone_are_refused() -> None:
    rng = np.random.default_rng(2)
    camera = Pose.from_xyz_rpy([0.5, 0.2, 1.4], np.radians([180, 0, 30]))
    boards = [Pose.from_xyz_rpy([0, 0, 0.9], [np.pi, 0, 0.1 * k]) for k in range(10)]
    hands = [camera @ pose for pose in boards]
    with pytest.raises(JobFailed, match=r"too much alike.*two axes"):
        fit_hand_eye([view(pose, rng) for pose in boards], hands, KNOWN, camera_moves=False)


def test_a_board_that_was_loose_is_named() -> None:
    rng = np.random.default_rng(2)
    boards, hands, _, _ = _case(False, rng)
    loose = [h @ Pose.from_xyz_rpy(rng.normal(0, 0.01, 3), rng.normal(0, 0.02, 3)) for h in hands]
    with pytest.raises(JobFailed, match=r"contradict each other by .* mm.*loose"):
        fit_hand_eye([view(pose, rng) for pose in boards], loose, KNOWN, camera_moves=False)


def test_too_few_views_are_refused() -> None:
    rng = np.random.default_rng(2)
    boards, hands, _, _ = _case(False, rng, 6)
    views = [view(pose, rng) for pose in boards[:3]] + [PatternView(source="eye", reason="nothing there")] * 3
    with pytest.raises(JobFailed, match=r"3 of 6.*nothing there"):
        fit_hand_eye(views, hands, KNOWN, camera_moves=False)
