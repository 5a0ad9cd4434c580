from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.messages import (
    Depth,
    Detections,
    Imu,
    JointState,
    Message,
    Odometry,
    ToolStatus,
    Tracks,
    VelocityCommand,
    WorldTruth,
    Wrench,
)
from cellwright.core.messages.base import Array
from cellwright.core.ros import decode, definition, encode, from_ros, layout_of, message_class


def test_anybody_s_object_will_do():
    stamp = SimpleNamespace(sec=1, nanosec=500)
    ros = SimpleNamespace(
        header=SimpleNamespace(stamp=stamp, frame_id="motoman"), name=["j1"], position=[0.5], velocity=[], effort=[]
    )
    message = from_ros(JointState, ros, sequence=3)
    assert (message.time_ns, message.sequence, message.source, message.names) == (1_000_000_500, 3, "motoman", ("j1",))
    assert message.position.tolist() == [0.5]


def test_tables_get_their_columns_back():
    n = 3
    poses = {"positions": np.random.rand(n, 3), "quaternions": np.random.rand(n, 4)}
    seen = {"skus": ("a",) * n, **poses, "variances": np.random.rand(n, 6)}
    detections = Detections(0, 0, "d", frame="cell", **seen, scores=np.ones(n))
    tracks = Tracks(0, 0, "t", identities=("1",) * n, **seen, ages_s=np.ones(n), slots=("",) * n)
    nothing = {"contact_pairs": (), "contact_forces": np.zeros(0)}
    truth = WorldTruth(0, 0, "w", names=("p",) * n, **poses, **nothing)
    empty = WorldTruth(0, 0, "w", names=(), positions=np.zeros((0, 3)), quaternions=np.zeros((0, 4)), **nothing)
    for message in (detections, tracks, truth, empty):
        again = decode(type(message), encode(message), source=message.source)
        for field in fields(message):
            value, back = getattr(message, field.name), getattr(again, field.name)
            if isinstance(value, np.ndarray):
                assert np.array_equal(back, value), field.name
                assert back.shape == value.shape, field.name


def test_pictures_get_their_shape_back():
    depth = Depth(0, 0, "c", frame="optical", depth_m=np.random.rand(4, 6).astype(np.float32))
    again = decode(Depth, encode(depth))
    assert again.depth_m.dtype == np.float32
    assert np.array_equal(again.depth_m, depth.depth_m)
    assert again.frame == "optical"


@dataclass(slots=True)
class Grid(Message):
    ROS_COLUMNS: ClassVar[dict[str, int]] = {"cells": 2}
    cells: Array
    positions: Array


def test_a_class_states_its_own_tables():
    again = decode(Grid, encode(Grid(0, 0, "g", np.eye(2), np.zeros((2, 3)))))
    assert again.cells.shape == (2, 2)
    assert again.positions.shape == (6,), "nothing is guessed from a name"


def test_known_classes_are_found_by_type_and_definition(tmp_path, monkeypatch):
    assert message_class(*definition(ToolStatus)) is ToolStatus
    assert message_class(*definition(Wrench)) is Wrench
    assert message_class("cellwright_msgs/msg/ToolStatus", "float64 other\n") is None
    assert message_class("cellwright_msgs/msg/Unheard", "float64 x\n") is None
    (tmp_path / "their_sensors.py").write_text(
        "from dataclasses import dataclass\nfrom cellwright.core.messages import Message\n"
        "@dataclass(slots=True)\nclass Smoke(Message):\n    density: float\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    smoke = importlib.import_module("their_sensors").Smoke
    assert message_class(*definition(smoke)) is smoke
    message = smoke(1, 2, "hall", 0.25)
    assert decode(smoke, encode(message)) == message
    del sys.modules["their_sensors"]


def test_a_command_without_a_stamp_has_the_time_at_which_it_was_logged():
    command = VelocityCommand(7, 3, "teleop", linear=np.array([0.1, 0.0, 0.0]), angular=np.array([0.0, 0.0, 0.5]))
    back = decode(VelocityCommand, encode(command), sequence=3, source="teleop", time_ns=7)
    assert (back.time_ns, back.sequence, back.source) == (7, 3, "teleop")
    assert back.linear.tolist() == [0.1, 0.0, 0.0]
    assert back.angular.tolist() == [0.0, 0.0, 0.5]


@given(yaw=st.floats(-3, 3), numbers=st.lists(st.floats(-9, 9), min_size=9, max_size=9))
def test_odometry_comes_back_from_the_standard_type(yaw, numbers):
    covariance = np.array(numbers)
    told = Odometry(
        5,
        0,
        "",
        frame="odom",
        child_frame="ePuck0/base_link",
        position=np.array([1.0, 2.0, 0.0]),
        quaternion=np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]),
        linear_velocity=np.array([0.1, 0.0, 0.0]),
        angular_velocity=np.array([0.0, 0.0, 0.2]),
        covariance=covariance,
    )
    layout = layout_of(Odometry)
    ros = layout.store.deserialize_cdr(encode(told), "nav_msgs/msg/Odometry")
    assert (ros.pose.pose.orientation.w, ros.pose.pose.orientation.z) == (told.quaternion[0], told.quaternion[3])
    assert ros.pose.covariance.reshape(6, 6)[5, 0] == covariance[6]  # yaw against x
    back = from_ros(Odometry, ros)
    for field in ("position", "quaternion", "linear_velocity", "angular_velocity", "covariance"):
        np.testing.assert_array_equal(getattr(back, field), getattr(told, field))


def test_an_imu_says_in_the_words_of_ros_that_it_knows_no_orientation():
    told = Imu(
        5,
        0,
        "",
        frame="ePuck0/imu",
        acceleration=np.array([0.1, 0.2, 9.8]),
        angular_velocity=np.array([0.0, 0.1, 0.2]),
        acceleration_variance=np.array([1.0, 2.0, 3.0]),
        angular_velocity_variance=np.array([4.0, 5.0, 6.0]),
    )
    ros = layout_of(Imu).store.deserialize_cdr(encode(told), "sensor_msgs/msg/Imu")
    assert ros.orientation_covariance[0] == -1
    assert ros.linear_acceleration_covariance.tolist() == [1.0, 0, 0, 0, 2.0, 0, 0, 0, 3.0]
    assert ros.linear_acceleration.z == 9.8
    back = from_ros(Imu, ros)
    for field in ("acceleration", "angular_velocity", "acceleration_variance", "angular_velocity_variance"):
        np.testing.assert_array_equal(getattr(back, field), getattr(told, field))
