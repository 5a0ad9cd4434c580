from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from cellwright.core.errors import BadInput
from cellwright.crcl import (
    CRCLProgram,
    Dwell,
    EndCanon,
    InitCanon,
    LengthUnitEnum,
    LoopBlockEnd,
    LoopBlockStart,
    Message,
    MoveTo,
    SetLengthUnits,
    StopMotion,
    decode,
)
from cellwright.crcl.client import CrclClient
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import OutcomeState
from cellwright.crcl.patience import Patience
from cellwright.crcl.runner import run_program, steps

QUICK = ClientOptions(poll_s=0.01, status_s=1.0, refusal_s=0.1, reconnect_s=2.0, retry_s=0.02, settle_s=0.1)
SHARED = Path(__file__).parents[3] / "shared" / "aprs" / "programs"


def program(*middle):
    return CRCLProgram(init_canon=InitCanon(1), middle_command=middle, end_canon=EndCanon(99))


def loop(name, count, *inside):
    return (LoopBlockStart(0, name), *inside, LoopBlockEnd(0, name, count))


def run(server, work, options=QUICK):
    async def main():
        async with CrclClient.to(await server.start(), options=options) as client:
            try:
                return await work(client)
            finally:
                await server.stop()

    return asyncio.run(main())


def test_loops_are_repeated_and_counted_from_outside_in():
    inner = loop("inner", 2, Dwell(5, 0.1))
    made = list(steps(program(Message(2, "a"), *loop("outer", 3, *inner, Message(6, "b")), Message(7, "c"))))
    names = [type(step.command).__name__ for step in made]
    once = ["Dwell", "Dwell", "Message"]
    assert names == ["InitCanon", "Message", *once * 3, "Message", "EndCanon"]
    assert made[0].index == 0
    assert made[-2].index == 8
    assert made[-1].index == 9
    assert made[3].passes == (("outer", 1), ("inner", 2))
    assert made[-3].passes == (("outer", 3),)
    assert not any(isinstance(step.command, LoopBlockStart | LoopBlockEnd) for step in made)


@pytest.mark.parametrize(
    ("middle", "told"),
    [
        ((LoopBlockStart(0, "a"),), "command 1 starts a loop that does not end"),
        ((LoopBlockEnd(0, "a", 1),), "command 1 ends the loop 'a', but none is open"),
        ((LoopBlockStart(0, "a"), LoopBlockEnd(0, "b", 1)), "loop 'a' is open"),
        ((LoopBlockStart(0, "a"), LoopBlockEnd(0, "a", 0)), r"MaxCount is 0 \(allowed: 1 or more\)"),
        ((LoopBlockStart(0, "a"),) * 60, "nested deeper than 50"),
    ],
)
def test_loops_that_do_not_match_are_found_before_anything_is_sent(other_server, middle, told):
    server = other_server()

    async def work(client):
        return await run_program(client, program(*middle))

    with pytest.raises(BadInput, match=told):
        run(server, work)
    assert server.executed == []


def test_a_program_is_run_with_progress_and_its_place_in_every_command(other_server, move_to):
    server, told = other_server(move_s=0.05), []

    async def work(client):
        middle = loop("three", 3, move_to(0.2), move_to(0.1))
        setup = (SetLengthUnits(0, LengthUnitEnum.METER),)
        return await run_program(client, program(*middle), file="p.xml", setup=setup, on_progress=told.append)

    report = run(server, work)
    assert report.done
    assert (report.executed, report.length) == (9, 4)
    kinds = [type(command).__name__ for command in server.executed]
    assert kinds == ["InitCanon", "SetLengthUnits", *["MoveTo"] * 6, "EndCanon"]
    assert len(told) == 18
    assert [p.step.passes[0][1] for p in told if p.outcome is None and p.step.passes] == [1, 1, 2, 2, 3, 3]
    assert told[-1].executed == 9
    assert len({command.command_id for command in server.executed}) == 9


def test_it_ends_at_the_first_command_that_fails(other_server, move_to):
    server = other_server(move_s=0.01)

    async def work(client):
        return await run_program(client, program(move_to(0.1), move_to(3.0), move_to(0.2)))

    report = run(server, work)
    assert report.state is OutcomeState.ERROR
    assert report.executed == 2
    assert report.reason.startswith("command 2 of 3, MoveTo (command 3): error: X at 3.0 greater than limit")
    assert server.x_m == pytest.approx(0.1)


def test_a_robot_that_does_not_arrive_in_time_is_stopped(other_server, move_to):
    server = other_server(move_s=5.0)
    options = replace(QUICK, patience=Patience(move_s=0.1, margin_s=0.0))

    async def work(client):
        return await run_program(client, program(move_to(1.0)))

    report = run(server, work, options)
    assert report.state is OutcomeState.TIMEOUT
    assert report.reason.endswith("; stopped")
    assert isinstance(server.executed[-1], StopMotion)


def test_abort_between_two_commands_ends_the_program(other_server, move_to):
    server = other_server(move_s=0.02)

    async def work(client):
        async def stop():
            await client.abort()

        aborting = []

        def watch(progress):
            if progress.outcome is not None and isinstance(progress.step.command, MoveTo) and not aborting:
                aborting.append(asyncio.ensure_future(stop()))

        report = await run_program(client, program(*[move_to(0.01 * n) for n in range(1, 20)]), on_progress=watch)
        await aborting[0]
        return report

    report = run(server, work)
    assert report.state is OutcomeState.ABORTED
    assert report.executed < 5


def test_a_cancelled_run_stops_the_robot(other_server, move_to):
    server = other_server(move_s=5.0)

    async def work(client):
        running = asyncio.ensure_future(run_program(client, program(move_to(1.0))))
        await asyncio.sleep(0.15)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    run(server, work)
    assert isinstance(server.executed[-1], StopMotion)
    assert server.x_m < 0.5


def test_a_lost_connection_repeats_nothing_of_a_program(other_server, move_to):
    server = other_server(move_s=0.1, drop_after=MoveTo)

    async def work(client):
        return await run_program(client, program(move_to(0.1), move_to(0.2), move_to(0.3)))

    assert run(server, work).done
    assert [c.end_position.point.x for c in server.executed if isinstance(c, MoveTo)] == [0.1, 0.2, 0.3]


@pytest.mark.skipif(not SHARED.exists(), reason="the lab's programs are not there")
def test_the_labs_program_repeats_its_block_three_times():
    text = (SHARED / "fanucStackMoveRepeat3.xml").read_bytes()
    made = list(steps(decode(text, CRCLProgram)))
    passes = {step.passes for step in made}
    assert passes == {(), (("MainLoop", 1),), (("MainLoop", 2),), (("MainLoop", 3),)}
