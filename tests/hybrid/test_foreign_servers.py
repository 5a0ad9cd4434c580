"""External robots whose servers share no line with ours: a point in a frame of its own, followed by its pose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.hybrid.external_robots import cfg_of, hybrid, until

import cellwright as cw
from cellwright.core.pose import Pose
from cellwright.crcl import InitCanon, MoveTo, SetTransSpeed, TransSpeedAbsolute
from cellwright.crcl.poses import message_of_pose

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


HABITS = [(), ("shuffles", "nul"), ("strange",), ("slow-first",), ("queues",), ("floods",)]


@pytest.mark.parametrize(
    ("foreign", "unit"), [*((habits, "meter") for habits in HABITS), ((), "millimeter")], indirect=["foreign"]
)
def test_a_server_of_another_maker_is_driven_and_followed_by_its_pose(changed, foreign, unit):
    with cw.Lab(changed(), seed=1, pace=1.0) as lab:
        robot = lab.robot("fanuc")

        def tool():
            return robot.kinematics.forward(robot.joints_rad) @ robot.ring.pose_tool_in_flange

        frame = tool() @ PLACE.inverse()
        place = {"xyz_m": frame.position.tolist(), "rpy_deg": np.degrees(frame.rpy).tolist()}
        cfg = cfg_of(
            fanuc={
                "at": foreign, "joint_tolerance_deg": None, "grip_tolerance_mm": None, "frame": place,
                "length_unit": unit, "stalled_s": 3.0,
            }
        )  # fmt: skip

        async def work():
            async with hybrid(lab, cfg) as both, both.client() as client:
                (await client.execute(InitCanon(0))).check()
                (await client.execute(SetTransSpeed(0, TransSpeedAbsolute(0.1)))).check()
                goal = tool() @ Pose.from_xyz_rpy((0.0, 0.0, DOWN_M))
                outcome = await client.execute(MoveTo(0, True, message_of_pose(goal)))
                outcome.check()
                assert outcome.took_s > 0.9 * DOWN_M / 0.1
                await until(lab, lambda: tool().distance_m(goal) < 0.003, 5.0)
                assert both.stops == []

        lab.perform(work())
