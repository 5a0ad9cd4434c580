from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import NonSeekingReader, make_reader
from mcap.records import Header
from mcap.stream_reader import StreamReader
from mcap.writer import Writer
from rosbags.rosbag2 import Reader

from cellwright.record.writer import LogWriter, SinkFailed

MESSAGE = st.tuples(st.integers(0, 2), st.integers(0, 2**32 - 1), st.integers(0, 2**40), st.binary(max_size=60))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(MESSAGE, min_size=1, max_size=8), max_size=4), st.dictionaries(st.text(max_size=5), st.text()))
def test_files_equal_those_of_the_mcap_package(chunks, metadata):
    metadata = {k.encode(errors="replace").decode(): v.encode(errors="replace").decode() for k, v in metadata.items()}
    ours, theirs = BytesIO(), BytesIO()
    writer = LogWriter(ours, metadata, chunk_ns=2**62)
    oracle = Writer(theirs)
    oracle.start("ros2", "cellwright")
    oracle.add_metadata("cellwright", metadata)
    for topic in ("/a", "/b", "/c"):
        schema = writer.add_schema(f"type{topic}", "float64 x\n")
        assert oracle.register_schema(f"type{topic}", "ros2msg", b"float64 x\n") == schema
        channel = writer.add_channel(topic, schema, {"source": topic})
        assert oracle.register_channel(topic, "cdr", schema, {"source": topic}) == channel
    for chunk in chunks:
        for number, sequence, time_ns, data in chunk:
            writer.add_message(number + 1, sequence, time_ns, time_ns + 5, data)
            oracle.add_message(number + 1, time_ns, data, time_ns + 5, sequence)
        assert writer.pending == len(chunk)
        writer.flush()
        oracle.flush()
        assert writer.pending == 0
    writer.finish()
    oracle.finish()
    assert ours.getvalue() == theirs.getvalue()
    assert writer.written == sum(map(len, chunks))


def test_mcap_readers_accept_it_with_all_checksums(log_bytes):
    summary = make_reader(BytesIO(log_bytes)).get_summary()
    assert summary.statistics.message_count == 2 * 2 * 175 + 3 * 35
    assert summary.statistics.chunk_count == len(summary.chunk_indexes) == 4
    assert [index.message_start_time for index in summary.chunk_indexes] == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert len(summary.channels) == 7
    indexed = [
        (c.topic, m.log_time, m.data) for _, c, m in make_reader(BytesIO(log_bytes), validate_crcs=True).iter_messages()
    ]
    linear = NonSeekingReader(BytesIO(log_bytes), validate_crcs=True).iter_messages(log_time_order=False)
    assert sorted(indexed) == sorted((c.topic, m.log_time, m.data) for _, c, m in linear)
    window = make_reader(BytesIO(log_bytes)).iter_messages("/fanuc/wrench", starting_at=10**9, ending_before=2 * 10**9)
    assert len(list(window)) == 50
    header = next(StreamReader(BytesIO(log_bytes)).records)
    assert header == Header("ros2", "cellwright")


def test_rosbags_reads_it(log_file):
    with Reader(log_file) as reader:
        assert reader.message_count == 2 * 2 * 175 + 3 * 35
        types = {c.topic: c.msgtype for c in reader.connections}
        assert types["/fanuc/joint_states"] == "sensor_msgs/msg/JointState"
        assert types["/truth/poses"] == "cellwright_msgs/msg/WorldTruth"


def test_a_large_message_closes_its_chunk():
    out = BytesIO()
    writer = LogWriter(out, {})
    channel = writer.add_channel("/image", writer.add_schema("t", "uint8[] x\n"), {})
    writer.add_message(channel, 0, 0, 0, bytes(2 << 20))
    assert (writer.pending, writer.written) == (0, 1)
    writer.add_message(channel, 1, 1, 1, b"small")
    assert (writer.pending, writer.written) == (1, 1)
    writer.finish()
    assert [len(m.data) for _, _, m in make_reader(BytesIO(out.getvalue())).iter_messages()] == [2 << 20, 5]


class Dribble:
    """Takes a few bytes at a time, as a pipe does."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: memoryview) -> int:
        self.data += data[:7]
        return min(len(data), 7)


def test_a_sink_may_take_the_bytes_piecemeal():
    whole, pieces = BytesIO(), Dribble()
    for sink in (whole, pieces):
        writer = LogWriter(sink, {"seed": "1"})
        writer.add_message(writer.add_channel("/a", writer.add_schema("t", "float64 x\n"), {}), 0, 0, 0, b"data")
        writer.finish()
    assert bytes(pieces.data) == whole.getvalue()


@pytest.mark.parametrize("answer", [0, None])
def test_a_sink_that_takes_nothing_has_failed(answer):
    class Stuck:
        def write(self, data: memoryview) -> int | None:
            return answer

    with pytest.raises(SinkFailed, match="takes no more bytes"):
        LogWriter(Stuck(), {})
