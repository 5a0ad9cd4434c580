"""What a controller is given to follow when a motion is stopped, paused or slowed down at any of its rows."""

from copy import copy
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.control import reference_buffer
from cellwright.control.reference_buffer import ReferenceBuffer
from cellwright.core.pose import Pose
from cellwright.motion import (
    ArmKinematics,
    JointLimits,
    JointMove,
    LineMove,
    LineSpeed,
    Motion,
    RunState,
    StopCategory,
    ThroughMove,
    TimedPath,
    make_follower,
)
from cellwright.motion.joint_brake import BRAKE_ACCELERATION, BRAKE_JERK

PERIOD_S = 0.004
ARM = ROBOTS.get("lr_mate_200id")
KINEMATICS = ArmKinematics(ARM)
HOME = np.array(ARM.home_rad)
LIMITS = JointLimits.of(ARM)
FAR = HOME + np.array([1.2, 0.4, -0.5, 0.8, 0.7, -1.5])
BRISK = LineSpeed(speed_mps=1.0, acceleration_mps2=8, jerk_mps3=80, turn_radps=3)


class Swing:
    """Somebody's own motion, of which only positions and velocities over time are known."""

    def __init__(self, share: float = 0.75) -> None:
        way = np.abs(FAR - HOME)
        limits = (
            (1.875, LIMITS.velocity_radps, 1),
            (5.774, LIMITS.acceleration_radps2, 2),
            (60.0, LIMITS.jerk_radps3, 3),
        )
        self.duration_s = max(float((peak * way / most).max()) ** (1 / power) for peak, most, power in limits) / share

    def at(self, time_s: float):
        x = min(max(time_s / self.duration_s, 0.0), 1.0)
        rate = 30 * x**2 * (1 - x) ** 2 / self.duration_s
        return HOME + (FAR - HOME) * (10 * x**3 - 15 * x**4 + 6 * x**5), (FAR - HOME) * rate


def make_motions() -> dict[str, Motion]:
    pose = KINEMATICS.forward(HOME)
    goal = pose @ Pose.from_xyz_rpy([0.1, 0.08, -0.05], [0.1, -0.1, 0.4])
    corners = [Pose(pose.position + shift, pose.quaternion) for shift in ([0, 0.15, 0], [0, 0.15, -0.1])]
    return {
        "joints": JointMove(ARM, HOME, FAR),
        "slow joints": JointMove(ARM, HOME, FAR, 0.3),
        "line": LineMove(KINEMATICS, HOME, goal, BRISK),
        "through": ThroughMove(KINEMATICS, HOME, corners, BRISK, 0.03),
        "swing": Swing(),
    }


MOTIONS = make_motions()


def played(motion: Motion, *orders, ahead: bool = True) -> tuple[np.ndarray, ReferenceBuffer]:
    """All rows that a controller has had when orders come after so many rows each, and how it ended."""
    run = ReferenceBuffer(make_follower(motion, ARM, PERIOD_S), ahead=ahead)
    had = []
    for count, order in orders:
        while count > len(run.rows) and not run.complete:
            had.append(run.rows[: len(run.rows) - 50])
            count -= len(run.rows) - 50
            assert run.extend(len(run.rows) - 50)
        had.append(run.rows[:count])
        run.change(count, order)
    while not run.complete:
        had.append(run.rows[:-50])
        assert run.extend(len(run.rows) - 50)
    return np.concatenate([*had, run.rows]), run


def ordered_at(motion: Motion, whole: ReferenceBuffer, count: int, order) -> tuple[np.ndarray, ReferenceBuffer]:
    """The same for one order in a motion that was run through before, which need not be done again."""
    run = copy(whole)
    run._follower = make_follower(motion, ARM, PERIOD_S)
    run.change(count, order)
    assert run.complete
    return np.concatenate([whole.rows[:count], run.rows]), run


def check(rows: np.ndarray, *, braked: bool = False, jerk: bool = True) -> None:
    """Limits, and that every column is the slope of the one before it: nothing jumps."""
    position, velocity, acceleration = rows.transpose(1, 0, 2)
    lower, upper = np.array([j.position_limits_rad for j in ARM.joints]).T
    harder, shaken = (BRAKE_ACCELERATION, BRAKE_JERK) if braked else (1, 1)
    most_a, most_j = LIMITS.acceleration_radps2 * harder, LIMITS.jerk_radps3 * shaken
    assert (position >= lower - 1e-9).all()
    assert (position <= upper + 1e-9).all()
    assert (np.abs(velocity) <= LIMITS.velocity_radps * 1.0001).all()
    assert (np.abs(acceleration) <= most_a * 1.001).all()
    assert (np.abs(np.diff(velocity, axis=0)) <= most_a * PERIOD_S * 1.001).all()
    step = np.diff(position, axis=0)
    assert (np.abs(step - velocity[1:] * PERIOD_S) <= most_a * PERIOD_S**2).all()
    if jerk:
        assert (np.abs(np.diff(acceleration, axis=0)) <= most_j * PERIOD_S * 1.002 + 1e-9).all()
    assert np.abs(velocity[-1]).max() < 1e-6


@cache
def polygon(motion: Motion) -> np.ndarray:
    """Many points of a motion's path."""
    path = getattr(motion, "path", None)
    return np.array([path.at(s)[0] if path else motion.at(s * motion.duration_s)[0] for s in np.linspace(0, 1, 1501)])


def distance(motion: Motion, rows: np.ndarray) -> float:
    """The farthest that positions are from the path, reckoned to the chords of a dense polygon on it."""
    dense, farthest = polygon(motion), 0.0
    for position in rows[:, 0]:
        near = int(((dense - position) ** 2).sum(axis=1).argmin())
        chords = dense[max(near - 1, 0) : near + 2]
        way = np.diff(chords, axis=0)
        along = np.einsum("ij,ij->i", position - chords[:-1], way) / ((way**2).sum(axis=1) + 1e-30)
        off = position - chords[:-1] - np.clip(along, 0, 1)[:, None] * way
        farthest = max(farthest, float(np.linalg.norm(off, axis=1).min()))
    return farthest


@pytest.mark.parametrize("name", MOTIONS)
def test_undisturbed_the_rows_are_the_motion(name):
    motion = MOTIONS[name]
    for ahead in (True, False):
        rows, run = played(motion, ahead=ahead)
        assert run.state is RunState.DONE
        wanted = np.array([motion.at((k + ahead) * PERIOD_S)[0] for k in range(len(rows))])
        assert rows[:, 0] == pytest.approx(wanted, abs=1e-7)
        assert len(rows) == pytest.approx(motion.duration_s / PERIOD_S, abs=2)
        check(rows)


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("category", list(StopCategory), ids=lambda c: c.value)
def test_stopped_at_random_instants_limits_hold_the_path_is_kept_and_nothing_jumps(name, category):
    """200 instants of motions of every kind, for each category."""
    motion = MOTIONS[name]
    whole = played(motion)[1]
    farthest, hard = 0.0, category is StopCategory.IMMEDIATE
    for number, count in enumerate(np.random.default_rng(11).integers(0, len(whole.rows), 40)):
        rows, run = ordered_at(motion, whole, int(count), lambda follower: follower.stop(category))
        assert run.state in (RunState.STOPPED, RunState.DONE)
        check(rows, braked=hard)
        if not hard and number % 8 == 0:
            farthest = max(farthest, distance(motion, rows[-40:]))
    assert farthest < 1e-6


@pytest.mark.parametrize("name", MOTIONS)
def test_paused_and_resumed_at_random_instants_it_ends_at_the_goal(name):
    motion = MOTIONS[name]
    whole = len(played(motion)[0])
    goal = np.asarray(motion.at(motion.duration_s)[0])
    for first, second in np.random.default_rng(5).integers(1, whole, (6, 2)):
        orders = (int(first), lambda f: f.pause()), (int(second), lambda f: f.resume())
        rows, run = played(motion, *orders)
        assert run.state is RunState.DONE
        check(rows)
        assert rows[-1, 0] == pytest.approx(goal, abs=1e-9)


ORDERS = {
    "pause": lambda f: f.pause(),
    "resume": lambda f: f.resume(),
    **{str(share): lambda f, share=share: setattr(f, "override", share) for share in (0.0, 0.1, 0.5, 1.0)},
}
orders = st.lists(st.tuples(st.integers(0, 120), st.sampled_from(sorted(ORDERS))), max_size=6)


@pytest.mark.parametrize("name", MOTIONS)
@given(orders=orders, category=st.sampled_from([None, StopCategory.NORMAL, StopCategory.FAST]), ahead=st.booleans())
@settings(max_examples=6, deadline=None)
def test_whatever_is_ordered_nothing_jumps(name, orders, category, ahead):
    motion = MOTIONS[name]
    given_orders = [(count, ORDERS[order]) for count, order in orders]
    if category is None:
        given_orders += [(30, ORDERS["resume"]), (0, ORDERS["1.0"])]
    else:
        given_orders.append((30, lambda f: f.stop(category)))
    rows, run = played(motion, *given_orders, ahead=ahead)
    check(rows)
    if category is None:
        assert run.state is RunState.DONE
        assert rows[-1, 0] == pytest.approx(np.asarray(motion.at(motion.duration_s)[0]), abs=1e-9)


def test_an_override_changes_the_pace_and_not_the_path():
    motion = MOTIONS["swing"]
    whole = len(played(motion)[0])
    rows, run = played(motion, (whole // 2, ORDERS["0.5"]))
    assert run.state is RunState.DONE
    assert 1.3 * whole < len(rows) < 1.7 * whole
    assert distance(motion, rows[::10]) < 1e-6


def test_a_creeping_motion_is_made_in_portions(monkeypatch):
    motion = MOTIONS["joints"]
    rows, run = played(motion, (20, lambda f: setattr(f, "override", 0.02)))
    assert len(rows) > 3 * reference_buffer.CHUNK_ROWS
    assert len(run.rows) <= reference_buffer.CHUNK_ROWS + reference_buffer.MARGIN_ROWS
    check(rows)
    monkeypatch.setattr(reference_buffer, "CHUNK_ROWS", 10**6)
    at_once, _ = played(motion, (20, lambda f: setattr(f, "override", 0.02)))
    assert (at_once == rows).all()  # to the last bit


class TestWithToppra:
    """A motion without a jerk limit: stops keep to what it leaves of the accelerations."""

    @pytest.fixture(autouse=True)
    def _needs_toppra(self):
        pytest.importorskip("toppra", reason="the extra 'motion' is not installed")

    @staticmethod
    def make(scale: float | None) -> TimedPath:
        rows = HOME + np.vstack([HOME * 0, np.random.default_rng(3).uniform(-0.6, 0.6, (4, len(HOME)))])
        return TimedPath(ARM, rows) if scale is None else TimedPath(ARM, rows, acceleration_scale=scale)

    @pytest.mark.parametrize("category", [StopCategory.NORMAL, StopCategory.FAST], ids=lambda c: c.value)
    def test_by_default_there_is_enough_left_to_stop_anywhere(self, category):
        motion = self.make(None)
        whole = played(motion)[1]
        for count in np.random.default_rng(2).integers(0, len(whole.rows), 6):
            rows, run = ordered_at(motion, whole, int(count), lambda f: f.stop(category))
            assert run.state is RunState.STOPPED
            check(rows, jerk=False)
            assert distance(motion, rows[-20:]) < 1e-5

    def test_without_a_reserve_a_stop_passes_the_limits_by_a_few_percent(self):
        motion = self.make(1.0)
        whole, worst = played(motion)[1], 0.0
        for count in np.random.default_rng(2).integers(0, len(whole.rows), 8):
            rows, _ = ordered_at(motion, whole, int(count), lambda f: f.stop(StopCategory.FAST))
            worst = max(worst, float((np.abs(rows[:, 2]) / LIMITS.acceleration_radps2).max()))
        assert worst < 1.05
