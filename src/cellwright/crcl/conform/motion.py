"""Moves: small, slow, upwards from where the robot stands, and back."""

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
    Dwell,
    EndCanon,
    Guard,
    GuardLimitEnum,
    JointSpeedAccel,
    MoveScrew,
    MoveThroughTo,
    MoveTo,
    Pose,
    PoseAndSet,
    SetTransSpeed,
    StopConditionEnum,
    StopMotion,
    TransSpeedAbsolute,
)

__all__: list[str] = []

NEAR_M = 1e-3
STILL_M = 2e-4
SPEED_MARGIN = 1.15


async def _must_arrive(probe: Probe, answer: Answer, target: Pose) -> str:
    if answer.reaction is Reaction.ERROR and answer.status.command_status.state_description:
        ambiguous(f"cannot be tried: the robot may not go there from where it stands: {answer.text}")
    require(answer.done, f"it is {answer.text}")
    off_m = distance_m(await probe.pose(), target)
    require(off_m <= NEAR_M, f"done, but {1000 * off_m:.2f} mm from the target")
    return f"{1000 * off_m:.3f} mm from the target after {answer.took_s:.2f} s"


async def _rises(probe: Probe, number: int, metres: float) -> Pose:
    """Waits until the robot has left home by so much; returns its pose then."""
    start_s = probe.now_s()
    while probe.now_s() - start_s < probe.move_s:
        status = await probe.ask()
        reported = status.command_status
        if status.pose_status and probe.home and distance_m(status.pose_status.pose, probe.home) >= metres:
            return status.pose_status.pose
        if reported.command_id == number and reported.command_state is not CommandStateEnum.CRCL_WORKING:
            ambiguous(f"cannot be tried: the move ended at once as {reported.command_state}")
        await probe.sleep(probe.options.poll_s)
    ambiguous("cannot be tried: the robot does not move")


async def _must_stand(probe: Probe, why: str, still_after_s: float = 0.6) -> Pose:
    """Fails if the robot moves on after it had time to brake; returns the pose where it stands."""
    await probe.sleep(still_after_s)
    first = await probe.pose()
    await probe.sleep(0.3)
    last = await probe.pose()
    require(
        distance_m(first, last) <= STILL_M,
        f"{why}, the robot moves on: {1000 * distance_m(first, last):.2f} mm in 0.3 s",
    )
    return last


@check("move-to", "MoveTo takes the controlled point to a pose and stops there (schema).", moves=True)
async def move_to(probe: Probe) -> str:
    """Moves up by the reach."""
    target = await probe.target()
    return await _must_arrive(probe, await probe.move(target), target)


@check("move-straight", "With MoveStraight the controlled point stays on a straight line (schema).", moves=True)
async def move_straight(probe: Probe) -> str:
    """Moves up by the reach and looks how far from the line the poses on the way are."""
    target, home, worst_m, seen = await probe.target(), probe.home, 0.0, 0
    assert home is not None
    number = await probe.send(MoveTo(0, True, target))
    start_s = probe.now_s()
    while probe.now_s() - start_s < probe.move_s:
        status = await probe.ask()
        if status.pose_status is not None:
            point = status.pose_status.pose.point
            worst_m, seen = max(worst_m, math.hypot(point.x - home.point.x, point.y - home.point.y)), seen + 1
        reported = status.command_status
        if reported.command_id == number and reported.command_state is not CommandStateEnum.CRCL_WORKING:
            break
        await probe.sleep(probe.options.poll_s)
    require(worst_m <= NEAR_M, f"{1000 * worst_m:.2f} mm off the line")
    return f"{1000 * worst_m:.3f} mm off the line in {seen} poses"


@check("speed-limit", "A speed that was set is never exceeded (Reference).", moves=True)
async def speed_limit(probe: Probe) -> str:
    """Moves up by the reach at half the battery's speed and takes the time."""
    limit_mps, target = probe.options.speed_mps / 2, await probe.target()
    await probe.do(SetTransSpeed(0, TransSpeedAbsolute(limit_mps)))
    answer = await probe.move(target)
    if not answer.done:
        ambiguous(f"cannot be tried: MoveTo is {answer.text}")
    mean_mps = probe.options.reach_m / max(answer.took_s, 1e-9)
    require(
        mean_mps <= limit_mps * SPEED_MARGIN, f"{1000 * mean_mps:.1f} mm/s on average, {1000 * limit_mps:.1f} were set"
    )
    return f"{1000 * mean_mps:.1f} mm/s on average, {1000 * limit_mps:.1f} were set"


@check("waypoint-settings", "Settings of a waypoint hold for it alone (schema).", moves=True)
async def waypoint_settings(probe: Probe) -> str:
    """Moves up with a slower speed in the waypoint; reads the speed before and after."""
    await probe.prove(MoveTo(0, True, await probe.target(0.0)))
    target = await probe.target()
    slow = PoseAndSet(
        target.point, target.x_axis, target.z_axis, True, trans_speed=TransSpeedAbsolute(probe.options.speed_mps / 2)
    )
    before = (await probe.ask()).settings_status
    answer = await probe.do(MoveTo(0, True, slow), timeout_s=probe.move_s)
    require(answer.done, f"MoveTo with settings is {answer.text}")
    after = (await probe.ask()).settings_status
    if before is None or after is None or before.trans_speed_absolute is None:
        ambiguous("cannot be seen: the status does not tell TransSpeedAbsolute")
    require(after.trans_speed_absolute == before.trans_speed_absolute, "the waypoint's speed stays in force")
    return f"{answer.took_s:.2f} s; the speed set before is in force again"


@check("move-through-to", "MoveThroughTo passes the waypoints and stops at the last (schema).", moves=True)
async def move_through_to(probe: Probe) -> str:
    """Moves up by the reach and back to half of it."""
    way = (await probe.target(0.5), await probe.target(1.0), await probe.target(0.5))
    answer = await probe.do(MoveThroughTo(0, True, way, len(way)), timeout_s=probe.move_s)
    return await _must_arrive(probe, answer, way[-1])


@check("move-screw", "MoveScrew turns while it advances (schema).", moves=True)
async def move_screw(probe: Probe) -> str:
    """Turns by 0.02 rad without advancing."""
    answer = await probe.do(MoveScrew(0, axial_distance_screw=0.0, turn=0.02), timeout_s=probe.move_s)
    if answer.is_error and answer.status.command_status.state_description:
        ambiguous(f"the server does not support it: {answer.text}")
    require(answer.done, f"MoveScrew is {answer.text}")
    return await _must_arrive(probe, answer, await probe.target(0.0))


@check("actuate-joints", "ActuateJoints takes joints to positions; the others stay (schema).", moves=True)
async def actuate_joints(probe: Probe) -> str:
    """Turns the last joint a little and back."""
    before = await _joints(probe)
    number = max(before)
    details = JointSpeedAccel(joint_speed=0.05)
    for delta in (probe.options.turn_rad, 0.0):
        goal = before[number] + delta
        answer = await probe.do(ActuateJoints(0, (ActuateJoint(number, goal, details),)), timeout_s=probe.move_s)
        require(answer.done, f"ActuateJoints is {answer.text}")
        now = await _joints(probe)
        require(abs(now[number] - goal) <= 2e-3, f"joint {number} is at {now[number]:.4f} instead of {goal:.4f}")
        others = max((abs(now[j] - before[j]) for j in before if j != number), default=0.0)
        require(others <= 2e-3, f"another joint moved by {others:.4f}")
    return f"joint {number} by {probe.options.turn_rad} and back"


@check("pre-emption", "A new command stops the move in progress (Reference).", moves=True)
async def pre_emption(probe: Probe) -> str:
    """Sends Dwell while the robot moves up."""
    target = await probe.target()
    await probe.do(SetTransSpeed(0, TransSpeedAbsolute(probe.options.speed_mps / 2)))
    await _rises(probe, await probe.send(MoveTo(0, True, target)), 0.1 * probe.options.reach_m)
    answer = await probe.do(Dwell(0, 0.2))
    stands = await _must_stand(probe, "after a new command")
    require(answer.done, f"the new command is {answer.text}")
    require(distance_m(stands, target) > NEAR_M, "the robot went on to the old target")
    return f"stands {1000 * distance_m(stands, target):.1f} mm before the old target"


@check("pre-emption-by-move", "A move replaces the move in progress (Reference).", moves=True)
async def pre_emption_by_move(probe: Probe) -> str:
    """Sends MoveTo back home while the robot moves up."""
    home = await probe.target(0.0)
    await _rises(probe, await probe.send(MoveTo(0, True, await probe.target())), 0.1 * probe.options.reach_m)
    return await _must_arrive(probe, await probe.move(home), home)


async def _stop(probe: Probe, condition: StopConditionEnum, *, other_connection: bool = False) -> str:
    target = await probe.target()
    await probe.do(SetTransSpeed(0, TransSpeedAbsolute(probe.options.speed_mps / 2)))
    connection = await probe.open() if other_connection else None
    await _rises(probe, await probe.send(MoveTo(0, True, target)), 0.1 * probe.options.reach_m)
    answer = await probe.do(StopMotion(0, condition), connection)
    stands = await _must_stand(probe, f"after StopMotion {condition}", 0.1 if answer.done else 0.6)
    require(answer.done, f"StopMotion is {answer.text}")
    require(distance_m(stands, target) > NEAR_M, "the robot reached the target all the same")
    return f"stands {1000 * distance_m(stands, target):.1f} mm before the target"


@check("stop-motion-normal", "StopMotion Normal stops the move on its path (schema).", moves=True)
async def stop_motion_normal(probe: Probe) -> str:
    """Stops a move."""
    return await _stop(probe, StopConditionEnum.NORMAL)


@check("stop-motion-fast", "StopMotion Fast stops the move on its path (schema).", moves=True)
async def stop_motion_fast(probe: Probe) -> str:
    """Stops a move fast."""
    return await _stop(probe, StopConditionEnum.FAST)


@check(
    "stop-motion-immediate",
    "StopMotion Immediate stops the move; drives may go off (schema).",
    moves=True,
    harms=True,
)
async def stop_motion_immediate(probe: Probe) -> str:
    """Stops a move at once."""
    return await _stop(probe, StopConditionEnum.IMMEDIATE)


@check("stop-by-other-connection", "Any connection can stop the robot (NIST's client keeps one for it).", moves=True)
async def stop_by_other_connection(probe: Probe) -> str:
    """Stops a move by a second connection."""
    return await _stop(probe, StopConditionEnum.FAST, other_connection=True)


@check("end-canon-stops", "The robot moves only between InitCanon and EndCanon (Reference).", moves=True)
async def end_canon_stops(probe: Probe) -> str:
    """Sends EndCanon while the robot moves up."""
    target = await probe.target()
    await probe.do(SetTransSpeed(0, TransSpeedAbsolute(probe.options.speed_mps / 2)))
    await _rises(probe, await probe.send(MoveTo(0, True, target)), 0.1 * probe.options.reach_m)
    answer = await probe.do(EndCanon(0))
    stands = await _must_stand(probe, "after EndCanon")
    require(distance_m(stands, target) > NEAR_M, "the robot went on to the target after EndCanon")
    require(answer.done, f"EndCanon is {answer.text}")
    return f"stands {1000 * distance_m(stands, target):.1f} mm before the target"


@check("no-move-after-end", "After EndCanon nothing moves (schema).", moves=True)
async def no_move_after_end(probe: Probe) -> str:
    """Sends EndCanon, then MoveTo."""
    await probe.prove(MoveTo(0, True, await probe.target(0.0)))
    target, before = await probe.target(), await probe.pose()
    await probe.do(EndCanon(0))
    answer = await probe.do(MoveTo(0, True, target))
    moved_m = distance_m(await probe.pose(), before)
    require(moved_m <= STILL_M, f"the robot moved by {1000 * moved_m:.1f} mm after EndCanon")
    require(not answer.done, f"it did not move, but MoveTo is {answer.text}")
    return answer.text


@check(
    "unknown-guard-sensor",
    "A guard on a sensor that is not there is an error (practice of NIST's servers).",
    moves=True,
)
async def unknown_guard_sensor(probe: Probe) -> str:
    """Moves up with a guard on an invented sensor, after it moved to where it stands without one."""
    await probe.prove(MoveTo(0, True, await probe.target(0.0)))
    guard = Guard("cellwright_conform", limit_type=GuardLimitEnum.OVER_MAX, limit_value=1.0)
    command = replace(MoveTo(0, True, await probe.target()), guard=(guard,))
    answer = await probe.do(command, timeout_s=probe.move_s)
    if answer.done:
        ambiguous("the guard is ignored, and the move is done without it")
    if answer.reaction is Reaction.SILENT:
        fail(f"MoveTo with a guard is {answer.text}")
    return answer.text


async def _joints(probe: Probe) -> dict[int, float]:
    status = await probe.ask()
    joints = status.joint_statuses.joint_status if status.joint_statuses else ()
    found = {joint.joint_number: joint.joint_position for joint in joints if joint.joint_position is not None}
    if not found:
        ambiguous("cannot be tried: no joint positions are reported")
    return found
