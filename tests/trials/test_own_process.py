"""Cellwright's own controller in a process of its own: sockets and drawings are all that it has."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from cellwright.cells import load_cell
from cellwright.core.config import validate
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.drawings import Drawings
from cellwright.trials import TrialCfg, run_trial
from cellwright.trials.control_orders import ControlOrders, announced_order, control_orders
from cellwright.trials.frame_clock import FrameClock
from cellwright.trials.orders import TrialOrder
from cellwright.trials.report import Ending
from cellwright.trials.socket_ports import CellAddresses


@pytest.mark.slow
def test_it_completes_a_kit_as_it_does_inside():
    data = {"trial": "two", "pace": 2, "time_limit_s": 200, "orders": [{"order": "kit_m2l1"}], "connect_within_s": 60}
    cfg, started = validate(data, TrialCfg, "trial.yaml"), []

    def opened(doors):
        command = [sys.executable, "-m", "cellwright", "control", "aprs", "--trial", doors["control"], "--json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))

    outside = run_trial(cfg, "external", any_port=True, on_open=opened)
    told, complaints = started[0].communicate(timeout=60)
    inside = run_trial(cfg, "internal")
    assert outside.done, (outside.reason, complaints)
    assert outside.ending is Ending.SUBMITTED
    assert started[0].returncode == 0, complaints
    account = json.loads(told)
    assert account["status"] == "done"
    for one in (outside, inside):
        assert (one.done, one.false_done, one.hits, one.drops) == (True, False, (), ())
    rows = [[(item.name, item.passed) for kit in one.kits for item in kit.items] for one in (outside, inside)]
    assert rows[0] == rows[1]
    assert account["reason"] == inside.order.reason


# ------------------------------------------------------------ the clock


def test_the_clock_follows_the_frames_and_their_pace():
    async def main():
        clock = FrameClock()
        assert clock.time_s == 0.0
        clock.take(5.0, delay_s=0.05)
        assert clock.time_s == pytest.approx(5.05, abs=0.02)
        for number in range(1, 6):
            await asyncio.sleep(0.02)
            clock.take(5.0 + 0.1 * number, delay_s=0.05)
        before_s = clock.time_s
        assert before_s >= 5.55
        await clock.sleep(0.5)  # at about five times real time
        assert 0.5 <= clock.time_s - before_s < 2.0
        clock.take(5.2)  # another detector's, older
        assert clock.time_s >= before_s, "it does not go back"

    asyncio.run(main())


@pytest.mark.parametrize("jump_s", [-40.0, 1000.0])
def test_a_clock_that_jumps_is_told(jump_s):
    clock = FrameClock()
    clock.take(100.0)
    clock.take(101.0)
    with pytest.raises(JobFailed, match=r"the frames' time jumps from 101\.00 s to .*: the cell was started anew"):
        clock.take(101.0 + jump_s)


# ------------------------------------------------------------ addresses


def test_addresses_are_those_of_the_cell_unless_others_are_given():
    drawings = Drawings.of(load_cell("aprs"))
    usual = CellAddresses(drawings, {}, {})
    assert usual.crcl == {"fanuc": "127.0.0.1:64444", "motoman": "127.0.0.1:64445"}
    assert usual.vision == {"detector_fanuc": "127.0.0.1:5001", "detector_motoman": "127.0.0.1:5002"}
    other = CellAddresses(drawings, {"fanuc": "h:1"}, {"fanuc": "h:2", "detector_motoman": "h:3"})
    assert other.crcl["fanuc"] == "h:1"
    assert other.vision == {"detector_fanuc": "h:2", "detector_motoman": "h:3"}
    for crcl, vision, told in (
        ({"fanuk": "h:1"}, {}, "--crcl: unknown robot 'fanuk'"),
        ({}, {"eye": "h:1"}, "--vision: unknown detector 'eye'"),
    ):
        with pytest.raises(UnknownName, match=told):
            CellAddresses(drawings, crcl, vision)


def test_an_address_that_nobody_knows_is_asked_for():
    cell = load_cell("aprs")
    fanuc = cell.robots["fanuc"]
    without = fanuc.model_copy(update={"crcl": fanuc.crcl.model_copy(update={"port": 0})})
    cell = cell.model_copy(update={"robots": cell.robots | {"fanuc": without}})
    with pytest.raises(BadInput, match="--crcl fanuc=HOST:PORT"):
        CellAddresses(Drawings.of(cell), {}, {})


# ------------------------------------------------------------ orders


def test_an_announcement_means_what_the_trial_meant():
    from cellwright.orders import find_order

    for name, quantity in (("kit_m2l1", 2), ("kit_s2l2", 1)):
        order = TrialOrder.of("mine", find_order(name, quantity))
        order.announced_s = 3.5
        told = announced_order(json.loads(json.dumps(order.as_dict())))
        assert (told.name, told.announced_s, told.kits) == ("mine", 3.5, order.kits)
        assert told.wanted.lines == order.wanted.lines


async def trial_like(answers):
    """A server that says some lines, and then answers every line with the next of its answers."""
    left = list(answers)

    async def serve(reader, writer):
        while left and not isinstance(left[0], str):
            writer.write(json.dumps(left.pop(0)).encode() + b"\n")
        while await reader.readline() and left:
            writer.write(left.pop(0).encode() + b"\n")
            while left and not isinstance(left[0], str):
                writer.write(json.dumps(left.pop(0)).encode() + b"\n")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, "{}:{}".format(*server.sockets[0].getsockname())


def test_orders_come_from_the_control_interface_and_are_submitted_there():
    kit = {"kit": "kit_m", "tray": None, "tray_sku": "sku_kit_m2l1_vessel", "parts": {"sku_part_medium_gear": 1}}
    first, second = ({"order": name, "priority": 0, "kits": [kit], "announced_s": 0.0} for name in ("one", "two"))
    answers = [
        {"announce": first},
        '{"addresses": {"crcl": {"fanuc": "h:1"}}}',
        '{"submitted": "one"}',
        {"announce": second},
        '{"error": "too late"}',
        {"end": "submitted"},
    ]
    said = []

    async def main():
        server, address = await trial_like(answers)
        async with control_orders(address, said.append) as orders:
            assert orders.addresses == {"crcl": {"fanuc": "h:1"}}
            names = []
            async for order in orders.coming():
                names.append(order.name)
                orders.submit(order.name)
                await orders.answered()
            assert names == ["one", "two"]
            assert [order.is_submitted for order in orders.announced] == [True, True]
            with pytest.raises(BadInput, match="submitted already"):
                orders.submit("one")
            assert orders.ended == "submitted"
        server.close()

    asyncio.run(asyncio.wait_for(main(), 20))
    assert said == ["the trial refuses: too late"]


@pytest.mark.parametrize("line", ["rubbish", "[3]", '{"announce": {"order": "x"}}'])
def test_a_control_interface_that_talks_rubbish_is_told_and_ends_the_orders(line):
    said = []

    async def main():
        server, address = await trial_like(['{"addresses": {}}', line])
        async with control_orders(address, said.append) as orders:
            orders._ask({"ask": "time"})
            assert [order async for order in orders.coming()] == []
            assert isinstance(orders, ControlOrders)
        server.close()

    asyncio.run(main())
    (told,) = said
    assert told.startswith("the control interface says what cannot be understood")


def test_no_control_interface_is_one_line():
    async def main():
        async with control_orders("127.0.0.1:1", print):
            pytest.fail("nobody is there")

    with pytest.raises(JobFailed, match="no control interface at 127"):
        asyncio.run(main())
