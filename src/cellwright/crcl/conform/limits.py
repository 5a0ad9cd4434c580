"""Targets that must be refused. The robot is slow meanwhile, and stopped as soon as it is seen to move.

A valid command of the same kind is proved first: a server that refuses them all keeps none of these rules.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cellwright.crcl.conform.answer import Answer, Reaction
from cellwright.crcl.conform.check import ambiguous, check, fail, require
from cellwright.crcl.conform.probe import Probe, distance_m
from cellwright.crcl.messages import (
    ActuateJoint,
    ActuateJoints,
    CommandStateEnum,
    CRCLCommand,
    CRCLStatus,
    JointSpeedAccel,
    JointStatus,
    MoveThroughTo,
    MoveTo,
    Point,
    Pose,
    SetTransSpeed,
    StopConditionEnum,
    StopMotion,
    TransSpeedAbsolute,
    Vector,
)

__all__: list[str] = []

MOVED_M = 1e-3
MOVED_JOINT = 1e-3
FAR_M = 100.0
CREEP_MPS = 0.005
CREEP_JOINT = 0.01
BEYOND = 0.5


async def _watched(probe: Probe, command: CRCLCommand) -> tuple[Answer, str]:
    """Sends a command that should be refused and stops any move at once; returns the answer and how it moved."""
    await probe.do(SetTransSpeed(0, TransSpeedAbsolute(CREEP_MPS)))
    before = await probe.ask()
    number = await probe.send(command)
    start_s, moved = probe.now_s(), ""
    while True:
        status = await probe.ask()
        moved = moved or _moved(before, status)
        reported, took_s = status.command_status, probe.now_s() - start_s
        is_over = reported.command_state in (CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR)
        if reported.command_id == number and is_over:
            done = reported.command_state is CommandStateEnum.CRCL_DONE
            return Answer(Reaction.DONE if done else Reaction.ERROR, number, status, took_s), moved
        if moved or took_s > probe.options.done_s:
            await probe.do(StopMotion(0, StopConditionEnum.FAST))
            seen = Reaction.WORKING if reported.command_id == number else Reaction.SILENT
            refused = reported.command_state is CommandStateEnum.CRCL_ERROR and reported.command_id != number
            return Answer(Reaction.REFUSED if refused else seen, number, status, took_s), moved
        await probe.sleep(probe.options.poll_s)


def _moved(before: CRCLStatus, now: CRCLStatus) -> str:
    if before.pose_status and now.pose_status:
        metres = distance_m(before.pose_status.pose, now.pose_status.pose)
        if metres > MOVED_M:
            return f"the robot moved by {1000 * metres:.1f} mm and was stopped"
    for old, new in zip(_joints(before), _joints(now), strict=False):
        if old.joint_position is not None and new.joint_position is not None:
            change = abs(new.joint_position - old.joint_position)
            if change > MOVED_JOINT:
                return f"joint {old.joint_number} moved by {change:.4f} and was stopped"
    return ""


def _joints(status: CRCLStatus) -> tuple[JointStatus, ...]:
    return status.joint_statuses.joint_status if status.joint_statuses else ()


async def _must_be_refused(probe: Probe, command: CRCLCommand, valid: CRCLCommand) -> Answer:
    await probe.prove(valid)
    answer, moved = await _watched(probe, command)
    require(not moved, f"{moved}; the command is {answer.text}")
    require(not answer.done, f"it is {answer.text}")
    if not answer.is_error:
        ambiguous(f"nothing moves, but no error is signalled: {answer.text}")
    return answer


async def _stay(probe: Probe, number: int | None = None) -> ActuateJoints:
    """Returns a command that moves a joint, the first one or that of a number, to where it is."""
    for joint in _joints(await probe.ask()):
        if joint.joint_position is not None and number in (None, joint.joint_number):
            details = JointSpeedAccel(joint_speed=CREEP_JOINT)
            return ActuateJoints(0, (ActuateJoint(joint.joint_number, joint.joint_position, details),))
    ambiguous("cannot be tried: no joint positions are reported")


@check(
    "cartesian-limits",
    "A target that cannot be reached is an error, not clamped (schema's own example).",
    moves=True,
    harms=True,
)
async def cartesian_limits(probe: Probe) -> str:
    """Sends MoveTo to a point 100 m away, very slowly, and stops whatever moves."""
    pose = await probe.target(0.0)
    await probe.prove(MoveTo(0, True, pose))
    far = replace(pose, point=Point(pose.point.x + FAR_M, pose.point.y, pose.point.z))
    answer, moved = await _watched(probe, MoveTo(0, True, far))
    if answer.done:
        fail(f"MoveTo to a point {FAR_M:g} m away is done, {moved or 'and nothing moved'}: the target was clamped")
    settings = (await probe.ask()).settings_status
    if moved and settings is not None and settings.max_cartesian_limit is None and not settings.joint_limits:
        ambiguous(f"{moved}; the server states no limits, so it may have none")
    require(not moved, f"{moved}; MoveTo is {answer.text}")
    if not answer.is_error:
        ambiguous(f"nothing moves, but no error is signalled: {answer.text}")
    return answer.text


@check(
    "joint-limits",
    "A joint beyond its limit is an error that names it, not clamped (schema's own example).",
    moves=True,
    harms=True,
)
async def joint_limits(probe: Probe) -> str:
    """Sends a joint beyond the limit that the status tells, very slowly, and stops whatever moves."""
    settings = (await probe.ask()).settings_status
    limits = [limit for limit in settings.joint_limits if limit.joint_max_position is not None] if settings else []
    if not limits:
        ambiguous("cannot be tried: the status tells no joint limits")
    limit = limits[-1]
    assert limit.joint_max_position is not None
    target = ActuateJoint(
        limit.joint_number, limit.joint_max_position + BEYOND, JointSpeedAccel(joint_speed=CREEP_JOINT)
    )
    answer = await _must_be_refused(probe, ActuateJoints(0, (target,)), await _stay(probe, limit.joint_number))
    description = answer.status.command_status.state_description or ""
    require(
        str(limit.joint_number) in description, f"the error does not name joint {limit.joint_number}: '{description}'"
    )
    return answer.text


@check("joint-number", "A joint that does not exist is an error.", moves=True, harms=True)
async def joint_number(probe: Probe) -> str:
    """Sends ActuateJoints for joint 99."""
    target = ActuateJoint(99, 0.0, JointSpeedAccel(joint_speed=CREEP_JOINT))
    return (await _must_be_refused(probe, ActuateJoints(0, (target,)), await _stay(probe))).text


@check("joint-twice", "A joint is given at most once (schema).", moves=True, harms=True)
async def joint_twice(probe: Probe) -> str:
    """Sends ActuateJoints with the first joint twice, to where it stands."""
    once = await _stay(probe)
    return (await _must_be_refused(probe, ActuateJoints(0, once.actuate_joint * 2), once)).text


@check("num-positions", "NumPositions must be the number of waypoints (schema).", moves=True, harms=True)
async def num_positions(probe: Probe) -> str:
    """Sends MoveThroughTo with two waypoints where the robot stands, and NumPositions 2, then 5."""
    pose = await probe.target(0.0)
    valid = MoveThroughTo(0, True, (pose, pose), 2)
    return (await _must_be_refused(probe, replace(valid, num_positions=5), valid)).text


@check("not-a-number", "A coordinate must be a finite number.", moves=True, harms=True)
async def not_a_number(probe: Probe) -> str:
    """Sends MoveTo with NaN as its height."""
    pose = await probe.target(0.0)
    bad = replace(pose, point=Point(pose.point.x, pose.point.y, math.nan))
    return (await _must_be_refused(probe, MoveTo(0, True, bad), MoveTo(0, True, pose))).text


async def _bad_axes(probe: Probe, pose: Pose) -> str:
    other = await probe.open()
    await probe.ask(other)
    valid = MoveTo(0, True, await probe.target(0.0))
    answer = await _must_be_refused(probe, MoveTo(0, True, pose), valid)
    require(await probe.responds(other), "the server does not answer any more")
    return answer.text


@check("axes-unit", "XAxis and ZAxis are unit vectors (schema; NIST: within 0.001).", moves=True, harms=True)
async def axes_unit(probe: Probe) -> str:
    """Sends MoveTo to where the robot stands, with an XAxis of length 2."""
    pose = await probe.target(0.0)
    x = pose.x_axis
    return await _bad_axes(probe, replace(pose, x_axis=Vector(2 * x.i, 2 * x.j, 2 * x.k)))


@check(
    "axes-orthogonal", "XAxis and ZAxis stand at a right angle (schema; NIST: within 0.001).", moves=True, harms=True
)
async def axes_orthogonal(probe: Probe) -> str:
    """Sends MoveTo to where the robot stands, with XAxis equal to ZAxis."""
    pose = await probe.target(0.0)
    return await _bad_axes(probe, replace(pose, x_axis=pose.z_axis))
