"""Guards on running commands."""

from __future__ import annotations

import asyncio
import math
import re

import pytest

from cellwright.crcl import CommandStateEnum
from cellwright.crcl import messages as m
from cellwright.crcl.messages import GuardLimitEnum

DONE, ERROR, WORKING = CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR, CommandStateEnum.CRCL_WORKING


def guard(limit_type=GuardLimitEnum.OVER_MAX, limit=5.0, sensor="ATINetFT", field="Fz", **more):
    return m.Guard(sensor, sub_field=field, limit_type=limit_type, limit_value=limit, **more)


def push_back(rig, from_z_m=0.25, start=0.0, slope=1000.0):
    """The force that an arm feels which goes down into something soft."""

    async def run():
        while True:
            depth_m = max(0.0, from_z_m - rig.tool()[2])
            force = start + slope * depth_m
            if rig.arm.read().sensors["ATINetFT"].value[2] != force:
                rig.arm.set_sensor("ATINetFT", (0.0, 0.0, force, 0.0, 0.0, 0.0))
            await rig.clock.sleep(0.002)

    return asyncio.get_running_loop().create_task(run())


def down(number, *guards, z=0.1):
    pose = m.Pose(m.Point(0.4, 0.0, z), m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0))
    return m.MoveTo(number, True, pose, guard=guards)


@pytest.mark.parametrize(
    ("limit_type", "limit", "start", "slope"),
    [
        (GuardLimitEnum.OVER_MAX, 5.0, 0.0, 1000.0),
        (GuardLimitEnum.UNDER_MIN, -5.0, 0.0, -1000.0),
        (GuardLimitEnum.INCREASE_OVER_LIMIT, 5.0, 40.0, 1000.0),
        (GuardLimitEnum.DECREASE_BEYOND_LIMIT, 5.0, 40.0, -1000.0),
    ],
)
def test_a_guarded_move_ends_where_the_guard_triggers(memory_rig, limit_type, limit, start, slope):
    async def work(rig):
        rig.arm.set_sensor("ATINetFT", (0.0, 0.0, start, 0.0, 0.0, 0.0))
        task = push_back(rig, start=start, slope=slope)
        peer = await rig.connect()
        await peer.begin()
        await peer.do(m.SetTransSpeed(3, m.TransSpeedAbsolute(0.1)))
        status = await peer.do(down(4, guard(limit_type, limit, recheck_time_micro_seconds=20)))
        task.cancel()
        assert status.command_status.command_state is DONE
        said = status.command_status.state_description
        triggered = r"guard on ATINetFT Fz triggered at (\S+) N \(.* \S+ N\): contact after (\d+) % of the path"
        value_n, percent = map(float, re.fullmatch(triggered, said).groups())
        told = status.guards_statuses
        assert told.trigger_count == 1
        # 5 mm deep, within what the arm goes in a tick of its own and in its fast stop.
        assert told.trigger_pose.point.z == pytest.approx(0.245, abs=0.0025)
        assert rig.tool()[2] == pytest.approx(0.245, abs=0.006)
        assert told.trigger_value == pytest.approx(start + slope * (0.25 - told.trigger_pose.point.z), abs=1.1)
        assert value_n == pytest.approx(told.trigger_value, rel=1e-5)
        assert percent == pytest.approx(100 * (0.3 - told.trigger_pose.point.z) / (0.3 - 0.1), abs=1.0)
        assert 0 < told.trigger_stop_time_micros < 100_000
        assert told.guard[0].check_count > 100
        assert told.guard[0].last_check_value == told.trigger_value

    memory_rig.run(work)


def test_a_guard_is_checked_as_often_as_it_says_but_not_more_often_than_the_clock_ticks(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        guards = [guard(limit=99.0, recheck_time_micro_seconds=time) for time in (20, None, 50_000)]
        status = await peer.do(m.Dwell(3, 1.0, guard=tuple(guards)))
        return [told.check_count for told in status.guards_statuses.guard]

    counts = memory_rig.run(work)
    assert counts == [pytest.approx(500, abs=3), pytest.approx(100, abs=3), pytest.approx(20, abs=3)]


def test_what_a_guard_would_see_in_the_last_moment_counts(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        slow = guard(require_trigger=True, recheck_time_micro_seconds=10_000_000)
        await peer.send(m.Dwell(3, 1.0, guard=(slow,)))
        await rig.clock.sleep(0.9)
        rig.arm.set_sensor("ATINetFT", (0.0, 0.0, 9.0, 0.0, 0.0, 0.0))
        status = await peer.until_ended(3)
        assert status.command_status.command_state is DONE
        assert status.guards_statuses.trigger_value == 9.0

    memory_rig.run(work)


def test_an_error_on_trigger_is_an_error(memory_rig):
    async def work(rig):
        push_back(rig)
        peer = await rig.connect()
        await peer.begin()
        status = await peer.do(down(3, guard(error_on_trigger=True, name="touch")))
        assert status.command_status.command_state is ERROR
        assert status.command_status.state_description.startswith("guard touch triggered at Fz ")
        assert rig.tool()[2] > 0.15

    memory_rig.run(work)


@pytest.mark.parametrize("limit", [5.0, 500.0])
def test_a_required_trigger_that_does_not_come_is_an_error(memory_rig, limit):
    async def work(rig):
        push_back(rig)
        peer = await rig.connect()
        await peer.begin()
        return (await peer.do(down(3, guard(limit=limit, require_trigger=True)))).command_status

    told = memory_rig.run(work)
    if limit == 5.0:
        assert told.command_state is DONE
    else:
        assert told.command_state is ERROR
        assert told.state_description == "guard on ATINetFT Fz required a trigger that was not seen"


def test_a_guard_that_is_passed_from_the_start_lets_nothing_happen(rig):
    async def work(rig):
        rig.arm.set_sensor("ATINetFT", (0.0, 0.0, 50.0, 0.0, 0.0, 0.0))
        peer = await rig.connect()
        await peer.begin()
        status = await peer.do(down(3, guard()))
        assert status.command_status.command_state is DONE
        assert status.guards_statuses.trigger_value == 50.0
        assert rig.tool()[2] == pytest.approx(0.3)

    rig.run(work)


def test_switches_and_numbers_can_be_guarded_too(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(m.Dwell(3, 1000.0, guard=(guard(limit=1.0, sensor="part_present", field=None),)))
        await rig.clock.sleep(0.5)
        assert (await peer.ask()).command_status.command_state is WORKING
        rig.arm.set_sensor("part_present", True)
        status = await peer.until_ended(3)
        assert status.guards_statuses.trigger_value == 1.0
        assert rig.clock.time_s < 2.0

    memory_rig.run(work)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (guard(sensor="laser"), "unknown sensor 'laser'"),
        (guard(field="Fw"), "unknown SubField 'Fw'"),
        (guard(field=None), "available: Fx, Fy, Fz, Tx, Ty, Tz"),
        (guard(sensor="part_present"), "part_present has no SubField 'Fz'"),
        (guard(limit=math.nan), "LimitValue of OVER_MAX is nan"),
        (guard(GuardLimitEnum.INCREASE_OVER_LIMIT, 0.0), "LimitValue of INCREASE_OVER_LIMIT is 0.0 (allowed: above 0)"),
        (guard(GuardLimitEnum.DECREASE_BEYOND_LIMIT, -1.0), "(allowed: above 0)"),
    ],
)
def test_a_guard_that_could_not_work_is_refused(memory_rig, bad, reason):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        told = (await peer.do(down(3, bad))).command_status
        assert told.command_state is ERROR
        assert reason in told.state_description
        assert rig.tool()[2] == pytest.approx(0.3)

    memory_rig.run(work)


def test_a_sensor_that_vanishes_stops_the_robot(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(down(3, guard(limit=1.0, sensor="part_present", field=None)))
        await rig.clock.sleep(0.3)
        del rig.arm._sensors["part_present"]
        status = await peer.until_ended(3)
        assert status.command_status.command_state is ERROR
        assert "unknown sensor 'part_present'" in status.command_status.state_description
        place = rig.tool()
        await rig.clock.sleep(0.5)
        assert rig.tool() == place
        assert place[2] > 0.15

    memory_rig.run(work)


def test_a_guarded_command_can_be_replaced(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(down(3, guard(require_trigger=True)))
        await rig.clock.sleep(0.2)
        assert (await peer.do(down(4, z=0.28))).command_status.command_state is DONE
        assert rig.tool()[2] == pytest.approx(0.28)

    memory_rig.run(work)
