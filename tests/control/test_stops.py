"""States and stops: who may move when, and how an arm comes to rest."""

import asyncio

import numpy as np
import pytest

from cellwright.control import (
    Collision,
    CollisionLimits,
    JointServo,
    MotionStopped,
    NotReady,
    RobotState,
    StopCategory,
)
from cellwright.core.pose import Pose
from cellwright.motion import LineSpeed

REACH_RAD = np.radians([60, 30, -20, 40, -40, 90])
CATEGORIES = list(StopCategory)


async def stopped_after(lab, arm, delay_s: float, category: StopCategory, goal=REACH_RAD, speed: float = 0.5) -> None:
    """Begins a move and stops it."""
    task = lab.loop.create_task(arm.move_joints(goal, speed))
    await lab.clock.sleep(delay_s)
    arm.stop(category, "a test")
    with pytest.raises(MotionStopped, match=rf"^arm was stopped \({category.value}\): a test$"):
        await task


def test_a_move_goes_through_the_states(lab):
    arm = lab.robots["arm"]
    seen = []

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        seen.append(arm.state)
        await lab.clock.sleep(0.1)
        seen.append(arm.state)
        await task
        seen.append(arm.state)

    lab.perform(work())
    assert seen == [RobotState.IDLE, RobotState.MOVING, RobotState.IDLE]


@pytest.mark.parametrize("controller", ["pid", "computed_torque"])
@pytest.mark.parametrize("category", CATEGORIES)
def test_a_stop_ends_the_motion_and_the_next_may_begin(lab, category, controller):
    arm = lab.robots["arm"]
    arm.use_controller(controller)
    lab.perform(stopped_after(lab, arm, 0.25, category))
    assert (arm.state, arm.reason, arm.moving) == (RobotState.STOPPED, "a test", False)
    lab.advance(0.3)
    assert np.abs(arm.velocity_radps).max() < 0.02  # computed torque creeps to its goal, with 1/2 s of time constant
    assert np.abs(arm.joints_rad - REACH_RAD).max() > 0.1
    lab.perform(arm.move_joints(REACH_RAD))
    lab.advance(0.3)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=3e-3)
    assert arm.state is RobotState.IDLE


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_kinematic_arm_stops_too(open_lab, category):
    lab = open_lab(fidelity="kinematic")
    arm = lab.robots["arm"]
    lab.perform(stopped_after(lab, arm, 0.25, category))
    here = arm.joints_rad
    lab.advance(0.3)
    assert arm.joints_rad == pytest.approx(here, abs=1e-3)  # the last set point is met one step later
    lab.perform(arm.move_home())


def test_harder_stops_are_shorter(open_lab):
    taken_s = []
    for category in CATEGORIES:
        lab = open_lab()
        lab.perform(stopped_after(lab, lab.robots["arm"], 0.3, category))
        taken_s.append(lab.clock.time_s - 0.3)
    assert taken_s[0] < 0.7 * taken_s[1] < 0.7 * taken_s[2]
    assert taken_s[0] < 0.15


def test_a_normal_stop_stays_on_the_path(lab):
    arm = lab.robots["arm"]
    start = Pose.from_xyz_rpy([0.4, -0.2, 0.3], [np.pi, 0, 0])
    goal = Pose.from_xyz_rpy([0.4, 0.2, 0.3], [np.pi, 0, 0])
    lab.perform(arm.move_tool(start))
    points = []
    lab.stepper.every(2, lambda: points.append(arm.tool_in_world.position), order=35, name="watch")

    async def work() -> None:
        task = lab.loop.create_task(arm.move_tool_straight(goal, LineSpeed(0.3)))
        await lab.clock.sleep(0.6)
        arm.stop(StopCategory.NORMAL)
        with pytest.raises(MotionStopped, match="commanded"):
            await task

    lab.perform(work())
    beside = np.array(points)[:, [0, 2]] - [0.4, 0.3]
    assert np.abs(beside).max() < 1.5e-3
    assert points[-1][1] < 0.15


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_arm_never_jumps_when_stopped_at_random_instants(lab, category):
    """Fifty stops in all, at any speed: no step beyond what a joint's speed allows, no set point that jumps."""
    arm, index = lab.robots["arm"], lab.world.robots["arm"]
    rng = np.random.default_rng(CATEGORIES.index(category))
    limits = np.array([j.velocity_limit_radps for j in index.figures.joints])
    steps, last = [], [arm.joints_rad, lab.world.data.ctrl[index.ctrl_position].copy()]

    def look() -> None:
        now = [arm.joints_rad, lab.world.data.ctrl[index.ctrl_position].copy()]
        steps.append([np.abs(a - b) / limits for a, b in zip(now, last, strict=True)])
        last[:] = now

    period_s = 0.004
    lab.stepper.every(2, look, order=35, name="watch")

    async def work() -> None:
        goals = REACH_RAD, -REACH_RAD * [1, 0, 0, 1, 1, 1]
        for _ in range(17):
            farther = max(goals, key=lambda goal: np.abs(arm.joints_rad - goal).max())
            await stopped_after(lab, arm, rng.uniform(0.02, 0.35), category, farther, 1.0)

    lab.perform(work())
    moved, commanded = np.array(steps).max(axis=(0, 2))
    assert moved <= 1.1 * period_s
    assert commanded <= 1.02 * period_s
    assert moved > 0.3 * period_s  # it did move fast


def test_a_pause_waits_on_the_path_and_goes_on(lab):
    arm = lab.robots["arm"]

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        await lab.clock.sleep(0.2)
        arm.pause()
        assert arm.state is RobotState.STOPPING
        await lab.clock.sleep(0.6)
        assert arm.state is RobotState.PAUSED
        here = arm.joints_rad
        await lab.clock.sleep(0.5)
        assert arm.joints_rad == pytest.approx(here, abs=1e-4)
        assert not task.done()
        with pytest.raises(NotReady, match="arm is already moving"):
            await arm.move_home()
        arm.resume()
        assert arm.state is RobotState.MOVING
        await task

    lab.perform(work())
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=5e-4)
    assert arm.state is RobotState.IDLE


def test_a_paused_motion_can_be_paused_again_and_stopped(lab):
    arm = lab.robots["arm"]

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        for _ in range(2):
            await lab.clock.sleep(0.15)
            arm.pause()
            await lab.clock.sleep(0.5)
            assert arm.state is RobotState.PAUSED
            arm.resume()
        arm.pause()
        await lab.clock.sleep(0.5)
        arm.stop(StopCategory.FAST, "enough")
        with pytest.raises(MotionStopped, match="enough"):
            await task

    lab.perform(work())
    assert arm.state is RobotState.STOPPED
    lab.perform(arm.move_home())


def test_a_harder_stop_overrides_a_softer_one_and_not_the_other_way_round(lab):
    arm = lab.robots["arm"]

    async def work(first: StopCategory, second: StopCategory) -> str:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        await lab.clock.sleep(0.25)
        arm.stop(first, "first")
        await lab.clock.sleep(0.01)
        arm.stop(second, "second")
        with pytest.raises(MotionStopped) as caught:
            await task
        return caught.value.reason

    assert lab.perform(work(StopCategory.NORMAL, StopCategory.IMMEDIATE)) == "second"
    lab.perform(arm.move_home())
    assert lab.perform(work(StopCategory.IMMEDIATE, StopCategory.NORMAL)) == "first"


def test_pauses_out_of_turn_are_refused(lab):
    arm = lab.robots["arm"]
    with pytest.raises(NotReady, match="arm cannot pause: it is idle, not moving"):
        arm.pause()
    with pytest.raises(NotReady, match="arm cannot resume: it is idle, not paused"):
        arm.resume()


def test_a_lock_holds_until_it_is_taken_away(lab):
    arm = lab.robots["arm"]
    arm.stop(reason="gate", lock="safety")
    for lock in ("", "other"):
        arm.reset(lock)
        with pytest.raises(NotReady, match="arm is locked by safety and needs a reset: gate"):
            lab.perform(arm.move_home())
        with pytest.raises(NotReady, match="locked by safety"):
            arm.set_mode("velocity")
    arm.reset("safety")
    assert arm.state is RobotState.IDLE
    lab.perform(arm.move_home())


def test_a_touch_at_the_wrist_is_a_collision(lab):
    arm, world = lab.robots["arm"], lab.world
    arm.collision_limits = CollisionLimits(force_n=40.0)
    lab.perform(arm.move_joints(REACH_RAD, 0.3))  # weight and inertia of the tool are no collision

    async def work() -> None:
        task = lab.loop.create_task(arm.move_home(0.2))
        await lab.clock.sleep(0.3)
        world.data.xfrc_applied[world.robots["arm"].gripper.body, 0] = 60.0
        await task

    with pytest.raises(
        Collision,
        match=r"^arm stopped by contact after \d+ % of the path: the force at the wrist is above its limit of 40\.0 N$",
    ):
        lab.perform(work())
    world.data.xfrc_applied[:] = 0.0
    assert arm.state is RobotState.FAULT
    lab.advance(0.5)
    assert np.abs(arm.velocity_radps).max() < 5e-3
    arm.reset()
    lab.perform(arm.move_home(0.3))


def test_too_much_effort_is_a_collision(lab):
    arm, world = lab.robots["arm"], lab.world
    arm.collision_limits = CollisionLimits(effort_share=0.8)

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD, 0.2))
        await lab.clock.sleep(0.3)
        world.data.qfrc_applied[world.robots["arm"].dof[0]] = -230.0
        await task

    with pytest.raises(Collision, match=r"joint_1 pushes with \d+\.\d Nm \(limit 192\.0 Nm\)"):
        lab.perform(work())


def test_a_cancelled_move_leaves_the_robot_idle(lab):
    arm = lab.robots["arm"]

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        await lab.clock.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    lab.perform(work())
    assert (arm.state, arm.moving) == (RobotState.IDLE, False)


def test_a_servo_alone_has_the_states_too(lab):
    servo = JointServo(lab.world, lab.stepper, "arm")
    assert servo.state is RobotState.IDLE
    servo.stop(StopCategory.FAST, "before it moved")
    assert (servo.state, servo.reason) == (RobotState.STOPPED, "before it moved")
