"""Worlds to test in: the lab, and a small bench with one arm on which things go faster."""

from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

from cellwright.cells import Cell, load_cell
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.sim import World

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
    "trays": {
        "supply": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.45, 0.12, 0]}},
        "kit": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.45, -0.12, 0]}},
    },
    "parts": {
        "gear": {"model": "medium_gear", "slot": "supply/slot_4"},
        "other": {"model": "medium_gear", "slot": "supply/slot_1"},
        "large": {"model": "large_gear", "pose": {"xyz_m": [0.3, 0.35, 0]}},
    },
}


@pytest.fixture(scope="session")
def aprs() -> Cell:
    return load_cell("aprs")


@pytest.fixture(scope="session")
def bench() -> Cell:
    return Cell.model_validate(BENCH)


@pytest.fixture(scope="session")
def make_bench() -> Callable[..., Cell]:
    """Makes the bench with other keys."""
    return lambda **keys: Cell.model_validate(BENCH | keys)


@pytest.fixture(scope="session")
def _lab_world(aprs) -> World:
    return World(aprs, seed=0)


@pytest.fixture
def lab_world(_lab_world) -> Iterator[World]:
    """The lab, the same for all tests and put back after each: add and remove nothing here."""
    start = _lab_world.snapshot()
    yield _lab_world
    _lab_world.restore(start)


@pytest.fixture
def open_lab() -> Iterator[Callable[..., Lab]]:
    """Opens laboratories that are closed when the test ends."""
    labs: list[Lab] = []

    def make(cell: Cell, seed: int = 0, **keys: Any) -> Lab:
        labs.append(Lab.from_cell(cell, seed, **keys))
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()


@pytest.fixture(scope="session")
def falling_ball() -> tuple[Any, Any]:
    """The smallest thing that moves: a model of a ball above a plane."""
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1])
    ball = spec.worldbody.add_body(name="ball", pos=[0, 0, 1])
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0, 0])
    ball.add_freejoint()
    return spec.compile()


def above(position: Any, height_m: float = 0.0) -> Pose:
    """A tool that points down at a place."""
    return Pose.from_xyz_rpy(position + np.array([0, 0, height_m]), [np.pi, 0, 0])


@pytest.fixture(scope="session")
def tool_above() -> Callable[..., Pose]:
    return above


@pytest.fixture(scope="session")
def grasp() -> Callable[..., Any]:
    """Coroutine: the arm takes a gear where it really is, and lifts it."""

    async def take(lab: Lab, robot: str, part: str, lift_m: float = 0.1) -> float:
        arm, item = lab.robots[robot], lab.world.object(part)
        place = lab.world.pose_of(part).apply([0, 0, item.figures.grasp_height_m])
        await arm.gripper.open()
        await arm.move_tool(above(place, 0.05))
        await arm.move_tool(above(place), 0.3)
        await lab.clock.sleep(0.1)
        width_m = await arm.gripper.close()
        if lift_m:
            await arm.move_tool(above(place, lift_m), 0.3)
        return width_m

    return take
