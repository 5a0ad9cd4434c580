"""Real arms behind CRCL: every command moves the simulated robot, over memory and over sockets."""

from __future__ import annotations

import asyncio
import math
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cellwright as cw
from cellwright.core.errors import UnknownName
from cellwright.crcl import BlockingCrclClient, CrclClient, decode, run_program
from cellwright.crcl import messages as m
from cellwright.crcl.outcome import OutcomeState
from cellwright.interfaces import CrclInterface

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[3] / "shared/aprs/programs"


def shortened(command: m.MiddleCommand, most_passes: int) -> m.MiddleCommand:
    """A loop with no more passes than that; the runner's own tests repeat loops."""
    return replace(command, max_count=min(command.max_count, most_passes)) if hasattr(command, "max_count") else command


def pose_of(status: m.CRCLStatus) -> m.Pose:
    assert status.pose_status is not None
    return status.pose_status.pose


def point(x: float, y: float, z: float, like: m.Pose) -> m.Pose:
    return m.Pose(m.Point(x, y, z), like.x_axis, like.z_axis)


def shifted(like: m.Pose, dx: float = 0, dy: float = 0, dz: float = 0) -> m.Pose:
    return point(like.point.x + dx, like.point.y + dy, like.point.z + dz, like)


def talk(lab, work, robot="fanuc", **options):
    """Runs a coroutine function with a client of a robot, in memory; what it returns."""

    async def main():
        interface = CrclInterface(lab, **options)
        try:
            async with CrclClient(lambda: interface.connect(robot)) as client:
                outcome = await client.execute(m.InitCanon(0))
                assert outcome.state is OutcomeState.DONE, outcome
                return await work(client)
        finally:
            await interface.close()

    return lab.perform(main())


@pytest.fixture
def lab(changed):
    with cw.Lab(changed(actual={}), seed=1) as lab:
        yield lab


@pytest.fixture
def physics(changed):
    with cw.Lab(changed(actual={}, fidelity="physics"), seed=1) as lab:
        yield lab


async def done(client, command) -> m.CRCLStatus:
    outcome = await client.execute(command)
    assert outcome.state is OutcomeState.DONE, outcome
    return await client.status()


async def refused(client, command) -> str:
    outcome = await client.execute(command)
    assert outcome.state is OutcomeState.ERROR, outcome
    assert (await client.execute(m.InitCanon(0))).state is OutcomeState.DONE
    return outcome.reason


@pytest.mark.parametrize("robot", ["fanuc", "motoman"])
def test_every_kind_of_motion_ends_where_it_should(lab, robot):
    async def work(client):
        begin = pose_of(await client.status())
        for straight in (True, False):
            wanted = shifted(begin, dz=-0.05, dy=0.06 if straight else 0.0)
            reached = pose_of(await done(client, m.MoveTo(0, move_straight=straight, end_position=wanted)))
            assert math.dist(_xyz(reached), _xyz(wanted)) < 1e-4
        way = tuple(shifted(begin, *step) for step in ((0, 0.05, 0), (-0.05, 0.05, 0), (-0.05, 0, 0)))
        await done(client, m.SetIntermediatePoseTolerance(0, tolerance=m.PoseTolerance(x_point_tolerance=0.01)))
        reached = pose_of(
            await done(client, m.MoveThroughTo(0, move_straight=True, waypoint=way, num_positions=len(way)))
        )
        assert math.dist(_xyz(reached), _xyz(way[-1])) < 1e-4
        reached = pose_of(await done(client, m.MoveScrew(0, axial_distance_screw=-0.02, turn=math.pi / 4)))
        assert reached.point.z == pytest.approx(begin.point.z + 0.02, abs=1e-4)
        turned = math.atan2(
            np.cross(_vector(way[-1].x_axis), _vector(reached.x_axis)) @ _vector(begin.z_axis),
            _vector(way[-1].x_axis) @ _vector(reached.x_axis),
        )
        assert turned == pytest.approx(math.pi / 4, abs=1e-3)

    talk(lab, work, robot)


def test_joint_moves_keep_their_speeds_and_their_names_in_errors(lab):
    async def work(client):
        fastest = []
        lab.stepper.every(
            5, lambda: fastest.append(abs(lab.robots["fanuc"].velocity_radps[0])), order=35, name="speed of joint 1"
        )
        details = m.JointSpeedAccel(joint_speed=0.3, joint_accel=2.0)
        status = await done(client, m.ActuateJoints(0, actuate_joint=(m.ActuateJoint(1, 0.4, joint_details=details),)))
        assert status.joint_statuses.joint_status[0].joint_position == pytest.approx(0.4, abs=1e-4)
        assert 0.28 < max(fastest) < 0.31
        await done(client, m.SetAngleUnits(0, unit_name=m.AngleUnitEnum.DEGREE))
        why = await refused(
            client, m.ActuateJoints(0, actuate_joint=(m.ActuateJoint(3, -171.0, joint_details=details),))
        )
        assert why == "Joint 3 at -171.0 less than limit -70.0 degree"
        assert "joint 9" in (
            await refused(client, m.ActuateJoints(0, actuate_joint=(m.ActuateJoint(9, 0.0, joint_details=details),)))
        )

    talk(lab, work)


def test_a_joint_with_a_torque_pushes_no_harder(physics):
    """Joint 1 of the Fanuc against the fence would fault; with a small torque it leans on it and is done."""

    async def work(client):
        details = m.JointForceTorque(setting=20.0)
        status = await done(client, m.ActuateJoints(0, actuate_joint=(m.ActuateJoint(2, 1.6, joint_details=details),)))
        assert status.joint_statuses.joint_status[1].joint_position < 1.5  # the cart's top is in the way
        physics.robots["fanuc"].limit_effort({1: None})
        await done(client, m.InitCanon(0))

    talk(physics, work)


def test_a_torque_that_changes_at_a_given_rate_is_refused_and_nothing_moves(lab):
    async def work(client):
        before = (await client.status()).joint_statuses
        details = m.JointForceTorque(setting=20.0, change_rate=5.0)
        reason = await refused(client, m.ActuateJoints(0, (m.ActuateJoint(2, 0.3, details),)))
        assert "fanuc has no torque that changes at a given rate (ChangeRate)" in reason
        assert (await client.status()).joint_statuses == before
        await done(client, m.InitCanon(0))

    talk(lab, work)


def test_gripper_takes_a_fraction_of_its_width(lab):
    async def work(client):
        widths = []
        for setting in (0.0, 0.5, 1.0, 1.0, 0.0, 0.0):
            status = await done(client, m.SetEndEffector(0, setting=setting))
            widths.append(status.gripper_status.separation)
            assert status.gripper_status.holding_object is False
        low, high = lab.robots["fanuc"].gripper.width_limits_m
        assert widths == pytest.approx([low, (low + high) / 2, high, high, low, low], abs=5e-4)
        assert "force_n" in await refused(
            client,
            m.SetEndEffectorParameters(0, parameter_setting=(m.ParameterSetting("grip", "3"),)),
        )

    talk(lab, work)


def test_stops_and_preemption(lab):
    async def work(client):
        begin = pose_of(await client.status())
        await done(client, m.SetTransSpeed(0, trans_speed=m.TransSpeedAbsolute(0.1)))
        moving = asyncio.ensure_future(
            client.execute(m.MoveTo(0, move_straight=True, end_position=shifted(begin, dy=0.15)))
        )
        await lab.clock.sleep(0.5)
        stopped = await client.abort(m.StopConditionEnum.NORMAL)
        assert stopped.state is OutcomeState.DONE
        await moving
        at = pose_of(await client.status())
        assert 0.01 < at.point.y - begin.point.y < 0.1
        assert at.point.z == pytest.approx(begin.point.z, abs=1e-4)  # on the path
        await lab.clock.sleep(0.2)
        assert math.dist(_xyz(pose_of(await client.status())), _xyz(at)) < 1e-4
        first = asyncio.ensure_future(
            client.execute(m.MoveTo(0, move_straight=True, end_position=shifted(begin, dy=0.15)))
        )
        await lab.clock.sleep(0.3)
        await done(client, m.MoveTo(0, move_straight=True, end_position=shifted(begin, dz=-0.03)))
        assert (await first).state is not OutcomeState.DONE
        assert math.dist(_xyz(pose_of(await client.status())), _xyz(shifted(begin, dz=-0.03))) < 1e-4

    talk(lab, work)


def test_out_of_reach_names_the_point_and_the_arm_stays(lab):
    async def work(client):
        begin = pose_of(await client.status())
        assert "cannot reach" in await refused(
            client, m.MoveTo(0, move_straight=False, end_position=shifted(begin, dx=3.0))
        )
        assert math.dist(_xyz(pose_of(await client.status())), _xyz(begin)) < 1e-5
        assert "tool changer" in await refused(client, m.OpenToolChanger(0))
        assert "RunProgram" in await refused(client, m.RunProgram(0, program_text="x"))
        assert "override_percent" in await refused(
            client, m.SetRobotParameters(0, parameter_setting=(m.ParameterSetting("speed", "3"),))
        )

    talk(lab, work)


def test_a_guard_on_the_wrist_sensor_stops_on_the_table(physics):
    async def work(client):
        await done(client, m.EnableSensor(0, sensor_id="ATINetFT"))
        begin = pose_of(await client.status())
        above = shifted(begin, dx=0.05, dy=-0.2, dz=-0.45)  # over the bare cart, fingers 80 mm above it
        await done(client, m.MoveTo(0, move_straight=False, end_position=above))
        await done(client, m.SetEndEffector(0, setting=0.0))
        await done(client, m.SetTransSpeed(0, trans_speed=m.TransSpeedAbsolute(0.02)))
        guard = m.Guard("ATINetFT", sub_field="Fz", limit_type=m.GuardLimitEnum.DECREASE_BEYOND_LIMIT, limit_value=5.0)
        reached = pose_of(
            await done(client, m.MoveTo(0, guard=(guard,), move_straight=True, end_position=shifted(above, dz=-0.2)))
        )
        cart_m = 0.916 - physics.robots["fanuc"].ring.pose_base_in_world.position[2]
        assert cart_m < reached.point.z < cart_m + 0.01  # the finger tips are some millimetres beyond the tool's point

    talk(physics, work)


def test_safety_lock_is_told_and_not_cleared_by_init(lab):
    async def work(client):
        begin = pose_of(await client.status())
        lab.robots["fanuc"].stop(lock="e_stop", reason="somebody pressed it")
        outcome = await client.execute(m.MoveTo(0, move_straight=True, end_position=shifted(begin, dz=-0.02)))
        assert outcome.state is OutcomeState.ERROR
        assert "e_stop" in outcome.reason
        assert "e_stop" in (await client.execute(m.InitCanon(0))).reason
        lab.robots["fanuc"].reset("e_stop")
        assert (await client.execute(m.InitCanon(0))).state is OutcomeState.DONE

    talk(lab, work)


def test_the_ring_closes_whatever_base_and_tool(changed):
    """The same program in world coordinates, from another place and with another gripper."""
    targets = [(0.25, -1.15, 1.10), (0.20, -1.05, 1.05), (0.30, -1.00, 1.12)]
    robots = {
        "as drawn": {},
        "moved": {"base": {"xyz_m": [-0.069, -1.140, 0.934], "rpy_deg": [0, 0, 20]}},
        "other gripper": {"base": {"xyz_m": [-0.169, -1.040, 0.934]}, "tool": "aprs_motoman_gripper"},
    }
    for change in robots.values():
        cell = changed(actual={})
        fanuc = cell.robots["fanuc"].model_validate(cell.robots["fanuc"].model_dump() | change)
        cell = cell.model_copy(update={"robots": {"fanuc": fanuc}, "safety": None, "sensors": []})
        with cw.Lab(cell, seed=3) as lab:

            async def work(client, lab=lab):
                for xyz in targets:
                    wanted = m.Pose(m.Point(*xyz), m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0))
                    for straight in (False, True):
                        await done(client, m.MoveTo(0, move_straight=straight, end_position=wanted))
                    await lab.clock.sleep(0.1)
                    site = lab.world.robot("fanuc").gripper.tcp_site
                    assert math.dist(lab.world.data.site_xpos[site], xyz) < 1e-4

            talk(lab, work, frame="world")


@pytest.mark.skipif(not PROGRAMS.is_dir(), reason="the laboratory's programs are not beside the project")
@pytest.mark.parametrize(
    ("file", "robot", "fidelity", "most_passes"),
    [
        ("fanucStackMoveRepeat3", "fanuc", "kinematic", 1),
        pytest.param("fanucStackMoveRepeat3", "fanuc", "physics", 3, marks=pytest.mark.long),
        ("motomanStackMove", "motoman", "physics", 1),
        pytest.param("simMotomanStackMove", "motoman", "physics", 1, marks=pytest.mark.long),
    ],
)
def test_programs_of_the_real_laboratory(changed, file, robot, fidelity, most_passes):
    program = decode((PROGRAMS / f"{file}.xml").read_bytes(), m.CRCLProgram)
    commands = [shortened(command, most_passes) for command in program.middle_command]
    program = replace(program, middle_command=tuple(commands))
    with cw.Lab(changed(actual={}, fidelity=fidelity), seed=1) as lab:

        async def main():
            interface = CrclInterface(lab, profile="aprs-lab")
            async with CrclClient(lambda: interface.connect(robot)) as client:
                report = await run_program(client, program)
            await interface.close()
            return report

        report = lab.perform(main())
    if robot == "fanuc":
        assert report.done, report
    else:
        assert not report.done
        assert any(word in report.reason for word in ("cannot reach", "stopped by contact")), report


def test_over_sockets_with_a_client_in_another_thread(changed):
    heights = []

    def control(address: str) -> None:
        with BlockingCrclClient(address) as client:
            client.execute(m.InitCanon(0))
            begin = pose_of(client.status())
            client.execute(m.MoveTo(0, move_straight=True, end_position=shifted(begin, dz=-0.03)))
            heights.extend([begin.point.z, pose_of(client.status()).point.z])

    with cw.Lab(changed(actual={}), seed=1, pace=5.0) as lab:

        async def main():
            interface = await CrclInterface(lab).start(ports={"fanuc": 0, "motoman": 0})
            address = "{}:{}".format(*interface.servers["fanuc"].address)
            ended, loop = asyncio.Event(), asyncio.get_running_loop()

            def work():
                try:
                    control(address)
                finally:
                    loop.call_soon_threadsafe(ended.set)

            thread = threading.Thread(target=work)
            thread.start()
            await asyncio.wait_for(ended.wait(), 300)
            thread.join()
            await interface.close()

        lab.perform(main())
    assert heights[0] - heights[1] == pytest.approx(0.03, abs=1e-4)


def test_the_same_commands_give_the_same_bytes(changed, tmp_path):
    logs = []
    for name in ("a", "b"):
        with cw.Lab(changed(), seed=4) as lab:
            lab.record(tmp_path / name)

            async def work(client):
                begin = pose_of(await client.status())
                await done(client, m.MoveTo(0, move_straight=True, end_position=shifted(begin, dz=-0.03)))
                await done(client, m.SetEndEffector(0, setting=0.0))

            talk(lab, work)
        logs.append((tmp_path / name).read_bytes())
    assert logs[0] == logs[1]


def test_unknown_robots_are_named(lab):
    with pytest.raises(UnknownName, match="fanuc"):
        lab.perform(CrclInterface(lab).connect("fanucc"))
    with pytest.raises(UnknownName, match="motoman"):
        lab.perform(CrclInterface(lab).start(ports={"ur5": 0}))


def _xyz(pose: m.Pose) -> tuple[float, float, float]:
    return pose.point.x, pose.point.y, pose.point.z


def _vector(vector: m.Vector) -> np.ndarray:
    return np.array([vector.i, vector.j, vector.k])
