"""Pictures on the wire are the standard ROS messages, and come back as they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cellwright.core.messages import CameraInfo, Depth, Image, PointCloud
from cellwright.core.ros import decode, encode, layout_of

HEAD = (1_500_000_002, 7, "eye")
SIDES = st.tuples(st.integers(1, 6), st.integers(1, 7))


def by_rosbags(message) -> bytes:
    """The bytes that rosbags itself writes for what it reads from ours."""
    layout = layout_of(type(message))
    return bytes(layout.store.serialize_cdr(read(message), layout.ros_name))


def read(message):
    layout = layout_of(type(message))
    return layout.store.deserialize_cdr(encode(message), layout.ros_name)


def back(message):
    return decode(type(message), encode(message), sequence=7, source="eye")


@given(data=st.data(), frame=st.text(max_size=9).filter(lambda text: "\0" not in text))
def test_images(data, frame):
    shape = data.draw(SIDES)
    encoding = data.draw(st.sampled_from(["rgb8", "mono8"]))
    pixels = data.draw(arrays.arrays(np.uint8, (*shape, 3) if encoding == "rgb8" else shape))
    message = Image(*HEAD, frame=frame, encoding=encoding, pixels=pixels)
    assert by_rosbags(message) == encode(message)
    ros, again = read(message), back(message)
    assert (ros.height, ros.width, ros.encoding) == (*shape, encoding)
    assert ros.step * ros.height == len(ros.data)
    assert np.array_equal(again.pixels, pixels)
    assert (again.time_ns, again.sequence, again.source, again.frame) == (*HEAD, frame)


@given(data=st.data())
def test_depths(data):
    depth_m = data.draw(arrays.arrays(np.float32, data.draw(SIDES)))
    message = Depth(*HEAD, frame="eye/optical", depth_m=depth_m)
    assert by_rosbags(message) == encode(message)
    assert read(message).encoding == "32FC1"
    assert np.array_equal(back(message).depth_m, depth_m, equal_nan=True)


@given(points=arrays.arrays(np.float32, st.tuples(st.integers(0, 9), st.just(3))))
def test_points(points):
    message = PointCloud(*HEAD, frame="eye/optical", points_m=points)
    assert by_rosbags(message) == encode(message)
    ros = read(message)
    assert [(field.name, field.offset, field.datatype, field.count) for field in ros.fields] == [
        ("x", 0, 7, 1),
        ("y", 4, 7, 1),
        ("z", 8, 7, 1),
    ]
    assert ros.width * ros.point_step == ros.row_step == len(ros.data)
    assert np.array_equal(back(message).points_m, points, equal_nan=True)


def test_intrinsics():
    message = CameraInfo(
        *HEAD,
        frame="eye/optical",
        width=640,
        height=480,
        focal_px=np.array([500.0, 510.0]),
        centre_px=np.array([320.0, 250.0]),
        distortion=np.array([0.1, 0.2, 0.3, 0.4, 0.5]),
        baseline_m=0.08,
        binning=2,
        region_px=(100, 50, 200, 160),
    )
    assert by_rosbags(message) == encode(message)
    ros = read(message)
    assert np.array_equal(ros.k, [500, 0, 320, 0, 510, 250, 0, 0, 1])
    assert ros.p[3] == pytest.approx(-500 * 0.08)
    assert (ros.roi.x_offset, ros.roi.y_offset, ros.roi.width, ros.roi.height) == (100, 50, 200, 160)
    again = back(message)
    assert np.array_equal(again.matrix, message.matrix)
    assert np.allclose(message.matrix, [[250, 0, 110], [0, 255, 100], [0, 0, 1]])
    assert again.baseline_m == pytest.approx(0.08)
    assert again.region_px == message.region_px
    assert np.array_equal(again.distortion, message.distortion)
