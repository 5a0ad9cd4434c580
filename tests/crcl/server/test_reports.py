"""What each connection is told, and in which units."""

from __future__ import annotations

import math

import pytest

from cellwright.crcl import CommandStateEnum, GripperKind, GripperReading, decode, encode
from cellwright.crcl import messages as m
from cellwright.crcl.settings import Settings
from cellwright.crcl.status_parts import gripper_part
from cellwright.crcl.units import UNIT_PROFILES, CrclUnits, from_si

MM, INCH = m.LengthUnitEnum.MILLIMETER, m.LengthUnitEnum.INCH


def parts(status):
    names = ("joint_statuses", "pose_status", "gripper_status", "settings_status", "sensor_statuses", "guards_statuses")
    return [name for name in names if getattr(status, name) is not None]


def test_units_belong_to_a_connection_and_return_with_init_canon(rig):
    async def work(rig):
        first, second = await rig.connect(), await rig.connect()
        await first.begin()
        await first.do(m.SetLengthUnits(3, MM))
        await second.do(m.SetLengthUnits(4, INCH))
        assert (await first.ask()).pose_status.pose.point.x == pytest.approx(400.0)
        assert (await second.ask()).pose_status.pose.point.x == pytest.approx(0.4 / 0.0254)
        status = await first.do(m.InitCanon(5))
        assert status.pose_status.pose.point.x == pytest.approx(0.4)
        assert (await second.ask()).pose_status.pose.point.x == pytest.approx(0.4 / 0.0254)

    rig.run(work)


def test_units_set_beside_a_motion_are_confirmed_even_if_it_ends_first(memory_rig, move):
    async def work(rig):
        first, second = await rig.connect(), await rig.connect()
        await first.begin()
        await first.send(move(3, 0.5))
        await rig.on_the_way()
        await second.send(m.SetLengthUnits(70, MM))
        await first.until_ended(3)
        told = await second.ask()
        assert (told.command_status.command_id, told.command_status.command_state) == (70, CommandStateEnum.CRCL_DONE)
        assert told.pose_status.pose.point.x == pytest.approx(500.0)
        assert (await second.ask()).command_status.command_id == 3

    memory_rig.run(work)


def test_the_profile_of_the_laboratory_is_millimetre_and_degree_from_the_start(rig):
    async def work(rig):
        peer = await rig.connect()
        before = await peer.ask()
        assert before.settings_status.length_unit_name is MM
        assert before.pose_status.pose.point.x == pytest.approx(400.0)
        await peer.do(m.InitCanon(1))
        status = await peer.do(m.ActuateJoints(2, (m.ActuateJoint(4, 45.0, m.JointSpeedAccel(joint_speed=100.0)),)))
        assert status.joint_statuses.joint_status[3].joint_position == pytest.approx(45.0)
        assert rig.arm.read().positions[3] == pytest.approx(math.pi / 4)

    rig.run(work, profile="aprs-lab")


def test_settings_are_converted_when_units_change(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.do(m.SetTransSpeed(3, m.TransSpeedAbsolute(0.3)))
        await peer.do(m.SetRotSpeed(4, m.RotSpeedRelative(0.5)))
        await peer.do(m.SetEndPoseTolerance(5, m.PoseTolerance(z_point_tolerance=0.01, z_axis_tolerance=0.1)))
        await peer.do(m.SetLengthUnits(6, MM))
        settings = (await peer.do(m.SetAngleUnits(7, m.AngleUnitEnum.DEGREE))).settings_status
        assert settings.trans_speed_absolute.setting == pytest.approx(300.0)
        assert settings.trans_speed_relative is None
        assert settings.rot_speed_relative.fraction == 0.5
        assert settings.rot_speed_absolute is None
        assert settings.end_pose_tolerance.z_point_tolerance == pytest.approx(10.0)
        assert settings.end_pose_tolerance.z_axis_tolerance == pytest.approx(math.degrees(0.1))
        assert settings.max_cartesian_limit.x == pytest.approx(1000.0)
        assert settings.joint_limits[0].joint_max_position == pytest.approx(1000.0)
        assert settings.joint_limits[3].joint_max_position == pytest.approx(170.0)
        defaults = (await peer.do(m.InitCanon(8))).settings_status
        assert defaults.trans_speed_absolute.setting == 0.25
        assert defaults.end_pose_tolerance is None

    rig.run(work)


def test_joint_reports_have_what_was_asked_for_and_nothing_else(rig):
    async def work(rig):
        peer, other = await rig.connect(), await rig.connect()
        await peer.begin()
        wanted = (m.ConfigureJointReport(2, True, False, True), m.ConfigureJointReport(5, False, True, False))
        status = await peer.do(m.ConfigureJointReports(3, True, configure_joint_report=wanted))
        second, fifth = status.joint_statuses.joint_status
        assert (second.joint_number, fifth.joint_number) == (2, 5)
        assert (second.joint_position, second.joint_torque_or_force, second.joint_velocity) == (0.0, None, 0.0)
        assert (fifth.joint_position, fifth.joint_torque_or_force, fifth.joint_velocity) == (None, 0.0, None)
        added = (m.ConfigureJointReport(1, True, False, False),)
        status = await peer.do(m.ConfigureJointReports(4, False, configure_joint_report=added))
        assert [joint.joint_number for joint in status.joint_statuses.joint_status] == [1, 2, 5]
        assert (await peer.do(m.ConfigureJointReports(5, True))).joint_statuses is None
        assert len((await other.ask()).joint_statuses.joint_status) == 6

    rig.run(work)


def test_a_status_has_the_parts_that_were_asked_for(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.do(m.EnableSensor(3, "ATINetFT"))
        everything = ["joint_statuses", "pose_status", "gripper_status", "settings_status", "sensor_statuses"]
        assert parts(await peer.ask()) == everything
        for index, name in enumerate(everything):
            flags = [number == index for number in range(6)]
            assert parts(await peer.do(m.ConfigureStatusReport(4 + index, *flags))) == [name]
        assert parts(await peer.do(m.ConfigureStatusReport(20, *[False] * 6))) == []

    rig.run(work)


def test_sensors_are_reported_by_kind_once_they_are_enabled(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        rig.arm.set_sensor("pressure", 0.25)
        rig.arm.set_sensor("parts", 7)
        rig.arm.set_sensor("part_present", True)
        rig.arm.set_sensor("ATINetFT", (1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
        assert (await peer.ask()).sensor_statuses is None
        await peer.do(m.SetForceUnits(3, m.ForceUnitEnum.OUNCE))
        for number, sensor in enumerate(("pressure", "parts", "part_present", "ATINetFT")):
            options = (m.ParameterSetting("host", "ft.local"),) if sensor == "ATINetFT" else ()
            await peer.do(m.EnableSensor(10 + number, sensor, sensor_option=options))
        await rig.clock.sleep(0.5)
        first, _ = await peer.ask(), await rig.clock.sleep(0.1)
        sensors = (await peer.ask()).sensor_statuses
        assert sensors.scalar_sensor_status[0].scalar_value == 0.25
        assert sensors.count_sensor_status[0].count_value == 7
        assert sensors.on_off_sensor_status[0].on is True
        force = sensors.force_torque_sensor_status[0]
        assert (force.fx, force.fz, force.tz) == (1.0, 3.0, 0.3)  # newton, whatever the session speaks
        assert force.sensor_parameter_setting == (m.ParameterSetting("host", "ft.local"),)
        earlier = first.sensor_statuses.force_torque_sensor_status[0]
        assert force.read_count > earlier.read_count
        assert force.last_read_time - earlier.last_read_time == 100
        assert force.last_read_time // 1000 == 1_700_000_000  # the epoch of the clock, and half a second
        assert (await peer.do(m.DisableSensor(20, "parts"))).sensor_statuses.count_sensor_status == ()

    memory_rig.run(work, epoch_s=1_700_000_000.0)


@pytest.mark.parametrize(
    ("reading", "wanted"),
    [
        (
            GripperReading("v", GripperKind.VACUUM, True, is_powered=True),
            m.VacuumGripperStatus("v", holding_object=True, is_powered=True),
        ),
        (
            GripperReading(
                "h", GripperKind.THREE_FINGER, finger_positions=(0.0, 0.5, 1.0), finger_forces_n=(1.0, 2.0, 3.0)
            ),
            m.ThreeFingerGripperStatus(
                "h", holding_object=False, finger1_position=0.0, finger2_position=0.5, finger3_position=1.0,
                finger1_force=1.0, finger2_force=2.0, finger3_force=3.0,
            ),
        ),
        (None, None),
    ],
)  # fmt: skip
def test_every_kind_of_gripper_has_its_status(reading, wanted):
    part = gripper_part(reading, Settings())
    assert part == wanted
    if part is not None:
        status = m.CRCLStatus(m.CommandStatus(1, 1, CommandStateEnum.CRCL_DONE), gripper_status=part)
        assert decode(encode(status)) == status


def test_finger_forces_are_in_the_units_of_the_session():
    status = m.ThreeFingerGripperStatus("h", finger1_position=0.5, finger1_force=4.448221615261)
    pounds = from_si(status, CrclUnits(force=m.ForceUnitEnum.POUND), ())
    assert (pounds.finger1_position, pounds.finger1_force) == (0.5, pytest.approx(1.0))


def test_a_repeated_question_gets_a_fresh_answer(memory_rig, move):
    """Texts are kept only as long as nothing changes."""

    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.send(move(3, 0.9))
        seen = []
        for _ in range(5):
            await rig.clock.sleep(0.1)
            seen.append((await peer.ask()).pose_status.pose.point.x)
        assert seen == sorted(set(seen))
        await peer.until_ended(3)
        rig.arm.set_sensor("ATINetFT", (9.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        assert (await peer.ask()).pose_status.wrench.force.i == 9.0

    memory_rig.run(work)


def test_every_profile_reports_its_units(memory_rig):
    for name, units in UNIT_PROFILES.items():

        async def work(rig):
            return (await (await rig.connect()).ask()).settings_status

        settings = memory_rig.run(work, profile=name)
        told = settings.length_unit_name, settings.angle_unit_name, settings.force_unit_name, settings.torque_unit_name
        assert told == (units.length, units.angle, units.force, units.torque)
