"""What commands may ask for, what they do, and how they are refused."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from cellwright.core.pose import Pose
from cellwright.crcl import CommandStateEnum, EncodeError, Waypoint, encode
from cellwright.crcl import messages as m
from cellwright.crcl.table import PLANS

DONE, ERROR = CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR
X, Z = m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0)


def pose(x=0.5, y=0.0, z=0.3, x_axis=X, z_axis=Z):
    return m.Pose(m.Point(x, y, z), x_axis, z_axis)


def joints(*targets):
    return m.ActuateJoints(9, tuple(m.ActuateJoint(n, p, m.JointSpeedAccel()) for n, p in targets))


def screw(**values):
    return m.MoveScrew(9, **{"axial_distance_screw": 0.01, "turn": 1.0, **values})


REFUSED = {
    "long axis": (m.MoveTo(9, True, pose(x_axis=m.Vector(2.0, 0.0, 0.0))), "XAxis has length 2"),
    "short axis": (m.MoveTo(9, True, pose(z_axis=m.Vector(0.0, 0.0, -0.99))), "ZAxis has length 0.99"),
    "skew axes": (m.MoveTo(9, True, pose(x_axis=m.Vector(0.8, 0.0, 0.6))), "dot product -0.6"),
    "no number": (m.MoveTo(9, True, pose(x=math.nan)), "EndPosition: X is nan"),
    "infinite": (m.MoveTo(9, True, pose(z=math.inf)), "EndPosition: Z is inf"),
    "infinite axis": (m.MoveTo(9, True, pose(x_axis=m.Vector(math.inf, 0.0, 0.0))), "XAxis has length inf"),
    "beyond y": (m.MoveTo(9, False, pose(y=-0.7)), "Y at -0.7 less than limit -0.6 meter"),
    "miscounted": (m.MoveThroughTo(9, True, (pose(), pose()), 3), "NumPositions is 3, but there are 2 waypoints"),
    "bad waypoint": (m.MoveThroughTo(9, True, (pose(), pose(x=9.0)), 2), "X at 9.0 greater than limit 1.0 meter"),
    "no such joint": (joints((7, 0.0)), "there is no joint 7 (allowed: 1 to 6)"),
    "joint 0": (joints((0, 0.0)), "there is no joint 0"),
    "joint twice": (joints((2, 0.0), (2, 0.1)), "joint 2 is there twice"),
    "joint limit": (joints((5, -1.5)), "Joint 5 at -1.5 less than limit -1.396263 radian"),
    "joint nan": (joints((5, math.nan)), "JointPosition of joint 5 is nan"),
    "joint speed": (
        m.ActuateJoints(9, (m.ActuateJoint(1, 0.1, m.JointSpeedAccel(joint_speed=0.0)),)),
        "JointSpeed of joint 1 is 0.0 (allowed: above 0)",
    ),
    "joint force": (
        m.ActuateJoints(9, (m.ActuateJoint(4, 0.1, m.JointForceTorque(setting=21.0)),)),
        "Joint 4 torque at 21.0 greater than limit 20.0 newtonMeter",
    ),
    "screw nan": (screw(turn=math.nan), "Turn is nan"),
    "screw beyond": (screw(axial_distance_screw=5.0), "Z at -4.7 less than limit -0.2 meter"),
    "screw for ever": (screw(turn=1e300), "Turn is 1e+300"),
    "screw for hours": (screw(turn=7000.0), "Turn at 7000.0 greater than limit 6283.185307 radian"),
    "screw far away": (screw(axis_point=m.Point(1e308, 1e308, 0.0)), "AxisPoint is 1e+308 (allowed: -1e+09 to 1e+09)"),
    "screw round and round": (screw(turn=40.0, axis_point=m.Point(0.4, -0.4, 0.0)), "Y at -0.8 less than limit"),
    "more than the wrist has": (screw(turn=6.0), "Joint 4 at"),
    "helix beyond": (
        screw(start_position=pose(x=0.9), axis_point=m.Point(0.0, 0.0, 0.0), turn=1.5),
        "Y at -0.897745 less than limit",
    ),
    "speed 0": (m.SetTransSpeed(9, m.TransSpeedAbsolute(0.0)), "TransSpeed is 0.0 (allowed: above 0)"),
    "no share": (m.SetRotAccel(9, m.RotAccelRelative(0.0)), "RotAccel is 0.0"),
    "speed nan": (m.SetRotSpeed(9, m.RotSpeedAbsolute(math.nan)), "RotSpeed is nan"),
    "tolerance": (m.SetEndPoseTolerance(9, m.PoseTolerance(x_axis_tolerance=-1.0)), "XAxisTolerance is -1.0"),
    "joint tolerance": (
        m.SetDefaultJointPositonsTolerances(
            9, m.JointPositionsTolerances((m.JointPositionToleranceSetting(1, math.nan),))
        ),
        "JointPositionTolerance of joint 1 is nan",
    ),
    "dwell": (m.Dwell(9, math.inf), "DwellTime is inf s, allowed 0 to 86400 s"),
    "sensor": (m.EnableSensor(9, "laser"), "unknown sensor 'laser' (available: ATINetFT, part_present)"),
    "gripper": (m.EnableGripper(9, "claw"), "unknown gripper 'claw' (available: practice_gripper)"),
    "parameter": (m.EnableRobotParameterStatus(9, "colour"), "unknown robot parameter 'colour'"),
    "bad value": (m.SetRobotParameters(9, (m.ParameterSetting("override_percent", "0"),)), "override_percent is '0'"),
    "joint order": (
        m.ConfigureJointReports(
            9, False, configure_joint_report=tuple(m.ConfigureJointReport(n, True, True, True) for n in (2, 1))
        ),
        "joint 1 stands after joint 2",
    ),
    "tool changer": (m.OpenToolChanger(9), "practice has no tool changer"),
    "other language": (m.RunProgram(9, "MOVJ P1"), "RunProgram cannot be executed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_with_the_reason_and_nothing_moves(memory_rig, case):
    command, reason = REFUSED[case]

    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        before = rig.tool()
        status = await peer.do(command)
        assert status.command_status.command_state is ERROR
        assert reason in status.command_status.state_description
        assert rig.tool() == before
        assert await peer.ask() is not None

    memory_rig.run(work)


def test_limits_are_told_in_the_units_of_whoever_asks(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        told = await peer.do(m.ActuateJoints(3, (m.ActuateJoint(4, -171.0, m.JointSpeedAccel()),)))
        assert told.command_status.state_description == "Joint 4 at -171.0 less than limit -170.0 degree"
        await peer.begin()
        told = await peer.do(m.MoveTo(4, True, pose(1000.5, 0.0, 300.0)))
        assert told.command_status.state_description == "X at 1000.5 greater than limit 1000.0 millimeter"
        await peer.begin()
        to_the_limit = await peer.do(m.ActuateJoints(5, (m.ActuateJoint(4, 170.0, m.JointSpeedAccel()),)))
        assert to_the_limit.command_status.command_state is DONE

    rig.run(work, profile="aprs-lab")


def test_every_command_of_the_schema_is_answered(memory_rig):
    """Done, or an error that says what the robot lacks; never a defect."""
    point, tolerance = m.Point(0.5, 0.1, 0.3), m.PoseTolerance(x_point_tolerance=0.01)
    parameter = (m.ParameterSetting("override_percent", "50"),)
    joint = m.JointPositionsTolerances((m.JointPositionToleranceSetting(1, 0.01),))
    reports = (m.ConfigureJointReport(1, True, True, True),)
    commands = [
        m.InitCanon(1), m.GetStatus(1), m.MoveTo(2, True, pose()), m.MoveThroughTo(3, True, (pose(), pose(0.4)), 2),
        screw(axis_point=point), joints((1, 0.3)), m.Dwell(9, 0.1), m.Message(9, "hello"),
        m.StopMotion(9, m.StopConditionEnum.FAST), m.LoopBlockStart(9, "a"), m.LoopBlockEnd(9, "a", 3),
        m.SetEndEffector(9, 0.5), m.EnableGripper(9, "practice_gripper"), m.DisableGripper(9, "practice_gripper"),
        m.EnableSensor(9, "ATINetFT"), m.DisableSensor(9, "ATINetFT"), m.SetRobotParameters(9, parameter),
        m.EnableRobotParameterStatus(9, "override_percent"), m.DisableRobotParameterStatus(9, "override_percent"),
        m.SetLengthUnits(9, m.LengthUnitEnum.METER), m.SetAngleUnits(9, m.AngleUnitEnum.RADIAN),
        m.SetForceUnits(9, m.ForceUnitEnum.NEWTON), m.SetTorqueUnits(9, m.TorqueUnitEnum.NEWTON_METER),
        m.SetTransSpeed(9, m.TransSpeedRelative(0.5)), m.SetTransAccel(9, m.TransAccelAbsolute(1.0)),
        m.SetRotSpeed(9, m.RotSpeedRelative(0.5)), m.SetRotAccel(9, m.RotAccelAbsolute(1.0)),
        m.SetEndPoseTolerance(9, tolerance), m.SetIntermediatePoseTolerance(9, tolerance),
        m.SetDefaultJointPositonsTolerances(9, joint), m.SetMotionCoordination(9, True),
        m.ConfigureJointReports(9, True, configure_joint_report=reports),
        m.ConfigureStatusReport(9, True, True, True, True, True, True), m.EndCanon(9),
    ]  # fmt: skip
    lacking = [
        m.OpenToolChanger(9),
        m.CloseToolChanger(9),
        m.RunProgram(9, "x"),
        m.SetEndEffectorParameters(9, parameter),
    ]
    known = {plan.cls for plan in PLANS[m.CRCLCommand].substitutes.values()}
    assert {type(command) for command in commands + lacking} == known

    async def work(rig):
        peer = await rig.connect()
        for command in commands:
            status = await peer.ask() if isinstance(command, m.GetStatus) else await peer.do(command)
            assert status.command_status.command_state is DONE, (command, status.command_status)
        for command in lacking:
            await peer.begin()
            told = (await peer.do(command)).command_status
            assert told.command_state is ERROR
            assert told.state_description.startswith("practice has no ")
        assert rig.arm.messages == ["hello"]

    memory_rig.run(work)


def test_a_setting_beyond_the_fraction_cannot_even_be_written():
    with pytest.raises(EncodeError, match="0 to 1"):
        encode(m.CRCLCommandInstance(m.SetEndEffector(1, 1.7)))


async def watch(rig, peer, command):
    """Sends a command and returns the largest speed of the tool, and the places that it passed."""
    await peer.send(command)
    most, places = 0.0, []
    while rig.server.executor.state is CommandStateEnum.CRCL_WORKING:
        most = max(most, math.hypot(*rig.arm.read().twist[:3]))
        places.append(rig.tool())
        await rig.clock.sleep(0.01)
    return most, places


@pytest.mark.parametrize(
    ("speed", "wanted"),
    [
        (m.TransSpeedAbsolute(0.1), 0.1),
        (m.TransSpeedRelative(0.3), 0.3),
        (m.TransSpeedAbsolute(5.0), 1.0),
        (None, 0.25),
    ],
)
def test_the_set_speed_is_reached_and_never_exceeded(memory_rig, move, speed, wanted):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        if speed is not None:
            await peer.do(m.SetTransSpeed(3, speed))
        await peer.do(m.SetTransAccel(4, m.TransAccelRelative(1.0)))
        most, _ = await watch(rig, peer, move(5, 0.4 + 0.6 * wanted))
        return most

    assert memory_rig.run(work) == pytest.approx(wanted, rel=1e-6)


def test_a_waypoint_has_settings_of_its_own_and_no_longer(memory_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        slow = m.PoseAndSet(
            m.Point(0.6, 0.0, 0.3),
            X,
            Z,
            True,
            trans_speed=m.TransSpeedAbsolute(0.05),
            rot_speed=m.RotSpeedRelative(0.1),
        )
        first, _ = await watch(rig, peer, m.MoveTo(3, True, slow))
        second, _ = await watch(rig, peer, move(4, 0.2))
        return first, second

    assert memory_rig.run(work) == pytest.approx((0.05, 0.25), rel=1e-6)


def test_the_override_slows_everything_down_and_is_reported(memory_rig, move):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.do(m.SetRobotParameters(3, (m.ParameterSetting("override_percent", "40"),)))
        status = await peer.do(m.EnableRobotParameterStatus(4, "override_percent"))
        assert status.command_status.override_percent == 40
        assert status.settings_status.robot_parameter_setting == (m.ParameterSetting("override_percent", "40"),)
        most, _ = await watch(rig, peer, move(5, 0.5))
        return most

    assert memory_rig.run(work) == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize("straight", [True, False])
def test_a_way_leads_through_its_waypoints_without_a_halt(memory_rig, straight):
    corners = [(0.6, 0.0, 0.3), (0.6, 0.3, 0.3), (0.4, 0.3, 0.1)]

    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.do(
            m.SetIntermediatePoseTolerance(3, m.PoseTolerance(x_point_tolerance=0.005, y_point_tolerance=0.005))
        )
        command = m.MoveThroughTo(4, straight, tuple(pose(*corner) for corner in corners), 3)
        _, places = await watch(rig, peer, command)
        assert rig.tool() == pytest.approx(list(corners[-1]))
        return places

    places = memory_rig.run(work)
    for corner in corners:
        assert min(math.dist(place, corner) for place in places) < 0.005
    steps = [math.dist(a, b) for a, b in pairwise(places) if a != b]
    assert min(steps[26:-26]) > 0.5 * max(steps)  # between its ramps it never slows down


def test_joints_take_their_speed_and_the_others_stay(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        details = m.JointSpeedAccel(joint_speed=0.2, joint_accel=0.4)
        await peer.send(m.ActuateJoints(3, (m.ActuateJoint(4, 1.0, details), m.ActuateJoint(2, 0.1, details))))
        most = [0.0] * 6
        while rig.server.executor.state is CommandStateEnum.CRCL_WORKING:
            most = [max(a, abs(b)) for a, b in zip(most, rig.arm.read().velocities, strict=True)]
            await rig.clock.sleep(0.01)
        assert most[3] == pytest.approx(0.2, rel=1e-6)
        assert most[1] <= 0.2
        assert [most[i] for i in (0, 2, 4, 5)] == [0.0] * 4
        assert rig.arm.read().positions == pytest.approx((0.4, 0.1, 0.3, 1.0, 0.0, 0.0))

    memory_rig.run(work)


def test_a_joint_may_be_driven_by_force(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        await peer.do(m.SetForceUnits(3, m.ForceUnitEnum.POUND))
        report = (m.ConfigureJointReport(1, False, True, False),)
        await peer.do(m.ConfigureJointReports(4, True, configure_joint_report=report))
        details = m.JointForceTorque(setting=10.0, change_rate=1.0)
        status = await peer.do(m.ActuateJoints(5, (m.ActuateJoint(1, 0.5, details),)))
        assert rig.arm.read().efforts[0] == pytest.approx(44.48221615261)
        assert status.joint_statuses.joint_status[0].joint_torque_or_force == pytest.approx(10.0)
        assert rig.arm.read().positions[0] == pytest.approx(0.5)

    memory_rig.run(work)


def test_a_screw_goes_to_its_start_advances_and_turns(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        command = screw(
            start_position=pose(0.5, 0.1, 0.3), axial_distance_free=0.05, axial_distance_screw=0.02, turn=2.0
        )
        _, places = await watch(rig, peer, command)
        assert min(math.dist(place, (0.5, 0.1, 0.3)) for place in places) < 0.005
        reading = rig.arm.read()
        # The tool points down, so it goes down; counterclockwise for somebody below is clockwise from above.
        assert reading.positions == pytest.approx((0.5, 0.1, 0.23, -2.0, 0.0, 0.0), abs=1e-9)

    memory_rig.run(work)


def test_the_small_errors_that_axes_may_have_are_taken_out(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        nearly = pose(x_axis=m.Vector(1.0005, 0.0, 0.0008), z_axis=m.Vector(0.0, 0.0, -0.9995))
        status = await peer.do(m.MoveTo(3, True, nearly))
        assert rig.arm.read().positions == pytest.approx((0.5, 0.0, 0.3, 0.0, 0.0, 0.0), abs=1e-12)
        told = status.pose_status.pose
        assert (told.x_axis.i, told.z_axis.k) == (pytest.approx(1.0, abs=1e-12), pytest.approx(-1.0, abs=1e-12))

    memory_rig.run(work)


def test_a_screw_about_another_axis_is_a_helix(memory_rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        command = screw(axis_point=m.Point(0.3, 0.0, 0.0), axial_distance_screw=0.1, turn=math.pi / 2)
        _, places = await watch(rig, peer, command)
        for x, y, z in places:
            assert math.hypot(x - 0.3, y) == pytest.approx(0.1)  # the distance from the axis stays
            turned = math.atan2(-y, x - 0.3)
            assert (0.3 - z) / 0.1 == pytest.approx(turned / (math.pi / 2), abs=1e-9)  # both at a constant rate
        assert rig.tool() == pytest.approx([0.3, -0.1, 0.2])

    memory_rig.run(work)


def test_a_gripper_closes_on_what_is_there_and_opens_with_1(rig):
    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        closed = (await peer.do(m.SetEndEffector(3, 0.0))).gripper_status
        assert (closed.holding_object, closed.separation) == (True, pytest.approx(8.0))
        opened = (await peer.do(m.SetEndEffector(4, 1.0))).gripper_status
        assert (opened.holding_object, opened.separation) == (False, pytest.approx(60.0))
        assert (await peer.do(m.DisableGripper(5, "practice_gripper"))).gripper_status is None
        shown = await peer.do(m.EnableGripper(6, "practice_gripper", gripper_option=(m.ParameterSetting("a", "b"),)))
        assert shown.gripper_status.gripper_option == (m.ParameterSetting("a", "b"),)

    rig.run(work, arm={"object_width_m": 0.008}, profile="aprs-lab")


class Sloppy:
    """Makes an arm stop short of where it should."""

    def __init__(self, arm, by_m):
        self._move, self._by_m = arm.move_through, by_m
        arm.move_through = self

    async def __call__(self, waypoints, *, straight):
        last = waypoints[-1]
        short = Pose(last.pose_tool_in_base.position - [self._by_m, 0.0, 0.0], last.pose_tool_in_base.quaternion)
        await self._move([*waypoints[:-1], Waypoint(short, last.pace, last.tolerance)], straight=straight)


@pytest.mark.parametrize(("tolerance_mm", "state"), [(3.0, DONE), (1.0, ERROR), (None, DONE)])
def test_an_end_outside_its_tolerance_is_an_error(memory_rig, tolerance_mm, state):
    async def work(rig):
        Sloppy(rig.arm, 0.002)
        peer = await rig.connect()
        await peer.begin()
        if tolerance_mm:
            await peer.do(m.SetEndPoseTolerance(3, m.PoseTolerance(x_point_tolerance=tolerance_mm)))
        return (await peer.do(m.MoveTo(4, True, pose(500.0, 0.0, 300.0)))).command_status

    told = memory_rig.run(work, profile="aprs-lab")
    assert told.command_state is state
    if state is ERROR:
        assert told.state_description == "error of X at 2.0 greater than limit 1.0 millimeter"


def test_poses_may_be_given_in_world_coordinates(memory_rig):
    base = Pose.from_xyz_rpy((1.0, 2.0, 0.5), (0.0, 0.0, math.pi / 2))

    async def work(rig):
        peer = await rig.connect()
        await peer.begin()
        world = m.Pose(m.Point(1.0, 2.5, 0.8), m.Vector(0.0, 1.0, 0.0), Z)
        status = await peer.do(m.MoveTo(3, True, world))
        assert rig.arm.read().positions == pytest.approx((0.5, 0.0, 0.3, 0.0, 0.0, 0.0), abs=1e-9)
        point = status.pose_status.pose.point
        assert (point.x, point.y, point.z) == pytest.approx((1.0, 2.5, 0.8))
        assert status.pose_status.pose.x_axis.j == pytest.approx(1.0)

    memory_rig.run(work, arm={"pose_base_in_world": base}, frame="world")
