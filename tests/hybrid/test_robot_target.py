"""A robot that is somewhere else, over a socket to another laboratory with a loop of its own."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from tests.hybrid.external_robots import cfg_of, hybrid, serving, until

import cellwright as cw
from cellwright.core.messages import CrclCommand, JointState, TargetEvent, ToolStatus
from cellwright.core.pose import Pose as CorePose
from cellwright.crcl import (
    ActuateJoint,
    ActuateJoints,
    CRCLCommandInstance,
    EndCanon,
    InitCanon,
    JointSpeedAccel,
    MoveThroughTo,
    MoveTo,
    OutcomeState,
    SetEndEffector,
    StopMotion,
    SwitchRefused,
    decode,
)
from cellwright.crcl.messages import MoveScrew, Point, SetTransSpeed, TransSpeedAbsolute
from cellwright.crcl.poses import message_of_pose
from cellwright.motion import StopCategory

PACE = 2.0
NEAR_RAD = 0.02


@pytest.fixture
def lab(changed):
    with cw.Lab(changed(), seed=1, pace=PACE) as lab:
        yield lab


@pytest.fixture
def external(changed):
    with serving(changed(), pace=PACE) as robots:
        yield robots


def joints(*angles_rad, speed=None):
    details = JointSpeedAccel(joint_speed=speed)
    return ActuateJoints(0, tuple(ActuateJoint(n, angle, details) for n, angle in enumerate(angles_rad, 1)))


def recorded(lab, kind, name):
    """All messages of a topic of the external Fanuc from now on."""
    topic, heard = f"/fanuc/external/{name}", []
    lab.bus.declare(topic, kind)
    lab.bus.subscribe(topic, lambda _topic, message: heard.append(message), subscriber="test")
    return heard


def sent(commands, *kinds):
    read = (decode(message.document.encode(), CRCLCommandInstance).crcl_command for message in commands)
    return [command for command in read if isinstance(command, kinds)]


def tool_of(robot):
    return robot.kinematics.forward(robot.joints_rad) @ robot.ring.pose_tool_in_flange


def test_its_commands_go_out_and_the_twin_follows(lab, external):
    ours, theirs = lab.robot("fanuc"), external.robot()
    commands, states = recorded(lab, CrclCommand, "crcl_command"), recorded(lab, JointState, "joint_states")
    hands = recorded(lab, ToolStatus, "tool_status")
    apart = []

    async def watch():
        while True:
            apart.append(np.abs(ours.joints_rad - theirs.joints_rad).max())
            await lab.clock.sleep(0.05)

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": external.at["fanuc"]})) as both, both.client() as client:
            watching = asyncio.get_running_loop().create_task(watch())
            await client.execute(InitCanon(0))
            (await client.execute(joints(0.6, 0.2, speed=1.0))).check()
            told = await client.status()
            await until(lab, lambda: np.abs(ours.joints_rad - theirs.joints_rad).max() < NEAR_RAD, 3.0)
            (await client.execute(SetEndEffector(0, 0.2))).check()
            await until(lab, lambda: abs(ours.gripper.width_m - theirs.gripper.width_m) < 0.001, 3.0)
            watching.cancel()
            return told, both.targets.robots["fanuc"].status()

    told, status = lab.perform(work())
    assert theirs.joints_rad[:2] == pytest.approx([0.6, 0.2], abs=1e-3)
    assert theirs.gripper.width_m < 0.01
    angles = [one.joint_position for one in told.joint_statuses.joint_status]
    assert angles[:2] == pytest.approx([0.6, 0.2], abs=0.01)
    assert max(apart) < 0.3
    assert len(sent(commands, ActuateJoints)) == 1
    assert [state.source for state in states[:1]] == [f"fanuc@{external.at['fanuc']}"]
    times_s = [state.time_s for state in states]
    assert times_s == sorted(times_s)
    assert {hand.kind for hand in hands} == {"gripper"}
    assert {command.source for command in commands} == {f"fanuc@{external.at['fanuc']}"}
    assert status.target == "fanuc"
    assert len(states) <= status.messages


@pytest.mark.slow
def test_a_switch_is_refused_where_they_are_apart_and_made_with_align(lab, external):
    at = external.at["fanuc"]
    theirs = external.robot()

    async def work():
        async with hybrid(lab) as both:
            target = both.targets.robots["fanuc"]
            before = lab.robot("fanuc").joints_rad.copy()
            await asyncio.to_thread(external.do, lambda: theirs.move_joints(theirs.joints_rad + [0.2, 0, 0, 0, 0, 0]))
            stood = theirs.joints_rad.copy()
            with pytest.raises(SwitchRefused, match=r"joint 1 is 11.5 deg apart .*; `.* switch --align` moves the sim"):
                await both.targets.switch("fanuc", at)
            assert not target.is_external
            assert lab.robot("fanuc").joints_rad == pytest.approx(before, abs=1e-3)
            await both.targets.switch("fanuc", at, aligns=True)
            assert target.is_external
            assert lab.robot("fanuc").joints_rad == pytest.approx(stood, abs=NEAR_RAD)
            assert theirs.joints_rad == pytest.approx(stood, abs=1e-4), "the external robot was moved"
            assert [line for line in both.said if "aligned" in line]

    lab.perform(work())


@pytest.mark.slow
def test_a_switch_is_refused_for_widths_and_frames(lab, external):
    at = external.at["fanuc"]
    theirs = external.robot()

    async def work():
        async with hybrid(lab) as both:
            turned = cfg_of(fanuc={"at": at, "frame": {"xyz_m": [0, 0, 0], "rpy_deg": [0, 0, 5]}}).robots["fanuc"]
            with pytest.raises(SwitchRefused, match=r"the tools are .* mm apart .*turned by 5.0 deg"):
                await both.targets.switch("fanuc", turned, aligns=True)
            await asyncio.to_thread(external.do, lambda: theirs.move_gripper(0.01))
            with pytest.raises(SwitchRefused, match=r"the widths of the fingers differ by \d+"):
                await both.targets.switch("fanuc", at)
            await both.targets.switch("fanuc", at, aligns=True)
            await both.targets.switch("fanuc", "simulated")
            assert not both.targets.robots["fanuc"].is_external

    lab.perform(work())


def test_two_switches_that_wait_for_one_action_do_not_forget_each_other(lab, external):
    at = external.at["fanuc"]

    async def work():
        async with hybrid(lab) as both:
            target = both.targets.robots["fanuc"]
            target.note_action(True)
            first = asyncio.ensure_future(both.targets.switch("fanuc", at))
            await lab.clock.sleep(0.1)
            with pytest.raises(SwitchRefused, match="another switch of it is under way"):
                await both.targets.switch("fanuc", at)
            target.note_action(False)
            await asyncio.wait_for(first, 5.0)
            assert target.is_external

    lab.perform(work())


@pytest.mark.slow
def test_a_command_waits_for_a_switch_at_the_end_of_the_action(lab, external):
    at = external.at["fanuc"]

    async def work():
        async with hybrid(lab) as both, both.client() as client:
            target = both.targets.robots["fanuc"]
            await client.execute(InitCanon(0))
            target.note_action(True)
            switch = asyncio.ensure_future(both.targets.switch("fanuc", at))
            (await client.execute(joints(0.001))).check()
            assert not switch.done(), "it was switched inside an action"
            target.note_action(False)
            (await client.execute(joints(0.3))).check()
            assert switch.done()
            await switch

    lab.perform(work())
    assert external.robot().joints_rad[0] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.slow
def test_what_the_target_does_not_allow_is_refused_or_slower(lab, external):
    commands = recorded(lab, CrclCommand, "crcl_command")
    here = tool_of(lab.robot("fanuc"))
    x, y, z = here.position.tolist()
    box = [[x - 0.05, y - 0.05, z - 0.05], [x + 0.05, y + 0.05, z + 0.05]]
    cfg = cfg_of(fanuc={"at": external.at["fanuc"], "workspace_m": box, "speed_limit_mps": 0.05})

    def there(dx):
        return message_of_pose(CorePose((x + dx, y, z), here.quaternion))

    async def refused(client, command, line="x of its tool"):
        outcome = await client.execute(command)
        assert outcome.state is not OutcomeState.DONE
        assert line in outcome.reason
        await client.execute(InitCanon(0))

    async def work():
        async with hybrid(lab, cfg) as both, both.client() as client:
            await client.execute(InitCanon(0))
            await client.execute(SetTransSpeed(0, TransSpeedAbsolute(0.5)))
            await refused(client, MoveTo(0, True, there(0.06)))
            await refused(client, joints(1.0), "of its tool")
            out = MoveScrew(
                0, start_position=there(0.0), axis_point=Point(x + 0.04, y, z), axial_distance_screw=0.0, turn=6.0
            )
            await refused(client, out)
            began_s = lab.clock.time_s
            (await client.execute(MoveTo(0, True, there(0.04)))).check()
            took_s = lab.clock.time_s - began_s
            began_s = lab.clock.time_s
            (await client.execute(joints(0.1, speed=3.0))).check()
            return took_s, lab.clock.time_s - began_s

    took_s, of_joints_s = lab.perform(work())
    assert took_s > 0.04 / 0.05
    assert of_joints_s > 0.1 * np.hypot(x, y) / 0.05
    told_m = [move.end_position.point.x for move in sent(commands, MoveTo)]
    assert max(told_m) == pytest.approx(x + 0.04)
    assert sent(commands, MoveThroughTo, MoveScrew) == []
    assert {speed.trans_speed.setting for speed in sent(commands, SetTransSpeed)} == {0.05}


def test_a_joint_that_hardly_turns_slows_no_other(lab, external):
    commands = recorded(lab, CrclCommand, "crcl_command")

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": external.at["fanuc"]})) as both, both.client() as client:
            await client.execute(InitCanon(0))
            goal = lab.robot("fanuc").joints_rad + [0.5, 0.0, 0.0, 1e-12, 0.0, 0.0]
            began_s = lab.clock.time_s
            (await client.execute(joints(*goal.tolist(), speed=1.0), timeout_s=5.0)).check()
            return lab.clock.time_s - began_s

    assert lab.perform(work()) < 2.0
    (move,) = sent(commands, ActuateJoints)
    assert min(one.joint_details.joint_speed for one in move.actuate_joint) > 0.1


@pytest.mark.slow
def test_a_safety_stop_of_the_virtual_cell_stops_it_and_keeps_it_stopped(lab, external):
    commands = recorded(lab, CrclCommand, "crcl_command")
    ours, theirs = lab.robot("fanuc"), external.robot()

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": external.at["fanuc"]})) as both, both.client() as client:
            await client.execute(InitCanon(0))
            moving = asyncio.ensure_future(client.execute(joints(1.5, speed=0.3)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.1)
            ours.stop(StopCategory.FAST, "a person is in the cell", lock="guard")
            outcome = await moving
            assert outcome.state is not OutcomeState.DONE
            await until(lab, lambda: not theirs.moving, 2.0)
            stood = theirs.joints_rad.copy()
            assert stood[0] < 1.0
            told = len(sent(commands, ActuateJoints))
            assert (await client.execute(joints(1.5))).state is not OutcomeState.DONE
            assert (await client.execute(InitCanon(0))).state is not OutcomeState.DONE
            assert (await client.execute(joints(1.5))).state is not OutcomeState.DONE
            assert len(sent(commands, ActuateJoints)) == told, "a locked robot was told to move"
            assert theirs.joints_rad == pytest.approx(stood, abs=1e-3)
            ours.reset("guard")
            (await client.execute(InitCanon(0))).check()
            (await client.execute(joints(0.5))).check()
            ours.stop(StopCategory.FAST, "a person is in the cell", lock="guard")
            told = len(sent(commands, ActuateJoints))
            outcome = await client.execute(joints(1.5))
            assert "is locked by guard" in outcome.reason
            assert len(sent(commands, ActuateJoints)) == told, "a robot that stood was told to move"

    lab.perform(work())
    assert theirs.joints_rad[0] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.slow
def test_the_end_stops_what_moves(lab, external):
    theirs, commands = external.robot(), recorded(lab, CrclCommand, "crcl_command")

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": external.at["fanuc"]})) as both:
            client = both.client()
            await client.open()
            await client.execute(InitCanon(0))
            moving = asyncio.ensure_future(client.execute(joints(1.5, speed=0.2)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.1)
        moving.cancel()
        await until(lab, lambda: not theirs.moving, 2.0)
        stood = theirs.joints_rad.copy()
        await lab.clock.sleep(0.5)
        return stood

    stood = lab.perform(work())
    assert theirs.joints_rad == pytest.approx(stood, abs=1e-3)
    assert theirs.joints_rad[0] < 1.0
    ends = [type(command) for command in sent(commands, StopMotion, EndCanon)]
    assert ends == [StopMotion, EndCanon], "an end of a session need not stop a robot"


@pytest.mark.slow
def test_what_was_under_way_when_everything_is_cancelled_is_stopped(lab, external):
    theirs = external.robot()

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": external.at["fanuc"]})) as both, both.client() as client:
            await client.execute(InitCanon(0))
            moving = asyncio.ensure_future(client.execute(joints(1.5, speed=0.2)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.1)
            raise KeyboardInterrupt
            await moving

    with pytest.raises(KeyboardInterrupt):
        lab.perform(work())

    async def look():
        await until(external.lab, lambda: not theirs.moving, 2.0)

    external.do(look)
    assert theirs.joints_rad[0] < 1.0


@pytest.mark.slow
def test_an_emergency_there_stops_everything_here(lab, external):
    theirs = external.robot()

    async def work():
        cfg = cfg_of(fanuc={"at": external.at["fanuc"]})
        async with hybrid(lab, cfg) as both, both.client() as client, both.client("motoman") as other:
            await client.execute(InitCanon(0))
            await other.execute(InitCanon(0))
            moving = asyncio.ensure_future(client.execute(joints(1.5, speed=0.2)))
            beside = asyncio.ensure_future(other.execute(joints(1.0, speed=0.2)))
            await until(lab, lambda: theirs.joints_rad[0] > 0.05)
            theirs.stop(StopCategory.IMMEDIATE, "emergency stop", lock="button")
            outcomes = await asyncio.gather(moving, beside)
            assert [outcome.done for outcome in outcomes] == [False, False]
            await until(lab, lambda: both.stops, 3.0)
            assert "emergency stop" in both.stops[0]
            assert not lab.robot("motoman").moving
            assert (await other.execute(InitCanon(0))).state is not OutcomeState.DONE
            both.targets.release()
            (await other.execute(InitCanon(0))).check()

    lab.perform(work())


def test_events_name_what_happened(lab, external):
    events = []
    lab.bus.declare("/targets/events", TargetEvent)
    lab.bus.subscribe("/targets/events", lambda _topic, event: events.append(event), subscriber="test")

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": external.at["fanuc"]})) as both:
            await both.targets.switch("fanuc", "simulated")

    lab.perform(work())
    assert [(event.target, event.change) for event in events] == [("fanuc", "external"), ("fanuc", "simulated")]
