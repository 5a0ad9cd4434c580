from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from cellwright.core import Bus
from cellwright.core.errors import LogError, UnknownName
from cellwright.core.messages import ActionEvent, Beam, JointState
from cellwright.core.ros import definition
from cellwright.record import Recorder, read_log
from cellwright.record.writer import LogWriter

MESSAGES = 2 * 2 * 175 + 3 * 35


def test_table_of_contents(log_file):
    log = read_log(log_file)
    assert log.metadata == {"seed": "7", "cell": "aprs", "versions": "cellwright 0.1.0", "model_sha256": "00ff"}
    assert log.problem == ""
    assert log.count == MESSAGES
    assert log.span_ns == (0, 3_480_000_000)
    topic = log.topic("/fanuc/joint_states")
    assert (topic.type, topic.count, topic.first_ns, topic.last_ns) == (
        "sensor_msgs/msg/JointState",
        175,
        0,
        3_480_000_000,
    )
    assert topic.rate_hz == pytest.approx(50)
    assert log.topic("/truth/poses").rate_hz == pytest.approx(10)
    with pytest.raises(UnknownName, match="did you mean '/fanuc/joint_states'"):
        log.topic("/fanuc/joint_state")
    with pytest.raises(UnknownName):
        list(log.entries(["/nothing"]))


def test_arrays_of_a_topic(log_file):
    log = read_log(log_file)
    joints = log.arrays("/fanuc/joint_states")
    assert joints["position"].shape == (175, 3)
    assert joints["position"][50] == pytest.approx([np.sin(1), np.cos(1), 1])
    assert joints["time_s"][50] == 1.0
    assert joints["names"][0] == ("joint_1", "joint_2", "joint_3")
    tools = log.arrays("/fanuc/tool_status")
    assert (tools["width_m"].shape, tools["locked"].dtype) == ((35,), np.bool_)
    tables = log.arrays("/detector/detections")
    assert [table.shape for table in tables["positions"][:5]] == [(0, 3), (1, 3), (2, 3), (3, 3), (0, 3)]


@cache
def chunk_ends(data: bytes) -> list[tuple[int, int]]:
    """Where each chunk ends, and how many messages it has."""
    summary = make_reader(BytesIO(data)).get_summary()
    ends = []
    for index in summary.chunk_indexes:
        inside = make_reader(BytesIO(data)).iter_messages(
            starting_at=index.message_start_time, ending_at=index.message_end_time
        )
        ends.append((index.chunk_start_offset + index.chunk_length, len(list(inside))))
    return ends


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.floats(0, 1, exclude_max=True))
def test_cut_anywhere_it_gives_every_whole_chunk_and_says_so(log_bytes, tmp_path, part):
    size = int(part * len(log_bytes))
    path = tmp_path / "cut.mcap"
    path.write_bytes(log_bytes[:size])
    if size < 8:
        with pytest.raises(LogError, match="is not a log"):
            read_log(path)
        return
    log = read_log(path)
    expected = sum(count for end, count in chunk_ends(log_bytes) if end <= size)
    assert log.count == expected
    assert len(list(log.entries())) == expected
    assert log.problem.startswith("the file was cut off")


def test_cut_at_every_byte_near_the_joints(log_bytes, tmp_path):
    ends = chunk_ends(log_bytes)
    path = tmp_path / "cut.mcap"
    sizes = {end + shift for end, _ in ends for shift in (-2, -1, 0, 1, 2)} | set(range(8, 60))
    for size in sizes | set(range(len(log_bytes) - 40, len(log_bytes))):
        path.write_bytes(log_bytes[:size])
        log = read_log(path)
        assert log.count == sum(count for end, count in ends if end <= size), size
        assert log.problem, size


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_never_a_crash(log_bytes, tmp_path, data):
    damaged = bytearray(log_bytes)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.mcap"
    path.write_bytes(damaged)
    try:
        log = read_log(path)
        count = sum(1 for _ in log.entries())
    except LogError:
        return
    assert count == log.count <= MESSAGES
    assert log.problem or count == MESSAGES, "what is missing is told"


def test_a_damaged_chunk_costs_only_its_own_messages(log_bytes, tmp_path):
    index = make_reader(BytesIO(log_bytes)).get_summary().chunk_indexes[1]
    damaged = bytearray(log_bytes)
    damaged[index.chunk_start_offset + index.chunk_length // 2] ^= 0xFF
    path = tmp_path / "damaged.mcap"
    path.write_bytes(damaged)
    log = read_log(path)
    lost = 4 * 50 + 3 * 10
    assert log.count == MESSAGES - lost
    assert log.problem == f"the file is damaged: it has {MESSAGES - lost} readable messages and should have {MESSAGES}"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("missing.mcap", "cannot read log .*missing.mcap: No such file or directory"),
        ("folder", "cannot read log .*folder: Is a directory"),
        ("empty.mcap", "empty.mcap is not a log: the file is empty"),
        ("text.mcap", "text.mcap is not a log: it does not start like an MCAP file"),
        ("short.mcap", "short.mcap is not a log"),
        ("a\0b", "cannot read log"),
    ],
)
def test_what_is_no_log(tmp_path, name, told):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.mcap").touch()
    (tmp_path / "text.mcap").write_text("time,position\n" * 10)
    (tmp_path / "short.mcap").write_bytes(b"\x89MCAP")
    with pytest.raises(LogError, match=told) as caught:
        read_log(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_late_messages_come_in_the_order_of_time(tmp_path):
    bus, path = Bus(), tmp_path / "late.mcap"
    times_ms = [0, 1500, 900, 2400, 1600, 100, 5000, 4000, 4000]
    with Recorder(bus, path, chunk_s=0.5):
        for number, time_ms in enumerate(times_ms):
            bus.publish("/beam", Beam(time_ms * 1_000_000, number, "b", frame="gate", interrupted=True))
    entries = [(entry.time_ns // 1_000_000, entry.message.sequence) for entry in read_log(path).entries()]
    assert entries == sorted((time_ms, number) for number, time_ms in enumerate(times_ms))


def test_unknown_types_become_namespaces(tmp_path):
    store = get_typestore(Stores.ROS2_JAZZY)
    name = "geometry_msgs/msg/PoseArray"
    header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](1, 2), "map")
    point = store.types["geometry_msgs/msg/Point"](1.0, 2.0, 3.0)
    turn = store.types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    poses = store.types[name](header, [store.types["geometry_msgs/msg/Pose"](point, turn)])
    with (tmp_path / "foreign.mcap").open("wb") as file:
        writer = LogWriter(file, {})
        channel = writer.add_channel(
            "/poses", writer.add_schema(name, store.generate_msgdef(name, ros_version=2)[0]), {}
        )
        writer.add_message(channel, 0, 9, 9, bytes(store.serialize_cdr(poses, name)))
        writer.finish()
    (entry,) = read_log(tmp_path / "foreign.mcap").entries()
    assert isinstance(entry.message, SimpleNamespace)
    assert entry.message.header.stamp.nanosec == 2
    assert entry.message.poses[0].position.z == 3.0


def test_a_class_with_other_fields_than_the_log_s_is_not_used(tmp_path):
    with (tmp_path / "older.mcap").open("wb") as file:
        writer = LogWriter(file, {})
        schema = writer.add_schema("cellwright_msgs/msg/Beam", "float64 brightness\n")
        writer.add_message(writer.add_channel("/beam", schema, {}), 0, 0, 0, b"\0\1\0\0" + np.float64(0.25).tobytes())
        writer.finish()
    (entry,) = read_log(tmp_path / "older.mcap").entries()
    assert not isinstance(entry.message, Beam)
    assert entry.message.brightness == 0.25


@pytest.mark.parametrize("compression", list(CompressionType))
@pytest.mark.parametrize("chunked", [True, False])
def test_logs_of_other_writers(tmp_path, compression, chunked, log_bytes):
    path = tmp_path / "other.mcap"
    with path.open("wb") as file:
        writer = Writer(file, compression=compression, use_chunking=chunked, chunk_size=2000)
        writer.start("ros2")
        channels = {}
        for schema, channel, message in make_reader(BytesIO(log_bytes)).iter_messages():
            if channel.topic not in channels:
                number = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.topic] = writer.register_channel(channel.topic, "cdr", number)
            writer.add_message(
                channels[channel.topic], message.log_time, message.data, message.log_time, message.sequence
            )
        writer.finish()
    log = read_log(path)
    assert (log.count, log.problem) == (MESSAGES, "")
    assert sum(isinstance(entry.message, JointState) for entry in log.entries()) == 350


def test_other_encodings_are_listed_but_not_decoded(tmp_path):
    path = tmp_path / "json.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/events", "json", writer.register_schema("event", "jsonschema", b"{}"))
        writer.add_message(channel, 0, b"{}", 0)
        writer.finish()
    log = read_log(path)
    assert log.topics["/events"].count == 1
    with pytest.raises(LogError, match="topic /events is encoded as json / jsonschema, readable is cdr / ros2msg"):
        list(log.entries())


def test_a_log_that_is_still_growing_is_read_as_far_as_it_was(tmp_path, run_on):
    bus, path = Bus(), tmp_path / "growing.mcap"
    with Recorder(bus, path):
        run_on(bus, seconds=2.5)
        log = read_log(path)
        count = log.count
        run_on(bus, seconds=2.5)
        assert Path(path).stat().st_size > 0
        assert len(list(log.entries())) == count
    assert log.problem.startswith("the file was cut off")


def test_a_message_of_a_log_from_before_it_told_more_is_read_as_what_it_was(tmp_path):
    name, text = definition(ActionEvent)
    older = text.replace("string part\n", "")
    assert older != text
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(older, name))
    header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](1, 5), "execution")
    event = store.types[name](header, 3, "fanuc", "(take)", "end", "", ["p()"], ["true"], ["seen"])
    with (tmp_path / "older.mcap").open("wb") as file:
        writer = LogWriter(file, {})
        channel = writer.add_channel("/execution/actions", writer.add_schema(name, older), {"class": "ActionEvent"})
        writer.add_message(channel, 3, 1_000_000_005, 1_000_000_005, bytes(store.serialize_cdr(event, name)))
        writer.finish()
    (entry,) = read_log(tmp_path / "older.mcap").entries()
    assert entry.message == ActionEvent(
        1_000_000_005, 3, "execution", robot="fanuc", action="(take)", phase="end", reason="", predicates=("p()",),
        values=("true",), evidence=("seen",), part="",
    )  # fmt: skip


def test_a_message_that_says_something_else_by_the_same_name_stays_plain(tmp_path):
    name, text = definition(ActionEvent)
    other = text.replace("string part\n", "string wheel\n")
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(other, name))
    header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](1, 5), "execution")
    event = store.types[name](header, 3, "fanuc", "(take)", "end", "", [], [], [], "left")
    with (tmp_path / "other.mcap").open("wb") as file:
        writer = LogWriter(file, {})
        channel = writer.add_channel("/execution/actions", writer.add_schema(name, other), {})
        writer.add_message(channel, 3, 0, 0, bytes(store.serialize_cdr(event, name)))
        writer.finish()
    (entry,) = read_log(tmp_path / "other.mcap").entries()
    assert isinstance(entry.message, SimpleNamespace)
    assert entry.message.wheel == "left"
