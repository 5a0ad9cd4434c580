"""Connections: bad ones, slow ones, many of them; and what the server does besides answering."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest

from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.crcl import (
    CommandStateEnum,
    CRCLCommandInstance,
    CrclServer,
    CRCLStatus,
    Dwell,
    ExampleArm,
    GetStatus,
    InitCanon,
    MessageStream,
    ParameterSetting,
    SetRobotParameters,
    WallClock,
    decode,
    encode,
)

DONE, ERROR, WORKING = CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR, CommandStateEnum.CRCL_WORKING
ASK = encode(CRCLCommandInstance(GetStatus(1)))
NAMESPACE = b'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


def command(kind: bytes, inside: bytes = b"<CommandID>77</CommandID>") -> bytes:
    return b'<CRCLCommandInstance><CRCLCommand %b xsi:type="%b">%b</CRCLCommand></CRCLCommandInstance>' % (
        NAMESPACE, kind, inside,
    )  # fmt: skip


BAD_STREAMS = {
    "garbage": b"hello robot, please move",
    "binary": bytes(range(256)) * 4,
    "http": b"GET / HTTP/1.1\r\nHost: robot\r\n\r\n",
    "unclosed tag": b"<CRCLCommandInstance><CRCLCommand></CRCLCommandInstance>",
    "garbage before a message": b"xx" + ASK,
    "a program": b"<CRCLProgram><InitCanon><CommandID>1</CommandID></InitCanon><EndCanon><CommandID>2</CommandID>"
    b"</EndCanon></CRCLProgram>",
    "a document type": b'<!DOCTYPE a [<!ENTITY x "y">]><CRCLCommandInstance></CRCLCommandInstance>',
    "an empty command": b"<CRCLCommandInstance/>",
    "too deep": command(b"DwellType", b"<CommandID>" + b"<a>" * 500 + b"</a>" * 500 + b"</CommandID>"),
}


@pytest.mark.parametrize("case", BAD_STREAMS)
def test_a_stream_that_cannot_be_read_costs_its_sender_the_connection_and_is_told_to_the_others(rig, case):
    async def work(rig):
        bad, good = await rig.connect(), await rig.connect()
        await good.begin()
        await bad.send_bytes(BAD_STREAMS[case])
        assert await bad.status() is None
        status = await good.ask()
        assert status.command_status.command_state is ERROR
        assert status.command_status.state_description.startswith("connection closed, its message could not be read: ")
        assert (await good.do(InitCanon(9))).command_status.command_state is DONE
        assert rig.server.connections == 1

    rig.run(work)


def test_a_message_without_end_is_cut_off(rig):
    async def work(rig):
        bad, good = await rig.connect(), await rig.connect()
        await bad.send_bytes(b"<CRCLCommandInstance>" + b" " * 30_000)
        assert await bad.status() is None
        told = (await good.ask()).command_status
        assert told.command_state is ERROR
        assert "20000" in told.state_description

    rig.run(work, max_message_bytes=20_000)


def test_the_error_state_for_unreadable_streams_can_be_switched_off(rig):
    async def work(rig):
        bad, good = await rig.connect(), await rig.connect()
        await good.begin()
        await bad.send_bytes(b"nonsense")
        assert await bad.status() is None
        assert (await good.ask()).command_status.command_state is DONE

    rig.run(work, bad_stream_is_error=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (command(b"FlyType"), "FlyType"),
        (command(b"DwellType"), "DwellTime"),
        (command(b"DwellType", b"<CommandID>77</CommandID><DwellTime>soon</DwellTime>"), "soon"),
        (command(b"SetEndEffectorType", b"<CommandID>77</CommandID><Setting>1.7</Setting>"), "1.7"),
    ],
)
def test_a_command_that_is_no_crcl_is_answered_and_the_connection_lives(rig, text, reason):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send_bytes(text)
        told = (await peer.until_ended(77)).command_status
        assert told.command_state is ERROR
        assert reason in told.state_description
        assert (await peer.do(InitCanon(78))).command_status.command_state is DONE

    rig.run(work)


def test_what_could_not_be_understood_stops_the_robot(rig, move):
    async def work(rig):
        peer, bad = await rig.connect(), await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        await rig.on_the_way()
        await bad.send_bytes(b"stop!")
        assert await bad.status() is None
        await rig.until(lambda: max(map(abs, rig.arm.read().velocities)) == 0.0)
        assert rig.tool()[0] < 0.9

    rig.run(work)


@pytest.mark.parametrize("size", [1, 7, 50])
def test_messages_may_come_in_any_pieces(rig, size):
    declared = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    text = declared + encode(CRCLCommandInstance(InitCanon(5)), declaration=False) + b"\n\0 " + ASK + b"\r\n" + ASK

    async def work(rig):
        peer = await rig.connect()
        for start in range(0, len(text), size):
            await peer.send_bytes(text[start : start + size])
        first, second = await peer.status(), await peer.status()
        assert first.command_status.command_id == second.command_status.command_id == 5
        assert second.command_status.status_id > first.command_status.status_id

    rig.run(work)


def test_many_questions_in_one_piece_get_as_many_answers(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.send_bytes(ASK * 300)
        numbers = [(await peer.status()).command_status.status_id for _ in range(300)]
        assert numbers == list(range(numbers[0], numbers[0] + 300))

    rig.run(work, backlog_bytes=10_000_000)


def test_a_client_that_does_not_read_is_dropped_and_delays_nobody(tcp_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        slow = socket.create_connection(rig.server.address)
        slow.setblocking(False)
        loop = asyncio.get_running_loop()
        await rig.until(lambda: rig.server.connections == 2)
        await peer.send(move(3, 0.9))
        longest_s = 0.0
        for _ in range(2000):
            if rig.server.connections == 1:
                break
            with contextlib.suppress(BlockingIOError, ConnectionError):
                slow.send(ASK * 50)
            began_s = loop.time()
            assert await peer.ask() is not None
            longest_s = max(longest_s, loop.time() - began_s)
        assert rig.server.connections == 1
        assert longest_s < 1.0  # a loaded machine; a blocked server would take for ever
        slow.close()
        assert (await peer.until_ended(3)).command_status.command_state is DONE

    tcp_rig.run(work, backlog_bytes=100_000)


def test_in_memory_too_a_client_that_does_not_read_is_dropped(memory_rig):
    async def work(rig):
        peer, slow = await rig.connect(), await rig.connect()
        for _ in range(1000):
            if rig.server.connections == 1:
                break
            await slow.send_bytes(ASK)
        with pytest.raises(ConnectionResetError):
            await slow.send_bytes(ASK)
        assert await peer.ask() is not None

    memory_rig.run(work, backlog_bytes=20_000)


def test_two_hundred_idle_connections_cost_nothing(rig):
    async def work(rig):
        peers = [await rig.connect() for _ in range(200)]
        await rig.until(lambda: rig.server.connections == 200)
        tasks = len(asyncio.all_tasks())
        assert tasks <= 3
        assert (await peers[100].ask()).command_status.command_id == 0
        for peer in peers:
            await peer.close()
        await rig.until(lambda: rig.server.connections == 0)

    rig.run(work)


def test_in_memory_more_connections_than_allowed_are_closed(memory_rig):
    async def work(rig):
        peers = [await rig.connect() for _ in range(3)]
        assert await peers[1].ask() is not None
        with pytest.raises(ConnectionError):
            await peers[2].send_bytes(ASK)

    memory_rig.run(work, max_connections=2)


def test_statuses_can_be_pushed_by_the_clock_of_the_robot(rig):
    async def work(rig):
        peer = await rig.connect()
        before_s = rig.clock.time_s
        statuses = [await peer.status() for _ in range(5)]
        assert rig.clock.time_s - before_s >= 4 * 0.5
        assert [status.pose_status is not None for status in statuses] == [True] * 5

    rig.run(work, push_period_s=0.5)


def test_nothing_is_sent_unasked(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.send(InitCanon(1), Dwell(2, 0.1))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peer.status(), 0.3)

    rig.run(work)


def test_who_asks_for_it_gets_a_status_when_a_command_ends_and_no_one_else_does(rig):
    def want(number, value):
        return SetRobotParameters(number, (ParameterSetting("status_when_done", value),))

    async def nothing_comes(peer):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peer.status(), 0.3)

    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        assert (await peer.do(want(3, "true"))).command_status.command_state is CommandStateEnum.CRCL_DONE
        for number, command in ((4, Dwell(4, 0.1)), (5, InitCanon(5)), (6, Dwell(6, 0.1))):
            await peer.send(command)
            head = (await peer.status()).command_status
            assert (head.command_id, head.command_state) == (number, CommandStateEnum.CRCL_DONE)
        await nothing_comes(peer)  # one each
        await nothing_comes(other)
        await peer.do(want(7, "false"))
        await peer.send(Dwell(8, 0.05))
        await nothing_comes(peer)
        assert "status_when_done is 'yes' (allowed: true, false)" in (
            (await peer.do(want(9, "yes"))).command_status.state_description
        )

    rig.run(work)


def test_hooks_get_every_text(rig):
    commands: list[str] = []
    statuses: list[str] = []

    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.ask()

    rig.run(work, on_command=commands.append, on_status=statuses.append)
    kinds = [type(decode(text, CRCLCommandInstance).crcl_command).__name__ for text in commands]
    assert kinds[0] == "InitCanon"
    assert set(kinds[1:]) == {"GetStatus"}
    assert len(statuses) == len(kinds) - 1
    assert decode(statuses[-1], CRCLStatus).command_status.command_state is DONE


def test_a_port_has_one_server_and_a_closed_one_gives_it_back(tcp_rig):
    async def work(rig):
        host, port = rig.server.address
        second = CrclServer(ExampleArm(WallClock()))
        with pytest.raises(BadInput, match=f"cannot listen on {host}:{port}: "):
            await second.start(host, port)
        with pytest.raises(BadInput, match="the server listens already"):
            await rig.server.start(host, port)
        await rig.server.close()
        await second.start(host, port)
        assert second.address == (host, port)
        await second.close()
        with pytest.raises(BadInput, match="start it first"):
            _ = second.address

    tcp_rig.run(work)


def test_sockets_work_in_simulation_time(paced_rig, move):
    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        began_s = rig.clock.time_s
        await peer.send(move(3, 0.9))
        await rig.on_the_way()
        assert (await other.do(move(4, 0.3))).command_status.command_state is DONE
        assert rig.tool()[0] == pytest.approx(0.3)
        return rig.clock.time_s - began_s

    assert paced_rig.run(work) > 0.5


def test_bad_options_are_refused():
    arm = ExampleArm(WallClock())
    with pytest.raises(UnknownName, match="unknown unit profile 'inch'"):
        CrclServer(arm, profile="inch")
    with pytest.raises(UnknownName, match="unknown frame 'tool'"):
        CrclServer(arm, frame="tool")
    with pytest.raises(OutOfRange, match="push period"):
        CrclServer(arm, push_period_s=0.0)


def test_the_same_session_gives_the_same_bytes_in_memory(memory_rig, move):
    def bytes_of_a_run():
        texts: list[str] = []

        async def work(rig):
            peer = await rig.connect()
            await peer.begin()
            await peer.send(move(3, 0.7, 0.2))
            await rig.clock.sleep(0.4)
            await peer.do(move(4, 0.4))

        memory_rig.run(work, on_status=texts.append)
        return texts

    first = bytes_of_a_run()
    assert len(first) > 20
    assert first == bytes_of_a_run()


def test_a_status_is_one_write_without_prefixes_and_blanks_in_tags(tcp_rig):
    """What peers need that cut the stream at literal tags."""

    async def work(rig):
        reader, writer = await asyncio.open_connection(*rig.server.address)
        writer.write(ASK)
        data = await reader.read(65536)
        assert data.startswith(b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><CRCLStatus>')
        assert data.endswith(b"</CRCLStatus>")
        assert list(MessageStream().feed(data)) == [data]
        writer.close()

    tcp_rig.run(work)
