"""What the tests of faults share."""

import pytest

from cellwright.cells import Cell
from cellwright.core.bus import Bus
from cellwright.judge import HandMonitor
from cellwright.sim import Stepper, World


@pytest.fixture
def shelf():
    """A tray with gears on the floor, and no robot: bodies can be taken away without spoiling a laboratory."""
    cell = {
        "name": "shelf",
        "title": "A tray of gears",
        "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
        "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.4, 0.2, 0]}}},
        "parts": {f"gear_{n}": {"model": "medium_gear", "slot": f"tray/slot_{n}"} for n in (1, 2, 3)},
    }
    world = World(Cell.model_validate(cell))
    stepper, bus = Stepper(world.clock, world.engine), Bus()
    return world, stepper, bus, HandMonitor(world, stepper)
