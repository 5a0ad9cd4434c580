from __future__ import annotations

import math
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import UnknownName
from cellwright.crcl import messages as m
from cellwright.crcl.units import UNIT_PROFILES, CrclUnits, Quantity, from_si, to_si, unit_profile

LINEAR = (True, False)
ALL_UNITS = st.builds(
    CrclUnits,
    st.sampled_from(m.LengthUnitEnum),
    st.sampled_from(m.AngleUnitEnum),
    st.sampled_from(m.ForceUnitEnum),
    st.sampled_from(m.TorqueUnitEnum),
)
NUMBERS = st.floats(-1e6, 1e6)
VECTORS = st.builds(m.Vector, NUMBERS, NUMBERS, NUMBERS)
POINTS = st.builds(m.Point, NUMBERS, NUMBERS, NUMBERS)
POSES = st.builds(m.Pose, POINTS, VECTORS, VECTORS)
DETAILS = st.one_of(
    st.builds(m.JointSpeedAccel, joint_speed=NUMBERS, joint_accel=st.none() | NUMBERS),
    st.builds(m.JointForceTorque, setting=NUMBERS, change_rate=st.none() | NUMBERS),
)
MESSAGES = st.one_of(
    st.builds(m.MoveTo, st.just(1), st.booleans(), POSES),
    st.builds(m.MoveScrew, st.just(1), axis_point=POINTS, axial_distance_screw=NUMBERS, turn=NUMBERS),
    st.builds(
        m.ActuateJoints,
        st.just(1),
        st.tuples(st.builds(m.ActuateJoint, st.integers(1, 3), NUMBERS, DETAILS)),
    ),
    st.builds(m.SetTransSpeed, st.just(1), st.builds(m.TransSpeedAbsolute, NUMBERS)),
    st.builds(
        m.PoseStatus, POSES, twist=st.builds(m.Twist, VECTORS, VECTORS), wrench=st.builds(m.Wrench, VECTORS, VECTORS)
    ),
    st.builds(m.ParallelGripperStatus, st.just("g"), separation=NUMBERS),
)


def numbers(message):
    if isinstance(message, tuple):
        return [n for one in message for n in numbers(one)]
    if is_dataclass(message):
        return [n for field in fields(message) for n in numbers(getattr(message, field.name))]
    return [message] if isinstance(message, float) else []


@given(MESSAGES, ALL_UNITS)
def test_what_goes_out_of_si_comes_back(message, units):
    back = to_si(from_si(message, units, LINEAR), units, LINEAR)
    assert type(back) is type(message)
    assert numbers(back) == pytest.approx(numbers(message), rel=1e-14)


@given(MESSAGES)
def test_the_standard_units_are_si(message):
    assert to_si(message, CrclUnits(), LINEAR) is message


def test_each_quantity_has_its_factor():
    units = CrclUnits(m.LengthUnitEnum.INCH, m.AngleUnitEnum.DEGREE, m.ForceUnitEnum.POUND, m.TorqueUnitEnum.FOOT_POUND)
    status = m.PoseStatus(
        m.Pose(m.Point(10.0, 0.0, -1.0), m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, 1.0)),
        twist=m.Twist(m.Vector(100.0, 0.0, 0.0), m.Vector(0.0, 180.0, 0.0)),
        wrench=m.Wrench(m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, 1.0)),
    )
    si = to_si(status, units, ())
    assert (si.pose.point.x, si.pose.point.z) == pytest.approx((0.254, -0.0254))
    assert si.pose.x_axis == status.pose.x_axis  # a direction has no unit
    assert si.twist.linear_velocity.i == pytest.approx(2.54)
    assert si.twist.angular_velocity.j == pytest.approx(math.pi)
    assert si.wrench.force.i == pytest.approx(4.448221615261)
    assert si.wrench.moment.k == pytest.approx(1.3558179483314)
    assert CrclUnits(force=m.ForceUnitEnum.OUNCE).factor(Quantity.FORCE) * 16 == pytest.approx(4.448221615261)


def test_a_joint_is_a_length_or_an_angle_by_its_kind():
    units = UNIT_PROFILES["aprs-lab"]
    fast = m.JointSpeedAccel(joint_speed=100.0)
    command = m.ActuateJoints(1, tuple(m.ActuateJoint(number, 90.0, fast) for number in (1, 2)))
    slide, turn = to_si(command, units, LINEAR).actuate_joint
    assert (slide.joint_position, slide.joint_details.joint_speed) == pytest.approx((0.09, 0.1))
    assert (turn.joint_position, turn.joint_details.joint_speed) == pytest.approx((math.pi / 2, math.radians(100)))


MM_DEGREE_OUNCE_FOOTPOUND = CrclUnits(
    m.LengthUnitEnum.MILLIMETER, m.AngleUnitEnum.DEGREE, m.ForceUnitEnum.OUNCE, m.TorqueUnitEnum.FOOT_POUND
)
MM, DEGREE, OUNCE, FOOT_POUND = 0.001, math.pi / 180, 0.278013850954, 1.3558179483314


@pytest.mark.parametrize(
    ("message", "factors"),
    [
        (m.MoveScrew(1, axial_distance_free=1.0, axial_distance_screw=1.0, turn=1.0), [MM, MM, DEGREE]),
        (m.PoseTolerance(x_point_tolerance=1.0, y_point_tolerance=1.0, z_point_tolerance=1.0), [MM] * 3),
        (m.PoseTolerance(x_axis_tolerance=1.0, z_axis_tolerance=1.0), [DEGREE] * 2),
        (m.TransSpeedAbsolute(1.0), [MM]),
        (m.TransAccelAbsolute(1.0), [MM]),
        (m.RotSpeedAbsolute(1.0), [DEGREE]),
        (m.RotAccelAbsolute(1.0), [DEGREE]),
        (m.TransSpeedRelative(1.0), [1.0]),
        (m.JointPositionToleranceSetting(1, 1.0), [MM]),
        (m.JointPositionToleranceSetting(2, 1.0), [DEGREE]),
        (m.ActuateJoint(1, 1.0, m.JointForceTorque(setting=1.0, change_rate=1.0)), [MM, OUNCE, OUNCE]),
        (m.ActuateJoint(2, 1.0, m.JointForceTorque(setting=1.0, change_rate=1.0)), [DEGREE, FOOT_POUND, FOOT_POUND]),
        (m.ActuateJoint(1, 1.0, m.JointSpeedAccel(joint_speed=1.0, joint_accel=1.0)), [MM] * 3),
        (m.JointStatus(1, joint_position=1.0, joint_torque_or_force=1.0, joint_velocity=1.0), [MM, OUNCE, MM]),
        (
            m.JointLimit(
                2,
                joint_min_position=1.0,
                joint_max_position=1.0,
                joint_max_torque_or_force=1.0,
                joint_max_velocity=1.0,
            ),
            [DEGREE, DEGREE, FOOT_POUND, DEGREE],
        ),
        (m.ParallelGripperStatus("g", separation=1.0), [MM]),
        (m.VacuumGripperStatus("g", is_powered=True), []),
        (m.ScalarSensorStatus("s", 1, 1, 1.0), [1.0]),
        (m.Dwell(1, 1.0), [1.0]),
        (m.SetEndEffector(1, 1.0), [1.0]),
    ],
)
def test_which_number_is_what(message, factors):
    assert numbers(to_si(message, MM_DEGREE_OUNCE_FOOTPOUND, LINEAR)) == pytest.approx(factors)


def test_force_torque_sensors_and_guards_keep_newton():
    reading = m.ForceTorqueSensorStatus("ft", 1, 2, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    units = CrclUnits(force=m.ForceUnitEnum.OUNCE, torque=m.TorqueUnitEnum.FOOT_POUND)
    assert from_si(reading, units, ()) is reading
    guard = m.Guard("ft", sub_field="Fz", limit_type=m.GuardLimitEnum.OVER_MAX, limit_value=3.0)
    assert to_si(m.Dwell(1, 2.0, guard=(guard,)), units, ()) == m.Dwell(1, 2.0, guard=(guard,))


def test_an_unknown_profile_lists_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown unit profile 'mm' .*aprs-lab, spec"):
        unit_profile("mm")
