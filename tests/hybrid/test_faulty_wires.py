"""External robots over wires that are late, lose messages, stall, are cut, or lie; each has a loop of its own."""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import time

import numpy as np
import pytest
from tests.hybrid.external_robots import cfg_of, hybrid, serving, until
from tests.hybrid.faulty_wire import FaultyWire, far_away, no_crcl, other_schema, with_joints
from tests.hybrid.test_robot_target import joints, recorded, sent

import cellwright as cw
from cellwright.core.messages import CrclCommand
from cellwright.core.pose import Pose
from cellwright.crcl import ActuateJoints, InitCanon, MoveTo
from cellwright.crcl.poses import message_of_pose

pytestmark = pytest.mark.slow

PACE = 1.0
WAY = [(0.3, 0.1), (-0.2, 0.2), (0.1, 0.0), (0.5, 0.3)]


@pytest.fixture
def lab(changed):
    with cw.Lab(changed(), seed=1, pace=PACE) as lab:
        yield lab


@pytest.fixture
def external(changed):
    with serving(changed(), pace=PACE) as robots:
        yield robots


@contextlib.asynccontextmanager
async def wired(lab, external, wire=(), **settings):
    """The Fanuc of the other laboratory, over a wire; yields the targets, a client, and the wire."""
    async with FaultyWire(external.at["fanuc"], **dict(wire)) as line:
        cfg = cfg_of(fanuc={"at": line.at, "reconnect_s": 1.0, "stalled_s": 1.0, **settings})
        async with hybrid(lab, cfg) as both, both.client() as client:
            (await client.execute(InitCanon(0))).check()
            yield both, client, line


@pytest.mark.parametrize(
    ("latency_s", "loss"),
    [
        ((0.005, 0.005), 0.0),
        ((0.05, 0.1), 0.01),
        pytest.param((0.2, 0.4), 0.01, marks=pytest.mark.long),
        pytest.param((0.005, 0.4), 0.0, marks=pytest.mark.long),
    ],
)
def test_moves_are_done_over_late_and_lossy_wires(lab, external, latency_s, loss):
    ours, theirs = lab.robot("fanuc"), external.robot()

    async def work():
        wire = {"latency_s": latency_s, "loss": loss}
        async with wired(lab, external, wire, reconnect_s=5.0, stalled_s=3.0) as (both, client, line):
            for way in WAY:
                (await client.execute(joints(*way, speed=1.0))).check()
                assert theirs.joints_rad[:2] == pytest.approx(way, abs=0.01)
            await until(lab, lambda: np.abs(ours.joints_rad - theirs.joints_rad).max() < 0.02, 3.0)
            status = both.targets.robots["fanuc"].status()
            assert status.latency_s == pytest.approx(sum(latency_s) / 2, abs=0.1)
            assert status.uncertainty_s >= status.latency_s
            return line

    line = lab.perform(work())
    assert line.passed > 50


def test_a_stalled_robot_is_lost_and_is_stopped_when_it_goes_on(lab, external):
    theirs = external.robot()

    async def work():
        async with wired(lab, external) as (both, client, line):
            moving = asyncio.ensure_future(client.execute(joints(2.0, speed=0.05)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.05)
            line.is_stalled = True
            outcome = await moving
            assert not outcome.done
            await until(lab, lambda: both.stops, 5.0)
            assert re.fullmatch(rf"fanuc at {line.at} was lost: (?!{line.at}: ).+", both.stops[0])
            assert theirs.moving, "nobody can stop it now"
            assert not (await client.execute(InitCanon(0))).done
            assert [said for said in both.said if "WAS NOT STOPPED" in said] or await stop_told(both)
            line.is_stalled = False
            await until(lab, lambda: not theirs.moving, 2.0)
            assert theirs.joints_rad[0] < 1.0

    async def stop_told(both):
        await until(lab, lambda: [said for said in both.said if "WAS NOT STOPPED" in said], 8.0)
        return True

    lab.perform(work())


def test_a_short_stall_is_waited_for(lab, external):
    theirs = external.robot()

    async def work():
        async with wired(lab, external, reconnect_s=5.0, stalled_s=3.0) as (both, client, line):
            moving = asyncio.ensure_future(client.execute(joints(0.4, speed=0.4)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.1)
            line.is_stalled = True
            await lab.clock.sleep(1.5)
            line.is_stalled = False
            (await moving).check()
            assert both.stops == []

    lab.perform(work())


def test_a_cut_wire_is_connected_again(lab, external):
    theirs = external.robot()

    async def work():
        async with wired(lab, external, reconnect_s=5.0) as (both, client, line):
            moving = asyncio.ensure_future(client.execute(joints(0.5, speed=0.3)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.1)
            line.cut()
            (await moving).check()
            (await client.execute(joints(0.2))).check()
            assert both.stops == []
            assert [said for said in both.said if "found" in said]

    lab.perform(work())
    assert theirs.joints_rad[0] == pytest.approx(0.2, abs=1e-3)


def test_one_that_dies_is_replaced_by_the_simulated_one_when_that_was_said(lab, external):
    ours = lab.robot("fanuc")

    async def work():
        async with wired(lab, external, on_loss="simulated", reconnect_s=0.5) as (both, client, line):
            moving = asyncio.ensure_future(client.execute(joints(0.6, speed=0.3)))
            await until(lab, lambda: ours.joints_rad[0] > 0.1)
            line.refuse()
            (await moving).check()
            assert ours.joints_rad[0] == pytest.approx(0.6, abs=0.01)
            (await client.execute(joints(0.2))).check()
            assert not both.targets.robots["fanuc"].is_external
            assert both.stops == []
            assert [said for said in both.said if "goes on, as it was told" in said]

    lab.perform(work())
    assert ours.joints_rad[0] == pytest.approx(0.2, abs=0.01)


def test_one_that_was_replaced_is_stopped_when_it_goes_on(lab, external):
    theirs = external.robot()

    async def work():
        async with wired(lab, external, on_loss="simulated", reconnect_s=0.5, stalled_s=0.5) as (both, client, line):
            moving = asyncio.ensure_future(client.execute(joints(0.4, 0.2)))
            await until(lab, lambda: theirs.moving)
            line.is_stalled = True
            external.robot().override = 0.01  # it is still on its way when it can be heard again
            (await moving).check()
            assert not both.targets.robots["fanuc"].is_external
            assert theirs.moving
            line.is_stalled = False
            await until(lab, lambda: not theirs.moving, 2.0)
            assert theirs.joints_rad[0] < 0.3

    lab.perform(work())


def test_one_that_dies_while_nothing_is_done_stops_the_run(lab, external):
    async def work():
        async with wired(lab, external, reconnect_s=0.5, stalled_s=0.5) as (both, client, line):
            line.refuse()
            await until(lab, lambda: both.stops, 5.0)
            assert "was lost" in both.stops[0]
            outcome = await client.execute(joints(0.1))
            assert not outcome.done

    lab.perform(work())


LIES = {
    "no numbers": with_joints(lambda _n, _value: "NaN"),
    "one is no number": with_joints(lambda n, value: "NaN" if n == 3 else repr(value)),
    "jumps": with_joints(lambda n, value: repr(value + (1.5 if n == 2 else 0.0) * (time.monotonic() % 0.3 < 0.1))),
    "far away": far_away,
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_nonsense_about_where_it_is_moves_no_twin(lab, external, lie):
    ours, theirs = lab.robot("fanuc"), external.robot()
    apart = []

    async def work():
        async with wired(lab, external) as (_both, client, line):
            (await client.execute(joints(0.2, 0.1, speed=1.0))).check()
            await until(lab, lambda: np.abs(ours.joints_rad - theirs.joints_rad).max() < 0.02, 3.0)
            line.lie = lie
            moving = asyncio.ensure_future(client.execute(joints(0.5, 0.2, speed=0.3)))
            while not moving.done():
                apart.append(np.abs(ours.joints_rad - theirs.joints_rad).max())
                assert np.isfinite(ours.joints_rad).all()
                await lab.clock.sleep(0.02)
            outcome = moving.result()
            assert outcome.done or outcome.reason
            line.lie = None
            await until(lab, lambda: np.abs(ours.joints_rad - theirs.joints_rad).max() < 0.02, 3.0)
            (await client.execute(joints(0.1, 0.0))).check()

    lab.perform(work())
    assert max(apart) < 0.5


def test_a_jump_after_reports_that_were_no_numbers_is_not_believed(lab, external):
    ours, theirs = lab.robot("fanuc"), external.robot()
    nothing, jumped = with_joints(lambda _n, _value: "NaN"), with_joints(lambda n, value: repr(value + 2.4 * (n == 2)))

    async def work():
        async with wired(lab, external) as (_both, _client, line):
            before = ours.joints_rad.copy()
            line.lie = nothing
            await lab.clock.sleep(0.12)
            line.lie = jumped
            await lab.clock.sleep(0.08)
            line.lie = None
            for _ in range(10):
                assert ours.joints_rad == pytest.approx(before, abs=0.01)
                await lab.clock.sleep(0.02)
            assert ours.joints_rad == pytest.approx(before, abs=0.01)

    lab.perform(work())
    assert theirs.joints_rad[0] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("lie", [no_crcl, other_schema])
def test_one_that_speaks_otherwise_is_lost_with_a_reason_in_one_line(lab, external, lie):
    theirs = external.robot()

    async def work():
        async with wired(lab, external) as (both, client, line):
            moving = asyncio.ensure_future(client.execute(joints(1.5, speed=0.1)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.05)
            line.lie = lie
            outcome = await moving
            assert not outcome.done
            await until(lab, lambda: both.stops, 5.0)
            assert "\n" not in both.stops[0]
            await until(lab, lambda: not theirs.moving, 4.0)
            assert theirs.joints_rad[0] < 1.0

    lab.perform(work())


def test_the_frame_and_flange_of_the_real_laboratory_give_the_same_motion(lab, changed):
    drawn = lab.cell.robots["fanuc"].crcl.lab
    assert drawn.point == "flange", "its poses are those of a flange, in a frame that is turned"
    frame = {"xyz_m": drawn.pose.xyz_m, "rpy_deg": drawn.pose.rpy_deg}
    ours = lab.robot("fanuc")
    goal = (
        ours.kinematics.forward(ours.joints_rad) @ ours.ring.pose_tool_in_flange @ Pose.from_xyz_rpy((0.03, 0.02, 0.04))
    )

    async def work():
        units = {"length_unit": "millimeter", "angle_unit": "degree"}
        async with wired(lab, theirs, frame=frame, point=drawn.point, **units) as (_both, client, _line):
            (await client.execute(MoveTo(0, True, message_of_pose(goal)))).check()
            told = (await client.status()).pose_status.pose.point
            assert (told.x, told.y, told.z) == pytest.approx(goal.position, abs=1e-3)

    with serving(changed(), pace=PACE, profile="aprs-lab") as theirs:
        lab.perform(work())
        robot = theirs.robot()
        there = robot.kinematics.forward(robot.joints_rad) @ robot.ring.pose_tool_in_flange
    assert there.distance_m(goal) < 1e-3
    assert there.angle_rad(goal) < 1e-3


def test_units_of_its_own_give_the_same_motion(lab, external):
    theirs = external.robot()
    commands = recorded(lab, CrclCommand, "crcl_command")

    async def work():
        async with wired(lab, external, length_unit="millimeter", angle_unit="degree") as (_both, client, _line):
            (await client.execute(joints(0.4, 0.1))).check()

    lab.perform(work())
    assert theirs.joints_rad[:2] == pytest.approx([0.4, 0.1], abs=1e-3)
    (move,) = sent(commands, ActuateJoints)
    assert move.actuate_joint[0].joint_position == pytest.approx(math.degrees(0.4))
