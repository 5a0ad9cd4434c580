"""Tests for cameras of the drawings."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import UnknownName
from cellwright.drawings import Drawings
from cellwright.drawings.calibration import calibrated_drawings, drawn_places
from cellwright.drawings.cameras import USUAL, camera_of_sensor, drawn_cameras, named_cameras
from cellwright.perception.calibration import CalibratedCamera, Calibration, FittedPose
from cellwright.perception.calibration.camera import OPTICAL
from cellwright.sensors.image_camera import ImageCameraCfg

HAND = {"type": "color_camera", "name": "hand", "robot": "ur5", "xyz_m": [0.0, 0.12, 0.0], "fov_deg": 70}
PAIR = {"type": "stereo_camera", "name": "pair", "left": "stereo_left", "right": "stereo_right"}


@pytest.fixture(scope="module")
def rovi() -> Drawings:
    cell = load_cell("rovi")
    return Drawings.of(cell.model_copy(update={"sensors": (*cell.sensors, HAND, PAIR)}))


def test_a_camera_on_a_flange_is_drawn_as_its_sensor_has_it(rovi: Drawings) -> None:
    hand = drawn_cameras(rovi)["hand"]
    assert hand.frame == "ur5/flange"
    assert hand.camera.resolution_px == (640, 480)
    assert hand.camera.fov_rad == pytest.approx(np.radians(70))
    assert {key: ImageCameraCfg.model_fields[key].default or (640, 480) for key in USUAL} == USUAL


def test_a_stereo_sensor_names_its_two_cameras_as_a_pair(rovi: Drawings) -> None:
    cameras, pairs = named_cameras(rovi, ["pair"])
    assert [camera.name for camera in cameras] == ["stereo_left", "stereo_right"]
    assert pairs == [("stereo_left", "stereo_right")]
    assert named_cameras(rovi, ["stereo_right", "stereo_left"])[1] == pairs  # whichever is named first
    assert named_cameras(rovi, ["kinect", "stereo_left"])[1] == []
    assert camera_of_sensor(rovi, "pair", "right") == "stereo_right"
    assert camera_of_sensor(rovi, "hand") == "hand"


def test_an_unknown_camera_is_named_with_those_that_there_are(rovi: Drawings) -> None:
    with pytest.raises(UnknownName, match=r"nowhere.*kinect"):
        named_cameras(rovi, ["nowhere"])


def test_drawings_take_over_where_a_camera_was_measured(rovi: Drawings) -> None:
    drawn = rovi.layout.cameras["kinect"].pose_in_world
    moved = drawn @ type(drawn).from_xyz_rpy([0.01, 0.0, 0.0])
    own = CalibratedCamera(
        resolution_px=(640, 480), focal_px=(554.0, 554.0), centre_px=(320.0, 240.0), pose=FittedPose.of(moved @ OPTICAL)
    )
    calibration = Calibration(cell="rovi", drawings=dict(drawn_places(rovi).digests), cameras={"kinect": own})
    found = calibrated_drawings(rovi, calibration).layout.cameras["kinect"].pose_in_world
    assert found.is_close(moved, tolerance_m=1e-8, tolerance_rad=1e-8)
