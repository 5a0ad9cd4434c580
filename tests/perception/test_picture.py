"""Pictures that can be used, and those that cannot, with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.core.messages import CameraInfo, CameraPose, Image
from cellwright.perception.picture import read_picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement

HEAD = {"time_ns": 2_500_000_000, "sequence": 3, "source": "eye", "frame": "eye/optical"}
GREY = np.full((40, 60, 3), 120, np.uint8)


def _messages(pixels=GREY, encoding="rgb8", binning=2):
    info = CameraInfo(
        **HEAD,
        width=200,
        height=160,
        focal_px=np.array([300.0, 300.0]),
        centre_px=np.array([100.0, 80.0]),
        distortion=np.zeros(5),
        binning=binning,
        region_px=(40, 30, 120, 80),
    )
    pose = CameraPose(
        time_ns=0,
        sequence=3,
        source="eye",
        frame="world",
        camera_frame="eye/optical",
        position=np.array([0, 0, 1.0]),
        quaternion=np.array([0, 1.0, 0, 0]),
    )
    return Image(**HEAD, encoding=encoding, pixels=pixels), info, pose


def test_a_picture_has_the_intrinsics_of_the_part_that_is_sent():
    """A point that was at (100, 80) of the whole is at ((100 - 40) / 2, (80 - 30) / 2) of the part."""
    picture = read_picture(*_messages())
    assert picture.fault == ""
    assert picture.time_s == 2.5
    np.testing.assert_allclose(picture.matrix, [[150, 0, 30], [0, 150, 25], [0, 0, 1]])


@pytest.mark.parametrize(
    ("pixels", "reason"),
    [
        (np.zeros((40, 60, 3), np.uint8), "black"),
        (np.full((40, 60, 3), 255, np.uint8), "saturated"),
        (np.zeros((0, 0, 3), np.uint8), "empty"),
        (np.full((20, 60, 3), 120, np.uint8), "60 x 20 pixels"),
        (np.full((40, 60, 4), 120, np.uint8), "shape"),
    ],
)
def test_a_picture_that_shows_nothing_says_why(pixels, reason):
    """Perception answers with that reason instead of an exception."""
    assert reason in read_picture(*_messages(pixels)).fault


def test_intrinsics_that_are_not_numbers_are_a_fault():
    """A matrix of NaN would make every place NaN."""
    assert "not numbers" in replace(read_picture(*_messages()), matrix=np.full((3, 3), np.nan)).fault


def test_grey_pictures_are_read_as_colours():
    """Every method sees three channels."""
    assert read_picture(*_messages(GREY[:, :, 0], "mono8")).pixels.shape == (40, 60, 3)


def test_no_measurement_without_a_pose_and_none_missing_without_a_reason():
    """A grasp could otherwise be planned on a pose that nobody vouches for."""
    with pytest.raises(ValueError, match="pose and variances"):
        PoseMeasurement(status=MeasurementStatus.FOUND)
    with pytest.raises(ValueError, match="reason"):
        PoseMeasurement(status=MeasurementStatus.NOT_SEEN)


def test_messages_of_two_cameras_are_no_picture():
    image, info, pose = _messages()
    with pytest.raises(ValueError, match="of several cameras: eye/optical, other/optical"):
        read_picture(image, replace(info, frame="other/optical"), pose)
