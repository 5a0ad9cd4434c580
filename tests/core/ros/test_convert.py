from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from cellwright.core.messages import Depth, Detections, JointState, Message, ToolStatus, Tracks, WorldTruth, Wrench
from cellwright.core.messages.base import Array
from cellwright.core.ros import decode, definition, encode, from_ros, message_class


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
