from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from cellwright.core.config import read_yaml
from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.crcl import (
    CRCLProgram,
    EndCanon,
    InitCanon,
    LengthUnitEnum,
    MoveTo,
    SetLengthUnits,
    SettingsStatus,
    SetTransSpeed,
    TransSpeedAbsolute,
)
from cellwright.crcl.connection import tcp
from cellwright.crcl.endpoints import EndpointCfg, TargetsCfg
from cellwright.crcl.runner import run_program
from cellwright.crcl.targets import SwitchRefused, Targets

MM = SetLengthUnits(0, LengthUnitEnum.MILLIMETER)


SERVER = """
import asyncio
from cellwright.crcl import CrclServer, ExampleArm, WallClock

async def main():
    async with await CrclServer(ExampleArm(WallClock())).start(port=0) as server:
        print("{}:{}".format(*server.address), flush=True)
        await asyncio.sleep(60.0)

asyncio.run(main())
"""


@pytest.fixture
def stalling_server():
    """A practice arm in a process of its own, and its address."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def kinds(server):
    return [type(command).__name__ for command in server.executed]


def test_a_file_maps_robots_to_endpoints(tmp_path):
    (tmp_path / "t.yaml").write_text("robots:\n  fanuc: simulated\n  motoman: {at: '10.0.0.1:64445', poll_s: 0.1}\n")
    cfg = read_yaml(tmp_path / "t.yaml", TargetsCfg)
    assert cfg.robots["fanuc"].at == "simulated"
    assert (cfg.robots["motoman"].at, cfg.robots["motoman"].poll_s) == ("10.0.0.1:64445", 0.1)


@pytest.mark.parametrize("at", ["simulate", "10.0.0.1", "host:99999"])
def test_an_endpoint_that_is_none(tmp_path, at):
    (tmp_path / "t.yaml").write_text(f"robots: {{fanuc: '{at}'}}\n")
    with pytest.raises(ConfigError, match=rf"robots.fanuc.*'{at}' is no address .*or 'simulated'"):
        read_yaml(tmp_path / "t.yaml", TargetsCfg)


def test_a_robot_that_cannot_be_simulated_is_refused_at_once():
    with pytest.raises(UnknownName, match="unknown simulated robot 'fanuk'; did you mean 'fanuc'"):
        Targets(TargetsCfg.model_validate({"robots": {"fanuk": "simulated"}}), {"fanuc": tcp("x:1")})


def test_switching_between_commands_takes_units_and_settings_along(with_targets, move_to):
    async def work(robot, simulated, real):
        for command in (InitCanon(0), MM, SetTransSpeed(0, TransSpeedAbsolute(100.0)), move_to(100.0)):
            (await robot.execute(command)).check()
        switched = await robot.switch(real.address)
        (await robot.execute(move_to(200.0))).check()
        return switched, simulated, real

    switched, simulated, real = with_targets(work, endpoint={"tolerance_mm": 100.0})
    assert (switched.old, switched.new) == ("simulated", real.address)
    assert "done" in switched.left
    assert kinds(simulated)[-2:] == ["MoveTo", "EndCanon"]
    assert kinds(real) == ["InitCanon", "SetLengthUnits", "SetAngleUnits", "SetTransSpeed", "MoveTo"]
    assert (simulated.x_m, real.x_m) == (pytest.approx(0.1), pytest.approx(0.2))


def test_a_switch_waits_for_the_command_in_progress(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 0.4
        moving = asyncio.ensure_future(robot.execute(move_to(0.5)))
        await asyncio.sleep(0.1)
        with pytest.raises(SwitchRefused, match=r"fanuc stays simulated.*MoveTo is in progress"):
            await robot.switch(real.address, wait_s=0)
        with pytest.raises(SwitchRefused, match=r"after 0.05 s MoveTo is in progress"):
            await robot.switch(real.address, wait_s=0.05)
        real.x_m = 0.5
        await robot.switch(real.address)
        return (await moving).state, simulated, real

    state, simulated, real = with_targets(work)
    assert state == "done"
    assert simulated.x_m == pytest.approx(0.5), "the move was not cut short"
    assert kinds(real) == ["InitCanon", "SetLengthUnits", "SetAngleUnits"]


def test_a_program_goes_on_at_the_other_robot(with_targets, move_to):
    async def work(robot, simulated, real):
        middle = (MM, *(move_to(10.0 * n) for n in range(1, 7)))
        program = CRCLProgram(init_canon=InitCanon(1), middle_command=middle, end_canon=EndCanon(2))
        running = asyncio.ensure_future(run_program(robot, program))
        await asyncio.sleep(0.35)
        await robot.switch(real.address)
        return await running, simulated, real

    report, simulated, real = with_targets(work, endpoint={"tolerance_mm": 1000.0})
    assert report.done
    moves = [[c.end_position.point.x for c in server.executed if isinstance(c, MoveTo)] for server in (simulated, real)]
    assert moves[0] + moves[1] == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    assert moves[0]
    assert moves[1]
    assert real.x_m == pytest.approx(0.06)


def test_a_robot_that_cannot_be_reached_changes_nothing(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        with pytest.raises(SwitchRefused, match=r"fanuc stays simulated.*connection refused"):
            await robot.switch("127.0.0.1:1")
        with pytest.raises(BadInput, match="is no address"):
            await robot.switch("there")
        return await robot.execute(move_to(0.1))

    assert with_targets(work).done


def test_a_switch_away_from_a_dead_robot(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        await simulated.stop()
        switched = await robot.switch(real.address)
        return switched, await robot.execute(move_to(0.1))

    switched, outcome = with_targets(work)
    assert "lost" in switched.left
    assert outcome.done


def test_abort_does_not_wait_its_turn(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 5.0
        moving = asyncio.ensure_future(robot.execute(move_to(1.0)))
        await asyncio.sleep(0.1)
        await robot.abort()
        return (await moving).state

    assert with_targets(work) == "aborted"


def test_an_abort_before_a_command_is_sent_keeps_it_from_being_sent(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        first, second = (asyncio.ensure_future(robot.execute(move_to(x))) for x in (0.5, 1.0))
        await asyncio.sleep(0)  # the first asks for the status, the second waits for its turn
        await robot.abort()
        return (await first).state, (await second).state, kinds(simulated), simulated.x_m

    first, second, executed, x_m = with_targets(work)
    assert (first, second) == ("aborted", "aborted")
    assert "MoveTo" not in executed
    assert x_m == 0.0


def test_leaving_stops_the_robot(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 5.0
        moving, waiting = (asyncio.ensure_future(robot.execute(move_to(x))) for x in (1.0, 2.0))
        await asyncio.sleep(0.1)
        return moving, waiting, simulated

    async def ends(tasks):
        return [(await task).state for task in tasks]

    states = []

    async def main(robot, simulated, real):
        *tasks, simulated = await work(robot, simulated, real)
        states.append(asyncio.ensure_future(ends(tasks)))
        return simulated

    simulated = with_targets(main)
    assert kinds(simulated) == ["InitCanon", "MoveTo", "StopMotion"], "and what waited was not sent"
    assert 0.0 < simulated.x_m < 0.5
    assert states[0].result() == ["aborted", "lost"]


def test_leaving_a_robot_that_was_only_watched_does_not_stop_it(with_targets):
    async def work(robot, simulated, real):
        await robot.status()
        return simulated

    assert kinds(with_targets(work)) == []


def test_a_cancelled_command_stops_the_robot(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 5.0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.15):
                await robot.execute(move_to(1.0))
        assert kinds(simulated)[-1] == "StopMotion"
        assert not simulated.moves
        simulated.move_s = 0.05
        return await robot.execute(move_to(0.1))

    assert with_targets(work).done, "and it can be commanded again"


def test_a_switch_away_from_a_robot_that_may_move_stops_it(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 5.0
        assert (await robot.execute(move_to(1.0), timeout_s=0.1)).state == "timeout"
        assert simulated.moves
        await robot.switch(real.address)
        return simulated

    simulated = with_targets(work, endpoint={"tolerance_mm": 1000.0})
    assert kinds(simulated)[-2:] == ["StopMotion", "EndCanon"]
    assert simulated.x_m < 0.5


def test_a_cancelled_switch_leaves_no_session_open_at_the_new_robot(with_targets, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        real.say_instead = lambda status: replace(status, settings_status=SettingsStatus(length_unit_name="inch"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await robot.switch(real.address)
        return real.initialised, kinds(real), await robot.execute(move_to(0.1))

    initialised, executed, outcome = with_targets(work)
    assert (initialised, executed[-1]) == (False, "EndCanon")
    assert outcome.done


@pytest.mark.slow
def test_a_stalled_server_is_noticed_in_the_stated_time_and_stops_when_it_wakes_up(with_targets, stalling_server):
    """The server is a process of its own that is halted in the midst of a move; the stop lies unread in its sockets."""

    async def work(robot, simulated, real):
        process, address = stalling_server
        anywhere = {"tolerance_mm": None, "tolerance_deg": None, "joint_tolerance_deg": None}
        await robot.switch(EndpointCfg(at=address, poll_s=0.01, reconnect_s=0, stalled_s=0.5, **anywhere))
        (await robot.execute(InitCanon(0))).check()
        here = (await robot.status()).pose_status.pose
        down = MoveTo(0, True, replace(here, point=replace(here.point, z=-0.1)))
        moving = asyncio.ensure_future(robot.execute(down))
        await asyncio.sleep(0.15)
        process.send_signal(signal.SIGSTOP)
        begin_s = time.monotonic()
        outcome = await moving
        took_s = time.monotonic() - begin_s
        await robot.abort(timeout_s=1.2)
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0.5)
        first = (await robot.status()).pose_status.pose
        await asyncio.sleep(0.2)
        return outcome, took_s, here, first, (await robot.status()).pose_status.pose

    outcome, took_s, here, first, last = with_targets(work)
    assert (outcome.state, outcome.reason.endswith("sent no status within 0.5 s: it has stalled")) == ("lost", True)
    assert took_s < 2.0
    assert first == last, "it stands"
    assert 0.0 < here.point.z - last.point.z < 0.2


def test_a_robot_that_cannot_be_stopped_is_told(with_targets, move_to):
    told = []

    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.deaf = True
        assert (await robot.execute(move_to(1.0))).state == "lost"

    with_targets(work, say=told.append, endpoint={"stalled_s": 0.1})
    assert any("fanuc at simulated WAS NOT STOPPED" in text for text in told)
