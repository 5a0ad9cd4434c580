"""Tests for cameras in calibration files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cellwright.core.camera import Camera
from cellwright.core.errors import BadInput
from cellwright.core.messages import CameraInfo, CameraPose
from cellwright.core.pose import Pose
from cellwright.perception.calibration import (
    CalibratedCamera,
    Calibration,
    CameraPair,
    DrawnCamera,
    DrawnPlaces,
    FittedPose,
    calibrated_camera_messages,
    calibration_yaml,
    read_calibration,
    write_calibration,
)
from cellwright.perception.calibration.camera import OPTICAL

DRAWN = Camera("eye", Pose.from_xyz_rpy([0.1, 0.2, 1.5], np.radians([0, 90, 90])), 0.9, (800, 600))
MOVED = DRAWN.pose_in_world @ Pose.from_xyz_rpy([0.004, 0.01, -0.003], np.radians([0.3, 1, -0.5]))
EYE = CalibratedCamera(
    resolution_px=(800, 600),
    focal_px=(830.0, 831.0),
    centre_px=(403.0, 296.0),
    distortion=(-0.05, 0.01, 0.001, -0.002, 0.0),
    pose=FittedPose.of(MOVED @ OPTICAL),
)


def _calibration(**changes: Any) -> Calibration:
    return Calibration(cell="small", cameras={"eye": EYE.model_copy(update=changes)})


def _places(camera: Camera = DRAWN, name: str = "eye", robot: str | None = None) -> DrawnPlaces:
    return DrawnPlaces("small", {}, {}, {}, cameras={name: DrawnCamera(name, camera, robot)})


def _messages(width: int = 800, height: int = 600) -> tuple[CameraInfo, CameraPose]:
    info = CameraInfo(
        5, 1, "eye", frame="eye/optical", width=width, height=height, focal_px=np.full(2, 800.0),
        centre_px=np.array([width / 2, height / 2]), distortion=np.zeros(5), region_px=(0, 0, width, height),
    )  # fmt: skip
    pose = CameraPose(
        5,
        1,
        "eye",
        frame="world",
        camera_frame="eye/optical",
        position=np.zeros(3),
        quaternion=np.array([1.0, 0, 0, 0]),
    )
    return info, pose


def test_what_was_measured_replaces_what_is_drawn_beside_a_picture() -> None:
    info, pose = calibrated_camera_messages(_calibration(), "eye", *_messages())
    assert info.focal_px.tolist() == [830.0, 831.0]
    assert info.centre_px.tolist() == [403.0, 296.0]
    assert info.distortion[0] == -0.05
    assert Pose(pose.position, pose.quaternion).is_close(MOVED @ OPTICAL, tolerance_m=1e-8, tolerance_rad=1e-8)
    assert (info.time_ns, info.sequence, pose.frame) == (5, 1, "world")


def test_pictures_of_another_resolution_across_the_same_angle_are_scaled() -> None:
    info, _ = calibrated_camera_messages(_calibration(), "eye", *_messages(400, 300))
    assert info.focal_px.tolist() == [415.0, 415.5]
    assert info.centre_px.tolist() == [201.5, 148.0]
    with pytest.raises(BadInput, match="another shape"):
        calibrated_camera_messages(_calibration(), "eye", *_messages(800, 800))


def test_a_camera_that_was_not_measured_stays_as_drawn() -> None:
    info, pose = _messages()
    assert calibrated_camera_messages(_calibration(), "other", info, pose) == (info, pose)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    pair = CameraPair(left="eye", right="eye2", pose_right_in_left=FittedPose(xyz_m=(0.08, 0, 0)))
    both = Calibration(cell="small", cameras={"eye": EYE, "eye2": EYE}, camera_pairs=(pair,))
    write_calibration(both, tmp_path / "c.yaml")
    assert read_calibration(tmp_path / "c.yaml") == both
    assert "cameras" not in calibration_yaml(Calibration(cell="small"))


@pytest.mark.parametrize(
    ("calibration", "places", "words"),
    [
        (_calibration(), _places(name="other"), "no such camera .it has other"),
        (_calibration(), _places(robot="ur5"), "its pose is in world, and the cell has it in ur5/flange"),
        (
            _calibration(resolution_px=(640, 480)),
            _places(),
            "with 640 x 480 pixels, and the cell has 800 x 600",
        ),
        (_calibration(focal_px=(1200.0, 1200.0)), _places(), "another lens"),
        (_calibration(pose=FittedPose(xyz_m=(1, 1, 1))), _places(), "another camera, or it was moved"),
    ],
)
def test_cameras_that_are_not_those_of_the_cell_are_refused(
    tmp_path: Path, calibration: Calibration, places: DrawnPlaces, words: str
) -> None:
    write_calibration(calibration, tmp_path / "c.yaml")
    with pytest.raises(BadInput, match=words):
        read_calibration(tmp_path / "c.yaml", places)
    read_calibration(tmp_path / "c.yaml")


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    text = calibration_yaml(_calibration()).replace("830.0", ".nan")
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(BadInput, match="focal_px"):
        read_calibration(tmp_path / "c.yaml")


def test_a_pair_of_cameras_that_are_not_there_is_refused(tmp_path: Path) -> None:
    pair = CameraPair(left="eye", right="gone", pose_right_in_left=FittedPose())
    write_calibration(Calibration(cell="small", cameras={"eye": EYE}, camera_pairs=(pair,)), tmp_path / "c.yaml")
    with pytest.raises(BadInput, match="gone"):
        read_calibration(tmp_path / "c.yaml", _places())
