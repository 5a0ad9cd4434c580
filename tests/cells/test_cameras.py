"""The cameras of a cell: figures, the section `cameras`, mounting errors, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import actual_layout, load_cell, nominal_cameras, nominal_layout
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.sim import World

DOWN = {"xyz_m": [0.5, -1.0, 2.5], "rpy_deg": [0, 90, 90]}


@pytest.fixture(scope="module")
def aprs():
    return load_cell("aprs").model_copy(update={"fidelity": "kinematic", "settle_s": 0.0})


def test_cameras_are_those_of_the_furniture(aprs):
    cameras = nominal_cameras(aprs)
    assert list(cameras) == ["camera_fanuc", "camera_motoman"]
    own = cameras["camera_fanuc"]
    assert (own.fov_rad, own.resolution_px, own.rate_hz, own.fixture) == (0.837, (2048, 2048), 30.0, "camera_fanuc")
    assert set(nominal_cameras(load_cell("rovi"))) == {"stereo_left", "stereo_right", "kinect"}


def test_a_cell_may_change_a_camera_and_add_one_that_nothing_carries(aprs):
    cell = aprs.changed(
        {"cameras": {"camera_fanuc": {"fov_deg": 60, "rate_hz": 15}, "extra": {"pose": DOWN, "fov_deg": 40}}}
    )
    cameras = nominal_layout(cell, 0).cameras
    before = nominal_cameras(aprs)["camera_fanuc"]
    assert cameras["camera_fanuc"].fov_rad == pytest.approx(np.radians(60))
    assert cameras["camera_fanuc"].rate_hz == 15
    assert cameras["camera_fanuc"].pose_in_world.is_close(before.pose_in_world)
    assert cameras["extra"].pose_in_world.is_close(Pose.from_xyz_rpy(DOWN["xyz_m"], np.radians(DOWN["rpy_deg"])))
    moved = aprs.changed({"cameras": {"camera_motoman": {"pose": DOWN}}})
    assert nominal_cameras(moved)["camera_motoman"].pose_in_world.position == pytest.approx(DOWN["xyz_m"])


def test_image_cameras_are_the_same_configuration(aprs):
    cell = aprs.changed({"cameras": {"camera_fanuc": {"fov_deg": 60}, "extra": {"pose": DOWN, "fov_deg": 40}}})
    world = World(cell, seed=3)
    for name, element in (("camera_fanuc", "camera_fanuc/camera"), ("extra", "extra")):
        number, camera = world.model.camera(element).id, world.layout.cameras[name]
        assert world.data.cam_xpos[number] == pytest.approx(camera.pose_in_world.position)
        looks = -world.data.cam_xmat[number].reshape(3, 3)[:, 2]
        assert looks == pytest.approx(camera.pose_in_world.rotation_matrix[:, 0], abs=1e-9)
        assert np.radians(world.model.cam_fovy[number]) == pytest.approx(camera.fov_rad)


def test_the_actual_camera_is_mounted_off_its_calibrated_place(aprs):
    errors = {"camera": {"x_m": 0.01, "y_m": 0.0, "z_m": -0.02, "yaw_deg": 1.0}}
    cell = aprs.changed({"actual": errors, "cameras": {"extra": {"pose": DOWN, "fov_deg": 40}}})
    calibrated, actual = nominal_cameras(cell), actual_layout(cell, 0).cameras
    for name in calibrated:
        shift = actual[name].pose_in_world.position - calibrated[name].pose_in_world.position
        assert shift == pytest.approx([0.01, 0.0, -0.02])
        turn = actual[name].pose_in_world @ calibrated[name].pose_in_world.inverse()
        assert np.degrees(turn.rpy) == pytest.approx([0, 0, 1.0])


@pytest.mark.parametrize(
    ("cameras", "words"),
    [
        ({"extra": {"fov_deg": 40}}, r"cameras.extra: no fixture carries it, so it needs pose \(cameras"),
        ({"extra": {}}, "it needs pose and fov_deg"),
        ({"fence": {"pose": DOWN, "fov_deg": 40}}, "the fixture 'fence' carries no single camera of this name"),
        ({"camera_fanuc": {"fov_deg": 200}}, "less than or equal to 170"),
        ({"camera_fanuc": {"fov": 20}}, "unknown key 'fov'; did you mean 'fov_deg'"),
        ({"camera_fanuc": {"resolution_px": [0, 10]}}, "greater than or equal to 16"),
    ],
)
def test_mistakes_are_told_with_what_is_allowed(aprs, cameras, words):
    with pytest.raises(BadInput, match=words):
        nominal_layout(aprs.changed({"cameras": cameras}), 0)
