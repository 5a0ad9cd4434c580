"""Tick by tick along a path: whatever is asked of it at any moment, limits hold and nothing jumps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import (
    ArmKinematics,
    JointLimits,
    JointMove,
    JointSample,
    LineMove,
    LineSpeed,
    PathFollower,
    PathMotion,
    RunState,
    StopCategory,
)
from cellwright.motion.joint_brake import BRAKE_ACCELERATION, BRAKE_JERK

PERIOD_S = 0.004
LONGEST_TICKS = 20_000
NAMES = ("lr_mate_200id", "sia20f", "ur5")


def make_line(name: str) -> PathMotion:
    kinematics = ArmKinematics(ROBOTS.get(name))
    start = np.array(kinematics.arm.home_rad)
    goal = kinematics.forward(start) @ Pose.from_xyz_rpy([0.1, 0.08, -0.05], [0.1, -0.1, 0.4])
    return LineMove(kinematics, start, goal, LineSpeed(speed_mps=1.0, acceleration_mps2=8, jerk_mps3=80, turn_radps=3))


def make_joint_move(name: str, speed: float = 1.0) -> PathMotion:
    arm = ROBOTS.get(name)
    start = np.array(arm.home_rad)
    return JointMove(arm, start, start + np.linspace(-0.7, 0.8, len(start)), speed)


MOTIONS = {f"{name} line": make_line(name) for name in NAMES}
MOTIONS |= {f"{name} joints": make_joint_move(name) for name in NAMES}
MOTIONS["slow joints"] = make_joint_move("ur5", 0.3)
motions = pytest.mark.parametrize("motion", MOTIONS.values(), ids=list(MOTIONS))


def run(follower: PathFollower, ticks: int) -> list[JointSample]:
    return [follower.tick() for _ in range(ticks)]


def run_to_rest(follower: PathFollower) -> list[JointSample]:
    samples = []
    while not follower.at_rest:
        samples.append(follower.tick())
        assert len(samples) < LONGEST_TICKS
    return samples


def check(motion: PathMotion, samples: list[JointSample], braked: bool = False) -> None:
    """Limits of every joint, a brake's where one was used, and that each derivative is the slope of the one before."""
    limits = JointLimits.of(motion.arm)
    if braked:
        brake = limits.acceleration_radps2 * BRAKE_ACCELERATION, limits.jerk_radps3 * BRAKE_JERK
        limits = JointLimits(limits.velocity_radps, *brake)
    position = np.array([s.position_rad for s in samples])
    velocity = np.array([s.velocity_radps for s in samples])
    acceleration = np.array([s.acceleration_radps2 for s in samples])
    assert (np.abs(velocity) <= limits.velocity_radps * 1.0001 + 1e-9).all()
    assert (np.abs(acceleration) <= limits.acceleration_radps2 * 1.0001 + 1e-9).all()
    jerk = np.diff(acceleration, axis=0) / PERIOD_S
    assert (np.abs(jerk) <= limits.jerk_radps3 * 1.001 + 1e-6).all()
    moved = np.diff(position, axis=0) - (velocity[1:] + velocity[:-1]) / 2 * PERIOD_S
    assert np.abs(moved).max() <= limits.jerk_radps3.max() * PERIOD_S**3
    sped = np.diff(velocity, axis=0) - (acceleration[1:] + acceleration[:-1]) / 2 * PERIOD_S
    assert np.abs(sped).max() <= limits.jerk_radps3.max() * PERIOD_S**2


def farthest_from_path(motion: PathMotion, samples: list[JointSample]) -> float:
    rows = np.array([motion.path.at(f)[0] for f in np.linspace(0, 1, 4001)])
    return max(float(np.abs(rows - s.position_rad).max(axis=1).min()) for s in samples)


@motions
def test_undisturbed_it_is_the_motion_itself(motion):
    follower = PathFollower(motion, PERIOD_S)
    for turn in range(1, int(motion.duration_s / PERIOD_S) + 2):
        sample = follower.tick()
        position, velocity = motion.at(turn * PERIOD_S)
        assert sample.position_rad == pytest.approx(position, abs=1e-8)
        assert sample.velocity_radps == pytest.approx(velocity, abs=1e-6)
        if follower.state is not RunState.DONE:
            assert sample.acceleration_radps2 == pytest.approx(motion.acceleration(turn * PERIOD_S), abs=1e-5)
    assert follower.state is RunState.DONE
    assert follower.at_rest
    assert follower.tick() is sample


@motions
@pytest.mark.parametrize("category", list(StopCategory), ids=lambda c: c.value)
@pytest.mark.parametrize("many", [50, pytest.param(500, marks=pytest.mark.long)])
def test_it_stops_at_any_instant_within_all_limits(motion, category, many):
    """Random instants of every motion."""
    instants = np.random.default_rng(7).uniform(0, motion.duration_s, many)
    last = int(motion.duration_s / PERIOD_S)
    for ticks in sorted({int(t / PERIOD_S) for t in instants}):
        follower = PathFollower(motion, PERIOD_S)
        before = [follower.sample, *run(follower, min(ticks, last))]
        follower.stop(category)
        after = run_to_rest(follower)
        assert follower.state in (RunState.STOPPED, RunState.DONE)
        check(motion, (before + after)[-len(after) - 3 :], category is StopCategory.IMMEDIATE)
        final = follower.tick()
        assert np.abs(final.velocity_radps).max() < 1e-7
        assert np.abs(final.acceleration_radps2).max() < 1e-6


@motions
def test_soft_stops_stay_on_the_path_and_hard_ones_are_shorter(motion):
    ticks = int(motion.duration_s / PERIOD_S * 0.12)
    taken = {}
    for category in StopCategory:
        follower = PathFollower(motion, PERIOD_S)
        run(follower, ticks)
        follower.stop(category)
        samples = run_to_rest(follower)
        taken[category] = len(samples)
        if category is not StopCategory.IMMEDIATE:
            assert follower.fraction < 1
            assert farthest_from_path(motion, samples) < 1e-3
    assert taken[StopCategory.IMMEDIATE] < 0.7 * taken[StopCategory.FAST]
    assert taken[StopCategory.FAST] <= taken[StopCategory.NORMAL]
    if motion is MOTIONS["slow joints"]:  # there the motion itself leaves most of the limits unused
        assert taken[StopCategory.FAST] < 0.7 * taken[StopCategory.NORMAL]


@pytest.mark.parametrize("name", NAMES)
def test_an_immediate_stop_on_the_way_to_the_limits_stays_within_them(name):
    arm = ROBOTS.get(name)
    upper = np.array([j.position_limits_rad[1] for j in arm.joints])
    motion = JointMove(arm, upper - np.linspace(0.3, 1.0, len(upper)), upper)
    for ticks in range(1, int(motion.duration_s / PERIOD_S), 3):
        follower = PathFollower(motion, PERIOD_S)
        run(follower, ticks)
        follower.stop(StopCategory.IMMEDIATE)
        assert all((sample.position_rad <= upper + 1e-9).all() for sample in run_to_rest(follower))


@motions
def test_a_stopped_line_is_still_a_line(motion):
    if not isinstance(motion, LineMove):
        return
    kinematics = ArmKinematics(motion.arm)
    start, goal = (kinematics.forward(motion.path.at(f)[0]).position for f in (0.0, 1.0))
    along = (goal - start) / np.linalg.norm(goal - start)
    follower = PathFollower(motion, PERIOD_S)
    run(follower, 30)
    follower.stop(StopCategory.FAST)
    for sample in run_to_rest(follower):
        away = kinematics.forward(sample.position_rad).position - start
        assert np.linalg.norm(away - along * (away @ along)) < 1e-4


events = st.lists(
    st.tuples(st.integers(1, 120), st.sampled_from(["pause", "resume", 0.0, 0.05, 0.3, 0.7, 1.0])), max_size=8
)


@pytest.mark.parametrize("name", MOTIONS)
@given(events=events, category=st.sampled_from([None, *StopCategory]))
@settings(max_examples=25, deadline=None)
def test_whatever_happens_nothing_jumps(name, events, category):
    motion = MOTIONS[name]
    follower = PathFollower(motion, PERIOD_S)
    samples = [follower.sample]
    for ticks, event in events:
        samples += run(follower, ticks)
        if event == "pause":
            follower.pause()
        elif event == "resume":
            follower.resume()
        else:
            follower.override = event
    if category is not None:
        follower.stop(category)
    else:
        follower.resume()
        follower.override = 1.0
    samples += run_to_rest(follower)
    check(motion, samples, category is StopCategory.IMMEDIATE)
    assert follower.state in (RunState.DONE, RunState.STOPPED)
    if category is None:
        assert follower.state is RunState.DONE
        assert samples[-1].position_rad == pytest.approx(motion.path.at(1.0)[0], abs=1e-9)


@motions
def test_a_pause_rests_on_the_path_and_goes_on(motion):
    follower = PathFollower(motion, PERIOD_S)
    run(follower, int(motion.duration_s / PERIOD_S * 0.12))
    follower.pause()
    run_to_rest(follower)
    where = follower.sample.position_rad
    assert 0 < follower.fraction < 1
    assert run(follower, 50)[-1].position_rad == pytest.approx(where, abs=1e-12)
    follower.resume()
    assert not follower.at_rest
    run_to_rest(follower)
    assert follower.state is RunState.DONE


def test_an_override_is_the_share_of_the_speed():
    motion = make_joint_move("sia20f")
    top = max(np.abs(s.velocity_radps).max() for s in run_to_rest(PathFollower(motion, PERIOD_S)))
    quarter = run_to_rest(PathFollower(motion, PERIOD_S, override=0.25))
    assert max(np.abs(s.velocity_radps).max() for s in quarter) == pytest.approx(0.25 * top, rel=0.02)
    held = PathFollower(motion, PERIOD_S, override=0.0)
    assert held.at_rest
    assert run(held, 20)[-1].position_rad == pytest.approx(motion.path.at(0.0)[0])
    held.override = 1.0
    run_to_rest(held)
    assert held.state is RunState.DONE


@pytest.mark.parametrize("share", [-0.1, 1.01, np.nan])
def test_an_override_is_between_0_and_1(share):
    follower = PathFollower(make_joint_move("ur5"), PERIOD_S)
    with pytest.raises(OutOfRange, match="speed override is"):
        follower.override = share
