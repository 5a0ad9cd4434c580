"""The parts of a status, each from what a robot reads and what commands have set; all in SI units."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.core.pose import Pose
from cellwright.crcl import messages as m
from cellwright.crcl.guarded import GuardRecord
from cellwright.crcl.poses import message_of_pose
from cellwright.crcl.reports import Reports
from cellwright.crcl.robot import CrclRobot, GripperKind, GripperReading, JointFacts, RobotReading, Vector3, Vector6
from cellwright.crcl.settings import Settings
from cellwright.crcl.units import CrclUnits

__all__ = ["gripper_part", "guards_part", "joints_part", "pose_part", "sensors_part", "settings_part"]


def joints_part(reading: RobotReading, reports: Reports) -> m.JointStatuses | None:
    """Returns the joints of which anything was asked for."""
    efforts = reading.efforts
    statuses = tuple(
        m.JointStatus(
            index + 1,
            joint_position=reading.positions[index] if wanted.position else None,
            joint_torque_or_force=efforts[index] if wanted.effort and efforts else None,
            joint_velocity=reading.velocities[index] if wanted.velocity else None,
        )
        for index, wanted in enumerate(reports.per_joint)
        if wanted.position or wanted.effort or wanted.velocity
    )
    return m.JointStatuses(statuses) if statuses else None


def pose_part(reading: RobotReading, pose_base: Pose) -> m.PoseStatus:
    """Returns the controlled point in the frame of the clients."""
    twist, wrench = reading.twist, reading.wrench
    return m.PoseStatus(
        message_of_pose(pose_base @ reading.pose_tool_in_base),
        twist=m.Twist(*_vectors(twist, pose_base)) if twist else None,
        wrench=m.Wrench(*_vectors(wrench, pose_base)) if wrench else None,
        configuration=reading.configuration,
    )


def _vectors(values: Vector6, pose_base: Pose) -> tuple[m.Vector, m.Vector]:
    turn = pose_base.rotation_matrix
    first, second = (turn @ values[:3]).tolist(), (turn @ values[3:]).tolist()
    return m.Vector(*first), m.Vector(*second)


def gripper_part(gripper: GripperReading | None, settings: Settings) -> m.GripperStatus | None:
    """Returns the mounted gripper, unless a client disabled it."""
    if gripper is None or gripper.name in settings.hidden_grippers:
        return None
    options = settings.gripper_options.get(gripper.name, ())
    if gripper.kind is GripperKind.VACUUM:
        return m.VacuumGripperStatus(
            gripper.name, gripper_option=options, holding_object=gripper.holding, is_powered=gripper.is_powered
        )
    if gripper.kind is GripperKind.PARALLEL:
        return m.ParallelGripperStatus(
            gripper.name, gripper_option=options, holding_object=gripper.holding, separation=gripper.separation_m
        )
    nothing = (None, None, None)
    positions: Vector3 | tuple[None, ...] = gripper.finger_positions or nothing
    forces: Vector3 | tuple[None, ...] = gripper.finger_forces_n or nothing
    return m.ThreeFingerGripperStatus(
        gripper.name,
        gripper_option=options,
        holding_object=gripper.holding,
        finger1_position=positions[0],
        finger2_position=positions[1],
        finger3_position=positions[2],
        finger1_force=forces[0],
        finger2_force=forces[1],
        finger3_force=forces[2],
    )


def settings_part(robot: CrclRobot, settings: Settings, units: CrclUnits, *, in_base: bool) -> m.SettingsStatus:
    """Returns the settings, or the robot's defaults; Cartesian limits only for clients that speak in its base frame."""
    usual = robot.default_pace
    speed = settings.trans_speed or m.TransSpeedAbsolute(usual.speed_mps)
    accel = settings.trans_accel or m.TransAccelAbsolute(usual.acceleration_mps2)
    turn = settings.rot_speed or m.RotSpeedAbsolute(usual.turn_radps)
    turn_accel = settings.rot_accel or m.RotAccelAbsolute(usual.turn_acceleration_radps2)
    box, tolerances = robot.cartesian_limits if in_base else None, settings.joint_tolerances
    reported = {name: robot.parameters[name] for name in settings.parameters if name in robot.parameters}
    return m.SettingsStatus(
        angle_unit_name=units.angle,
        end_effector_parameter_setting=_parameters(settings.end_effector_parameters),
        end_effector_setting=settings.end_effector,
        force_unit_name=units.force,
        joint_limits=tuple(_limit(number, joint) for number, joint in enumerate(robot.joints, 1)),
        intermediate_pose_tolerance=settings.intermediate_tolerance,
        length_unit_name=units.length,
        max_cartesian_limit=m.Point(*box[1]) if box else None,
        min_cartesian_limit=m.Point(*box[0]) if box else None,
        motion_coordinated=usual.coordinated if settings.coordinated is None else settings.coordinated,
        end_pose_tolerance=settings.end_tolerance,
        robot_parameter_setting=_parameters(reported),
        rot_accel_absolute=turn_accel if isinstance(turn_accel, m.RotAccelAbsolute) else None,
        rot_accel_relative=turn_accel if isinstance(turn_accel, m.RotAccelRelative) else None,
        rot_speed_absolute=turn if isinstance(turn, m.RotSpeedAbsolute) else None,
        rot_speed_relative=turn if isinstance(turn, m.RotSpeedRelative) else None,
        torque_unit_name=units.torque,
        trans_accel_absolute=accel if isinstance(accel, m.TransAccelAbsolute) else None,
        trans_accel_relative=accel if isinstance(accel, m.TransAccelRelative) else None,
        trans_speed_absolute=speed if isinstance(speed, m.TransSpeedAbsolute) else None,
        trans_speed_relative=speed if isinstance(speed, m.TransSpeedRelative) else None,
        joint_tolerances=m.JointPositionsTolerances(
            tuple(m.JointPositionToleranceSetting(number, tolerances[number]) for number in sorted(tolerances))
        )
        if tolerances
        else None,
    )


def _limit(number: int, joint: JointFacts) -> m.JointLimit:
    return m.JointLimit(
        number,
        joint_min_position=joint.min_position,
        joint_max_position=joint.max_position,
        joint_max_torque_or_force=joint.max_effort,
        joint_max_velocity=joint.max_velocity,
    )


def _parameters(values: Mapping[str, str]) -> tuple[m.ParameterSetting, ...]:
    return tuple(m.ParameterSetting(name, value) for name, value in values.items())


def sensors_part(reading: RobotReading, settings: Settings, epoch_s: float) -> m.SensorStatuses | None:
    """Returns the enabled sensors."""
    switches: list[m.OnOffSensorStatus] = []
    numbers: list[m.ScalarSensorStatus] = []
    counters: list[m.CountSensorStatus] = []
    forces: list[m.ForceTorqueSensorStatus] = []
    for sensor_id, options in settings.sensors.items():
        sensor = reading.sensors.get(sensor_id)
        if sensor is None:
            continue
        head = (sensor_id, sensor.read_count, round((epoch_s + sensor.time_s) * 1000))
        value = sensor.value
        if isinstance(value, bool):
            switches.append(m.OnOffSensorStatus(*head, value, sensor_parameter_setting=options))
        elif isinstance(value, int):
            counters.append(m.CountSensorStatus(*head, value, sensor_parameter_setting=options))
        elif isinstance(value, tuple):
            forces.append(m.ForceTorqueSensorStatus(*head, *value, sensor_parameter_setting=options))
        else:
            numbers.append(m.ScalarSensorStatus(*head, value, sensor_parameter_setting=options))
    if not (switches or numbers or counters or forces):
        return None
    return m.SensorStatuses(
        on_off_sensor_status=tuple(switches),
        scalar_sensor_status=tuple(numbers),
        count_sensor_status=tuple(counters),
        force_torque_sensor_status=tuple(forces),
    )


def guards_part(record: GuardRecord, pose_base: Pose) -> m.GuardsStatuses | None:
    """Returns the guards, once a command had any."""
    if not record.guards:
        return None
    pose = record.pose_tool_in_base
    return m.GuardsStatuses(
        guard=record.guards,
        trigger_count=record.count,
        trigger_stop_time_micros=round(record.stop_time_s * 1e6),
        trigger_value=record.value,
        trigger_pose=message_of_pose(pose_base @ pose) if pose is not None else None,
    )
