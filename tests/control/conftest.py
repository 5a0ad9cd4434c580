"""A bench with an arm, things in its way, and no errors in its layout unless asked for."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cellwright.cells import Cell, load_cell
from cellwright.lab import Lab

BENCH: dict[str, Any] = {
    "name": "bench",
    "title": "One arm at a bench",
    "robots": {
        "arm": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [0, 0, 0]},
            "tool": "aprs_fanuc_gripper",
            "home_deg": [0, 0, 0, 0, -90, 0],
        }
    },
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
}


@pytest.fixture(scope="session")
def aprs() -> Cell:
    return load_cell("aprs")


@pytest.fixture
def open_lab() -> Iterator[Callable[..., Lab]]:
    """Opens laboratories that are closed when the test ends: of a cell, or of the bench with other keys."""
    labs: list[Lab] = []

    def make(cell: Cell | None = None, seed: int = 0, fidelity: str | None = None, **keys: Any) -> Lab:
        labs.append(Lab.from_cell(cell or Cell.model_validate(BENCH | keys), seed, fidelity=fidelity))
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()


@pytest.fixture
def lab(open_lab) -> Lab:
    return open_lab()


@pytest.fixture
def watched():
    """Runs a coroutine and gives the largest difference of joints and set points meanwhile."""

    def run(lab: Lab, work: Any, robot: str = "arm") -> float:
        index, worst = lab.world.robots[robot], [0.0]

        def look() -> None:
            data = lab.world.data
            error = np.abs(data.qpos[index.qpos] - data.ctrl[index.ctrl_position]).max()
            worst[0] = max(worst[0], float(error))

        scheduled = lab.stepper.every(4, look, order=15, name="watch")  # before the next set points are written
        lab.perform(work)
        scheduled.cancel()
        return worst[0]

    return run
