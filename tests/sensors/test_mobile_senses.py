"""Ground sensors over lines, time of flight, the battery and the camera of a mobile robot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.cells import Cell
from cellwright.core.errors import BadInput
from cellwright.core.messages import Battery, Range
from cellwright.core.pose import Pose
from cellwright.core.ros import decode, encode
from cellwright.lab import Lab
from cellwright.sensors.mobile_senses import cover_of_lines, ground_range, resting_voltage
from cellwright.sim import World

CELL = {
    "name": "lines",
    "title": "A line across the floor, and two robots, one behind the other",
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
    "fidelity": "kinematic",
    "settle_s": 0.0,
    "arena": {
        "size_m": [1.0, 1.0],
        "pose": {"xyz_m": [0.1, 0.0, 0.0]},
        "lines_m": [[[-0.1, -0.3], [-0.1, 0.3], [0.2, 0.3]]],
        "line_width_m": 0.02,
    },
    "mobiles": {
        "a": {"model": "epuck", "pose": {"xyz_m": [-0.2, 0.0, 0.0]}},
        "b": {"model": "epuck", "pose": {"xyz_m": [0.1, 0.0, 0.0]}},
    },
}
GROUND = {"type": "ground", "robot": "a", "counts_noise": 0.0}
POINT = st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@pytest.fixture(scope="module")
def world():
    return World(Cell.model_validate(CELL), seed=2)


def test_a_line_is_dark_and_the_floor_beside_it_is_not(world, sensor_in):
    sensor = sensor_in(world, **GROUND)
    counts = {}
    for x_m in (-0.10, -0.03, 0.0, 0.05):  # of the robot; its sensors are 30 mm ahead of that, the line at 0
        world.place("a", Pose.from_xyz_rpy([x_m, 0.0, 0.0]))
        counts[x_m] = sensor.sample().counts
    white = 0.95 * (1000 - 700 * 3 / 16)
    assert counts[-0.10] == counts[0.05] == (round(white),) * 3
    assert counts[-0.03] == (round(white * 0.2 / 0.95),) * 3
    assert counts[0.0] == counts[0.05]  # the line is 20 mm wide, the sensors 30 mm beyond


def test_sensors_on_both_sides_of_an_edge_differ(world, sensor_in):
    world.place("a", Pose.from_xyz_rpy([0.15, 0.3 - 0.01, 0.0]))  # the edge of the line is below the middle one
    left, middle, right = sensor_in(world, **GROUND).sample().counts
    assert left < middle < right
    assert middle == pytest.approx((left + right) / 2, abs=1)


def test_a_robot_that_is_lifted_sees_less_light(world, sensor_in):
    sensor = sensor_in(world, **GROUND)
    world.place("a", Pose.from_xyz_rpy([-0.3, 0.0, 0.01]))
    assert sensor.sample().counts[0] == round(0.95 * (1000 - 700 * 13 / 16))
    world.place("a", Pose.from_xyz_rpy([-0.3, 0.0, 0.2]))
    assert sensor.sample().counts[0] == round(0.95 * 300)


def test_ground_ranges_are_told_with_their_frames(world, sensor_in):
    sensor = sensor_in(world, **GROUND)
    reading, beside = sensor.taken()
    ranges = {topic: message for topic, message in beside if isinstance(message, Range)}
    assert list(ranges) == ["/a/ground0", "/a/ground1", "/a/ground2"] == list(sensor.other_topics)
    assert [one.frame for one in ranges.values()] == [f"a/{frame}" for frame in sensor.frames]
    assert [one.range_m for one in ranges.values()] == reading.ranges_m.tolist()
    assert ground_range(np.array([1000.0, 300.0])).tolist() == [0.0, pytest.approx(0.016)]


@given(st.lists(POINT, min_size=2, max_size=5, unique=True), POINT, st.floats(0.002, 0.1))
def test_the_cover_of_a_spot_is_a_share_and_symmetric(points, spot, width_m):
    starts, ends = np.array(points[:-1]), np.array(points[1:])
    here = np.array([spot])
    cover = cover_of_lines(here, starts, ends, width_m, 0.004)
    assert 0.0 <= cover[0] <= 1.0
    assert cover == pytest.approx(cover_of_lines(here, ends[::-1], starts[::-1], width_m, 0.004), abs=1e-6)
    assert cover_of_lines(starts[:1], starts, ends, width_m, width_m / 2)[0] == 1.0
    assert cover_of_lines(here + [5.0, 0.0], starts, ends, width_m, 0.004)[0] == 0.0


def test_time_of_flight_sees_the_robot_ahead_within_its_limits(world, sensor_in):
    world.place("a", Pose.from_xyz_rpy([-0.2, 0.0, 0.0]))
    line = {"type": "time_of_flight", "robot": "a", "noise": {}}
    away_m = 0.3 - 0.035 - 0.037
    assert sensor_in(world, **line).sample().range_m == pytest.approx(away_m, abs=1e-4)
    assert sensor_in(world, **line, range_m=[0.005, 0.1]).sample().range_m == 0.1
    up = sensor_in(world, **line, pitch_rad=-0.21)  # as the driver of the e-puck2 has it: over the other robot
    assert up.sample().range_m == 2.0
    noisy = sensor_in(world, **line | {"noise": {"sd": 0.003, "resolution": 0.001}})
    told = np.array([noisy.sample().range_m for _ in range(500)])
    assert told.std() == pytest.approx(0.003, rel=0.15)
    assert np.allclose(told * 1000, np.rint(told * 1000))


def test_the_battery_falls_faster_while_wheels_turn_and_lamps_are_lit(world, sensor_in):
    line = {"type": "battery", "robot": "a", "rate_hz": 1.0, "capacity_ah": 0.5}
    sensor = sensor_in(world, **line)
    row = world.wheels.rows["a"]

    def spent(readings=60):
        before = sensor.state.get("charge", 1.0)
        messages = [sensor.sample() for _ in range(readings)]
        return (before - sensor.state["charge"]) * 0.5 * 3600 / readings, messages[-1]

    idle_a, resting = spent()
    world.wheels.command(row, 3.0, -1.0)
    driving_a, driving = spent()
    world.wheels.command(row, 0.0, 0.0)
    world.leds.on["a"][:3] = True
    lit_a, _ = spent()
    world.leds.on["a"][:] = False
    assert (idle_a, driving_a, lit_a) == (pytest.approx(0.3), pytest.approx(0.6), pytest.approx(0.33))
    assert (resting.current_a, driving.current_a) == (pytest.approx(-0.3), pytest.approx(-0.6))
    assert driving.voltage_v < resting.voltage_v  # the load, and less charge
    assert 0.0 <= driving.percentage < resting.percentage <= 1.0
    again = decode(Battery, encode(driving))
    assert (again.voltage_v, again.percentage) == (pytest.approx(driving.voltage_v), pytest.approx(driving.percentage))


def test_an_empty_battery_stays_empty(world, sensor_in):
    sensor = sensor_in(world, type="battery", robot="a", rate_hz=1.0, start=0.0001, capacity_ah=0.1)
    for _ in range(20):
        last = sensor.sample()
    assert sensor.state["charge"] == 0.0
    assert last.percentage == 0.0
    assert last.voltage_v < 3.4


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_fuller_cell_has_more_voltage(some, more):
    low, high = sorted((some, more))
    assert 3.4 <= resting_voltage(low) <= resting_voltage(high) <= 4.2


def test_a_line_needs_two_points():
    with pytest.raises(BadInput, match="line 0 should have at least two points"):
        Lab.from_cell("epucks@one").cell.changed({"arena": {"lines_m": [[[0.1, 0.2]]]}})


@pytest.mark.slow
def test_a_robots_camera_sees_lines_and_the_lamps_of_another(sensor_in):
    world = World(Cell.model_validate(CELL), seed=2)
    camera = sensor_in(world, type="color_camera", robot="b", resolution_px=(160, 120))
    world.place("b", Pose.from_xyz_rpy([-0.35, 0.0, 0.0]))  # behind a, looks at its back
    world.place("a", Pose.from_xyz_rpy([-0.25, 0.0, 0.0]))
    dark = camera.sample().pixels.astype(int)
    world.leds.on["a"][4] = True  # at the back
    red = camera.sample().pixels.astype(int) - dark
    assert (red[..., 0] > 60).sum() > 5
    assert red[..., 0].max() > 2 * red[..., 2].max()
    world.leds.colours["a"][4] = (0.0, 0.0, 1.0)
    blue = camera.sample().pixels.astype(int) - dark
    assert (blue[..., 2] > 60).sum() > 5
    world.place("a", Pose.from_xyz_rpy([0.4, 0.4, 0.0]))
    floor = camera.sample().pixels.astype(int).sum(axis=2)
    middle = floor[60:, 70:90].mean(axis=1)
    assert middle.min() < 0.5 * np.median(middle)  # the line lies across
    info = dict(camera.taken()[1])["/b/camera_info"]
    assert (info.width, info.height) == (160, 120)
    assert info.focal_px[0] == pytest.approx(80 / np.tan(0.42))
