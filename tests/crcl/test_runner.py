from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    SetEndEffector,
    SetLengthUnits,
    SetTransSpeed,
    StopMotion,
    TransSpeedAbsolute,
    decode,
)
from cellwright.crcl.client import CrclClient
from cellwright.crcl.command_timeouts import CommandTimeouts
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import OutcomeState
from cellwright.crcl.runner import run_program, steps
from cellwright.crcl.units import CrclUnits, Quantity

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
    options = replace(QUICK, timeouts=CommandTimeouts(move_s=0.1, margin_s=0.0))

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


def commands_of(made):
    return [(step.index, type(step.command).__name__) for step in made]


PARTS = program(
    SetLengthUnits(2, LengthUnitEnum.MILLIMETER),
    Message(3, "a"),
    *loop("l", 3, SetTransSpeed(4, TransSpeedAbsolute(5.0)), Message(5, "b")),
    SetEndEffector(6, 0.0),
    Message(7, "c"),
)
"""Units 1, Message 2, loop 3 to 6 with speed 4 and Message 5, gripper 7, Message 8."""


def test_what_starts_in_the_middle_gets_the_settings_before_it_first():
    made = list(steps(PARTS, start=8, setup=[SetLengthUnits(0, LengthUnitEnum.INCH)]))
    assert commands_of(made) == [
        (0, "InitCanon"),
        (0, "SetLengthUnits"),
        (1, "SetLengthUnits"),
        (4, "SetTransSpeed"),
        (8, "Message"),
        (9, "EndCanon"),
    ]
    inside = [step.index for step in steps(PARTS, start=5)]
    assert inside == [0, 1, 4, 5, 4, 5, 4, 5, 7, 8, 9], "the first pass is begun there, the others are whole"


def test_a_program_stops_after_a_command_and_ends_its_session():
    assert [step.index for step in steps(PARTS, until=2)] == [0, 1, 2, 9]
    assert [step.index for step in steps(PARTS, until=4)] == [0, 1, 2, 4, 9], "in the first pass of a loop"
    assert [step.index for step in steps(PARTS, until=6)] == [0, 1, 2, 4, 5, 4, 5, 4, 5, 9], "after the loop"
    assert [step.index for step in steps(PARTS, start=8, until=8)] == [0, 1, 4, 8, 9]


def test_a_speed_before_a_unit_in_a_loop_is_in_the_unit_of_the_second_pass():
    turns = loop("l", 10**9, SetTransSpeed(2, TransSpeedAbsolute(5.0)), SetLengthUnits(3, LengthUnitEnum.MILLIMETER))
    made = list(steps(program(*turns, Message(4, "a")), start=5))
    assert [step.index for step in made] == [0, 2, 3, 2, 3, 5, 6]


def test_loops_that_would_take_for_ever_are_refused_when_one_starts_behind_them():
    deep = (SetLengthUnits(2, LengthUnitEnum.MILLIMETER),)
    for level in range(40):
        deep = loop(f"l{level}", 9, *deep, Message(3, "x"))
    with pytest.raises(BadInput, match="nested too deep to start there"):
        steps(program(*deep, Message(3, "a")), start=len(deep) + 1)


@pytest.mark.parametrize(
    ("ways", "words"),
    [
        ({"start": 0}, "the command to start at is 0, allowed 1 to 8"),
        ({"start": 9}, "the command to start at is 9, allowed 1 to 8"),
        ({"until": 9}, "the command to stop at is 9, allowed 1 to 8"),
        ({"start": 5, "until": 4}, "the command to stop at is 4, allowed 5 to 8"),
    ],
)
def test_commands_that_are_not_there_are_refused_before_anything_is_sent(ways, words):
    with pytest.raises(BadInput, match=words):
        steps(PARTS, **ways)


def test_a_program_without_commands_runs():
    assert [step.index for step in steps(program())] == [0, 1]


def test_a_program_waits_where_it_is_told_and_can_be_ended_there(other_server):
    server, seen = other_server(), []

    async def before(step):
        seen.append(step.index)
        await asyncio.sleep(0.01)
        return step.index != 3

    async def work(client):
        return await run_program(client, program(*(Message(n, "m") for n in range(2, 6))), before=before)

    report = run(server, work)
    assert seen == [0, 1, 2, 3]
    assert (report.state, report.reason) == (OutcomeState.ABORTED, "ended before command 3 of 4")
    assert [type(command).__name__ for command in server.executed] == ["InitCanon", "Message", "Message", "EndCanon"]


def test_commands_are_changed_on_their_way(other_server, move_to):
    server = other_server()

    async def work(client):
        def further(command):
            return replace(command, end_position=move_to(0.5).end_position) if isinstance(command, MoveTo) else command

        return await run_program(client, program(move_to(0.1)), change=further)

    assert run(server, work).done
    assert server.x_m == 0.5


LENGTHS = st.sampled_from(LengthUnitEnum).map(lambda unit: SetLengthUnits(0, unit))
SPEEDS = st.sampled_from([1.0, 20.0, 300.0]).map(lambda speed: SetTransSpeed(0, TransSpeedAbsolute(speed)))
PLAIN = st.lists(st.one_of(LENGTHS, SPEEDS, st.just(Message(0, "m"))), max_size=4).map(tuple)
NESTED = st.recursive(
    PLAIN,
    lambda inside: st.lists(
        st.one_of(PLAIN, st.builds(lambda count, body: loop("l", count, *body), st.integers(1, 4), inside)), max_size=3
    ).map(lambda parts: tuple(command for part in parts for command in part)),
    max_leaves=8,
)


def in_force(made, index):
    """Unit and speed in SI when the command at that place is first reached."""
    units, speed_mps = CrclUnits(), None
    for step in made:
        if step.index == index:
            return units, speed_mps
        units = units.after(step.command)
        if isinstance(step.command, SetTransSpeed):
            speed_mps = step.command.trans_speed.setting * units.factor(Quantity.LENGTH)
    raise AssertionError("never reached")


@given(NESTED, st.data())
def test_what_starts_anywhere_finds_the_units_and_speeds_of_the_whole_program(middle, data):
    whole = program(*middle, Message(0, "end"))
    places = [
        at + 1 for at, each in enumerate(whole.middle_command) if type(each) not in (LoopBlockStart, LoopBlockEnd)
    ]
    start = data.draw(st.sampled_from(places))
    assert in_force(steps(whole, start=start), start) == in_force(steps(whole), start)
    rest = [step.index for step in steps(whole)]
    rest = rest[rest.index(start) :]
    part = [step.index for step in steps(whole, start=start)]
    assert part[len(part) - len(rest) :] == rest, "and goes on as the whole program does"
