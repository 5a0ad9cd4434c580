"""The laser at a flange: distances, limits, errors, and nothing else changed by it."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.core import Role
from cellwright.core.errors import ConfigError
from cellwright.core.messages import Range
from cellwright.core.ros import encode
from cellwright.lab import Lab
from cellwright.sensors import check_sensor
from cellwright.sim import World

CELL = {
    "name": "laser",
    "title": "An arm without a tool over the floor",
    "fidelity": "kinematic",
    "robots": {"arm": {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0.5]}, "home_deg": [0, 0, 0, 0, -90, 0]}},
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
}


@pytest.fixture
def world():
    return World(Cell.model_validate(CELL))


def test_it_reads_the_height_of_a_flange_that_looks_down(world, sensor_in):
    laser = sensor_in(world, type="laser_range", robot="arm")
    reading, height_m = laser.sample(), world.flange_pose("arm").position[2]
    assert laser.topic == "/arm/laser_range"
    assert isinstance(reading, Range)
    assert reading.range_m == pytest.approx(height_m, abs=1e-6)
    assert height_m > 0.5
    assert (reading.source, reading.frame, reading.min_range_m, reading.max_range_m) == ("arm", "arm/laser_range", 0, 2)


def test_its_place_and_turn_are_given_in_the_flange(world, sensor_in):
    plain = sensor_in(world, type="laser_range", robot="arm").sample().range_m
    nearer = sensor_in(world, type="laser_range", robot="arm", xyz_m=[0, 0, 0.1]).sample().range_m
    slanted = sensor_in(world, type="laser_range", robot="arm", rpy_deg=[0, 30, 0]).sample().range_m
    assert plain - nearer == pytest.approx(0.1, abs=1e-6)
    assert slanted == pytest.approx(plain / np.cos(np.radians(30)), rel=1e-5)


def test_readings_end_at_its_limits(world, sensor_in):
    away = sensor_in(world, type="laser_range", robot="arm", rpy_deg=[180, 0, 0], max_range_m=1.5)
    assert away.sample().range_m == 1.5
    short = sensor_in(world, type="laser_range", robot="arm", max_range_m=0.2)
    assert short.sample().range_m == 0.2
    far = sensor_in(world, type="laser_range", robot="arm", min_range_m=1.8)
    assert far.sample().range_m == 1.8
    noisy = sensor_in(world, type="laser_range", robot="arm", max_range_m=0.2, noise={"sd": 0.1})
    readings = [noisy.sample().range_m for _ in range(100)]
    assert max(readings) == 0.2
    assert min(readings) < 0.1


def test_its_errors_are_those_of_its_line(world, sensor_in):
    exact = sensor_in(world, type="laser_range", robot="arm").sample().range_m
    laser = sensor_in(world, type="laser_range", robot="arm", name="other", noise={"bias": 0.01, "sd": 0.002})
    errors = np.array([laser.sample().range_m for _ in range(500)]) - exact
    assert abs(errors.mean() - 0.01) < 4 * 0.002 / np.sqrt(500)
    assert abs(errors.std() / 0.002 - 1) < 4 / np.sqrt(2 * 500)


def test_limits_in_the_wrong_order_are_refused(world, sensor_in):
    with pytest.raises(ConfigError, match="min_range_m is 2, not below max_range_m, 1"):
        sensor_in(world, type="laser_range", robot="arm", min_range_m=2, max_range_m=1)


def test_it_keeps_the_contract_with_drift(world):
    line = {"type": "laser_range", "robot": "arm", "rate_hz": 50, "noise": {"random_walk": 0.01, "sd": 0.001}}
    assert check_sensor(line, world) == []


def said(cell: Cell) -> dict[str, list[bytes]]:
    heard: dict[str, list[bytes]] = {}
    with Lab(cell, seed=3) as lab:
        lab.bus.subscribe(None, lambda topic, message: heard.setdefault(topic, []).append(bytes(encode(message))),
                          subscriber="test", role=Role.RECORDER)  # fmt: skip
        lab.perform(lab.robot("fanuc").move_joints(np.radians([10, 20, 0, 0, -90, 0])))
    return heard


def test_a_laser_in_a_cell_changes_nothing_that_others_say(aprs):
    line = {"type": "laser_range", "robot": "fanuc", "rate_hz": 500, "xyz_m": [0.1, 0, 0]}
    without, with_laser = said(aprs), said(aprs.model_copy(update={"sensors": (*aprs.sensors, line)}))
    readings = with_laser.pop("/fanuc/laser_range")
    assert len(readings) > 100
    assert len(set(readings)) > 50
    assert len(without) > 8
    assert with_laser == without
