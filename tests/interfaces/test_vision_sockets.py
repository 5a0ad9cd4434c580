"""The vision server and its clients over real sockets, the badly behaved ones included."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time

import numpy as np
import pytest

from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.interfaces import BlockingVisionClient, NoFrame, VisionClient, VisionEncoder, VisionServer

RESET = struct.pack("ii", 1, 0)
ENCODER = VisionEncoder(Pose.identity(), {}, decimals=1)


def frame(number: int, objects: int = 1) -> Detections:
    """Objects whose x in millimetres is the frame's number."""
    positions = np.tile([number / 1000, 0.0, 0.0], (objects, 1))
    quaternions = np.tile([1.0, 0.0, 0.0, 0.0], (objects, 1))
    skus = ("sku_part_large_gear",) * objects
    return Detections(
        0,
        number,
        "d",
        frame="world",
        skus=skus,
        positions=positions,
        quaternions=quaternions,
        variances=np.zeros((objects, 6)),
        scores=np.ones(objects),
    )


def number_of(line: bytes) -> int:
    return round(float(line.split(b",")[2]))


@contextlib.asynccontextmanager
async def serving(**limits):
    async with VisionServer(ENCODER, **limits) as server:
        yield await server.start(port=0)


async def connected(server: VisionServer):
    """A client that reads when it is told to, known to the server."""
    before = server.clients
    reader, writer = await asyncio.open_connection(*server.address)
    await until(lambda: server.clients == before + 1)
    return reader, writer


async def until(condition, within_s: float = 10.0):
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.001)


def stuck(server: VisionServer) -> socket.socket:
    """A client that never reads, with little room."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(server.address)
    return client


def address(server: VisionServer) -> str:
    return "{}:{}".format(*server.address)


def test_every_client_gets_every_frame_unasked():
    async def main():
        async with serving() as server:
            server.send(frame(0))  # nobody is there
            clients = [await connected(server) for _ in range(10)]
            for number in range(1, 6):
                server.send(frame(number))
            for reader, writer in clients:
                assert [number_of(await reader.readline()) for _ in range(5)] == [1, 2, 3, 4, 5]
                writer.close()
            assert server.lines_sent == 50

    asyncio.run(main())


def test_one_line_is_one_frame_even_without_objects():
    async def main():
        async with serving() as server:
            reader, writer = await connected(server)
            server.send(frame(1, objects=0))
            server.send(frame(2, objects=2))
            assert await reader.readline() == b"\n"
            two = b"sku_part_large_gear,0.0,2.0,0.0,1.0,P,"
            assert await reader.readline() == two + two + b"\n"
            writer.close()

    asyncio.run(main())


def test_a_stuck_client_loses_its_oldest_frames_and_nobody_else_does():
    async def main():
        async with serving(backlog_bytes=20_000, max_missed_frames=10**6) as server:
            slow = stuck(server)
            await until(lambda: server.clients == 1)
            reader, writer = await connected(server)
            count, longest_s = 3000, 0.0
            for number in range(1, count + 1):
                begin_s = time.perf_counter()
                server.send(frame(number, objects=15))
                longest_s = max(longest_s, time.perf_counter() - begin_s)
                assert number_of(await reader.readline()) == number
            assert longest_s < 0.1
            assert server.lines_dropped > 1000
            assert server.clients_dropped == 0
            # It wakes up: whole lines, in order, a gap, and the newest one last.
            slow.setblocking(False)
            stream, loop = bytearray(), asyncio.get_running_loop()
            while not (stream.endswith(b"\n") and number_of(stream.splitlines()[-1]) == count):
                stream += await asyncio.wait_for(loop.sock_recv(slow, 65536), 5)
            numbers = [number_of(line) for line in stream.splitlines()]
            assert all(len(line.split(b",")) == 15 * 6 + 1 for line in stream.splitlines())
            assert numbers == sorted(set(numbers))
            assert numbers[0] == 1
            assert len(numbers) == count - server.lines_dropped
            server.send(frame(7))
            assert number_of(await asyncio.wait_for(loop.sock_recv(slow, 65536), 5)) == 7  # and it is served as before
            slow.close()
            writer.close()

    asyncio.run(main())


def test_a_client_that_never_reads_is_disconnected_in_the_end():
    async def main():
        async with serving(backlog_bytes=1000, max_missed_frames=50) as server:
            slow = stuck(server)
            await until(lambda: server.clients == 1)
            for number in range(5000):
                server.send(frame(number, objects=15))
                await asyncio.sleep(0)
                if not server.clients:
                    break
            assert server.clients == 0
            assert server.clients_dropped == 1
            assert number < 1000
            slow.close()

    asyncio.run(main())


def test_whoever_floods_after_an_empty_line_is_not_heard_and_gets_frames_all_the_same():
    async def main():
        async with serving() as server:
            flooder, writer = await connected(server)
            ended = threading.Event()
            sent = 0

            def flood():
                nonlocal sent
                handle = socket.create_connection(server.address)
                handle.settimeout(0.2)
                with contextlib.suppress(OSError):
                    handle.send(b"\r\n")
                    while not ended.is_set():
                        sent += handle.send(b"GET / HTTP/1.1\r\n" * 4096)
                handle.close()

            thread = threading.Thread(target=flood)
            thread.start()
            await until(lambda: server.clients == 2)
            writer.write(b"\n" + b"\x00\xff" * 1000)
            for number in range(100):
                server.send(frame(number))
                assert number_of(await asyncio.wait_for(flooder.readline(), 5)) == number
            await until(lambda: not thread.is_alive())  # its socket is full: it can send no more
            ended.set()
            thread.join()
            assert sent < 50_000_000
            for number in range(3):  # it has gone, which is noticed
                server.send(frame(number))
                await asyncio.sleep(0.05)
            assert server.clients == 1
            writer.close()

    asyncio.run(main())


def test_clients_that_die_are_forgotten():
    async def main():
        async with serving() as server:
            reader, writer = await connected(server)
            for reset in (True, False):
                other = socket.create_connection(server.address)
                await until(lambda: server.clients == 2)
                if reset:
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                other.close()
                for number in range(5):
                    server.send(frame(number))
                    assert number_of(await reader.readline()) == number
                    await asyncio.sleep(0.01)
                assert server.clients == 1
            writer.close()

    asyncio.run(main())


def test_a_client_may_close_its_sending_side():
    async def main():
        async with serving() as server:
            reader, writer = await connected(server)
            writer.write_eof()
            for number in range(5):
                server.send(frame(number))
                await asyncio.sleep(0.01)
            assert [number_of(await reader.readline()) for _ in range(5)] == [0, 1, 2, 3, 4]
            writer.close()

    asyncio.run(main())


def test_more_than_enough_clients_are_turned_away_but_not_for_those_who_left():
    async def main():
        async with serving(max_clients=3) as server:
            clients = [await connected(server) for _ in range(3)]
            reader, writer = await asyncio.open_connection(*server.address)
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
            writer.close()
            server.send(frame(1))
            assert [number_of(await reader.readline()) for reader, _ in clients] == [1, 1, 1]
            clients[0][1].close()  # without a frame the server cannot know whether it is gone for good
            await asyncio.sleep(0.05)
            reader, writer = await asyncio.open_connection(*server.address)
            await asyncio.sleep(0.05)
            server.send(frame(2))
            assert number_of(await asyncio.wait_for(reader.readline(), 5)) == 2
            assert server.clients == 3
            for _, open_writer in [*clients, (reader, writer)]:
                open_writer.close()

    asyncio.run(main())


def test_where_all_places_are_taken_one_who_reads_nothing_gives_way():
    async def main():
        async with serving(max_clients=2, backlog_bytes=2000) as server:
            reader, writer = await connected(server)
            idle = socket.create_connection(server.address)
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            while server.clients < 2:
                await asyncio.sleep(0.01)
            for number in range(20_000):
                server.send(frame(number, objects=20))
                await reader.readline()
                if server.lines_dropped:
                    break
            late = await asyncio.open_connection(*server.address)
            await asyncio.sleep(0.05)
            assert server.clients == 2
            server.send(frame(7))
            assert number_of(await late[0].readline()) == 7
            assert number_of(await reader.readline()) == 7  # who reads stays
            for _, open_writer in ((reader, writer), late):
                open_writer.close()
            idle.close()

    asyncio.run(main())


def test_a_line_beyond_the_limit_is_not_sent():
    async def main():
        async with serving(max_line_bytes=100) as server:
            reader, writer = await connected(server)
            server.send(frame(1, objects=3))
            server.send(frame(2))
            assert number_of(await reader.readline()) == 2
            assert server.frames_too_long == 1
            writer.close()

    asyncio.run(main())


def test_start_and_close():
    async def main():
        server = VisionServer(ENCODER)
        with pytest.raises(BadInput, match="start it first"):
            _ = server.address
        await server.start(port=0)
        with pytest.raises(BadInput, match="already"):
            await server.start(port=0)
        with pytest.raises(BadInput, match=r"cannot listen on 127\.0\.0\.1"):
            await VisionServer(ENCODER).start(port=server.address[1])
        with pytest.raises(BadInput, match="cannot listen"):
            await VisionServer(ENCODER).start(port=70000)
        reader, _ = await connected(server)
        slow = stuck(server)
        await until(lambda: server.clients == 2)
        for number in range(500):
            server.send(frame(number, objects=15))
            await reader.readline()
        port = server.address[1]
        await server.close()
        assert await asyncio.wait_for(reader.read(), 5) == b""
        await until(lambda: server.clients == 0)
        await server.close()
        server.send(frame(1))
        again = await VisionServer(ENCODER).start(port=port)  # the port is free
        await again.close()
        slow.close()

    asyncio.run(main())
    with pytest.raises(OutOfRange, match="backlog"):
        VisionServer(ENCODER, backlog_bytes=0)


def test_the_client_gives_every_frame_in_order_and_the_next_one():
    async def main():
        async with serving() as server:
            async with VisionClient(address(server)) as vision:
                await until(lambda: server.clients == 1)
                for number in range(3):
                    server.send(frame(number, objects=2))
                await until(lambda: vision.arrived == 3)
                assert [group.x_mm for group in vision.latest] == [2.0, 2.0]
                waiting = asyncio.ensure_future(vision.next_frame())
                await asyncio.sleep(0.02)
                assert not waiting.done()  # what came before it asked is not what it wants
                server.send(frame(9))
                assert (await waiting)[0].x_mm == 9.0
                assert [(await anext(vision))[0].x_mm for _ in range(4)] == [0.0, 1.0, 2.0, 9.0]
                with pytest.raises(NoFrame, match=r"no frame within 0\.05 s"):
                    await vision.next_frame(timeout_s=0.05)
                waiting = asyncio.ensure_future(vision.next_frame(timeout_s=None))
                rest = asyncio.ensure_future(collect(vision))
                await asyncio.sleep(0.02)
            with pytest.raises(NoFrame, match="it was closed"):
                await waiting
            assert await rest == []
            await vision.close()

    async def collect(vision):
        return [seen async for seen in vision]

    asyncio.run(main())


def test_the_client_comes_back_after_the_server_did():
    async def main():
        server = await VisionServer(ENCODER).start(port=0)
        port = server.address[1]
        async with VisionClient(address(server), retry_s=0.02) as vision:
            for outage in range(3):
                await until(lambda: server.clients == 1)  # noqa: B023
                server.send(frame(outage))
                await until(lambda: vision.arrived == outage + 1)  # noqa: B023
                await server.close()
                with pytest.raises(NoFrame, match=r"closed the connection|refused"):
                    await vision.next_frame(timeout_s=0.1)
                server = await VisionServer(ENCODER).start(port=port)
            await until(lambda: vision.reconnections == 3)
        await server.close()

    asyncio.run(main())


@pytest.mark.parametrize("nonsense", [b"x" * 5000, b"\xff\xfe\x00\n", b"a,0,1,2,0.9,P", b""])
def test_the_client_survives_bad_servers(nonsense):
    """One that speaks something else, breaks off in a line, or hangs up at once: the next connection is served."""

    async def main():
        connections = 0

        async def answer(_reader, writer):
            nonlocal connections
            connections += 1
            writer.write(nonsense if connections == 1 else b"good,0,1,2,0.9,P,\n")
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with VisionClient(f"{host}:{port}", retry_s=0.01, max_line_bytes=1000) as vision:
            await until(lambda: vision.latest and vision.latest[0].name == "good")
        server.close()

    asyncio.run(main())


def test_nobody_there_and_bad_addresses():
    async def main():
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = taken.getsockname()[1]
        with pytest.raises(NoFrame, match=f"no vision server at 127.0.0.1:{port} within 0.1 s: connection refused"):
            await VisionClient(f"127.0.0.1:{port}", connect_s=0.1, retry_s=0.02).open()

    asyncio.run(main())
    for wrong in ("here", "here:", ":5001", "here:0", "here:99999", "here:x", "here:500100000"):
        with pytest.raises(BadInput, match="HOST:PORT"):
            VisionClient(wrong)


@contextlib.contextmanager
def served_by_a_thread():
    """A server that sends numbered frames for ever, as fast as they are counted."""
    loop, ready, ended = asyncio.new_event_loop(), threading.Event(), threading.Event()
    addresses: list[str] = []

    async def main():
        async with serving() as server:
            addresses.append(address(server))
            ready.set()
            number = 0
            while not ended.is_set():
                number += 1
                server.send(frame(number))
                await asyncio.sleep(0.005)

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
    thread.start()
    ready.wait(10)
    try:
        yield addresses[0]
    finally:
        ended.set()
        thread.join()
        loop.close()


def test_a_client_may_be_told_that_angles_are_in_degrees():
    turned = VisionEncoder(Pose.from_xyz_rpy([0, 0, 0], [0, 0, -0.5]), {}, rotation_unit="degree")

    async def main():
        async with VisionServer(turned) as server:
            await server.start(port=0)
            async with VisionClient(address(server)) as vision:
                vision.rotation_unit = "degree"
                await until(lambda: server.clients == 1)
                server.send(frame(1))
                return await vision.next_frame()

    (seen,) = asyncio.run(main())
    assert seen.rotation_rad == pytest.approx(0.5, abs=1e-3)


def test_the_blocking_client():
    with served_by_a_thread() as where, BlockingVisionClient(where) as vision:
        first = vision.next_frame()[0].x_mm
        until_s = time.monotonic() + 10.0
        while vision.latest[0].x_mm < first + 6 and time.monotonic() < until_s:
            time.sleep(0.002)
        later = vision.next_frame()[0].x_mm
        assert later > first + 5  # not the one that came next, but the one that comes now
        frames = iter(vision)
        numbers = [next(frames)[0].x_mm for _ in range(5)]
        assert numbers == [numbers[0] + i for i in range(5)]
        assert vision.latest is not None
        vision.close()
        with pytest.raises(RuntimeError, match="not open"):
            vision.next_frame()
        vision.close()
    with pytest.raises(NoFrame, match="no vision server"):
        BlockingVisionClient(where, connect_s=0.2).open()
