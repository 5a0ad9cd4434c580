"""Exports of logs: what other programs read is what was recorded."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Reader as Rosbag1Reader
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import Reader as Rosbag2Reader

from cellwright.cli import main
from cellwright.core import Bus
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import Depth, Detections, Image, JointState, ToolStatus, WorldTruth
from cellwright.exchange import ExportOptions, export_log, read_recording
from cellwright.interfaces.ros.types import RosTypes
from cellwright.lab import Lab
from cellwright.record import Recorder, fields_of, read_log

NS = 1_000_000_000


def joints(number, values):
    names = tuple(f"joint_{i}" for i in range(len(values)))
    row = np.array(values, float)
    return JointState(number * NS // 10, number, "arm", names=names, position=row, velocity=-row, effort=row * 2)


def seen(number, count):
    rows = np.random.default_rng(number).normal(size=(count, 13))
    return Detections(
        number * NS // 10,
        number,
        "eye",
        frame="world",
        skus=tuple(f"sku_{i}" for i in range(count)),
        positions=rows[:, :3],
        quaternions=rows[:, 3:7],
        variances=np.where(rows[:, 7:] > 1.5, np.inf, rows[:, 7:]),
        scores=rows[:, 0],
    )


def truth(number):
    at = np.arange(3.0)[None]
    turn = np.array([[1.0, 0, 0, 0]])
    none = np.zeros(0)
    head = (number * NS // 10, number, "sim")
    return WorldTruth(*head, names=("gear",), positions=at, quaternions=turn, contact_pairs=(), contact_forces=none)


def recorded(path, published):
    bus = Bus()
    with Recorder(bus, path, metadata={"cell": "none"}):
        for topic, message in published:
            bus.publish(topic, message)
    return read_log(path)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of states, detections (none, some), pictures, depths and truth."""
    pixels = np.arange(24 * 32 * 3, dtype=np.uint8).reshape(24, 32, 3)
    depths = np.linspace(0.1, 2.0, 40 * 30, dtype=np.float32).reshape(30, 40)
    depths[0, 0] = np.nan
    published = []
    for number in range(12):
        published.append(("/arm/joint_states", joints(number, [number, -0.5, math.pi])))
        published.append(("/eye/detections", seen(number, number % 3)))
        published.append(("/truth/poses", truth(number)))
    head = (NS // 2, 0, "eye")
    published.append(("/eye/image_raw", Image(*head, frame="eye", encoding="rgb8", pixels=pixels)))
    published.append(("/deep/depth", Depth(*head, frame="eye", depth_m=depths)))
    return recorded(tmp_path_factory.mktemp("log") / "run.mcap", published)


def test_a_bag_has_every_message_as_it_was(log, tmp_path):
    result = export_log(log, tmp_path / "run.bag", "bag", ExportOptions(with_truth=True))
    assert result.topics == {name: topic.count for name, topic in log.topics.items()}
    types = RosTypes({})
    for topic in log.topics.values():
        types.register(topic.type, topic.definition.split("=" * 80)[0])
    with Rosbag1Reader(tmp_path / "run.bag") as bag:
        told = [(c.topic, t, types.of_ros1(c.msgtype, raw)) for c, t, raw in bag.messages()]
        assert {c.topic: c.msgtype for c in bag.connections} == {t.name: t.type for t in log.topics.values()}
    for topic in log.topics:
        mine = [(max(1, entry.time_ns), bytes(entry.data)) for entry in log.raw([topic])]
        assert [(time_ns, bytes(data)) for name, time_ns, data in told if name == topic] == mine


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_rosbag2_folder_has_every_message_as_it_was(log, tmp_path, storage):
    export_log(log, tmp_path / "run", "rosbag2", ExportOptions(storage=storage))
    with Rosbag2Reader(tmp_path / "run") as bag:
        told = [(c.topic, t, bytes(raw)) for c, t, raw in bag.messages()]
    wanted = [(e.topic, e.time_ns, bytes(e.data)) for e in log.raw() if e.topic != "/truth/poses"]
    assert sorted(told) == sorted(wanted)
    with AnyReader([tmp_path / "run"]) as any_reader:
        (connection,) = [c for c in any_reader.connections if c.topic == "/arm/joint_states"]
        raw = next(iter(any_reader.messages([connection])))[2]
        assert any_reader.deserialize(raw, connection.msgtype).name == ["joint_0", "joint_1", "joint_2"]


def rows_of(file):
    with file.open(newline="", encoding="utf-8") as opened:
        head, *rows = csv.reader(opened)
    return [name.partition(" [")[0] for name in head], rows


def test_tables_of_text_have_a_row_for_a_message_with_units_and_exact_numbers(log, tmp_path):
    result = export_log(log, tmp_path / "run", "csv")
    names, rows = rows_of(tmp_path / "run/arm.joint_states.csv")
    position = names.index("position[2]")
    assert [float(row[position]) for row in rows] == [math.pi] * 12
    assert rows[3][:4] == ["0.300000000", "300000000", "3", "arm"]
    assert "position[2] [rad or m]" in (tmp_path / "run/arm.joint_states.csv").read_text().splitlines()[0].split(",")
    assert not (tmp_path / "run/truth.poses.csv").exists()
    assert result.count == 26
    manifest = json.loads((tmp_path / "run/export.json").read_text())
    assert {"name": "position[2]", "unit": "rad or m"} in manifest["topics"]["/arm/joint_states"]["columns"]


def test_lists_have_a_row_for_each_item_and_one_without_for_none(log, tmp_path):
    export_log(log, tmp_path / "run", "csv", ExportOptions(topics=["/eye/*"]))
    names, rows = rows_of(tmp_path / "run/eye.detections.csv")
    items = [row[names.index("item")] for row in rows]
    assert items == ["", "0", "0", "1"] * 4
    messages = [entry.message for entry in log.entries(["/eye/detections"])]
    wanted = [(message.time_ns, *place) for message in messages for place in message.positions.tolist()]
    columns = [names.index(name) for name in ("time_ns", "positions[0]", "positions[1]", "positions[2]")]
    told = [tuple(float(row[column]) for column in columns) for row in rows if row[1]]
    assert told == wanted
    assert "inf" in {cell for row in rows for cell in row}


def test_pictures_are_files_beside_their_table(log, tmp_path):
    result = export_log(log, tmp_path / "run", "csv", ExportOptions(topics=["/eye/image_raw", "/deep/*"]))
    (image,) = [entry.message for entry in log.entries(["/eye/image_raw"])]
    names, rows = rows_of(tmp_path / "run/eye.image_raw.csv")
    file = tmp_path / "run" / rows[0][names.index("picture")]
    np.testing.assert_array_equal(np.asarray(Pillow.open(file)), image.pixels)
    (depth,) = [entry.message for entry in log.entries(["/deep/depth"])]
    millimetres = np.asarray(Pillow.open(tmp_path / "run/deep.depth/000000.png"))
    assert millimetres[0, 0] == 0
    np.testing.assert_allclose(millimetres.ravel()[1:], depth.depth_m.ravel()[1:] * 1000, atol=0.51)
    assert any("millimetres" in note for note in result.notes)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.floats(width=64), max_size=4), min_size=1, max_size=6), st.text(max_size=5))
def test_what_is_read_back_from_text_equals_the_log(tmp_path, rows, word):
    told = word.replace("\0", "").replace("\r", "").encode("utf-8", "ignore").decode()
    published = [("/arm/joint_states", joints(number, row)) for number, row in enumerate(rows)]
    tool = ToolStatus(0, 0, "arm", tool=told, kind="gripper", width_m=0.1, power=0.0, holding=True, locked=False)
    published.append(("/arm/tool", tool))
    log = recorded(tmp_path / "run.mcap", published)
    export_log(log, tmp_path / "run", "csv", ExportOptions(overwrite=True))
    names, table = rows_of(tmp_path / "run/arm.joint_states.csv")
    messages = [entry.message for entry in log.entries(["/arm/joint_states"])]
    assert len(table) == len(messages)
    for row, message in zip(table, messages, strict=True):
        for name in ("position", "velocity", "effort"):
            cells = [cell for cell, column in zip(row, names, strict=True) if column.startswith(f"{name}[") and cell]
            np.testing.assert_array_equal([float(cell) for cell in cells], getattr(message, name))
    names, (row,) = rows_of(tmp_path / "run/arm.tool.csv")
    assert (row[names.index("tool")], row[names.index("holding")]) == (told, "true")


def test_columns_hold_lists_and_pictures(log, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `tables` is not installed")
    export_log(log, tmp_path / "run", "parquet", ExportOptions(with_truth=True))
    for topic in log.topics:
        table = parquet.read_table(tmp_path / "run" / f"{topic.strip('/').replace('/', '.')}.parquet").to_pylist()
        entries = list(log.entries([topic]))
        assert [row["recorded_ns"] for row in table] == [entry.time_ns for entry in entries]
        for row, entry in zip(table, entries, strict=True):
            for name, value in fields_of(entry.message).items():
                told = row[name]
                if isinstance(told, bytes):
                    told = np.frombuffer(told, np.uint8).reshape(row[f"{name}_shape"])
                elif f"{name}_shape" in row:
                    told = np.array(told, np.float32).reshape(row[f"{name}_shape"])
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(np.array(told, value.dtype).reshape(value.shape), value)
                else:
                    assert (tuple(told) if isinstance(value, tuple) else told) == value
    schema = parquet.read_schema(tmp_path / "run/arm.joint_states.parquet")
    assert schema.field("position").metadata == {b"unit": b"rad or m"}


@pytest.mark.parametrize("format", ["bag", "rosbag2", "csv", "parquet"])
def test_the_same_log_gives_the_same_bytes_and_a_window_its_messages(log, tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="the extra `tables` is not installed")

    def told(place):
        out = tmp_path / place / "run"
        result = export_log(log, out, format, ExportOptions(start_s=0.3, end_s=0.7, with_truth=True))
        files = sorted(out.rglob("*")) if out.is_dir() else [out]
        return result, {str(file.relative_to(tmp_path / place)): file.read_bytes() for file in files if file.is_file()}

    (first, files), (_, again) = told("a"), told("b")
    assert files == again
    assert first.topics["/arm/joint_states"] == 5
    assert first.size_bytes == sum(map(len, files.values()))


def test_what_exists_is_not_replaced_unasked(log, tmp_path):
    out, own = tmp_path / "run.bag", tmp_path / "own"
    export_log(log, out, "bag")
    before = out.read_bytes()
    with pytest.raises(BadInput, match=r"run\.bag exists.*--overwrite"):
        export_log(log, out, "bag")
    export_log(log, out, "bag", ExportOptions(overwrite=True, end_s=0.5))
    assert len(out.read_bytes()) < len(before)
    own.mkdir()
    (own / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInput, match="no export wrote"):
        export_log(log, own, "csv", ExportOptions(overwrite=True))
    assert (own / "thesis.tex").read_text() == "years of work"
    export_log(log, tmp_path / "tables", "csv")
    with pytest.raises(BadInput, match="--overwrite"):
        export_log(log, tmp_path / "tables", "csv")
    export_log(log, tmp_path / "tables", "csv", ExportOptions(overwrite=True, topics=["/arm/*"]))
    assert sorted(file.name for file in (tmp_path / "tables").iterdir()) == ["arm.joint_states.csv", "export.json"]
    with pytest.raises(BadInput, match="another file of this command"):
        export_log(log, log.path, "bag", ExportOptions(overwrite=True))
    assert not list(tmp_path.glob(".export-*"))


def test_what_cannot_be_exported_is_one_line(log, tmp_path):
    for options, told in (
        (ExportOptions(topics=["/arm/jiont_states"]), "did you mean '/arm/joint_states'"),
        (ExportOptions(topics=["/truth/*"]), "/truth/poses: topics of truth, exported only with --truth"),
        (ExportOptions(start_s=5), "nothing to export; it has 38 messages from 0 s to 1.1 s"),
        (ExportOptions(start_s=2, end_s=1), "begins at 2 s and ends at 1 s"),
        (ExportOptions(start_s=math.nan), "begins at nan s"),
    ):
        with pytest.raises(BadInput, match=told.replace("(", r"\(")) as error:
            export_log(log, tmp_path / "run", "csv", options)
        assert "\n" not in str(error.value)
    with pytest.raises(UnknownName, match=r"format.*rosbag2"):
        export_log(log, tmp_path / "run", "xlsx")
    assert not list(tmp_path.iterdir())


def test_a_log_that_was_cut_is_exported_as_far_as_it_goes(tmp_path):
    whole = recorded(tmp_path / "run.mcap", [("/a", joints(number, [number])) for number in range(400)])
    data = whole.path.read_bytes()
    (tmp_path / "cut.mcap").write_bytes(data[: len(data) // 2])
    result = export_log(read_log(tmp_path / "cut.mcap"), tmp_path / "cut.bag", "bag")
    assert 0 < result.count < 400
    assert "cut off" in result.problem


def test_a_bag_of_others_types_is_read_and_exported(tmp_path):
    """As rosbag records NIST's status of a robot: its constants have small letters, which the library does not take."""
    name = "nist_msgs/msg/Status"
    text = "uint8 done=0\nuint8 working=2\nstd_msgs/Header header\nuint8 state\ngeometry_msgs/Point place\n"
    types = RosTypes({name: text})
    kinds = types.ros1.types
    stamp = kinds["builtin_interfaces/msg/Time"](sec=1, nanosec=0)
    header = kinds["std_msgs/msg/Header"](seq=7, stamp=stamp, frame_id="base")
    status = kinds[name](header=header, state=2, place=kinds["geometry_msgs/msg/Point"](x=0.5, y=0.0, z=1.0))
    with Rosbag1Writer(tmp_path / "run.bag") as bag:
        connection = bag.add_connection("/status", name, msgdef=types.text(name), md5sum=types.md5(name))
        bag.write(connection, NS, types.ros1.serialize_ros1(status, name))
    log = read_recording(tmp_path / "run.bag")
    columns = log.arrays("/status")
    assert (columns["state"].tolist(), columns["place.x"].tolist()) == ([2], [0.5])
    assert not {"done", "working"} & columns.keys()
    words = ["log", "export", str(tmp_path / "run.bag"), "--format", "csv", "--out", str(tmp_path / "tables")]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code
    (row,) = csv.DictReader((tmp_path / "tables" / "status.csv").open())
    assert (row["state"], row["place.z"]) == ("2", "1.0")


@pytest.mark.slow
def test_frames_of_mobile_robots_come_with_their_odometry(tmp_path):
    with Lab.from_cell("epucks", seed=1) as lab:
        recorder = lab.record(tmp_path / "run.mcap")
        lab.advance(0.5)
        recorder.close()
    log = read_log(tmp_path / "run.mcap")
    result = export_log(log, tmp_path / "run.bag", "bag", ExportOptions(with_clock=True))
    assert result.notes == ()
    with AnyReader([tmp_path / "run.bag"]) as bag:
        kinds = {c.topic: c for c in bag.connections}
        frames, clock = {}, []
        for connection, _, raw in bag.messages([kinds["/tf"], kinds["/clock"]]):
            message = bag.deserialize(raw, connection.msgtype)
            if connection.topic == "/clock":
                clock.append(message.clock.sec + message.clock.nanosec / 1e9)
            else:
                frames.update({one.child_frame_id: one for one in message.transforms})
    odometry = [entry.message for entry in log.entries(["/ePuck0/odom"])][-1]
    frame = frames[odometry.child_frame]
    assert frame.header.frame_id == odometry.frame
    assert [frame.transform.translation.x, frame.transform.translation.y] == odometry.position[:2].tolist()
    assert clock == sorted(clock)
    assert len(clock) >= 40


PEER = "/usr/bin/python3"
READ = """
import rosbag, sys, json
bag = rosbag.Bag(sys.argv[1])
told = {}
for topic, message, stamp in bag.read_messages():
    told.setdefault(topic, []).append([stamp.to_nsec(), list(getattr(message, 'position', []))])
print(json.dumps(told))
"""


def has_rosbag():
    return Path(PEER).exists() and subprocess.run([PEER, "-c", "import rosbag"], capture_output=True).returncode == 0


@pytest.mark.peer
@pytest.mark.skipif(not has_rosbag(), reason="rosbag of ROS 1 is not installed (Debian: python3-rosbag)")
def test_the_rosbag_of_ros_1_reads_every_message(log, tmp_path):
    export_log(log, tmp_path / "run.bag", "bag")
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [PEER, "-c", READ, tmp_path / "run.bag"], capture_output=True, text=True, check=True, env=environment
    )
    told = json.loads(done.stdout)
    assert {topic: len(rows) for topic, rows in told.items()} == {
        name: topic.count for name, topic in log.topics.items() if not log.is_truth(name)
    }
    states = [[max(1, e.time_ns), e.message.position.tolist()] for e in log.entries(["/arm/joint_states"])]
    assert told["/arm/joint_states"] == states
