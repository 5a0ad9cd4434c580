"""Many waypoints over CRCL: no halt where tolerances leave room, otherwise every point is met; nobody waits."""

from __future__ import annotations

import asyncio
import math
import time

import numpy as np
import pytest

import cellwright as cw
from cellwright.core.rotation import vector_from_quaternion
from cellwright.crcl import CrclClient, OutcomeState, encode
from cellwright.crcl import messages as m
from cellwright.interfaces import CrclInterface

STEPS = [(0, 0.05, 0), (-0.05, 0.05, 0), (-0.05, 0, -0.05)]


@pytest.fixture(scope="module")
def lab(changed):
    with cw.Lab(changed(actual={}), seed=1) as lab:
        yield lab


def through(lab, count=3, tolerance_m=None, beside=None):
    """A MoveThroughTo: its outcome, the motions that it took, the way of the tool, the waypoints."""
    motions, way = [], []
    robot = lab.robots["fanuc"]
    lab.perform(robot.move_home())
    follow = robot.follow

    async def counted(motion, *stretch):
        motions.append(motion)
        await follow(motion, *stretch)

    def look():
        way.append((robot.ring.pose_base_in_world.inverse() @ robot.tool_in_world).position.tolist())

    async def main():
        interface = CrclInterface(lab)
        try:
            async with CrclClient(lambda: interface.connect("fanuc")) as client:
                (await client.execute(m.InitCanon(0))).check()
                if tolerance_m is not None:
                    tolerance = m.PoseTolerance(x_point_tolerance=tolerance_m)
                    (await client.execute(m.SetIntermediatePoseTolerance(0, tolerance=tolerance))).check()
                here = (await client.status()).pose_status.pose
                points = [
                    m.Point(here.point.x + dx, here.point.y + dy, here.point.z + dz)
                    for dx, dy, dz in (STEPS[i % len(STEPS)] for i in range(count))
                ]
                poses = tuple(m.Pose(point, here.x_axis, here.z_axis) for point in points)
                robot.follow = counted
                ticking = lab.stepper.every(5, look, order=35, name="way of the tool")
                others = asyncio.ensure_future(beside(interface)) if beside else None
                command = m.MoveThroughTo(0, move_straight=True, waypoint=poses, num_positions=count)
                outcome = await client.execute(command, timeout_s=600.0)
                ticking.cancel()
                if others is not None:
                    await others
                return outcome, motions, way, [(p.x, p.y, p.z) for p in points]
        finally:
            robot.follow = follow
            await interface.close()

    return lab.perform(main())


def test_without_tolerances_every_waypoint_is_met(lab):
    outcome, motions, way, points = through(lab)
    assert outcome.done, outcome
    assert len(motions) == len(points)
    for point in points:
        assert min(math.dist(point, place) for place in way) < 1e-4


def test_with_room_for_corners_there_is_no_halt(lab):
    outcome, motions, way, points = through(lab, tolerance_m=0.01)
    assert outcome.done, outcome
    assert len(motions) == 1
    for point in points[:-1]:
        assert 1e-4 < min(math.dist(point, place) for place in way) < 0.01
    assert math.dist(points[-1], way[-1]) < 1e-4


def test_a_long_row_is_reckoned_piece_by_piece_while_others_are_served(lab):
    longest_s = []

    async def ask(interface):
        async with CrclClient(lambda: interface.connect("fanuc")) as other:
            for _ in range(20):
                start_s = time.process_time()
                await other.status()
                longest_s.append(time.process_time() - start_s)
                await asyncio.sleep(0)

    outcome, motions, _, _ = through(lab, 12, beside=ask)
    assert outcome.done, outcome
    assert len(motions) == 12
    assert max(longest_s) < 0.5  # all of them together take longer


def test_too_many_waypoints_are_refused(lab):
    outcome, motions, _, _ = through(lab, 1001)
    assert outcome.state is OutcomeState.ERROR
    assert outcome.reason == (
        "line 1 at CRCLCommandInstance/CRCLCommand: has 1001 of Waypoint (allowed: 1000 or fewer)"
    )
    assert not motions


@pytest.mark.parametrize("robot", ["fanuc", "motoman"])
def test_the_twist_is_that_of_the_controlled_point(lab, robot):
    """In the frame of the real laboratory, which is turned and shifted against the base."""

    async def main():
        interface = CrclInterface(lab, profile="aprs-lab")
        arm, controller = interface.servers[robot].executor.robot, lab.robots[robot]
        await controller.move_home()
        moving = asyncio.ensure_future(controller.move_joints(controller.joints_rad + 0.2, speed=0.3))
        await lab.clock.sleep(0.3)
        before, time_s = arm.read(), lab.clock.time_s
        await lab.clock.sleep(0.02)
        after, passed_s = arm.read(), lab.clock.time_s - time_s
        await moving
        await interface.close()
        return before, after, passed_s

    before, after, passed_s = lab.perform(main())
    way_m = after.pose_tool_in_base.position - before.pose_tool_in_base.position
    turn_rad = vector_from_quaternion((after.pose_tool_in_base @ before.pose_tool_in_base.inverse()).quaternion)
    twist = (np.array(before.twist) + np.array(after.twist)) / 2
    assert np.linalg.norm(twist[:3]) > 0.05
    assert way_m / passed_s == pytest.approx(twist[:3], abs=0.02 * np.linalg.norm(twist[:3]))
    assert turn_rad / passed_s == pytest.approx(twist[3:], abs=0.02 * np.linalg.norm(twist[3:]))


def began_after_s(lab, disturb_s):
    """How long after a command the arm begins to move, by simulation time, on a machine that is disturbed."""
    robot = lab.robots["fanuc"]

    async def main():
        interface = CrclInterface(lab)
        try:
            connection = await interface.connect("fanuc")
            tolerance = m.PoseTolerance(x_point_tolerance=0.01)
            await connection.send(encode(m.CRCLCommandInstance(m.InitCanon(1))))
            await connection.send(encode(m.CRCLCommandInstance(m.SetIntermediatePoseTolerance(2, tolerance=tolerance))))
            await lab.clock.sleep(0.1)
            x, y, z = interface.servers["fanuc"].executor.robot.read().pose_tool_in_base.position.tolist()
            down = m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0)
            poses = tuple(m.Pose(m.Point(x, y + 0.05 * (-1) ** i, z), *down) for i in range(10))
            begin_s = lab.clock.time_s
            await connection.send(encode(m.CRCLCommandInstance(m.MoveThroughTo(3, True, poses, len(poses)))))
            for turn in range(2000):
                if robot.moving:
                    return lab.clock.time_s - begin_s
                time.sleep(disturb_s if turn % 7 == 0 else 0.0)
                await lab.clock.sleep(0.0)
            raise AssertionError("it does not begin to move")
        finally:
            await interface.close()

    return lab.perform(main())


@pytest.mark.slow
def test_how_long_a_plan_takes_in_simulation_time_depends_on_the_plan_alone(changed):
    took_s = []
    for pace, disturb_s in ((None, 0.0), (None, 0.02), (5.0, 0.0), (5.0, 0.02)):
        with cw.Lab(changed(actual={}), seed=1, pace=pace) as lab:
            took_s.append(began_after_s(lab, disturb_s))
    assert took_s[0] > 0.01
    assert took_s == pytest.approx([took_s[0]] * 4, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "begins_within_s"), [(10, 0.01), (100, 0.2), (1000, 2.2)])
def test_many_waypoints_begin_soon_and_meanwhile_the_status_says_that_they_are_planned(lab, count, begins_within_s):
    robot = lab.robots["fanuc"]
    lab.perform(robot.move_home())

    async def main():
        interface = CrclInterface(lab)
        try:
            async with CrclClient(lambda: interface.connect("fanuc")) as client:
                (await client.execute(m.InitCanon(0))).check()
                here = (await client.status()).pose_status.pose
                turns = [2 * math.pi * number / count for number in range(1, count + 1)]
                circle = [(0.05 * math.cos(turn) - 0.05, 0.05 * math.sin(turn)) for turn in turns]
                poses = tuple(
                    m.Pose(m.Point(here.point.x + dx, here.point.y + dy, here.point.z), here.x_axis, here.z_axis)
                    for dx, dy in circle
                )
                said, begin_s = [], lab.clock.time_s
                moving = asyncio.ensure_future(client.execute(m.MoveThroughTo(0, True, poses, count)))
                while not robot.moving and lab.clock.time_s < begin_s + 40.0:
                    await lab.clock.sleep(0.0)
                    said.append((await client.status()).command_status.state_description)
                took_s = lab.clock.time_s - begin_s
                await lab.clock.sleep(0.1)
                said.append((await client.status()).command_status.state_description)
                moving.cancel()
                return took_s, said
        finally:
            await interface.close()

    took_s, said = lab.perform(main())
    assert took_s <= begins_within_s
    assert said[-1] is None  # it moves
    if count > 10:
        assert f"planning a path through {count} waypoints" in said
