"""Waypoints with halts and with rounded corners: durations of the ROVI paper's logs, shapes, limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics, blended, linear
from cellwright.motion.interpolation import Trapezoid

DEMO = [Pose.from_xyz_rpy([x, y, 0.0]) for x, y in [(0, 0), (1, 0), (2, 1), (1, 2)]]
LOGGED_S = {0.15: (22.853, 17.333), 0.40: (20.567, 15.152), 0.65: (19.190, 13.877)}
TEXT_LINEAR_S = {0.15: 26.92, 0.40: 25.31, 0.65: 24.00}


def rovi_waypoints(pick_x_m: float) -> list[Pose]:
    """Flange poses in the base frame: home, four on the way, before the bottle, at the bottle."""
    home = ArmKinematics(ROBOTS.get("ur5")).forward([1.57, -1.57, 1.57, 1.57, 1.57, 0.0])
    base, tcp, grasp = np.array([0.40, 0.55, 0.74]), np.array([0.0, 0.1507, 0.0]), np.array([0.0, 0.0, 0.1])
    pick = np.array([pick_x_m, 1.05, 0.75]) + grasp
    world = [(0.65, 0.6, 1.20), (0.65, 0.6, 1.00), (0.65, 0.7, 0.80), (0.65, 0.8, 0.80), pick - [0, 0.1, 0], pick]
    return [home, *(Pose.from_xyz_rpy(np.array(point) - base - tcp, [-np.pi / 2, 0.0, 0.0]) for point in world)]


@pytest.mark.parametrize("pick_x_m", LOGGED_S)
def test_durations_are_those_of_the_papers_logs(pick_x_m):
    points = rovi_waypoints(pick_x_m)
    straight_s, rounded_s = LOGGED_S[pick_x_m]
    assert linear(points, 0.1, 0.1, 0.001).duration_s == pytest.approx(straight_s, abs=2e-3)
    assert blended(points, 0.1, 0.1, 0.05, 0.001).duration_s == pytest.approx(rounded_s, abs=2e-3)


@pytest.mark.parametrize("pick_x_m", TEXT_LINEAR_S)
def test_the_limits_in_the_papers_text_give_other_durations_and_impossible_corners(pick_x_m):
    points = rovi_waypoints(pick_x_m)
    assert linear(points, 0.2, 0.05).duration_s == pytest.approx(TEXT_LINEAR_S[pick_x_m], abs=0.01)
    with pytest.raises(
        BadInput, match=r"radius of 0\.2 m does not fit between waypoints 3 and 4, allowed below 0\.\d+"
    ):
        blended(points, 0.2, 0.05, 0.2)


def test_the_papers_demonstration_path():
    assert linear(DEMO, 0.2, 0.05, 0.01).duration_s == pytest.approx(31.142, abs=1e-3)
    assert blended(DEMO, 0.2, 0.05, 0.2, 0.01).duration_s == pytest.approx(22.670, abs=1e-3)


def test_a_straight_path_halts_at_every_waypoint_and_a_rounded_one_at_none():
    halts = linear(DEMO, 0.2, 0.05)
    times = np.cumsum([9.0, np.sqrt(2) / 0.2 + 4])
    for time_s, point in zip(times, DEMO[1:3], strict=True):
        sample = halts.at(time_s)
        assert sample.pose.position == pytest.approx(point.position, abs=1e-9)
        assert np.abs(sample.velocity).max() < 1e-9
    rounded = blended(DEMO, 0.2, 0.05, 0.2)
    inner = np.linspace(4.0, rounded.duration_s - 4.0, 300)
    speeds = [np.linalg.norm(rounded.at(t).velocity[:3]) for t in inner]
    assert speeds == pytest.approx([0.2] * 300, abs=1e-9)


def test_a_corner_is_an_arc_of_the_radius():
    rounded = blended(DEMO, 0.2, 0.05, 0.2)
    samples = [rounded.at(t) for t in np.linspace(0, rounded.duration_s, 2000)]
    sideways = []
    for sample in samples:
        v, a = sample.velocity[:3], sample.acceleration[:3]
        speed = np.linalg.norm(v)
        if speed > 0.199:
            sideways.append(np.linalg.norm(np.cross(v, a)) / speed**3)
    assert max(sideways) == pytest.approx(1 / 0.2, rel=1e-9)
    assert min(sideways) == pytest.approx(0, abs=1e-9)
    corner = DEMO[2].position
    nearest = min(float(np.linalg.norm(s.pose.position - corner)) for s in samples)
    assert nearest == pytest.approx(0.2 * (np.sqrt(2) - 1), abs=1e-5)


coordinates = st.tuples(*[st.floats(-1, 1)] * 3)
poses = st.builds(Pose.from_xyz_rpy, coordinates, coordinates)


@given(st.lists(poses, min_size=2, max_size=5), st.booleans(), st.sampled_from([0.001, 0.3]))
@settings(max_examples=60, deadline=None)
def test_velocity_and_acceleration_are_derivatives_and_keep_their_limits(points, rounded, equal_m):
    try:
        way = blended(points, 0.3, 0.5, 0.02, equal_m) if rounded else linear(points, 0.3, 0.5, equal_m)
    except BadInput:
        return
    if way.length_m < 1e-3:
        return
    assert way.at(0.0).pose.is_close(points[0], tolerance_m=1e-9, tolerance_rad=1e-7)
    assert way.at(way.duration_s + 1).pose.is_close(points[-1], tolerance_m=1e-9, tolerance_rad=1e-7)
    step_s = 1e-4
    for time_s in np.linspace(0.05, 0.95, 19) * way.duration_s:
        before, now, after = (way.at(time_s + d) for d in (-step_s, 0.0, step_s))
        if np.abs(after.velocity - before.velocity).max() > 0.01:  # where turn and line change places as the longer way
            continue
        moved = (after.pose.position - before.pose.position) / (2 * step_s)
        assert moved == pytest.approx(now.velocity[:3], abs=2e-3)
        turned = (after.pose @ before.pose.inverse()).log()[3:] / (2 * step_s)
        assert turned == pytest.approx(now.velocity[3:], abs=0.6 * step_s / equal_m + 1e-6)
        assert np.linalg.norm(now.velocity[:3]) <= 0.3 + 1e-9
        assert equal_m * np.linalg.norm(now.velocity[3:]) <= 0.3 + 1e-9


def test_a_turn_on_the_spot_is_as_long_as_its_angle_times_the_radius():
    points = [Pose.from_xyz_rpy([0, 0, 0]), Pose.from_xyz_rpy([0, 0, 0], [0, 0, 1.5])]
    assert linear(points, 0.2, 0.05, 0.4).length_m == pytest.approx(0.6)
    assert linear([points[0], points[0]], 0.2, 0.05).duration_s == 0


@given(st.floats(1e-4, 10), st.floats(1e-2, 2), st.floats(1e-2, 5))
def test_a_trapezoid_covers_its_length(length_m, speed, acceleration):
    profile = Trapezoid(length_m, speed, acceleration)
    times = np.linspace(0, profile.duration_s, 2001)
    ways, speeds, _ = np.array([profile.at(t) for t in times]).T
    assert ways[-1] == pytest.approx(length_m)
    assert (np.diff(ways) >= -1e-12).all()
    assert speeds.max() <= speed * (1 + 1e-9)
    assert speeds[[0, -1]] == pytest.approx([0, 0], abs=1e-9)
    assert np.trapezoid(speeds, times) == pytest.approx(length_m, rel=1e-3)


def test_what_cannot_be_interpolated_is_one_line():
    there, back = Pose.from_xyz_rpy([0, 0, 0]), Pose.from_xyz_rpy([1, 0, 0])
    with pytest.raises(BadInput, match="at least 2 waypoints, got 1"):
        linear([there], 0.1, 0.1)
    with pytest.raises(BadInput, match="turns back on itself at waypoint 1"):
        blended([there, back, there], 0.1, 0.1, 0.05)
    with pytest.raises(BadInput, match="waypoints 1 and 2 lie at one place"):
        blended([there, back, back], 0.1, 0.1, 0.05)
    with pytest.raises(OutOfRange, match="speed of the interpolation"):
        linear([there, back], 0.0, 0.1)
    with pytest.raises(OutOfRange, match="blend radius"):
        blended(DEMO, 0.1, 0.1, 0.0)
