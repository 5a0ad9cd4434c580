"""The extended protocol of the vision socket: the whole message of a detector, for whoever asks by the first line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.errors import BadInput
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.interfaces import (
    BlockingDetectionsClient,
    BlockingVisionClient,
    DetectionsClient,
    NoFrame,
    VisionEncoder,
    VisionServer,
    decode_frame,
    encode_frame,
)

ENCODER = VisionEncoder(Pose.identity(), {})
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VARIANCES = st.floats(min_value=0, allow_nan=False)  # infinite: not measured


def detections(rows=1, number=7, **changes):
    made = {
        "frame": "world",
        "skus": ("sku_part_large_gear",) * rows,
        "positions": np.tile([0.1, 1 / 3, 0.3], (rows, 1)),
        "quaternions": np.tile([0.6, 0.0, 0.0, 0.8], (rows, 1)),
        "variances": np.tile([7.84e-8, 1e-7, np.inf, np.inf, np.inf, 2.7e-5], (rows, 1)),
        "scores": np.linspace(1.0, 0.7, rows),
    }
    return Detections(123_456_789, number, "detector_fanuc", **(made | changes))


def assert_same(one: Detections, other: Detections):
    for name in ("time_ns", "sequence", "source", "frame", "skus"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("positions", "quaternions", "variances", "scores"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.shape == second.shape
        assert first.tobytes() == second.tobytes(), name


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(max_size=20),
            *(st.lists(kind, min_size=count, max_size=count) for kind, count in ((NUMBERS, 7), (VARIANCES, 6))),
            NUMBERS,
        ),
        max_size=4,
    ),
    st.integers(0, 2**62),
    st.text(max_size=10),
)
def test_what_is_decoded_is_what_was_encoded_to_the_bit(rows, time_ns, frame):
    poses = np.array([row[1] for row in rows], float).reshape(-1, 7)
    made = Detections(
        time_ns, 3, "d", frame=frame, skus=tuple(row[0] for row in rows), positions=poses[:, :3].copy(),
        quaternions=poses[:, 3:].copy(), variances=np.array([row[2] for row in rows], float).reshape(-1, 6),
        scores=np.array([row[3] for row in rows], float),
    )  # fmt: skip
    line = encode_frame(made)
    assert "\n" not in line
    assert_same(decode_frame(line), made)


def test_what_was_not_measured_is_null():
    told = json.loads(encode_frame(detections()))
    assert told["objects"][0]["variances"] == [7.84e-8, 1e-7, None, None, None, 2.7e-5]
    assert (told["time_ns"], told["sequence"], told["source"], told["frame"]) == (
        123_456_789, 7, "detector_fanuc", "world",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sku_part_large_gear,0.1,100.0,1.0,1.0,P,", "a line of JSON"),
        ("[1]", "a JSON object"),
        ("{}", "'objects' of a frame should be of type list"),
        ('{"objects": [3]}', "objects of a frame are JSON objects"),
        ('{"objects": [{"position_m": [1, 2]}]}', "'position_m' of a frame has 3 numbers, not 2"),
        ('{"objects": [{"position_m": [1, 2, "x"]}]}', "'position_m' of a frame should be of type"),
        ('{"objects": [{"position_m": [1, 2, NaN]}]}', "a finite number"),
        ('{"objects": [], "time_ns": 1.5}', "'time_ns' of a frame should be of type int"),
        ("[" * 100_000, "a line of JSON"),
    ],
)
def test_a_line_that_is_no_frame_is_refused_with_the_reason(line, told):
    with pytest.raises(BadInput, match=told.replace("[", r"\[")):
        decode_frame(line)


@contextlib.asynccontextmanager
async def serving():
    async with VisionServer(ENCODER) as server:
        yield await server.start(port=0)


async def pushed(server, until, numbers=range(1000)):
    """Sends frames until something is so."""
    async with asyncio.timeout(10):
        for number in numbers:
            if until():
                return
            server.send(detections(number=number))
            await asyncio.sleep(0.005)


async def plain(server):
    reader, writer = await asyncio.open_connection(*server.address)
    return reader, writer


def test_who_asks_gets_whole_frames_and_who_does_not_gets_the_lines_of_the_laboratory():
    async def main():
        async with serving() as server:
            quiet, _ = await plain(server)
            reader, writer = await plain(server)
            writer.write(b"protocol detections/1\nand more that nobody reads\n")
            assert (await reader.readline()) == b"protocol detections/1\n"
            server.send(detections(2))
            assert (await quiet.readline()).decode() == ENCODER.encode(detections(2)) + "\n", "byte for byte"
            assert_same(decode_frame(await reader.readline()), detections(2))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"protocol detections/2\n", b"error: unknown protocol 'detections/2'"),
        (b"protocol \x00\xff{}\n", b"error: unknown protocol '"),
        (b"protocol\n", b"error: the first line 'protocol' is no request"),
        (b"hello\nprotocol detections/1\n", b"error: the first line 'hello' is no request"),
        (b"\x00\xff\x17\n", b"error: the first line "),
        (b"y" * 100 + b"\n", b"error: the first line '" + b"y" * 40 + b"...' is no request"),
        (b"x" * 200, b"error: the first line has 128 bytes or more"),
        (b"protocol detections/1" + b" " * 200 + b"\n", b"error: the first line has 128 bytes or more"),
    ],
)
def test_a_first_line_that_asks_for_nothing_that_there_is_gets_one_answer_and_the_end(said, answer):
    async def main():
        async with serving() as server:
            other, _ = await plain(server)
            liar, writer = await plain(server)
            writer.write(said)
            told = await liar.read()
            assert told.startswith(answer)
            assert b"aprs" in told, "what is allowed is named"
            assert b"detections/1" in told
            assert told.count(b"\n") == 1
            assert server.clients_refused == 1
            server.send(detections())
            assert await other.readline(), "others are unharmed"

    asyncio.run(main())


@pytest.mark.parametrize("said", [b"", b"protocol detections/1", b"\n", b" \r\n", b"\nhello\n"], ids=repr)
def test_silence_half_a_line_and_an_empty_line_get_the_lines_of_the_laboratory(said):
    async def main():
        async with serving() as server:
            reader, writer = await plain(server)
            writer.write(said)
            await asyncio.sleep(0.05)
            server.send(detections())
            assert (await reader.readline()).decode() == ENCODER.encode(detections()) + "\n"

    asyncio.run(main())


def test_a_request_that_ends_with_the_sending_side_counts_without_a_newline():
    async def main():
        async with serving() as server:
            for said, answer in ((b"protocol detections/1", b"protocol detections/1\n"), (b"hello", b"error: ")):
                reader, writer = await plain(server)
                writer.write(said)
                writer.write_eof()
                assert (await reader.readline()).startswith(answer)

    asyncio.run(main())


def test_a_request_may_come_in_pieces():
    async def main():
        async with serving() as server:
            reader, writer = await plain(server)
            for letter in b"protocol detections/1\r\n":
                writer.write(bytes([letter]))
                await asyncio.sleep(0.001)
            assert (await reader.readline()) == b"protocol detections/1\n"

    asyncio.run(main())


def test_the_client_gets_the_message_of_the_detector():
    async def main():
        async with serving() as server:
            sending = asyncio.create_task(pushed(server, lambda: False))
            async with DetectionsClient("{}:{}".format(*server.address)) as client:
                found = await client.next_frame()
                assert_same(found, detections(number=found.sequence))
                numbers = [(await client.__anext__()).sequence for _ in range(5)]
            sending.cancel()
            assert numbers == list(range(numbers[0], numbers[0] + 5))

    asyncio.run(main())


def test_a_server_that_does_not_speak_it_is_named():
    async def talks(reader, writer):
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(100 * b"sku_part_large_gear,0.1,100.0,1.0,1.0,P,\n")
                await asyncio.sleep(0.001)

    async def main():
        server = await asyncio.start_server(talks, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        with pytest.raises(NoFrame, match="does not speak detections/1: it sends something else"):
            await DetectionsClient(f"{host}:{port}", connect_s=1.0).open()
        server.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b"", "a server is there, and does not answer 'protocol detections/1'"),
        (b"x" * 3000, "the server sent a line of more than 1000 bytes"),
    ],
)
def test_a_server_that_never_answers_or_never_ends_a_line_is_named(says, why):
    async def main():
        async def says_so(reader, writer):
            writer.write(says)
            await reader.read()

        server = await asyncio.start_server(says_so, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        with pytest.raises(NoFrame, match=why):
            await DetectionsClient(f"{host}:{port}", connect_s=0.3, retry_s=0.6, max_line_bytes=1000).open()
        server.close()

    asyncio.run(main())


def test_a_server_that_breaks_its_word_is_named():
    async def lies(reader, writer):
        with contextlib.suppress(ConnectionError):
            await reader.readline()
            writer.write(b"protocol detections/1\nsku_part_large_gear,0.1,100.0,1.0,1.0,P,\n")
            await reader.read()

    async def main():
        server = await asyncio.start_server(lies, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with DetectionsClient(f"{host}:{port}") as client:
            with pytest.raises(NoFrame, match=r"a frame of detections/1 is a line of JSON, not b'sku_part"):
                await client.next_frame(0.5)
        server.close()

    asyncio.run(main())


def test_blocking_clients_of_both_kinds_share_a_server():
    async def main():
        async with serving() as server:
            at = "{}:{}".format(*server.address)
            sending = asyncio.create_task(pushed(server, lambda: False))

            def look():
                with BlockingDetectionsClient(at) as whole, BlockingVisionClient(at) as lines:
                    return whole.next_frame(), lines.next_frame()

            whole, lines = await asyncio.to_thread(look)
            sending.cancel()
            assert whole.source == "detector_fanuc"
            assert lines[0].x_mm == 100.0

    asyncio.run(main())


def test_a_flood_of_requests_changes_nothing():
    async def main():
        async with serving() as server:
            flood = socket.create_connection(server.address)
            flood.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                for _ in range(10_000):
                    flood.send(b"protocol detections/1\n" * 100)
                    await asyncio.sleep(0)
            reader, writer = await plain(server)
            writer.write(b"protocol detections/1\n")
            assert (await reader.readline()) == b"protocol detections/1\n"
            server.send(detections())
            assert_same(decode_frame(await reader.readline()), detections())
            flood.close()

    asyncio.run(main())


def test_a_line_tells_what_a_detector_tells_and_no_identity():
    frame = Detections(
        1, 2, "eye", frame="world", skus=("gear",), positions=np.zeros((1, 3)), quaternions=np.eye(4)[:1],
        variances=np.ones((1, 6)), scores=np.ones(1),
    )  # fmt: skip
    told = json.loads(encode_frame(frame))
    assert set(told) == {"time_ns", "sequence", "source", "frame", "objects"}
    assert set(told["objects"][0]) == {"sku", "position_m", "quaternion_wxyz", "variances", "score"}
