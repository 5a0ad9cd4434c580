"""Through the robot: the pace of motions of every kind is changed, they are paused and stopped, the arm never jumps."""

import numpy as np
import pytest

from cellwright.control import MotionStopped, RobotState
from cellwright.core.errors import OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import (
    CartesianMotion,
    JointLimits,
    LineSpeed,
    StopCategory,
    TimedPath,
    blended,
    linear,
)

REACH_RAD = np.radians([60, 30, -20, 40, -40, 90])
DOWN = [np.pi, 0, 0]
CORNERS = [Pose.from_xyz_rpy(xyz, DOWN) for xyz in ([0.4, 0.0, 0.3], [0.4, 0.2, 0.3], [0.4, 0.2, 0.2])]


class Wave:
    """A motion of which only positions and velocities over time are known."""

    duration_s = 1.5

    def __init__(self, home_rad: np.ndarray) -> None:
        self._home, self._way = home_rad, np.array([0.8, 0.3, -0.2, 0.5, 0.3, 0.4])

    def at(self, time_s: float):
        x = min(max(time_s / self.duration_s, 0.0), 1.0)
        rate = 30 * x**2 * (1 - x) ** 2 / self.duration_s
        return self._home + self._way * (10 * x**3 - 15 * x**4 + 6 * x**5), self._way * rate


@pytest.fixture
def set_points(open_lab):
    """A kinematic laboratory and the set points of its arm at every turn of the servo."""
    lab = open_lab(fidelity="kinematic")
    index, points = lab.world.robots["arm"], []
    lab.stepper.every(2, lambda: points.append(lab.world.data.ctrl[index.ctrl_position].copy()), order=35, name="watch")
    return lab, points


def check_smooth(lab, points, *, braked: bool = False) -> None:
    """Speed, acceleration and jerk by differences of the set points, which were written every 4 ms."""
    limits = JointLimits.of(lab.world.robots["arm"].figures)
    period_s = 0.004
    rows = np.array(points)
    velocity = np.diff(rows, axis=0) / period_s
    acceleration = np.diff(velocity, axis=0) / period_s
    assert (np.abs(velocity) <= limits.velocity_radps * 1.001).all()
    assert (np.abs(acceleration) <= limits.acceleration_radps2 * (3.01 if braked else 1.01)).all()
    if not braked:
        assert (np.abs(np.diff(acceleration, axis=0)) <= limits.jerk_radps3 * period_s * 1.05).all()


@pytest.mark.parametrize("category", list(StopCategory), ids=lambda c: c.value)
def test_stopped_at_random_instants_the_set_points_keep_all_limits(set_points, category):
    lab, points = set_points
    arm = lab.robots["arm"]
    rng = np.random.default_rng(4)
    goals = [REACH_RAD, -REACH_RAD * [1, 0, 0, 1, 1, 1]]

    async def work() -> None:
        for _ in range(15):
            farther = max(goals, key=lambda goal: np.abs(arm.joints_rad - goal).max())
            task = lab.loop.create_task(arm.move_joints(farther, rng.uniform(0.4, 1.0)))
            await lab.clock.sleep(rng.uniform(0.01, 0.5))
            arm.stop(category)
            with pytest.raises(MotionStopped):
                await task
            assert arm.state is RobotState.STOPPED

    lab.perform(work())
    check_smooth(lab, points, braked=category is StopCategory.IMMEDIATE)


@pytest.mark.parametrize("controller", ["pid", "computed_torque"])
@pytest.mark.parametrize("category", list(StopCategory), ids=lambda c: c.value)
def test_in_physics_motions_by_time_alone_can_be_stopped_too(lab, controller, category):
    arm = lab.robots["arm"]
    arm.use_controller(controller)
    wave = Wave(arm.joints_rad)
    dense = np.array([wave.at(t)[0] for t in np.linspace(0, wave.duration_s, 400)])

    async def work() -> None:
        for delay_s in (0.3, 0.6):
            task = lab.loop.create_task(arm.follow(Wave(arm._servo.set_point_rad)))
            await lab.clock.sleep(delay_s)
            arm.stop(category, "a test")
            with pytest.raises(MotionStopped, match="a test"):
                await task
            await lab.clock.sleep(0.3)
            assert np.abs(arm.velocity_radps).max() < 0.03
            if category is not StopCategory.IMMEDIATE:
                assert np.abs(dense - arm.joints_rad).max(axis=1).min() < 0.02
            await arm.move_home(0.5)

    lab.perform(work())


def test_pauses_at_random_instants_end_at_the_goal(set_points):
    lab, points = set_points
    arm = lab.robots["arm"]
    rng = np.random.default_rng(8)

    async def work() -> None:
        for number in range(10):
            goal = REACH_RAD * (-1) ** number * [1, 0, 0, 1, 1, 1]
            task = lab.loop.create_task(arm.move_joints(goal))
            await lab.clock.sleep(rng.uniform(0.01, 0.4))
            arm.pause()
            await lab.clock.sleep(rng.choice([0.02, 0.1, 1.0]))  # now and then before it rests
            arm.resume()
            await task
            await lab.clock.sleep(0.02)
            assert arm.joints_rad == pytest.approx(goal, abs=1e-4)

    lab.perform(work())
    check_smooth(lab, points)


def test_an_override_acts_on_the_motion_in_progress_and_on_those_to_come(set_points):
    lab, points = set_points
    arm = lab.robots["arm"]

    def taken_s(work) -> float:
        start_s = lab.clock.time_s
        lab.perform(work)
        return lab.clock.time_s - start_s

    async def slowed() -> None:
        task = lab.loop.create_task(arm.move_home(0.5))
        await lab.clock.sleep(0.2)
        arm.override = 0.2
        await task

    full_s = taken_s(arm.move_joints(REACH_RAD, 0.5))
    assert taken_s(slowed()) > 2 * full_s
    assert arm.override == 0.2
    assert taken_s(arm.move_joints(REACH_RAD, 0.5)) > 2.5 * full_s
    arm.override = 1.0
    assert taken_s(arm.move_home(0.5)) == pytest.approx(full_s, abs=0.02)
    check_smooth(lab, points)


def test_an_override_of_zero_holds_the_arm_until_it_is_raised(set_points):
    lab, points = set_points
    arm = lab.robots["arm"]

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        await lab.clock.sleep(0.15)
        arm.override = 0.0
        await lab.clock.sleep(1.5)
        here = arm.joints_rad
        await lab.clock.sleep(1.0)
        assert (arm.joints_rad == here).all()
        assert arm.state is RobotState.MOVING
        assert not task.done()
        arm.override = 0.7
        await task

    lab.perform(work())
    lab.advance(0.05)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=1e-6)
    check_smooth(lab, points)


def test_a_creeping_motion_can_be_stopped(set_points):
    lab, points = set_points
    arm = lab.robots["arm"]
    arm.override = 0.003

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints(REACH_RAD))
        await lab.clock.sleep(12.0)  # three portions of rows
        arm.stop(StopCategory.NORMAL)
        with pytest.raises(MotionStopped):
            await task

    lab.perform(work())
    moved = np.abs(np.diff(np.array(points)[:, 0]))
    assert 0 < moved.max() < 2e-4
    assert 0.05 < arm.joints_rad[0] < 0.5


@pytest.mark.parametrize("share", [-0.1, 1.01, np.nan])
def test_an_override_is_between_0_and_1(lab, share):
    with pytest.raises(OutOfRange, match="arm speed override is"):
        lab.robots["arm"].override = share
    assert lab.robots["arm"].override == 1.0


def test_a_robot_moves_through_poses_with_rounded_corners(open_lab):
    lab = open_lab(fidelity="kinematic")
    arm, tips = lab.robots["arm"], []
    lab.perform(arm.move_tool(Pose.from_xyz_rpy([0.4, -0.2, 0.3], DOWN)))
    start_s = lab.clock.time_s
    lab.stepper.every(2, lambda: tips.append(arm.tool_in_world.position), order=35, name="watch")
    lab.perform(arm.move_through(CORNERS, LineSpeed(0.4), 0.03))
    through_s = lab.clock.time_s - start_s
    rows = np.array(tips)
    assert rows[-1] == pytest.approx(CORNERS[-1].position, abs=1e-3)
    assert np.abs(rows[:, 0] - 0.4).max() < 1e-4
    nearest = np.linalg.norm(rows - CORNERS[1].position, axis=1).min()
    assert 0.002 < nearest < 3 / 8 * 0.03 + 1e-3
    assert np.linalg.norm(np.diff(rows, axis=0), axis=1).max() / 0.004 < 0.42
    speeds = np.linalg.norm(np.diff(rows[::2], axis=0), axis=1)
    assert speeds[20:-40].min() > 0  # no halt
    lab.perform(arm.move_tool(Pose.from_xyz_rpy([0.4, -0.2, 0.3], DOWN)))
    start_s = lab.clock.time_s
    for pose in CORNERS:
        lab.perform(arm.move_tool_straight(pose, LineSpeed(0.4)))
    assert through_s < lab.clock.time_s - start_s


def test_a_robot_follows_cartesian_trajectories_and_timed_paths(set_points):
    lab, _ = set_points
    arm = lab.robots["arm"]
    lab.perform(arm.move_tool(Pose.from_xyz_rpy([0.4, -0.2, 0.3], DOWN)))
    poses = [arm.ring.flange_for_tool(pose) for pose in (Pose.from_xyz_rpy([0.4, -0.2, 0.3], DOWN), *CORNERS)]
    for trajectory in (linear(poses, 0.25, 0.5, 0.3), blended(poses, 0.25, 0.5, 0.03, 0.3)):
        motion = CartesianMotion(arm.kinematics, arm._servo.set_point_rad, trajectory)
        start_s = lab.clock.time_s
        lab.perform(arm.follow(motion))
        assert lab.clock.time_s - start_s == pytest.approx(motion.duration_s, abs=0.015)
        lab.advance(0.05)
        assert arm.tool_in_world.is_close(CORNERS[-1], tolerance_m=1e-3, tolerance_rad=1e-2)
        lab.perform(arm.move_tool(Pose.from_xyz_rpy([0.4, -0.2, 0.3], DOWN)))
    pytest.importorskip("toppra", reason="the extra 'motion' is not installed")
    here = arm._servo.set_point_rad
    lab.perform(arm.follow(TimedPath(arm.kinematics.arm, [here, here + 0.1, REACH_RAD])))
    lab.advance(0.05)
    assert arm.joints_rad == pytest.approx(REACH_RAD, abs=1e-5)


@pytest.mark.parametrize("through", [False, True], ids=["straight", "through"])
def test_the_tool_is_on_the_line_even_while_it_turns(open_lab, through):
    lab = open_lab(fidelity="kinematic")
    arm, tips = lab.robots["arm"], []
    start = Pose.from_xyz_rpy([0.4, -0.1, 0.25], [np.pi, 0.3, 0])
    goal = Pose.from_xyz_rpy([0.4, 0.1, 0.25], [np.pi, -0.3, 0])
    lab.perform(arm.move_tool(start))
    lab.stepper.every(2, lambda: tips.append(arm.tool_in_world.position), order=35, name="watch")
    if through:
        lab.perform(arm.move_through([goal], LineSpeed(0.2), 0.02))
    else:
        lab.perform(arm.move_tool_straight(goal, LineSpeed(0.2)))
    assert np.abs(np.array(tips)[:, [0, 2]] - [0.4, 0.25]).max() < 1e-4
    assert np.array(tips)[-1, 1] == pytest.approx(0.1, abs=1e-3)
