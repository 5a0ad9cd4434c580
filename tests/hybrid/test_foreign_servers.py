"""External robots whose servers share no line with ours: a point in a frame of its own, followed by its pose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.hybrid.external_robots import cfg_of, hybrid, until
from tests.hybrid.test_robot_target import joints, recorded, sent

import cellwright as cw
from cellwright.core.errors import JobFailed
from cellwright.core.messages import CrclCommand
from cellwright.core.pose import Pose
from cellwright.crcl import (
    ActuateJoints,
    EnableSensor,
    InitCanon,
    MoveTo,
    SetTransSpeed,
    SwitchRefused,
    TransSpeedAbsolute,
)
from cellwright.crcl.poses import checked_pose, message_of_pose

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent.parent / "crcl" / "foreign_server.py"
PLACE = Pose.from_xyz_rpy((0.1, 0.0, 0.3))  # at which it begins, by its own account
DOWN_M = 0.04


@pytest.fixture
def foreign(request):
    command = [sys.executable, str(SCRIPT), *request.param]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()
            process.wait(10)


HABITS = [(), ("six-joints",), ("shuffles", "nul"), ("strange",), ("slow-first",), ("queues",), ("floods",)]


class Elsewhere:
    """The frame in which a foreign robot stands where our Fanuc does, and what else its target needs."""

    def __init__(self, lab, at, **settings):
        self.robot = lab.robot("fanuc")
        frame = self.tool @ PLACE.inverse()
        place = {"xyz_m": frame.position.tolist(), "rpy_deg": np.degrees(frame.rpy).tolist()}
        build = {"joint_tolerance_deg": None, "grip_tolerance_mm": None, "frame": place}
        self.cfg = cfg_of(fanuc={"at": at, "stalled_s": 3.0, **build, **settings})

    @property
    def tool(self):
        robot = self.robot
        return robot.kinematics.forward(robot.joints_rad) @ robot.ring.pose_tool_in_flange


@pytest.mark.parametrize(
    ("foreign", "unit"), [*((habits, "meter") for habits in HABITS), ((), "millimeter")], indirect=["foreign"]
)
def test_a_server_of_another_maker_is_driven_and_followed_by_its_pose(changed, foreign, unit):
    with cw.Lab(changed(), seed=1, pace=1.0) as lab:
        there = Elsewhere(lab, foreign, length_unit=unit)

        async def work():
            async with hybrid(lab, there.cfg) as both, both.client() as client:
                (await client.execute(InitCanon(0))).check()
                (await client.execute(SetTransSpeed(0, TransSpeedAbsolute(0.1)))).check()
                goal = there.tool @ Pose.from_xyz_rpy((0.0, 0.0, DOWN_M))
                outcome = await client.execute(MoveTo(0, True, message_of_pose(goal)))
                outcome.check()
                assert outcome.took_s > 0.9 * DOWN_M / 0.1
                await until(lab, lambda: there.tool.distance_m(goal) < 0.003, 5.0)
                assert both.stops == []
                assert not [line for line in both.said if "not believed" in line]

        lab.perform(work())


@pytest.mark.parametrize("foreign", [("six-joints",)], indirect=True)
def test_joints_of_another_build_are_told_to_nobody_and_never_commanded(changed, foreign):
    with cw.Lab(changed(), seed=1, pace=1.0) as lab:
        there, commands = Elsewhere(lab, foreign), recorded(lab, CrclCommand, "crcl_command")
        twin = lab.robot("fanuc")

        async def work():
            async with hybrid(lab, there.cfg) as both, both.client() as client:
                (await client.execute(InitCanon(0))).check()
                reading = both.targets.robots["fanuc"].read()
                assert reading.positions == pytest.approx(twin.joints_rad, abs=1e-3)
                assert reading.gripper.name == both.targets.robots["fanuc"]._arm.read().gripper.name
                assert not [one for one in reading.sensors.values() if isinstance(one.value, tuple)]
                refused = await client.execute(EnableSensor(0, "ATINetFT"))
                assert not refused.done
                (await client.execute(InitCanon(0))).check()
                before = len(sent(commands, MoveTo))
                goal = twin.joints_rad + [0.1, 0.0, 0.0, 0.0, 0.0, 0.0]
                (await client.execute(joints(*goal.tolist(), speed=0.5), timeout_s=10.0)).check()
                place = twin.kinematics.forward(goal) @ twin.ring.pose_tool_in_flange
                return place, sent(commands, MoveTo)[before:]

        place, moves = lab.perform(work())
    assert sent(commands, ActuateJoints) == []
    (move,) = moves
    told = there.cfg.robots["fanuc"].frame.pose @ checked_pose(move.end_position, "place")
    assert told.distance_m(place) < 1e-6
    (speed,) = {one.trans_speed.setting for one in sent(commands, SetTransSpeed)}
    radius_m = float(np.hypot(*place.position[:2]))
    assert speed == pytest.approx(0.5 * radius_m, rel=0.02)


@pytest.mark.parametrize("foreign", [("six-joints",)], indirect=True)
def test_an_arm_of_another_build_is_not_taken_for_one_of_the_drawings(changed, foreign):
    with cw.Lab(changed(), seed=1, pace=1.0) as lab:

        async def work():
            async with hybrid(lab, cfg_of(fanuc={"at": foreign})):
                pass

        with pytest.raises(JobFailed, match=r"fanuc: .* reports joint_1 at .* deg, .*`joint_tolerance_deg: null`\)"):
            lab.perform(work())


@pytest.mark.parametrize("foreign", [()], indirect=True)
def test_a_part_in_the_hand_is_not_left_to_a_robot_that_tells_nothing_of_its_hand(changed, foreign, monkeypatch):
    with cw.Lab(changed(), seed=1, pace=1.0) as lab:
        there = Elsewhere(lab, foreign)
        target = there.cfg.robots["fanuc"]

        async def work():
            async with hybrid(lab) as both:
                monkeypatch.setattr(type(lab.robot("fanuc").tool), "holding", True)
                with pytest.raises(SwitchRefused, match=r"holds something, and .* does not tell what it holds"):
                    await both.targets.switch("fanuc", target, aligns=True)

        lab.perform(work())
