"""Small worlds to measure in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cellwright.cells import Cell, load_cell
from cellwright.core import Bus
from cellwright.core.messages import Message
from cellwright.sensors import Sensor, make_sensor, schedule
from cellwright.sim import Stepper, World

TINY = {
    "name": "tiny",
    "title": "One arm without a tool over one tray",
    "fidelity": "kinematic",
    "robots": {"arm": {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0.5]}, "home_deg": [0, 0, 0, 0, -90, 0]}},
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.5, 0.0, 0.0]}}},
    "populations": [{"model": "medium_gear", "count": 4, "trays": ["tray"]}],
}


@pytest.fixture(scope="session")
def aprs() -> Cell:
    return load_cell("aprs")


@pytest.fixture
def tiny() -> World:
    """A cheap world in which nothing moves unless it is told to."""
    return World(Cell.model_validate(TINY), seed=5)


@pytest.fixture
def listen() -> Callable[..., list[tuple[int, Message]]]:
    """Schedules sensors in a world, lets time pass, returns (tick of arrival, message) of the first one."""

    def run(world: World, duration_s: float, *sensors: Sensor[Any]) -> list[tuple[int, Message]]:
        bus, stepper = Bus(), Stepper(world.clock, world.engine)
        arrived: list[tuple[int, Message]] = []
        for sensor in sensors:
            schedule(sensor, stepper, bus)
        topic = sensors[0].topic
        bus.subscribe(topic, lambda _, message: arrived.append((world.clock.tick, message)), subscriber="test")
        stepper.advance(world.clock.tick + world.clock.ticks(duration_s))
        return arrived

    return run


@pytest.fixture
def sensor_in() -> Callable[..., Sensor[Any]]:
    """A sensor from its line, as a cell's file would have it."""

    def make(world: World, **line: Any) -> Sensor[Any]:
        return make_sensor({"rate_hz": 50, **line}, world, "test.yaml: sensors.0")

    return make
