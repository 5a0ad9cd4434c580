"""One robot takes over from another: with the same units, speeds and override, and only where the other one stands."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from cellwright.crcl import (
    CRCLProgram,
    CrclServer,
    EndCanon,
    ExampleArm,
    InitCanon,
    JointStatus,
    JointStatuses,
    LengthUnitEnum,
    MoveTo,
    ParameterSetting,
    Point,
    Pose,
    SetLengthUnits,
    SetRobotParameters,
    SettingsStatus,
    SetTransSpeed,
    SwitchRefused,
    Targets,
    TargetsCfg,
    TransSpeedAbsolute,
    TransSpeedRelative,
    Vector,
    WallClock,
    run_program,
    tcp,
)

MILLIMETER, METER = LengthUnitEnum.MILLIMETER, LengthUnitEnum.METER
START = (0.4, 0.0, 0.3, 0.0, 0.0, 0.0)


def between_arms(work, *, profiles=("spec", "aprs-lab"), starts=(START, START), endpoint=()):
    """Runs work(target, simulated, real, address): two practice arms, each behind a socket with a profile."""

    async def main():
        arms = [ExampleArm(WallClock(), start=start) for start in starts]
        servers = [CrclServer(arm, profile=profile) for arm, profile in zip(arms, profiles, strict=True)]
        for server in servers:
            await server.start(port=0)
        addresses = ["{}:{}".format(*server.address) for server in servers]
        cfg = TargetsCfg.model_validate({"robots": {"arm": {"poll_s": 0.01, "reconnect_s": 0, **dict(endpoint)}}})
        try:
            async with Targets(cfg, {"arm": tcp(addresses[0])}) as targets:
                return await work(targets.robot("arm"), *arms, addresses[1])
        finally:
            for server in servers:
                await server.close()

    return asyncio.run(main())


def down(x, y, z):
    return MoveTo(0, True, Pose(Point(x, y, z), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, -1.0)))


def test_a_program_in_default_metres_goes_on_in_metres_at_a_server_of_millimetres():
    async def work(robot, simulated, real, address):
        moves = [down(0.4, 0.0, z) for z in (0.298, 0.296, 0.294, 0.292)]
        program = CRCLProgram(init_canon=InitCanon(1), middle_command=tuple(moves), end_canon=EndCanon(2))
        switches = []

        def switch_midway(progress):
            if progress.outcome is None and progress.step.index == 2:
                switches.append(asyncio.ensure_future(robot.switch(address)))

        report = await run_program(robot, program, on_progress=switch_midway)
        return report, await switches[0], simulated.read().pose_tool_in_base, real.read().pose_tool_in_base

    report, switched, left_at, ended_at = between_arms(work)
    assert report.done
    assert left_at.position.tolist() == pytest.approx([0.4, 0.0, 0.296])
    assert ended_at.position.tolist() == pytest.approx([0.4, 0.0, 0.292])
    assert switched.difference.tool_mm == pytest.approx(4.0)
    assert switched.difference.offset_mm == pytest.approx((0.0, 0.0, 4.0))
    assert switched.unconfirmed == ()


def test_a_speed_is_taken_along_in_the_unit_in_which_it_was_set():
    async def work(robot, simulated, real, address):
        half = SetTransSpeed(0, TransSpeedAbsolute(0.05))
        for command in (InitCanon(0), half, SetLengthUnits(0, MILLIMETER)):
            (await robot.execute(command)).check()
        await robot.switch(address)
        there = (await robot.status()).settings_status
        await robot.switch("simulated")
        return there, (await robot.status()).settings_status

    for status in between_arms(work):
        assert status.length_unit_name is MILLIMETER
        assert status.trans_speed_absolute.setting == pytest.approx(50.0)


def test_a_speed_that_nobody_set_holds_on():
    async def work(robot, simulated, real, address):
        real.default_pace = replace(real.default_pace, speed_mps=1.0, turn_radps=3.0)
        await robot.execute(InitCanon(0))
        before = (await robot.status()).settings_status
        await robot.switch(address)
        return before, (await robot.status()).settings_status

    before, after = between_arms(work)
    assert after.trans_speed_absolute.setting == pytest.approx(before.trans_speed_absolute.setting)
    assert after.rot_speed_absolute.setting == pytest.approx(before.rot_speed_absolute.setting)


def test_a_share_of_the_speed_stays_a_share():
    async def work(robot, simulated, real, address):
        for command in (InitCanon(0), SetTransSpeed(0, TransSpeedRelative(0.25))):
            (await robot.execute(command)).check()
        await robot.switch(address)
        return (await robot.status()).settings_status.trans_speed_relative.fraction

    assert between_arms(work) == pytest.approx(0.25)


def test_the_override_is_taken_along():
    async def work(robot, simulated, real, address):
        await robot.execute(InitCanon(0))
        await robot.execute(SetRobotParameters(0, (ParameterSetting("override_percent", "30"),)))
        await robot.switch(address)
        return real.read().override_percent

    assert between_arms(work) == 30


def told_otherwise(**changes):
    """A server that says something else of its settings than holds."""

    def say(status):
        settings = replace(status.settings_status or SettingsStatus(), **changes)
        return replace(status, settings_status=settings)

    return say


BAD_HABITS = {
    "keeps its unit": ({"keeps_unit": True}, None, r"length unit is millimeter by its status \(asked for: meter\)"),
    "has a top speed": (
        {},
        told_otherwise(trans_speed_absolute=TransSpeedAbsolute(0.1)),
        r"TransSpeed is 0.1 m/s by its status \(asked for: 0.5 m/s\)",
    ),
}


@pytest.mark.parametrize("habit", BAD_HABITS)
def test_a_robot_that_does_not_keep_what_it_was_told_is_refused(with_targets, move_to, habit):
    changes, say_instead, told = BAD_HABITS[habit]

    async def work(robot, simulated, real):
        for command in (InitCanon(0), SetTransSpeed(0, TransSpeedAbsolute(0.5))):
            (await robot.execute(command)).check()
        real.default_unit, real.say_instead = MILLIMETER, say_instead or real.say_instead
        for name, value in changes.items():
            setattr(real, name, value)
        with pytest.raises(SwitchRefused, match=rf"fanuc stays simulated.*does not keep what it was told.*{told}"):
            await robot.switch(real.address)
        assert not real.initialised
        return await robot.execute(move_to(0.1))

    assert with_targets(work).done, "the robot is the old one"


def test_an_override_that_cannot_be_set_is_refused(with_targets):
    def at(percent):
        return lambda status: replace(status, command_status=replace(status.command_status, override_percent=percent))

    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        simulated.say_instead, real.say_instead = at(10), at(100)
        with pytest.raises(SwitchRefused, match=r"override is 100 % by its status \(asked for: 10 %\)"):
            await robot.switch(real.address)
        real.say_instead = at(10)
        return await robot.switch(real.address)

    assert with_targets(work).unconfirmed == ("angle unit", "force unit", "torque unit")


def test_units_are_sent_also_to_a_robot_that_does_not_tell_its_own(with_targets, move_to):
    async def work(robot, simulated, real):
        real.default_unit, real.say_instead = MILLIMETER, lambda status: replace(status, settings_status=None)
        await robot.execute(InitCanon(0))
        switched = await robot.switch(real.address)
        (await robot.execute(move_to(0.5))).check()
        return switched, real.x_m

    switched, x_m = with_targets(work)
    assert x_m == pytest.approx(0.5), "half a metre, as the program means it"
    assert "length unit" in switched.unconfirmed


def test_a_robot_that_stands_elsewhere_is_refused_with_the_difference(with_targets):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        real.x_m = 0.0051
        with pytest.raises(SwitchRefused, match=r"tools 5.1 mm \(x \+5.1, .*0.0 deg apart.*allowed: 5 mm, 1 deg"):
            await robot.switch(real.address)
        untouched = list(real.executed)
        real.x_m = 0.0049
        return untouched, await robot.switch(real.address)

    untouched, switched = with_targets(work)
    assert untouched == [], "what cannot take over is not even initialised"
    assert switched.difference.tool_mm == pytest.approx(4.9)


def test_without_a_session_the_place_counts_too(with_targets):
    async def work(robot, simulated, real):
        real.x_m, real.default_unit = 0.3, MILLIMETER
        with pytest.raises(SwitchRefused, match=r"tools 300.0 mm"):
            await robot.switch(real.address)
        real.x_m = 0.0
        await robot.switch(real.address)
        return real.executed

    assert with_targets(work) == []


def test_joints_count_where_the_tools_agree():
    async def work(robot, simulated, real, address):
        await robot.execute(InitCanon(0))
        with pytest.raises(SwitchRefused, match=r"joints at most 2.0 deg apart \(joint 6\) .*1 deg per joint"):
            await robot.switch(address)
        return True

    starts = (START, (*START[:5], math.radians(2.0)))
    assert between_arms(work, starts=starts, endpoint={"tolerance_deg": 5.0})


def test_the_tolerances_are_configurable():
    async def work(robot, simulated, real, address):
        await robot.execute(InitCanon(0))
        return await robot.switch(address)

    wide = {"tolerance_mm": 50.0, "tolerance_deg": None, "joint_tolerance_deg": None}
    switched = between_arms(work, starts=(START, (0.44, *START[1:4], 0.3, 0.0)), endpoint=wide)
    assert switched.difference.tool_mm == pytest.approx(40.0)


def nothing_of(status):
    return replace(status, pose_status=None)


def with_joint(value):
    def say(status):
        return replace(status, joint_statuses=JointStatuses((JointStatus(1, joint_position=value),)))

    return say


def with_pose(**changes):
    def say(status):
        return replace(
            status, pose_status=replace(status.pose_status, pose=replace(status.pose_status.pose, **changes))
        )

    return say


IMPOSSIBLE = {
    "a joint that is no number": (with_joint(math.nan), "its joints are not believed: joint 1 at nan"),
    "a joint at infinity": (with_joint(-math.inf), "its joints are not believed: joint 1 at -inf"),
    "a point that is none": (with_pose(point=Point(math.nan, 0.0, 0.0)), "X is nan"),
    "a tool kilometres away": (with_pose(point=Point(0.0, 4000.0, 0.0)), "it is 4000 m away"),
    "an axis of length 0": (with_pose(x_axis=Vector(0.0, 0.0, 0.0)), "XAxis has length 0"),
    "axes that are one": (with_pose(x_axis=Vector(0.0, 0.0, 1.0)), "have the dot product 1"),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_cannot_be_is_not_believed_but_told(with_targets, move_to, what):
    say_instead, why = IMPOSSIBLE[what]
    told = []

    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        real.say_instead = say_instead
        with pytest.raises(SwitchRefused, match=rf"where it stands cannot be compared.*{why}"):
            await robot.switch(real.address)
        simulated.say_instead = say_instead
        outcome = await robot.execute(move_to(0.1))
        status = await robot.status()
        return outcome, status

    outcome, status = with_targets(work, say=told.append)
    assert outcome.done, "what it says of its command is news all the same"
    for said in (outcome.status, status):
        joints = said.joint_statuses.joint_status if said.joint_statuses else ()
        assert all(joint.joint_position is None for joint in joints)
        assert (said.pose_status is None) == (not joints)
    assert sum(why in text and text.startswith("the simulated fanuc") for text in told) == 1, "told once, not each time"


def test_a_robot_that_does_not_tell_where_it_is_cannot_take_over(with_targets):
    async def work(robot, simulated, real):
        await robot.execute(InitCanon(0))
        real.say_instead = nothing_of
        with pytest.raises(SwitchRefused, match=r"cannot be compared: one of the two does not tell where it is"):
            await robot.switch(real.address)
        return True

    assert with_targets(work)
