"""A client with the habits of NIST's: three connections, polling, its time-outs, its checks after every command."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from cellwright.crcl import CommandStateEnum
from cellwright.crcl import messages as m

POLL_S = 0.05
METERS = {m.LengthUnitEnum.METER: 1.0, m.LengthUnitEnum.MILLIMETER: 0.001, m.LengthUnitEnum.INCH: 0.0254}
PER_COMMAND_S = {m.MoveTo: 90.0, m.MoveThroughTo: 90.0, m.MoveScrew: 90.0, m.InitCanon: 30.0, m.EnableSensor: 30.0}
JOINT_TOLERANCE = 15.0
LENGTH_TOLERANCE, ANGLE_TOLERANCE_DEG = 3.0, 5.0


class NistClient:
    """Runs commands one after the other and complains like the original."""

    def __init__(self, rig):
        self._rig = rig
        self._number = 100
        self._length = m.LengthUnitEnum.METER

    async def connect(self):
        self.commands = await self._rig.connect()
        self.emergency = await self._rig.connect()
        self.polling = await self._rig.connect()
        first = await self.commands.ask()
        assert first.pose_status is not None, "no program can be run without a pose"

    async def status(self):
        """Asks with the number of the present command, as the original does."""
        await self.commands.send(m.GetStatus(self._number))
        return await self.commands.status()

    async def run(self, command):
        self._number += 1
        command = replace(command, command_id=self._number)
        before = await self.status()
        timeout_s = PER_COMMAND_S.get(type(command), 3.0) + 5.0 + 2 * POLL_S
        if isinstance(command, m.ActuateJoints):
            timeout_s += 15.0
        began_s = self._rig.clock.time_s
        await self.commands.send(command)
        first = await self.status()
        assert first.command_status.command_id == self._number, "the first status must have the new number"
        while True:
            status = await self.status()
            assert (await self.polling.ask()).pose_status is not None
            head = status.command_status
            assert head.command_state is not CommandStateEnum.CRCL_ERROR, head.state_description
            if head.command_id == self._number and head.command_state is CommandStateEnum.CRCL_DONE:
                break
            assert self._rig.clock.time_s - began_s < timeout_s, f"{type(command).__name__} timed out"
            await self._rig.clock.sleep(POLL_S)
        self._check(command, before, status)
        return status

    def _check(self, command, before, status):
        match command:
            case m.MoveTo():
                pose, wanted = status.pose_status.pose, command.end_position
                assert math.dist(xyz(pose), xyz(wanted)) < LENGTH_TOLERANCE * 1e-3 / METERS[self._length]
                for axis, goal in ((pose.x_axis, wanted.x_axis), (pose.z_axis, wanted.z_axis)):
                    dot = axis.i * goal.i + axis.j * goal.j + axis.k * goal.k
                    assert math.degrees(math.acos(min(1.0, dot))) < ANGLE_TOLERANCE_DEG
            case m.ActuateJoints():
                joints = {joint.joint_number: joint.joint_position for joint in status.joint_statuses.joint_status}
                for actuate in command.actuate_joint:
                    assert abs(joints[actuate.joint_number] - actuate.joint_position) < JOINT_TOLERANCE
            case m.SetLengthUnits():
                scale = METERS[self._length] / METERS[command.unit_name]
                self._length = command.unit_name
                was, now = xyz(before.pose_status.pose), xyz(status.pose_status.pose)
                assert now == pytest.approx([number * scale for number in was], abs=1e-4)
                assert status.settings_status.length_unit_name is command.unit_name
            case m.ConfigureJointReports():
                wanted = {report.joint_number: report for report in command.configure_joint_report}
                told = {joint.joint_number: joint for joint in status.joint_statuses.joint_status}
                assert set(told) == set(wanted)
                for number, report in wanted.items():
                    assert (told[number].joint_position is not None) == report.report_position
                    assert (told[number].joint_velocity is not None) == report.report_velocity
                    assert (told[number].joint_torque_or_force is not None) == report.report_torque_or_force


def xyz(pose):
    return [pose.point.x, pose.point.y, pose.point.z]


def test_the_automatic_test_of_the_original(rig):
    """InitCanon, units, joint reports, each joint there and back, the length units in turn, +X, +Y, +Z, EndCanon."""

    profile = {"memory": "spec", "tcp": "aprs-lab"}[rig.transport]

    async def work(rig):
        client = NistClient(rig)
        await client.connect()
        await client.run(m.InitCanon(0))
        client._length = m.LengthUnitEnum.METER if profile == "spec" else m.LengthUnitEnum.MILLIMETER
        await client.run(m.SetAngleUnits(0, m.AngleUnitEnum.DEGREE))
        await client.run(m.SetLengthUnits(0, m.LengthUnitEnum.MILLIMETER))
        joints = (await client.status()).joint_statuses.joint_status
        reports = tuple(m.ConfigureJointReport(joint.joint_number, True, False, True) for joint in joints)
        await client.run(m.ConfigureJointReports(0, True, configure_joint_report=reports))
        for joint in joints:
            details = m.JointSpeedAccel(joint_speed=100.0, joint_accel=200.0)
            for target in (joint.joint_position + 3.0, joint.joint_position):
                await client.run(m.ActuateJoints(0, (m.ActuateJoint(joint.joint_number, target, details),)))
        for unit in (m.LengthUnitEnum.INCH, m.LengthUnitEnum.METER, m.LengthUnitEnum.MILLIMETER):
            await client.run(m.SetLengthUnits(0, unit))
        await client.run(m.SetTransSpeed(0, m.TransSpeedAbsolute(200.0)))
        for axis in ("x", "y", "z"):
            pose = (await client.status()).pose_status.pose
            moved = replace(pose, point=replace(pose.point, **{axis: getattr(pose.point, axis) + 30.0}))
            await client.run(m.MoveTo(0, True, moved))
        await client.run(m.EndCanon(0))

    rig.run(work, profile=profile)


def test_its_emergency_stop_comes_over_a_connection_of_its_own(rig, move):
    async def work(rig):
        client = NistClient(rig)
        await client.connect()
        await client.run(m.InitCanon(0))
        await client.commands.send(move(500, 0.9))
        await rig.on_the_way()
        await client.emergency.do(m.StopMotion(501, m.StopConditionEnum.FAST))
        status = await client.commands.ask()
        assert status.command_status.command_id == 501
        assert 0.42 < rig.tool()[0] < 0.9

    rig.run(work)


def test_reports_repeated_on_the_polled_connection_disturb_nothing(rig, move):
    """The original sends what it configures once more where it polls: the same number, whenever it gets there."""

    async def work(rig):
        client = NistClient(rig)
        await client.connect()
        await client.run(m.InitCanon(0))
        reports = (m.ConfigureJointReport(1, True, False, True),)
        configure = m.ConfigureJointReports(101, True, configure_joint_report=reports)
        await client.run(configure)
        await client.commands.send(move(300, 0.6))
        await rig.on_the_way()
        told = await client.polling.do(configure)
        assert [joint.joint_number for joint in told.joint_statuses.joint_status] == [1]
        status = await client.commands.until_ended(300)
        assert status.command_status.command_state is CommandStateEnum.CRCL_DONE
        assert rig.tool()[0] == pytest.approx(0.6)
        await client.polling.do(configure)  # after the motion, too
        assert (await client.commands.ask()).command_status.command_id == 300
        assert (await client.emergency.ask()).command_status.command_id == 300

    rig.run(work)


def test_a_client_that_comes_back_configures_its_polling_before_its_session(rig):
    async def work(rig):
        first = NistClient(rig)
        await first.connect()
        await first.run(m.InitCanon(0))
        await first.run(m.EndCanon(0))
        again = NistClient(rig)
        await again.connect()
        refused = await again.polling.do(m.ConfigureStatusReport(7, True, True, True, True, True, True))
        assert refused.command_status.command_state is CommandStateEnum.CRCL_ERROR
        assert "not initialised" in refused.command_status.state_description
        assert (await again.commands.ask()).command_status.command_state is CommandStateEnum.CRCL_DONE
        again._number = 200
        await again.run(m.InitCanon(0))
        assert (await again.polling.ask()).command_status.command_id == 201

    rig.run(work)


def test_a_dwell_takes_its_time_and_not_much_more(memory_rig):
    async def work(rig):
        client = NistClient(rig)
        await client.connect()
        await client.run(m.InitCanon(0))
        began_s = rig.clock.time_s
        await client.run(m.Dwell(0, 1.5))
        return rig.clock.time_s - began_s

    assert memory_rig.run(work) == pytest.approx(1.5, abs=POLL_S + 0.01)
