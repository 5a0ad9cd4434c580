"""Infrared proximity sensors: their rays, the response table, what drivers make of counts, the paper's noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import MOBILE_PROFILES, PROXIMITY_TABLE
from cellwright.cells import Cell
from cellwright.core.errors import BadInput
from cellwright.core.messages import LaserScan, Range
from cellwright.core.pose import Pose
from cellwright.sensors import check_sensor
from cellwright.sensors.proximity import counts_at, front_scan, range_of_root, range_of_table, round_scan
from cellwright.sim import World
from cellwright.sim.proximity_rays import REACH_M, cone

LIMITS_M = (0.005, 0.05)
EXACT = {"type": "proximity", "robot": "ePuck0", "counts_noise": 0.0, "rays": 1}
FLOOR = {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}}
CROWD = {
    "name": "crowd",
    "title": "Robots close to each other, to a wall and to a cube",
    "fixtures": FLOOR,
    "fidelity": "kinematic",
    "arena": {"size_m": [0.6, 0.6], "inner_walls_m": [[[0.0, -0.3], [0.0, -0.2]]]},
    "mobiles": {
        "ePuck": {"model": "epuck", "count": 12, "arrange": {"shape": "scatter", "size_m": [0.5, 0.4], "gap_m": 0.004}}
    },
    "parts": {"cube": {"model": "cube", "pose": {"xyz_m": [0.24, 0.25, 0.04]}}},
}
PAIR = {
    "name": "pair",
    "title": "One robot looks at the back of another, 30 mm before its front sensors",
    "fixtures": FLOOR,
    "fidelity": "kinematic",
    "mobiles": {
        "ePuck0": {"model": "epuck"},
        "ePuck1": {"model": "epuck", "pose": {"xyz_m": [0.035 + 0.03 + 0.037, 0.01, 0.0]}},
    },
}


@pytest.fixture(scope="module")
def crowd():
    return World(Cell.model_validate(CROWD), seed=4)


@pytest.fixture
def pair():
    return World(Cell.model_validate(PAIR), seed=1)


def cast(world, robot="ePuck0", fov_rad=0.26, rays=5):
    """Distances and geoms of a robot's rays; endless where there are none."""
    seen = world.proximity_rays(robot, fov_rad, rays).cast(robot)
    return (np.full((8, rays), np.inf), np.full((8, rays), -1)) if seen is None else seen


def test_rays_are_those_that_are_cast_one_by_one(crowd):
    near = 0
    for name, robot in crowd.mobiles.items():
        found, hits = cast(crowd, name, 0.5, 9)
        for number, site in enumerate(robot.proximity_sites):
            ways = cone(0.5, 9) @ crowd.data.site_xmat[site].reshape(3, 3).T
            expected = crowd.rays(crowd.data.site_xpos[site], ways, REACH_M, mounted_on=name)
            np.testing.assert_allclose(found[number], expected, atol=1e-9)
            assert ((hits[number] >= 0) == np.isfinite(expected)).all()
            near += int(np.isfinite(expected).any())
    assert 30 < near < 12 * 8  # some see something and some do not
    assert crowd.proximity_rays("ePuck0", 0.5, 9) is crowd.proximity_rays("ePuck7", 0.5, 9)


def test_rays_follow_what_moves_and_what_is_added(pair):
    before = cast(pair)[0][7, 0]
    pair.place("ePuck1", Pose.from_xyz_rpy([0.5, 0.5, 0.0]))
    assert np.isinf(cast(pair)[0]).all()
    pair.add("cube", "cube", Pose.from_xyz_rpy([0.035 + 0.02 + 0.04, 0.01, 0.041]))
    assert cast(pair)[0][7, 0] == pytest.approx(0.02 / np.cos(np.radians(10)), abs=1e-5)
    assert before == pytest.approx(0.030, abs=0.001)


def test_a_can_of_many_meshes_is_found_as_soon_as_it_is_within_reach(pair):
    pair.place("ePuck1", Pose.from_xyz_rpy([0.5, 0.5, 0.0]))
    pair.add("can", "coffee_can", Pose.from_xyz_rpy([0.3, 0.0, 0.2], [0.0, np.pi / 2, 0.0]))
    site = pair.mobiles["ePuck0"].proximity_sites[0]
    found = []
    for x_m in np.arange(0.30, 0.10, -0.001):  # its top comes nearer, and its bottom
        for turn in (0.5, -0.5):
            pair.place("can", Pose.from_xyz_rpy([x_m, 0.0, 0.034], [0.0, turn * np.pi, 0.0]))
            expected = pair.rays(
                pair.data.site_xpos[site],
                cone(0.1, 5) @ pair.data.site_xmat[site].reshape(3, 3).T,
                REACH_M,
                mounted_on="ePuck0",
            )
            np.testing.assert_allclose(cast(pair, fov_rad=0.1)[0][0], expected, atol=1e-9)
            found.append(np.isfinite(expected).any())
    assert 20 < sum(found) < len(found) - 20


def test_a_wheel_that_stands_out_of_the_body_hides_nothing():
    wide = {"wheel_base_m": {"distribution": "normal", "mean": 0.004, "sd": 0.0}}
    world = World(Cell.model_validate({**PAIR, "actual": wide}), seed=1)
    assert np.isinf(cast(world, fov_rad=0.5)[0][[2, 5]]).all()
    assert np.isfinite(cast(world, fov_rad=0.5)[0][7]).any()


def test_a_wide_cone_down_meets_the_floor(pair):
    away = cast(pair, fov_rad=1.4)[0]
    floor_m = 0.034 / np.sin(0.7)
    assert away[2, 4] == pytest.approx(floor_m, abs=1e-4)
    assert np.isinf(away[2, :4]).all()


@given(st.floats(0.0, 0.05))
def test_the_inverse_of_the_table_gives_the_distance(away_m):
    assert range_of_table(counts_at(np.array([away_m])))[0] == pytest.approx(away_m, abs=1e-9)


@given(st.lists(st.floats(0.0, REACH_M), min_size=2, max_size=20))
def test_what_is_farther_counts_no_more(distances):
    counts = counts_at(np.array(sorted(distances)))
    assert (np.diff(counts) <= 1e-9).all()
    assert (counts > 0).all()


def test_counts_are_those_of_the_table_and_none_for_nothing():
    away_m, counts, _ = np.array(PROXIMITY_TABLE).T
    np.testing.assert_allclose(counts_at(away_m), counts)
    assert counts_at(np.array([np.inf])).tolist() == [0.0]
    assert counts_at(np.array([0.14]))[0] == pytest.approx(67.19 / 4)  # as the inverse square beyond the table


@given(st.integers(-50, 4095), st.integers(-50, 4095))
def test_drivers_tell_half_over_the_root_within_their_limits(some, more):
    low, high = sorted((some, more))
    near_m, far_m = range_of_root(np.array([high, low]), LIMITS_M)
    assert LIMITS_M[0] <= near_m <= far_m <= LIMITS_M[1]
    if 100 <= low <= 4095:
        assert far_m == pytest.approx(max(0.5 / low**0.5, 0.005))
    if low <= 0:
        assert far_m == 0.05


def test_the_drivers_conversion_is_wrong_by_as_much_as_the_references_say():
    at_5mm, at_50mm = range_of_root(np.array([2133.33, 120.0]), LIMITS_M)
    assert (1e3 * at_5mm, 1e3 * at_50mm) == (pytest.approx(10.8, abs=0.05), pytest.approx(45.6, abs=0.05))


def test_the_scan_of_19_beams_is_that_of_the_driver():
    counts = np.array([1000, 400, 150, 50, 60, 200, 500, 900])
    beams = front_scan(counts)
    p = {number: int(count) for number, count in enumerate(counts)}

    def at(raw):
        return min(max(0.5 / raw**0.5, 0.005), 0.05) + 0.035

    expected = {
        -90: p[2],
        -80: p[2] * 4 // 5 + p[1] // 5,
        -60: p[2] * 2 // 5 + p[1] * 3 // 5,
        -40: p[1],
        -30: p[1] * 2 // 3 + p[0] // 3,
        -10: p[0],
        0: (p[0] + p[7]) // 2,
        10: p[7],
        20: p[7] * 2 // 3 + p[6] // 3,
        40: p[6],
        50: p[6] * 4 // 5 + p[5] // 5,
        90: p[5],
    }
    assert len(beams) == 19
    for angle, raw in expected.items():
        assert beams[(angle + 90) // 10] == pytest.approx(at(raw)), angle
    assert front_scan(np.zeros(8, np.int64)) == pytest.approx(np.full(19, 0.085))


def test_the_scan_of_21_beams_is_that_of_the_ros_2_driver():
    ranges = np.array([0.011, 0.012, 0.013, 0.014, 0.015, 0.016, 0.017, 0.03])
    beams = dict(zip(range(-150, 151, 15), round_scan(ranges, 0.4), strict=True))
    told = {-150: 0.014, -90: 0.013, -45: 0.012, -15: 0.011, 0: 0.4, 45: 0.017, 90: 0.016, 150: 0.015}
    assert {angle: round(away - 0.035, 9) for angle, away in beams.items() if away and angle != 15} == told
    assert beams[15] == pytest.approx(0.035)  # farther than 25 mm counts as nothing


def test_one_robot_sees_another_and_ranges_are_told_one_by_one(pair, sensor_in):
    sensor = sensor_in(pair, **EXACT)
    reading, beside = sensor.taken()
    expected = cast(pair, rays=1)[0].min(axis=1)
    assert reading.ranges_m[7] == pytest.approx(expected[7])
    assert reading.ranges_m[2:6].tolist() == [0.05] * 4
    assert reading.counts[2:6] == (0, 0, 0, 0)
    assert reading.counts[7] == round(float(counts_at(expected[7:8])[0]))
    topics = dict(beside)
    assert list(topics) == [f"/ePuck0/proximity{n}" for n in range(8)]
    assert all(isinstance(one, Range) for one in topics.values())
    last = topics["/ePuck0/proximity7"]
    assert (last.frame, last.range_m, last.max_range_m) == ("ePuck0/base_prox7", reading.ranges_m[7], 0.05)


def test_a_dark_thing_looks_farther_away_but_for_the_exact_distance(pair, sensor_in):
    dark = {"reflectance": {"ePuck1": 0.5}, "range_m": list(LIMITS_M)}
    light, half = (sensor_in(pair, **EXACT, **more).sample() for more in ({}, dark))
    assert half.counts[7] == pytest.approx(light.counts[7] / 2, abs=1)
    assert half.ranges_m[7] == light.ranges_m[7]
    told = [sensor_in(pair, **EXACT, conversion="root", **more).sample().ranges_m[7] for more in ({}, dark)]
    assert told[1] == pytest.approx(min(told[0] * 2**0.5, 0.05), rel=0.01)


def test_what_fills_a_part_of_the_cone_counts_that_part(pair, sensor_in):
    line = {**EXACT, "fov_rad": 0.9, "rays": 9}
    away = cast(pair, fov_rad=0.9, rays=9)[0][0]
    assert 0 < np.isfinite(away).sum() < 9
    expected = np.where(np.isfinite(away), counts_at(np.where(np.isfinite(away), away, 1.0)), 0.0).mean()
    assert sensor_in(pair, **line).sample().counts[0] == round(float(expected))


def test_noise_of_counts_is_that_of_the_table(pair, sensor_in):
    sensor = sensor_in(pair, **{**EXACT, "counts_noise": 1.0})
    pair.place("ePuck1", Pose.from_xyz_rpy([0.035 + 0.03 + 0.037, 0.01, 0.0]))
    away_m = cast(pair, rays=1)[0][7, 0]
    counts = np.array([sensor.sample().counts[7] for _ in range(1000)])
    share = np.interp(away_m, [row[0] for row in PROXIMITY_TABLE], [row[2] for row in PROXIMITY_TABLE])
    assert counts.std() / counts.mean() == pytest.approx(share, rel=0.1)


def test_as_many_readings_of_nothing_are_wrong_as_in_the_paper(pair, sensor_in):
    noise = MOBILE_PROFILES.get("epuck1-vrep").sensors[0]["noise"]
    pair.place("ePuck1", Pose.from_xyz_rpy([0.5, 0.5, 0.0]))
    sensor = sensor_in(pair, **{**EXACT, "noise": noise})
    errors = 0.05 - np.array([sensor.sample().ranges_m for _ in range(2000)])
    assert (errors >= 0).all()  # clamped at the largest range
    assert (errors > 0).mean() == pytest.approx(61 / 380, abs=0.012)
    assert errors[errors > 0].mean() == pytest.approx(0.00205, abs=0.0001)


def test_a_reading_does_not_depend_on_those_that_nobody_wanted(pair, sensor_in):
    line = {**EXACT, "counts_noise": 1.0, "noise": {"sd": 0.001}}
    first, second = sensor_in(pair, **line), sensor_in(pair, **line)
    for _ in range(3):
        first.sample()
    second._stream = first._stream  # both are the same line, so the same key; only the numbers count
    second.sequence = 3
    assert first.sample().ranges_m.tolist() == second.sample().ranges_m.tolist()
    assert first.is_skippable
    assert not sensor_in(pair, **line | {"noise": {"random_walk": 0.1}}).is_skippable


@pytest.mark.parametrize("profile", list(MOBILE_PROFILES))
def test_check_sensor_finds_nothing_wrong_with_the_lines_of_profiles(pair, profile):
    for line in MOBILE_PROFILES.get(profile).sensors:
        assert check_sensor({**line, "robot": "ePuck0"}, pair) == [], line["type"]


def test_scans_come_with_the_readings(pair, sensor_in):
    for kind, beams in (("front", 19), ("all_round", 21)):
        sensor = sensor_in(pair, **EXACT, scan=kind)
        scan = dict(sensor.taken()[1])["/ePuck0/scan"]
        assert isinstance(scan, LaserScan)
        assert len(scan.ranges_m) == beams
        assert sensor.other_topics["/ePuck0/scan"] is LaserScan
        assert scan.angles_rad[-1] == pytest.approx(-scan.angles_rad[0])
    assert scan.ranges_m[10] == pytest.approx(0.035 + 0.03, abs=0.003)  # ahead, by time of flight


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"range_m": [0.05, 0.005]}, "the first should be below the second"),
        ({"conversion": "square"}, "conversion"),
        ({"robot": "ePuck9"}, "unknown mobile robot 'ePuck9'; did you mean"),
        ({"noise": {"inward": True, "low": 0.2, "high": 0.1}}, "low is 0.2, above high, 0.1"),
        ({"rays": 0}, "rays"),
    ],
)
def test_mistakes_of_a_line_are_told(pair, sensor_in, more, message):
    with pytest.raises(BadInput, match=message):
        sensor_in(pair, **EXACT | more)
