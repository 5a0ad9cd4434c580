"""Servos: they follow, they notice when they cannot, and they can be used again."""

import asyncio
import re

import numpy as np
import pytest

from cellwright.control import CONTROLLERS, Controller, FollowingError, JointServo, NotReady
from cellwright.core.errors import BadInput, JobFailed
from cellwright.motion import JointMove

REACH_RAD = np.radians([60, 30, -20, 40, -40, 90])
WALL = {
    "wall": {
        "model": "shared_table",
        "pose": {
            "xyz_m": [0.45, -0.35, -0.2],
        },
    }
}
CONTACT = (
    r"arm stopped by contact after (\d+) % of the path: joint_1 pushes with \d+ Nm, "
    r"joint_\d is \d+\.\d deg away from where it should be \(limit 5\.7 deg\)$"
)
FLOOR = {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}}


def test_it_follows_a_move_at_full_speed(lab, watched):
    arm = lab.robots["arm"]
    following_rad = watched(lab, arm.move_joints(REACH_RAD))
    assert following_rad < 0.015
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=3e-4)
    assert np.abs(lab.world.data.qvel[lab.world.robots["arm"].dof]).max() < 1e-3


def test_a_move_takes_its_time_and_no_more(lab):
    arm = lab.robots["arm"]
    motion = JointMove(arm.kinematics.arm, arm.joints_rad, REACH_RAD, 0.5)
    lab.perform(arm.move_joints(REACH_RAD, 0.5))
    assert motion.duration_s <= lab.clock.time_s <= motion.duration_s + 0.013


def test_both_robots_of_the_lab_follow_at_once(open_lab, aprs, watched):
    lab = open_lab(aprs)
    goals = {"fanuc": np.radians([-60, 10, 0, 0, -80, 0]), "motoman": np.radians([60, 25, 10, -80, 0, -75, 30])}

    async def both() -> None:
        await asyncio.gather(*(lab.robots[name].move_joints(goal) for name, goal in goals.items()))

    assert watched(lab, both(), "motoman") < 0.01
    lab.advance(0.3)
    for name, goal in goals.items():
        assert lab.robots[name].joints_rad == pytest.approx(goal, abs=5e-4)


def test_between_motions_the_arm_stays(lab):
    arm = lab.robots["arm"]
    lab.perform(arm.move_joints(REACH_RAD))
    lab.advance(0.3)
    before = arm.joints_rad
    lab.advance(2.0)
    assert arm.joints_rad == pytest.approx(before, abs=1e-5)


def test_a_motion_of_no_length_is_done_at_once(lab):
    lab.perform(lab.robots["arm"].move_home())
    assert lab.clock.time_s < 0.02


def test_one_motion_at_a_time(lab):
    arm = lab.robots["arm"]

    async def twice() -> None:
        first = lab.loop.create_task(arm.move_joints(REACH_RAD))
        await lab.clock.sleep(0.1)
        with pytest.raises(JobFailed, match="arm is already moving"):
            await arm.move_home()
        await first

    lab.perform(twice())
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=5e-4)


def test_a_cancelled_motion_stops_and_another_can_begin(lab):
    arm = lab.robots["arm"]

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD, 0.5))
        await lab.clock.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await lab.clock.sleep(0.5)
        stopped = arm.joints_rad
        await lab.clock.sleep(0.2)
        assert arm.joints_rad == pytest.approx(stopped, abs=1e-4)
        assert np.abs(stopped - REACH_RAD).max() > 0.1
        await arm.move_home()

    lab.perform(work())
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(np.radians([0, 0, 0, 0, -90, 0]), abs=5e-4)


def test_an_obstacle_is_noticed_the_arm_stays_and_can_move_again(open_lab):
    """A table stands in the way of the swinging arm."""
    lab = open_lab(fixtures=FLOOR | WALL)
    arm = lab.robots["arm"]
    low = np.radians([30, 40, -10, 0, -40, 0])
    lab.perform(arm.move_joints(low))
    assert lab.world.data.ncon == 0
    through = low - np.radians([90, 0, 0, 0, 0, 0])
    with pytest.raises(FollowingError, match=CONTACT) as caught:
        lab.perform(arm.move_joints(through, 0.3))
    assert isinstance(caught.value, JobFailed)
    percent = float(re.match(CONTACT, str(caught.value)).group(1))
    assert not re.search(r"\d N\b", str(caught.value)), "the force is the wrist sensor's to tell, with its noise"
    lab.advance(0.3)
    stopped = arm.joints_rad
    assert percent == pytest.approx(100 * (low[0] - stopped[0]) / np.radians(90), abs=2.0), "where the arm is"
    assert stopped[0] > through[0] + 0.2
    assert lab.world.data.ncon > 0
    lab.advance(1.0)
    assert arm.joints_rad == pytest.approx(stopped, abs=5e-3)
    with pytest.raises(NotReady, match="arm is in fault and needs a reset: arm stopped by contact after"):
        lab.perform(arm.move_joints(low, 0.3))
    arm.reset()
    lab.perform(arm.move_joints(low, 0.3))
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(low, abs=5e-4)


def test_a_push_from_outside_is_noticed(lab):
    arm, world = lab.robots["arm"], lab.world

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD, 0.2))
        await lab.clock.sleep(0.3)
        world.data.qfrc_applied[world.robots["arm"].dof[0]] = -600.0
        await task

    with pytest.raises(FollowingError, match="joint_1"):
        lab.perform(work())
    world.data.qfrc_applied[:] = 0.0
    lab.advance(0.5)
    arm.reset()
    lab.perform(arm.move_joints(REACH_RAD, 0.5))
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=5e-4)


def test_the_reported_position_is_the_commanded_one_whatever_the_joint_zeros(open_lab):
    """One degree of zero error: the encoders agree with the command, the arm is really a degree beyond."""
    lab = open_lab(actual={"joint_zero_deg": 1.0})
    arm, index = lab.robots["arm"], lab.world.robots["arm"]
    lab.perform(arm.move_joints(REACH_RAD))
    lab.advance(0.3)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=3e-4)
    assert lab.world.data.qpos[index.qpos] == pytest.approx(REACH_RAD + np.radians(1.0), abs=3e-4)


def test_a_servo_of_its_own_follows_any_motion(lab):
    """Whatever has a duration and tells positions and velocities can be followed."""

    class Wave:
        duration_s = 1.0

        def at(self, time_s: float):
            phase = 2 * np.pi * min(time_s, 1.0)
            turn = np.array([1.0, 0, 0, 0, 0, 0])
            home = np.radians([0, 0, 0, 0, -90, 0])
            return home + 0.1 * (1 - np.cos(phase)) * turn, 0.2 * np.pi * np.sin(phase) * turn

    servo = JointServo(lab.world, lab.stepper, "arm")
    furthest = []
    lab.stepper.every(5, lambda: furthest.append(servo.position_rad[0]), order=35, name="watch")
    lab.perform(servo.follow(Wave()))
    assert max(furthest) == pytest.approx(0.2, abs=2e-3)
    assert not servo.moving


@pytest.mark.parametrize("controller", ["pid", "computed_torque"])
@pytest.mark.parametrize(
    ("shift", "message"),
    [
        ([0, 0.5, 0, 0, 0, 0], r"arm joint_2 at the start of a motion is 0\.5 rad, allowed -0\.02 to 0\.02 rad"),
        ([0, 0, np.nan, 0, 0, 0], "arm needs motions of 6 finite angles"),
        ([0, 0], "arm needs motions of 6 finite angles"),
    ],
)
def test_a_motion_that_would_make_the_arm_jump_is_refused(lab, controller, shift, message):
    class Elsewhere:
        duration_s = 1.0

        def at(self, time_s: float):
            there = np.radians([0, 0, 0, 0, -90, 0])[: len(shift)] + shift
            return there, np.zeros(len(shift))

    arm = lab.robots["arm"]
    arm.use_controller(controller)
    with pytest.raises(BadInput, match=message):
        lab.perform(arm.follow(Elsewhere()))
    assert not arm.moving
    lab.perform(arm.move_joints(REACH_RAD, 0.5))


def test_a_controller_that_gives_no_numbers_is_named(lab):
    class Lost(Controller):
        def command(self, reference, position_rad, velocity_radps):
            return np.full(6, np.nan)

    if "lost" not in CONTROLLERS:
        CONTROLLERS.add("lost", Lost)
    lab.robots["arm"].use_controller("lost")
    with pytest.raises(BadInput, match="arm needs 6 finite effort commands"):
        lab.advance(0.1)
