"""The laser scanner: distances by geometry, limits, errors, where it sits."""

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import Cell, load_cell
from cellwright.core.errors import BadInput
from cellwright.core.messages import LaserScan
from cellwright.record import read_log
from cellwright.sensors import check_sensor
from cellwright.sim import World

CELL = {
    "name": "scan",
    "title": "An arm on the floor, and a cube",
    "fidelity": "kinematic",
    "robots": {"arm": {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0.5]}, "home_deg": [0, 0, 0, 0, -90, 0]}},
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
    "parts": {"cube": {"model": "cube", "pose": {"xyz_m": [2.0, 0, 0.04]}}},
}
LINE = {"type": "laser_scanner", "name": "front", "xyz_m": [1.0, 0, 0.03], "rate_hz": 10, "noise": {}}


@pytest.fixture(scope="module")
def world():
    return World(Cell.model_validate(CELL))


def test_a_cube_is_as_far_and_as_wide_as_it_is(world, sensor_in):
    reading = sensor_in(world, **LINE, beams=541, max_range_m=3.0).sample()
    assert isinstance(reading, LaserScan)
    assert len(reading.ranges_m) == len(reading.angles_rad) == 541
    assert reading.angles_rad[[0, -1]] == pytest.approx(np.radians([-135, 135]))
    seen = np.isfinite(reading.ranges_m)
    x = reading.ranges_m[seen] * np.cos(reading.angles_rad[seen])
    y = reading.ranges_m[seen] * np.sin(reading.angles_rad[seen])
    assert x == pytest.approx(np.full(len(x), 0.96), abs=1e-5)  # its face, 40 mm before its middle
    assert len(x) in (9, 10)  # 4.8 degrees of half a degree each
    assert y.min() > -0.0401
    assert y.max() < 0.0401


def test_a_tilted_scanner_meets_the_floor(world, sensor_in):
    sensor = sensor_in(world, **{**LINE, "xyz_m": [5.0, 5.0, 0.5], "rpy_deg": [0, 30, 0]}, fov_deg=90, beams=91)
    reading = sensor.sample()
    # Every ray falls by cos(angle) sin(30 degrees) of its length.
    expected = 0.5 / (np.cos(reading.angles_rad) * 0.5)
    assert reading.ranges_m == pytest.approx(expected, rel=1e-5)


def test_what_is_too_near_or_too_far_is_told_as_ros_has_it(world, sensor_in):
    near = sensor_in(world, **LINE, fov_deg=2, beams=3, min_range_m=1.5, max_range_m=3.0).sample().ranges_m
    far = sensor_in(world, **LINE, fov_deg=2, beams=3, max_range_m=0.9).sample().ranges_m
    assert np.isneginf(near).all()
    assert np.isposinf(far).all()


def test_errors_of_distances_are_those_of_the_line(world, sensor_in):
    line = {**LINE, "noise": {"sd": 0.02}, "lost": 0.2}
    sensor = sensor_in(world, **line, fov_deg=2, beams=41, max_range_m=3.0)
    ranges = np.array([sensor.sample().ranges_m for _ in range(50)])
    came = np.isfinite(ranges)
    assert came.mean() == pytest.approx(0.8, abs=0.045)  # five standard deviations of 2050 draws
    truth = np.broadcast_to(0.96 / np.cos(np.radians(np.linspace(-1, 1, 41))), ranges.shape)
    errors = (ranges - truth)[came]
    assert errors.std() == pytest.approx(0.02, rel=0.1)
    assert abs(errors.mean()) < 0.0025


def test_on_a_flange_it_moves_with_it_and_looks_through_its_arm(world, sensor_in):
    line = {"type": "laser_scanner", "robot": "arm", "xyz_m": [0, 0, 0], "rpy_deg": [0, -90, 0], "noise": {}}
    reading = sensor_in(world, **line, fov_deg=2, beams=3).sample()
    assert reading.ranges_m[1] == pytest.approx(world.flange_pose("arm").position[2], abs=1e-5)
    assert reading.source == "arm"


def test_on_a_mobile_robot_it_looks_through_that_and_sees_the_wall():
    cell = load_cell("epucks")
    name = cell.mobile_names[0]
    scene = World(cell, seed=1)
    assert check_sensor({"type": "laser_scanner", "robot": name, "xyz_m": [0, 0, 0.02], "rate_hz": 10}, scene) == []
    away = scene.rays(
        scene.pose_of(name).apply([0, 0, 0.02]), np.array([[1.0, 0, 0], [0, 1.0, 0]]), 10, mounted_on=name
    )
    assert (away > 0.04).all()


@pytest.mark.parametrize("more", [{}, {"noise": {"sd": 0.01, "random_walk": 0.001}, "lost": 0.1, "dropout": 0.1}])
def test_check_sensor_finds_nothing_wrong(world, more):
    assert check_sensor({**LINE, **more}, world) == []


def test_scans_are_recorded_and_come_back(tmp_path):
    with cw.Lab(Cell.model_validate({**CELL, "sensors": [{**LINE, "beams": 31}]}), seed=3) as lab:
        kept = []
        lab.bus.subscribe("/front/scan", lambda _, message: kept.append(message), subscriber="t")
        lab.record(tmp_path / "run.mcap")
        lab.advance(0.35)
    log = read_log(tmp_path / "run.mcap")
    assert log.topics["/front/scan"].type == "sensor_msgs/msg/LaserScan"
    again = [entry.message for entry in log.entries(["/front/scan"])]
    assert len(again) == len(kept) >= 3
    for one, other in zip(kept, again, strict=True):
        assert isinstance(other, LaserScan)
        assert np.array_equal(one.ranges_m, other.ranges_m)
        assert other.angles_rad == pytest.approx(one.angles_rad, abs=1e-5)
        assert (other.time_ns, other.frame) == (one.time_ns, one.frame)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"robot": "arn"}, "unknown robot 'arn'"),
        ({"min_range_m": 5, "max_range_m": 5}, "not below max_range_m"),
        ({"beams": 1}, "beams"),
        ({"fov_deg": 400}, "fov_deg"),
    ],
)
def test_lines_that_make_no_sense(world, sensor_in, more, words):
    with pytest.raises(BadInput, match=words):
        sensor_in(world, **{**LINE, **more})
