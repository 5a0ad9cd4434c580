"""Tests for cameras that are calibrated by a robot: with the board in its hand, and with the camera on its flange."""

from __future__ import annotations

import numpy as np
import pytest
from tests.trials.camera_calibration.small_cell import OPTICAL, off_m, small_cell

from cellwright.cells import Cell, load_cell
from cellwright.core.camera import Camera
from cellwright.core.errors import BadInput
from cellwright.drawings import Drawings
from cellwright.drawings.cameras import named_cameras
from cellwright.sim import World
from cellwright.sim.flange_camera import actual_flange_camera
from cellwright.trials.camera_calibration import calibrate_cameras
from cellwright.trials.camera_calibration.poses import HandViews, shown_poses, spread_deg

pytest.importorskip("numba", reason="the extra `cameras` is not installed")
HAND = {"type": "color_camera", "name": "hand", "robot": "ur5", "xyz_m": [0.0, 0.12, 0.0], "fov_deg": 60}
OFF = {
    "robot_base": {"x_m": 0.0, "y_m": 0.0, "yaw_deg": 0.0},
    "camera": {"x_m": 0.008, "y_m": -0.006, "z_m": 0.01, "roll_deg": 1.0, "pitch_deg": 0.5, "yaw_deg": -0.7},
    "lens": {"edge_px": 3.0, "centre_column_px": 2.0, "centre_row_px": -2.0},
}


@pytest.fixture(scope="module")
def rovi() -> Cell:
    cell = load_cell("rovi").changed({"actual": OFF})
    return cell.model_copy(update={"sensors": (*cell.sensors, HAND)})


@pytest.fixture(autouse=True)
def _soft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "soft")


def test_boards_are_shown_all_over_the_picture_and_tilted_to_all_sides(rovi: Cell) -> None:
    drawings = Drawings.of(rovi)
    camera = drawings.layout.cameras["kinect"]
    poses = shown_poses(camera, drawings)
    pixels = camera.pixels(np.array([pose.position for pose in poses]))
    assert (np.ptp(pixels, axis=0) > 0.5 * np.array(camera.resolution_px)).all()
    assert ((pixels > 0) & (pixels < camera.resolution_px)).all()
    towards = camera.pose_in_world.position - np.array([pose.position for pose in poses])
    facing = [pose.rotation_matrix[:, 2] @ way / np.linalg.norm(way) for pose, way in zip(poses, towards, strict=True)]
    assert min(facing) > np.cos(np.radians(60))
    assert spread_deg(poses) > 15


def test_a_robot_that_never_comes_into_view_is_refused_before_it_moves(rovi: Cell) -> None:
    away = Camera("away", OPTICAL, 0.5, (640, 480))
    with pytest.raises(BadInput, match=r"ur5 gets to no place where away would see a board.*--robot"):
        HandViews(Drawings.of(rovi), "ur5").with_board(away)


@pytest.mark.slow
def test_a_board_in_the_hand_of_a_robot_tells_where_a_camera_is(rovi: Cell) -> None:
    run = calibrate_cameras(rovi, ["stereo_right"], 1, holder="ur5", noise_sd=0.007)
    own = run.fitted.calibration.cameras["stereo_right"]
    position_m, turn_deg, on_table_m = off_m(own, rovi, "stereo_right", 0.8, 1)
    assert position_m < 0.003  # drawn 14 mm off
    assert turn_deg < 0.17  # drawn 1.3 degrees off
    assert on_table_m < 0.0015
    assert own.residual_px < 0.3


@pytest.mark.slow
def test_a_camera_on_a_flange_is_found_by_moving_it_about_a_board(rovi: Cell) -> None:
    run = calibrate_cameras(rovi, ["hand"], 1, noise_sd=0.007)
    own = run.fitted.calibration.cameras["hand"]
    told = named_cameras(Drawings.of(rovi), ["hand"])[0][0].camera
    true = actual_flange_camera(World(rovi, 1), told)
    assert own.frame == "ur5/flange"
    assert own.pose_of_camera.distance_m(true.pose_in_world) < 0.003
    assert np.degrees(own.pose_of_camera.angle_rad(true.pose_in_world)) < 0.25
    assert own.focal_px[0] == pytest.approx(true.focal_px, rel=0.005)


@pytest.mark.long
@pytest.mark.slow
def test_a_pair_is_calibrated_together(rovi: Cell) -> None:
    run = calibrate_cameras(rovi, ["stereo_left", "stereo_right"], 1)
    pair = run.fitted.calibration.camera_pairs[0]
    cameras = World(rovi, 1).layout.cameras
    left, right = (cameras[name].pose_in_world @ OPTICAL for name in (pair.left, pair.right))
    assert pair.pose_right_in_left.pose.is_close(left.inverse() @ right, tolerance_m=0.001, tolerance_rad=0.001)
    assert pair.epipolar_px < 0.3


@pytest.mark.peer
def test_opengl_gives_the_same_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    from cellwright.rendering import choose_renderer

    try:
        choose_renderer("gl")
    except Exception as error:
        pytest.skip(f"no OpenGL here: {error}")
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "gl")
    own = calibrate_cameras(small_cell(), ["eye"], noise_sd=0.007).fitted.calibration.cameras["eye"]
    position_m, turn_deg, on_table_m = off_m(own, small_cell(), "eye", 0.86)
    assert position_m < 0.003
    assert turn_deg < 0.2
    assert on_table_m < 0.0008
