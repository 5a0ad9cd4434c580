"""USARTruth: true poses as text, in USARSim's frame, to programs that were made for it."""

import asyncio
import math
import re

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.interfaces import UsarTruthInterface, usartruth
from cellwright.lab import Lab
from cellwright.record import compare

CELL = {
    "name": "small",
    "title": "A tray, gears and a robot",
    "fidelity": "kinematic",
    "robots": {"arm": {"model": "ur5", "base": {"xyz_m": [0, 0, 0]}, "tool": "wsg_50"}},
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.6, 0.3, 0.0], "rpy_deg": [0, 0, 90]}}},
    "parts": {"gear": {"model": "medium_gear", "pose": {"xyz_m": [0.6, -0.3, 0.0]}}},
}
LINE = re.compile(r"\{Name (\S+)\} \{Class (\S+)\} \{Time (\S+)\} \{Location (\S+)\} \{Rotation (\S+)\}")


def read(line):
    name, model, time_s, location, rotation = LINE.fullmatch(line).groups()
    numbers = [np.array([float(number) for number in row.split(",")]) for row in (location, rotation)]
    return name, model, float(time_s), *numbers


@pytest.fixture(scope="module")
def lab():
    with Lab(Cell.model_validate(CELL), seed=1) as made:
        yield made


@pytest.fixture(scope="module")
def truth(lab):
    return UsarTruthInterface(lab)


def names(lines):
    assert lines[-1] == "{End}"
    return [read(line)[0] for line in lines[:-1]]


def test_a_pose_comes_in_usarsims_frame_with_z_down(lab, truth):
    pose = Pose.from_xyz_rpy([0.4, 0.2, 0.1], [0.3, -0.4, 1.2])
    lab.world.place("gear", pose)
    truth._lines = (-1, [])
    line, end = truth.answer("{class medium_gear} {name gear}")
    name, model, time_s, location, rotation = read(line)
    assert (name, model, time_s, end) == ("gear", "medium_gear", lab.clock.time_s, "{End}")
    half_turn = Pose.from_xyz_rpy([0, 0, 0], [math.pi, 0, 0])  # what USARSim's clients turn back
    told = Pose.from_xyz_rpy(location, rotation)
    back = half_turn @ told @ half_turn
    assert back.is_close(pose, tolerance_m=2e-6, tolerance_rad=4e-6)
    np.testing.assert_allclose(location, [0.4, -0.2, -0.1], atol=1e-6)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["tray", "gear", "arm", "arm/tool"]),
        ("{class Engine.Actor}", ["tray", "gear", "arm", "arm/tool"]),
        ("{Actor}", ["tray", "gear", "arm", "arm/tool"]),
        ("{class USARPhysObj.Medium_Gear}", ["gear"]),
        ("{CLASS part}{NAME gear}", ["gear"]),
        ("{name gear}  {class tray}", []),
        ("{class Pawn}", ["arm"]),
        ("{name arm/tool}", ["arm/tool"]),
        ("{name Gear}", []),
        ("{class nothing}", []),
        ("  { name   tray }\r", ["tray"]),
    ],
)
def test_class_and_name_choose_and_both_may_be_left_out(truth, query, found):
    assert names(truth.answer(query)) == found


@pytest.mark.parametrize(
    "junk", ["hello", "{colour red}", "{class part} now", "{", "}{", "{{class part}}", "\0\0", "{}"]
)
def test_junk_gets_an_end_that_no_client_has_to_wait_for_and_is_counted(truth, junk):
    before = truth.lines_refused
    assert truth.answer(junk) == ["{End}"]
    assert truth.lines_refused == before + 1


def test_the_tool_is_where_the_arm_has_it(lab, truth):
    truth._lines = (-1, [])
    _, model, _, location, _ = read(truth.answer("{name arm/tool}")[0])
    assert model == "wsg_50"
    np.testing.assert_allclose(location * [1, -1, -1], lab.world.tcp_pose("arm").position, atol=1e-6)


def served(job):
    with cw.Lab(Cell.model_validate(CELL), seed=1, pace=20.0) as lab:

        async def run():
            interface = await UsarTruthInterface(lab).start(port=0)
            try:
                return await asyncio.wait_for(job(lab, interface), 60)
            finally:
                await interface.close()

        return lab.perform(run())


async def connect(interface):
    host, _, port = interface.address.rpartition(":")
    assert host == "127.0.0.1"
    return await asyncio.open_connection(host, int(port))


async def asked(reader, writer, query):
    writer.write(query)
    return (await reader.readuntil(b"{End}\r\n")).decode()


def test_queries_come_in_pieces_and_the_last_one_without_its_end():
    async def job(lab, interface):
        reader, writer = await connect(interface)
        for piece in (b"{class tray}\r\n{na", b"me tray}\n"):
            assert "{Name tray}" in await asked(reader, writer, piece)
        writer.write(b"{class part}")
        writer.write_eof()
        return await reader.read()

    last = served(job).decode()
    assert names(last.split("\r\n")[:-1]) == ["gear"]


def test_a_line_that_is_too_long_ends_its_client_and_nobody_else():
    async def job(lab, interface):
        good, bad = await connect(interface), await connect(interface)
        bad[1].write(b"{name " + b"x" * 5000)
        assert await bad[0].read() == b""
        assert "gear" in await asked(*good, b"{name gear}\n")
        return interface.clients_dropped

    assert served(job) == 1


def test_a_flood_ends_its_client_and_nobody_else():
    async def job(lab, interface):
        good, bad = await connect(interface), await connect(interface)
        bad[1].write(b"{name gear}\n" * 2 * usartruth.MAX_QUERIES_PER_S)
        while chunk := await bad[0].read(1 << 16):
            assert chunk
        assert "gear" in await asked(*good, b"{name gear}\n")
        return interface.clients_dropped, interface.queries

    dropped, queries = served(job)
    assert dropped == 1
    assert queries <= usartruth.MAX_QUERIES_PER_S + 1


def test_a_client_that_does_not_read_gets_no_more_answers_and_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(usartruth, "MAX_QUERIES_PER_S", 10**9)

    async def job(lab, interface):
        good, bad = await connect(interface), await connect(interface)
        bad[1].transport.pause_reading()
        for _ in range(200):
            bad[1].write(b"\n" * 1000)
            await lab.clock.sleep(0.002)
        answered = interface.queries
        assert "gear" in await asked(*good, b"{name gear}\n")
        bad[1].write(b"\n" * 1000)
        await lab.clock.sleep(1.0)
        (waiting,) = [client for client in interface._clients if client._is_full]
        return answered, interface.queries, len(waiting._heard), waiting._transport.get_write_buffer_size()

    answered, later, heard, buffered = served(job)
    assert later == answered + 1  # the good client's
    assert answered < 200_000
    assert heard <= 256 * 1024
    assert buffered < 4096


def test_further_clients_than_there_may_be_are_refused(monkeypatch):
    monkeypatch.setattr(usartruth, "MAX_CLIENTS", 2)

    async def job(lab, interface):
        first, _second, third = [await connect(interface) for _ in range(3)]
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await asked(*third, b"\n")
        assert "gear" in await asked(*first, b"{name gear}\n")
        return interface.clients_refused

    assert served(job) == 1


def test_asking_changes_nothing_and_the_log_tells_that_it_could_be_asked(tmp_path):
    logs = []
    for is_asked in (False, True):
        with Lab.from_cell("aprs", seed=2) as lab:

            async def work(lab=lab, is_asked=is_asked):
                interface = await UsarTruthInterface(lab).start(port=0) if is_asked else None
                for _ in range(5):
                    await lab.clock.sleep(0.05)
                    assert interface is None or len(interface.answer("")) > 30
                if interface:
                    await interface.close()

            recorder = lab.record(tmp_path / f"{is_asked}.mcap")
            lab.perform(work())
            recorder.close()
        logs.append(cw.read_log(tmp_path / f"{is_asked}.mcap"))
    comparison = compare(*logs)
    assert comparison.equal, comparison.first
    assert "usartruth.truth" not in logs[0].metadata
    assert logs[1].metadata["usartruth.truth"] == "served"
    assert logs[1].metadata["usartruth.queries"] == "5"
