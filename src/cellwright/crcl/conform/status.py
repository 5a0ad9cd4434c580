"""The content of a status."""

from __future__ import annotations

import math

from cellwright.crcl.check import check as check_text
from cellwright.crcl.conform.check import ambiguous, check, fail, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.messages import CRCLStatus, Vector

__all__: list[str] = []

AXIS_TOLERANCE = 1e-3


@check("status-is-valid", "A status is valid by the schema of 2021Apr28.")
async def status_is_valid(probe: Probe) -> str:
    """Asks for a status with all its parts and checks it."""
    await probe.ask()
    problems = check_text(probe.main.latest_text)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        fail(f"line {problems[0].line}: {problems[0]}{more}")
    return f"{len(probe.main.latest_text)} bytes"


@check("status-numbers", "The pair of StatusID and CommandID occurs once in a session (schema).")
async def status_numbers(probe: Probe) -> str:
    """Asks ten times and compares."""
    seen: dict[tuple[int, int], CRCLStatus] = {}
    repeated = 0
    for _ in range(10):
        status = await probe.ask()
        pair = (status.command_status.status_id, status.command_status.command_id)
        if pair in seen and seen[pair] != status:
            fail(f"two different statuses are StatusID {pair[0]}, CommandID {pair[1]}")
        repeated += pair in seen
        seen[pair] = status
    if repeated:
        ambiguous(f"{repeated} of 10 statuses had numbers of an earlier one, with the same content")
    return "10 of 10 different"


@check("pose-is-reported", "The pose of the controlled point is in the status (NIST's client needs it).")
async def pose_is_reported(probe: Probe) -> str:
    """Looks for PoseStatus, and whether its axes are unit vectors at a right angle."""
    status = await probe.ask()
    if status.pose_status is None:
        fail("the status holds no PoseStatus, though ConfigureStatusReport asked for it")
    pose = status.pose_status.pose
    at = (pose.point.x, pose.point.y, pose.point.z)
    require(all(map(math.isfinite, at)), f"the point is {at[0]:g}, {at[1]:g}, {at[2]:g}")
    x_length, z_length = _length(pose.x_axis), _length(pose.z_axis)
    between = pose.x_axis.i * pose.z_axis.i + pose.x_axis.j * pose.z_axis.j + pose.x_axis.k * pose.z_axis.k
    bad = max(abs(x_length - 1), abs(z_length - 1), abs(between))
    require(bad <= AXIS_TOLERANCE, f"XAxis has length {x_length:g}, ZAxis {z_length:g}, their product is {between:g}")
    return f"at {pose.point.x:.4f}, {pose.point.y:.4f}, {pose.point.z:.4f} m"


@check("joints-are-reported", "Joints are reported (NIST's client needs them for ActuateJoints).")
async def joints_are_reported(probe: Probe) -> str:
    """Looks for JointStatuses with positions."""
    status = await probe.ask()
    if status.joint_statuses is None:
        ambiguous("no joints are reported; the schema allows that until ConfigureJointReports")
    numbers = [joint.joint_number for joint in status.joint_statuses.joint_status]
    require(numbers == sorted(set(numbers)) and numbers[0] >= 1, f"joint numbers are {numbers}")
    if any(joint.joint_position is None for joint in status.joint_statuses.joint_status):
        ambiguous("some joints are reported without a position")
    return f"{len(numbers)} joints"


@check("settings-are-reported", "The settings in force can be read (schema).")
async def settings_are_reported(probe: Probe) -> str:
    """Looks for SettingsStatus with the names of the units."""
    settings = (await probe.ask()).settings_status
    if settings is None:
        ambiguous("the status holds no SettingsStatus, though ConfigureStatusReport asked for it")
    names = (settings.length_unit_name, settings.angle_unit_name, settings.force_unit_name, settings.torque_unit_name)
    if None in names:
        ambiguous(f"unit names are {', '.join(str(name) for name in names)}")
    return ", ".join(str(name) for name in names)


def _length(vector: Vector) -> float:
    return float((vector.i**2 + vector.j**2 + vector.k**2) ** 0.5)
