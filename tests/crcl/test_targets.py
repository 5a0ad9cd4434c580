from __future__ import annotations

import asyncio

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
    SetTransSpeed,
    TransSpeedAbsolute,
)
from cellwright.crcl.connection import tcp
from cellwright.crcl.runner import run_program
from cellwright.crcl.targets import SwitchRefused, Targets, TargetsCfg

MM = SetLengthUnits(0, LengthUnitEnum.MILLIMETER)


def with_targets(other_server, work, **servers):
    """Runs work(target, simulated, real): both ends are servers, and the robot begins simulated."""

    async def main():
        simulated, real = other_server(move_s=0.1, **servers), other_server(move_s=0.1, **servers)
        address, real.address = await simulated.start(), await real.start()
        cfg = TargetsCfg.model_validate({"robots": {"fanuc": {"at": "simulated", "poll_s": 0.01, "reconnect_s": 0}}})
        try:
            async with Targets(cfg, {"fanuc": tcp(address)}) as targets:
                return await work(targets.robot("fanuc"), simulated, real)
        finally:
            await simulated.stop()
            await real.stop()

    return asyncio.run(main())


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


def test_switching_between_commands_takes_units_and_settings_along(other_server, move_to):
    async def work(robot, simulated, real):
        for command in (InitCanon(0), MM, SetTransSpeed(0, TransSpeedAbsolute(100.0)), move_to(100.0)):
            (await robot.execute(command)).check()
        switched = await robot.switch(real.address)
        (await robot.execute(move_to(200.0))).check()
        return switched, simulated, real

    switched, simulated, real = with_targets(other_server, work)
    assert (switched.old, switched.new) == ("simulated", real.address)
    assert "done" in switched.left
    assert kinds(simulated)[-2:] == ["MoveTo", "EndCanon"]
    assert kinds(real) == ["InitCanon", "SetLengthUnits", "SetTransSpeed", "SetLengthUnits", "MoveTo"]
    assert (simulated.x_m, real.x_m) == (pytest.approx(0.1), pytest.approx(0.2))


def test_a_switch_waits_for_the_command_in_progress(other_server, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 0.4
        moving = asyncio.ensure_future(robot.execute(move_to(0.5)))
        await asyncio.sleep(0.1)
        with pytest.raises(SwitchRefused, match=r"fanuc stays simulated.*MoveTo is in progress"):
            await robot.switch(real.address, wait_s=0)
        with pytest.raises(SwitchRefused, match=r"after 0.05 s MoveTo is in progress"):
            await robot.switch(real.address, wait_s=0.05)
        await robot.switch(real.address)
        return (await moving).state, simulated, real

    state, simulated, real = with_targets(other_server, work)
    assert state == "done"
    assert simulated.x_m == pytest.approx(0.5), "the move was not cut short"
    assert kinds(real) == ["InitCanon"]


def test_a_program_goes_on_at_the_other_robot(other_server, move_to):
    async def work(robot, simulated, real):
        middle = (MM, *(move_to(10.0 * n) for n in range(1, 7)))
        program = CRCLProgram(init_canon=InitCanon(1), middle_command=middle, end_canon=EndCanon(2))
        running = asyncio.ensure_future(run_program(robot, program))
        await asyncio.sleep(0.35)
        await robot.switch(real.address)
        return await running, simulated, real

    report, simulated, real = with_targets(other_server, work)
    assert report.done
    moves = [[c.end_position.point.x for c in server.executed if isinstance(c, MoveTo)] for server in (simulated, real)]
    assert moves[0] + moves[1] == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    assert moves[0]
    assert moves[1]
    assert real.x_m == pytest.approx(0.06)


def test_a_robot_that_cannot_be_reached_changes_nothing(other_server, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        with pytest.raises(SwitchRefused, match=r"fanuc stays simulated.*connection refused"):
            await robot.switch("127.0.0.1:1")
        with pytest.raises(BadInput, match="is no address"):
            await robot.switch("there")
        return await robot.execute(move_to(0.1))

    assert with_targets(other_server, work).done


def test_a_switch_away_from_a_dead_robot(other_server, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        await simulated.stop()
        switched = await robot.switch(real.address)
        return switched, await robot.execute(move_to(0.1))

    switched, outcome = with_targets(other_server, work)
    assert "lost" in switched.left
    assert outcome.done


def test_abort_does_not_wait_its_turn(other_server, move_to):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.move_s = 5.0
        moving = asyncio.ensure_future(robot.execute(move_to(1.0)))
        await asyncio.sleep(0.1)
        await robot.abort()
        return (await moving).state

    assert with_targets(other_server, work) == "aborted"
