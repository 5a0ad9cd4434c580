"""Time-optimal runs along joint paths: limits, tolerance, optimality."""

import sys
from itertools import pairwise

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, MissingExtra, OutOfRange
from cellwright.motion import JointLimits, JointMove, TimedPath

NAMES = ("lr_mate_200id", "sia20f", "ur5")


def waypoints(name: str, count: int, seed: int = 3) -> np.ndarray:
    home = np.array(ROBOTS.get(name).home_rad)
    return home + np.vstack([home * 0, np.random.default_rng(seed).uniform(-0.6, 0.6, (count - 1, len(home)))])


def shares(path: TimedPath, name: str) -> tuple[float, float]:
    limits = JointLimits.of(ROBOTS.get(name))
    times = np.linspace(0, path.duration_s, 3000)
    velocity = np.array([path.at(t)[1] for t in times])
    acceleration = np.diff(velocity, axis=0) / times[1]
    return (
        float((np.abs(velocity) / limits.velocity_radps).max()),
        float((np.abs(acceleration) / limits.acceleration_radps2).max()),
    )


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "toppra", None)
    monkeypatch.setitem(sys.modules, "toppra.algorithm", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cellwright\[motion\]'"):
        TimedPath(ROBOTS.get("ur5"), waypoints("ur5", 3))


class TestWithToppra:
    @pytest.fixture(autouse=True)
    def _needs_toppra(self):
        pytest.importorskip("toppra", reason="the extra 'motion' is not installed")

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("count", [2, 4, 7])
    def test_limits_hold_and_one_of_them_is_used(self, name, count):
        rows = waypoints(name, count)
        path = TimedPath(ROBOTS.get(name), rows, acceleration_scale=1.0)
        velocity, acceleration = shares(path, name)
        assert velocity <= 1.001
        assert 0.98 <= acceleration <= 1.001
        assert 0.78 <= shares(TimedPath(ROBOTS.get(name), rows), name)[1] <= 0.801  # a reserve for stops
        assert path.at(0.0)[0] == pytest.approx(rows[0], abs=1e-9)
        assert path.at(path.duration_s + 1)[0] == pytest.approx(rows[-1], abs=1e-9)
        for time_s in (0.0, path.duration_s - 1e-9, path.duration_s + 1):
            assert np.abs(path.at(time_s)[1]).max() < 1e-6
        times = np.linspace(0.01, path.duration_s - 0.01, 50)
        slopes = [(path.at(t + 1e-6)[1] - path.at(t - 1e-6)[1]) / 2e-6 for t in times]
        assert np.array([path.acceleration(t) for t in times]) == pytest.approx(np.array(slopes), abs=1e-2)

    def test_the_curve_stays_near_the_lines_that_were_checked(self):
        rows = waypoints("ur5", 6)
        wide, narrow = (TimedPath(ROBOTS.get("ur5"), rows, tolerance_rad=t) for t in (0.2, 0.005))
        assert narrow.deviation_rad <= 0.005 < wide.deviation_rad <= 0.2
        lines = np.vstack([a + (b - a) * np.linspace(0, 1, 400)[:, None] for a, b in pairwise(rows)])
        for time_s in np.linspace(0, narrow.duration_s, 400):
            assert np.linalg.norm(lines - narrow.at(time_s)[0], axis=1).min() < 0.005 + 2e-3

    def test_it_is_faster_than_halting_at_every_waypoint_with_jerk_limits(self):
        rows = waypoints("sia20f", 5)
        arm = ROBOTS.get("sia20f")
        halting_s = sum(JointMove(arm, a, b).duration_s for a, b in pairwise(rows))
        assert TimedPath(arm, rows).duration_s < 0.95 * halting_s

    def test_one_joint_over_one_line_takes_the_time_of_the_triangle(self):
        arm = ROBOTS.get("ur5")
        start = np.array(arm.home_rad)
        goal = start + np.array([0.4, 0, 0, 0, 0, 0])
        acceleration = arm.joints[0].acceleration_limit_radps2
        whole = TimedPath(arm, [start, goal], acceleration_scale=1.0)
        assert whole.duration_s == pytest.approx(2 * np.sqrt(0.4 / acceleration), rel=1e-3)
        half = TimedPath(arm, [start, goal], acceleration_scale=0.25)
        assert half.duration_s == pytest.approx(4 * np.sqrt(0.4 / acceleration), rel=1e-3)

    def test_scales_scale(self):
        rows = waypoints("lr_mate_200id", 4)
        arm = ROBOTS.get("lr_mate_200id")
        path = TimedPath(arm, rows, velocity_scale=0.2, acceleration_scale=0.1)
        velocity, acceleration = shares(path, arm.name)
        assert velocity <= 0.2002
        assert acceleration <= 0.1002
        for scales in ((0.0, 1.0), (1.0, 1.5), (np.nan, 1.0)):
            with pytest.raises(OutOfRange, match="scale is"):
                TimedPath(arm, rows, *scales)

    def test_repeated_waypoints_and_standing_still(self):
        arm = ROBOTS.get("ur5")
        rows = waypoints("ur5", 3)
        doubled = TimedPath(arm, [rows[0], rows[0], rows[1], rows[2], rows[2]])
        assert doubled.duration_s == pytest.approx(TimedPath(arm, rows).duration_s)
        still = TimedPath(arm, [rows[0], rows[0]])
        assert still.duration_s == 0
        assert still.at(0.5)[0] == pytest.approx(rows[0])
        with pytest.raises(BadInput, match="at least 1 waypoint"):
            TimedPath(arm, [])


def test_a_corner_on_a_joint_s_limit_is_not_swung_over():
    arm = ROBOTS.get("ur5")
    high = arm.joints[5].position_limits_rad[1]
    corners = [[0, -1, 1, 0, 1, high], [0.3, -1.2, 1, 0, 1, high], [0.6, -1, 1.5, 0.2, 1, 0.0]]
    path = TimedPath(arm, corners, 0.5, 0.5)
    rows = np.array([path.at(time_s)[0] for time_s in np.linspace(0, path.duration_s, 2000)])
    assert rows[:, 5].max() <= high
    assert np.abs(np.diff(rows, axis=0)).max() < 0.01
