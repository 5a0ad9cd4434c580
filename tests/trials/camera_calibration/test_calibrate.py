"""Tests for the calibration of cameras in a cell, by tags on a table."""

from __future__ import annotations

import numpy as np
import pytest
from tests.trials.camera_calibration.small_cell import off_m, small_cell
from tests.trials.truth_guard import guarded

from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.lab import Lab
from cellwright.sim import World
from cellwright.trials.camera_calibration import CameraRun, calibrate_cameras

pytest.importorskip("numba", reason="the extra `cameras` is not installed")
DEPTH_M = 0.86  # of the table


@pytest.fixture(scope="module")
def run() -> CameraRun:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELLWRIGHT_RENDERER", "soft")
        with guarded(Lab, World) as looked:  # procedure and fit raise when they see more than pictures and drawings
            run = calibrate_cameras(small_cell(), ["eye"], noise_sd=0.007)
    assert looked[0] > 100
    return run


@pytest.mark.slow
def test_a_camera_that_is_elsewhere_than_drawn_is_found_where_it_is(run: CameraRun) -> None:
    own = run.fitted.calibration.cameras["eye"]
    position_m, turn_deg, on_table_m = off_m(own, small_cell(), "eye", DEPTH_M)
    assert position_m < 0.003  # drawn 27 mm off
    assert turn_deg < 0.2  # drawn 2 degrees off
    assert on_table_m < 0.0008
    assert own.by == "tags on the table"


def test_the_error_of_the_lens_is_recovered(run: CameraRun) -> None:
    own = run.fitted.calibration.cameras["eye"]
    actual = World(small_cell()).layout.cameras["eye"]
    assert actual.lens_error is not None
    assert own.focal_px == pytest.approx((actual.focal_px, actual.focal_px), rel=0.003)
    assert own.centre_px == pytest.approx((320 + 5, 240 - 4), abs=2.0)
    k1 = -6.0 / (actual.focal_px * np.tan(actual.fov_rad / 2) ** 3)
    assert own.distortion[0] == pytest.approx(k1, abs=0.01)
    assert own.residual_px < 0.3
    assert own.views >= 12


def test_the_truth_of_another_cell_gives_another_calibration(run: CameraRun) -> None:
    """Nothing of the result comes from the drawings: with the drawn errors turned round, it turns round as well."""
    own = run.fitted.calibration.cameras["eye"].pose_of_camera
    drawn = run.cameras[0].camera.pose_in_world
    shift = own.position - drawn.position
    actual = World(small_cell()).layout.cameras["eye"].pose_in_world.position - drawn.position
    assert np.linalg.norm(shift) > 0.02
    assert shift @ actual / np.linalg.norm(shift) / np.linalg.norm(actual) > 0.98


def test_a_camera_that_sees_no_board_is_told() -> None:
    dark = small_cell(
        cameras={
            "eye": {"pose": {"xyz_m": [0, 0, 1.0], "rpy_deg": [0, 85, 0]}, "fov_deg": 3.0, "resolution_px": [64, 48]}
        }
    )
    with pytest.raises((JobFailed, BadInput), match=r"tags|too few views"):
        calibrate_cameras(dark, ["eye"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([(9.0, 9.0)] * 3, "no table is there"),
        ([(-0.1, 0.0), (0.0, 0.0), (0.1, 0.0)], "collinear"),
        ([(-0.1, 0.0), (0.1, 0.0)], "too few"),
        ([(0.0, 0.05 * k) for k in range(9)], "9 places"),
    ],
)
def test_places_of_tags_that_tell_nothing_are_refused(given: list[tuple[float, float]], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        calibrate_cameras(small_cell(), ["eye"], given=given)


def test_tags_with_the_same_number_in_the_cell_are_refused() -> None:
    def tag(x: float) -> dict[str, object]:
        return {"model": "calibration_tag_1", "pose": {"xyz_m": [x, 0.0, 0.893]}}

    with pytest.raises(BadInput, match="tag 1 is there twice"):
        calibrate_cameras(small_cell(parts={"one": tag(0.0), "other": tag(0.2)}), ["eye"])


def test_names_that_are_no_cameras_are_refused() -> None:
    with pytest.raises(UnknownName, match="nowhere"):
        calibrate_cameras(small_cell(), ["nowhere"])
    with pytest.raises(BadInput, match="twice"):
        calibrate_cameras(small_cell(), ["eye", "eye"])
    with pytest.raises(BadInput, match="no robot"):
        calibrate_cameras(small_cell(), ["eye"], holder="arm")
