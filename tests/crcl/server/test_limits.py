"""What one client may cost the others: memory, time, places and the length of what everybody is told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from dataclasses import replace

import pytest

from cellwright.core.slices import FREE_SLICES
from cellwright.crcl import CommandStateEnum, CRCLCommandInstance, encode, server
from cellwright.crcl import messages as m
from cellwright.crcl.bounds import LONGEST_TEXT, MOST_REPEATED, MOST_WAYPOINTS
from cellwright.crcl.robot import GripperKind, GripperReading
from cellwright.crcl.session import LONG_BYTES

DONE, ERROR, WORKING = CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR, CommandStateEnum.CRCL_WORKING
ASK = encode(CRCLCommandInstance(m.GetStatus(1)))
STOP = m.StopMotion(99, stop_condition=m.StopConditionEnum.FAST)
HALF = b"<CRCLCommandInstance><CRCLCommand>"


def with_number(command: m.CRCLCommand, text: str) -> bytes:
    data = encode(CRCLCommandInstance(command))
    return data.replace(b"<CommandID>%d<" % command.command_id, b"<CommandID>%b<" % text.encode())


@pytest.mark.parametrize(
    "number", ["9223372036854775808", "-9223372036854775809", "99999999999999999999", "1e400", "", "9" * 5000]
)
def test_a_number_that_no_status_can_tell_costs_nobody_else_the_connection(rig, number):
    async def work(rig):
        bad, good = await rig.connect(), await rig.connect()
        await good.begin()
        for command in (m.Dwell(7, 0.1), m.Dwell(7, float("nan")), m.InitCanon(7)):
            await bad.send_bytes(with_number(command, number))
            assert await bad.status() is None
            told = (await good.ask()).command_status
            assert (told.command_id, told.command_state) == (2, ERROR)
            assert "CommandID" in told.state_description
            bad = await rig.connect()
        assert (await good.do(m.InitCanon(9))).command_status.command_state is DONE

    rig.run(work)


@pytest.mark.parametrize("number", [9223372036854775807, -9223372036854775808, -1, 0])
def test_the_outermost_numbers_are_told(rig, number):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        assert (await peer.do(m.Dwell(number, 0.05))).command_status.command_state is DONE
        await peer.send_bytes(with_number(m.Dwell(7, 0.1), str(number)).replace(b"0.1<", b"soon<"))
        assert (await peer.until_ended(number)).command_status.command_state is ERROR

    rig.run(work)


def test_a_robot_that_reads_what_has_no_text_is_told_of_without_it(rig, caplog):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        rig.arm._gripper = lambda: GripperReading("two words", GripperKind.PARALLEL)
        rig.arm.set_sensor("part_present", 1 << 70)
        statuses = [await peer.ask() for _ in range(3)]
        assert [status.command_status.command_state for status in statuses] == [DONE] * 3
        assert statuses[-1].settings_status is not None
        assert statuses[-1].gripper_status is None
        await peer.do(m.EnableSensor(5, "part_present"))
        assert (await peer.ask()).sensor_statuses is None

    with caplog.at_level(logging.WARNING):
        rig.run(work)
    said = [record.getMessage() for record in caplog.records if "lacks a part" in record.getMessage()]
    assert any("two words" in line for line in said)
    assert len(said) < 10  # not with every status


TOO_LONG = "x" * (LONGEST_TEXT + 1)
OPTION = m.ParameterSetting("host", TOO_LONG)
GUARD = m.Guard("ATINetFT", sub_field="Fz", limit_type=m.GuardLimitEnum.OVER_MAX, limit_value=1e5)


@pytest.mark.parametrize(
    ("command", "instance"),
    [
        (m.Dwell(7, 0.1), {"program_file": TOO_LONG}),
        (m.Dwell(7, 0.1, name=TOO_LONG), {}),
        (m.Dwell(7, 0.1, guard=(replace(GUARD, name=TOO_LONG),)), {}),
        (m.EnableSensor(7, "ATINetFT", sensor_option=(OPTION,)), {}),
        (m.EnableGripper(7, "practice_gripper", gripper_option=(OPTION,)), {}),
        (m.SetTransSpeed(7, m.TransSpeedAbsolute(0.1, name=TOO_LONG)), {}),
    ],
    ids=["ProgramFile", "Name", "Guard", "SensorOption", "GripperOption", "TransSpeed"],
)
def test_what_everybody_would_be_told_is_bounded(rig, command, instance):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(command, **instance)
        told = (await peer.until_ended(7)).command_status
        assert told.command_state is ERROR
        assert f"has {LONGEST_TEXT + 1} characters (allowed: {LONGEST_TEXT} or fewer)" in told.state_description
        await peer.send_bytes(ASK)
        assert len(encode(await peer.status())) < 5000

    rig.run(work)


def test_what_is_told_to_nobody_else_may_be_long(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        assert (await peer.do(m.Message(7, "y" * 500_000))).command_status.command_state is DONE
        assert rig.arm.messages == ["y" * 500_000]
        for number in range(150):
            await peer.send(m.Message(8 + number, "z"))
        await peer.until_ended(8 + 149)
        assert len(rig.arm.messages) == 100  # the last ones

    rig.run(work)


@pytest.mark.parametrize("count", [MOST_REPEATED, MOST_REPEATED + 1, 3000])
def test_the_number_of_guards_is_bounded(rig, count):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(m.Dwell(7, 0.2, guard=(GUARD,) * count))
        told = await peer.until_ended(7)
        if count <= MOST_REPEATED:
            assert told.command_status.command_state is DONE
            assert len(told.guards_statuses.guard) == count
        else:
            assert told.command_status.command_state is ERROR
            assert f"has {count} of Guard (allowed: 50 or fewer)" in told.command_status.state_description

    rig.run(work)


def test_guards_are_written_anew_only_after_a_check(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        slow = m.Guard(
            "ATINetFT", sub_field="Fz", limit_type=m.GuardLimitEnum.OVER_MAX, limit_value=1e5,
            recheck_time_micro_seconds=500_000,
        )  # fmt: skip
        await peer.send(m.Dwell(7, 2.0, guard=(slow,) * 10))
        records = []
        for _ in range(20):
            await rig.clock.sleep(0.01)
            records.append(rig.server.executor.guard_record)
        assert len({id(record) for record in records}) == 1
        await rig.clock.sleep(0.5)
        assert rig.server.executor.guard_record is not records[-1]

    memory_rig.run(work)


def many(down, count, number=7):
    poses = tuple(down(0.4 + 0.0001 * (i % 100), 0.0, 0.3) for i in range(count))
    return m.MoveThroughTo(number, True, poses, count)


@pytest.mark.parametrize("count", [MOST_WAYPOINTS, MOST_WAYPOINTS + 1, 4500])
def test_too_many_waypoints_are_refused_and_the_connection_lives(rig, down, count):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        told = (await peer.do(many(down, count))).command_status
        if count <= MOST_WAYPOINTS:
            assert told.command_state is DONE
        else:
            assert told.command_state is ERROR
            assert f"has {count} of Waypoint (allowed: 1000 or fewer)" in told.state_description

    rig.run(work)


def test_a_long_message_is_read_while_others_are_answered_and_what_follows_it_waits(rig, down):
    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        long = encode(CRCLCommandInstance(many(down, 1000)))
        assert len(long) > LONG_BYTES
        await peer.send_bytes(ASK + long + ASK + encode(CRCLCommandInstance(m.Dwell(8, 0.01))) + ASK)
        ids = [(await peer.status()).command_status.command_id for _ in range(3)]
        assert ids == [2, 7, 8]  # each answer tells of what stood before its question
        assert await other.ask() is not None

    rig.run(work)


def test_others_have_their_turn_while_a_long_message_is_read(memory_rig, down):
    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        begin_s = rig.clock.time_s
        await peer.send(many(down, 1000))
        asked = 0
        while (await other.ask()).command_status.command_id == 2:
            asked += 1
            await asyncio.sleep(0)
        return asked, rig.clock.time_s - begin_s

    asked, took_s = memory_rig.run(work)
    assert 2 <= asked <= FREE_SLICES  # in between, and no simulation time passes
    assert took_s == 0.0


def test_a_waypoint_that_cannot_be_is_named_among_a_thousand(rig, down):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        poses = (*many(down, 999).waypoint, down(9.0, 0.0, 0.3))
        told = (await peer.do(m.MoveThroughTo(7, True, poses, 1000))).command_status
        assert told.command_state is ERROR
        assert told.state_description == "X at 9.0 greater than limit 1.0 meter"

    rig.run(work)


def test_a_document_of_nothing_but_tags_is_not_parsed(rig):
    async def work(rig):
        bad, good = await rig.connect(), await rig.connect()
        await bad.send_bytes(b"<CRCLCommandInstance>" + b"<a/>" * 250_000 + b"</CRCLCommandInstance>")
        assert await bad.status() is None
        told = (await good.ask()).command_status
        assert told.command_state is ERROR
        assert "has too many tags" in told.state_description

    rig.run(work)


# Places. Only sockets have them; in memory a client is part of the laboratory.


def test_where_all_places_are_taken_there_is_room_to_stop_the_robot(tcp_rig, move):
    async def work(rig):
        peers = [await rig.connect() for _ in range(3)]
        await peers[0].begin()
        await peers[0].send(move(3, 0.9))
        await rig.on_the_way()
        late = await rig.connect()
        assert (await late.ask()).command_status.command_id == 3  # it may look
        assert (await late.do(STOP)).command_status.command_state is DONE  # and stop
        assert rig.tool()[0] < 0.9
        await late.send(move(4, 0.9))  # and nothing else
        assert await late.status() is None
        told = (await peers[0].ask()).command_status
        assert (told.command_id, told.command_state) == (99, DONE)  # nobody else notices

    tcp_rig.run(work, max_connections=3)


def test_however_many_come_the_last_one_can_stop_the_robot(tcp_rig, move):
    async def work(rig):
        peers = [await rig.connect() for _ in range(3)]
        await peers[0].begin()
        await peers[0].send(move(3, 0.9))
        await rig.on_the_way()
        for _ in range(3 * server.STOP_CONNECTIONS):
            await rig.connect()
        late = await rig.connect()
        assert (await late.do(STOP)).command_status.command_state is DONE
        assert await peers[1].ask() is not None  # who had a place keeps it
        assert rig.server.connections <= 3 + server.STOP_CONNECTIONS

    tcp_rig.run(work, max_connections=3)


def test_a_connection_that_has_been_silent_gives_way_and_one_that_talks_does_not(tcp_rig, monkeypatch, move):
    monkeypatch.setattr(server, "IDLE_S", 0.3)

    async def work(rig):
        silent, talking = await rig.connect(), await rig.connect()
        for _ in range(8):
            assert await talking.ask() is not None
            await asyncio.sleep(0.05)
        new = await rig.connect()
        await new.begin()
        assert (await new.do(move(5, 0.5))).command_status.command_state is DONE
        assert await silent.status() is None
        assert await talking.ask() is not None

    tcp_rig.run(work, max_connections=2)


def test_who_came_too_late_gets_the_next_place_that_is_left(tcp_rig, move):
    async def work(rig):
        first = await rig.connect()
        late = await rig.connect()
        assert await late.ask() is not None
        await first.close()
        await rig.until(lambda: rig.server.connections == 1)
        await late.begin()
        assert (await late.do(move(5, 0.5))).command_status.command_state is DONE

    tcp_rig.run(work, max_connections=1)


def test_messages_without_end_are_given_up_when_they_hold_too_much_memory(tcp_rig, monkeypatch):
    monkeypatch.setattr(server, "UNFINISHED_BYTES", 200_000)

    async def work(rig):
        good = await rig.connect()
        peers = [await rig.connect() for _ in range(10)]
        for peer in peers:
            await peer.send_bytes(HALF + b" " * 50_000)

        def held():
            return sum(client.session.pending for client in rig.server._clients)

        await rig.until(lambda: rig.server.connections <= 5)
        assert held() <= 200_000
        assert (await good.ask()).command_status.command_state is not ERROR

    tcp_rig.run(work)


def test_a_message_that_nobody_goes_on_with_is_given_up(tcp_rig, monkeypatch):
    monkeypatch.setattr(server, "UNFINISHED_S", 0.4)

    async def work(rig):
        idle, half = await rig.connect(), await rig.connect()
        begin_s = time.monotonic()
        await half.send_bytes(HALF)
        assert await half.status() is None
        assert 0.4 <= time.monotonic() - begin_s < 2.0
        told = await idle.ask()  # who says nothing holds nothing
        assert told.command_status.command_state is not ERROR
        await rig.until(lambda: rig.server._looking is None)

    tcp_rig.run(work)


def test_who_closes_in_the_middle_of_a_message_has_gone_and_stops_nothing(tcp_rig):
    async def work(rig):
        good, gone = await rig.connect(), await rig.connect()
        await good.begin()
        await good.send(m.Dwell(7, 2.0))
        await gone.send_bytes(encode(CRCLCommandInstance(STOP))[:100])
        await rig.until(lambda: any(client.session.pending for client in rig.server._clients))
        await gone.close()
        await rig.until(lambda: rig.server.connections == 1)
        assert (await good.ask()).command_status.command_state is WORKING
        assert (await good.until_ended(7)).command_status.command_state is DONE

    tcp_rig.run(work)


def test_all_who_do_not_read_together_hold_bounded_memory(tcp_rig, monkeypatch):
    monkeypatch.setattr(server, "UNREAD_BYTES", 500_000)
    monkeypatch.setattr(server, "LITTLE_BYTES", 10_000)

    async def work(rig):
        good = await rig.connect()
        slow = [socket.create_connection(rig.server.address) for _ in range(10)]
        most, left = 0, 10
        for _ in range(400):
            for one in slow:
                one.setblocking(False)
                with contextlib.suppress(OSError):
                    one.send(ASK * 20)
            assert await good.ask() is not None
            most, left = max(most, rig.server.unread), rig.server.connections - 1
            if left < 10:
                break
        for one in slow:
            one.close()
        return most, left

    most, left = tcp_rig.run(work)
    assert left < 10
    assert most < 700_000
