"""Speed of a cell while each of the controllers moves both of its arms, and of its physics alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import copy
from functools import partial
from time import process_time
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.bench.patrol import SPEED, WAYPOINTS_DEG
from cellwright.bench.replay import Segment, replay
from cellwright.bench.result import MeasurementFailed
from cellwright.cells import Cell, load_cell
from cellwright.control import RobotController
from cellwright.core.loop import SimulationLoop
from cellwright.sim import Stepper, World

__all__ = ["measure", "patrolled"]

Array = npt.NDArray[np.float64]

CELL = "aprs"
COMPARED_CONTROLLERS = ("pid", "computed_torque", "cartesian")
SEGMENT_S = 1.0


def measure(
    seconds: int = 12, repeats: int = 5, seed: int = 0, say: Callable[[str], None] = lambda _text: None
) -> dict[str, float]:
    """Returns simulated seconds per second of processor time while both arms patrol under each controller.

    Once with the two arms alone, and once in their whole cell, everything loose asleep (`_cell`). `_physics` is what
    is left when the same commands are replayed in a plain loop of physics steps. There are no sensors and no
    messages, which the bench `physics` measures.

    Args:
        seconds: Simulated time of a patrol.
        repeats: Number of runs; of each of its seconds the fastest counts, because others use the machine.
        seed: Of the cell's layout.
        say: Told what is going on.
    """
    metrics = {}
    for name in COMPARED_CONTROLLERS:
        say(f"two arms under '{name}'")
        for cell, suffix in ((arms_alone(load_cell(CELL)), ""), (load_cell(CELL), "_cell")):
            runs = [patrolled(cell, name, seconds, seed) for _ in range(repeats)]
            control_s, physics_s = np.min(runs, axis=0).sum(axis=1)
            metrics[f"control.{name}{suffix}_rtf"] = seconds * SEGMENT_S / control_s
            metrics[f"control.{name}{suffix}_physics_rtf"] = seconds * SEGMENT_S / physics_s
    return metrics


def arms_alone(cell: Cell) -> Cell:
    """Returns the same arms at the same places, and nothing else."""
    nothing: dict[str, object] = {"fixtures": {}, "trays": {}, "parts": {}, "populations": (), "sensors": ()}
    return cell.model_copy(update=nothing)


def patrolled(cell: Cell, controller: str, seconds: int, seed: int) -> Array:
    """Returns the processor time of each second of a patrol: with its controllers, and of the physics alone (2, n).

    The patrol runs twice, because to capture its commands takes time, too.

    Raises:
        MeasurementFailed: when all do not end in the same state, or something woke up.
    """
    control_s, world, _, _ = _patrol_once(cell, controller, seconds, seed, _Plain)
    _, other, before, segments = _patrol_once(cell, controller, seconds, seed, _Capturing)
    physics_s = np.empty(seconds)
    for number, segment in enumerate(segments):
        start_s = process_time()
        replay(partial(mujoco.mj_step, other.model, before), before, segment)
        physics_s[number] = process_time() - start_s
    if not all(np.array_equal(world.data.qpos, data.qpos) for data in (other.data, before)):
        raise MeasurementFailed(f"the speed of '{controller}'", "the same patrol ended in another state")
    if any(world.data.tree_asleep[world.model.body_treeid[item.body]] < 0 for item in world.objects.values()):
        raise MeasurementFailed(f"the speed of '{controller}'", "an arm on patrol woke one of the objects")
    return np.array([control_s, physics_s])


def _patrol_once(
    cell: Cell, controller: str, seconds: int, seed: int, make_engine: type[_Plain]
) -> tuple[Array, World, Any, list[Segment]]:
    """Returns times of its seconds, the world after it, the data before it, and the captured control."""
    world = World(cell, seed)
    engine = make_engine(world)
    stepper = Stepper(world.clock, engine)
    loop = SimulationLoop(world.clock, stepper)
    times_s, segments = np.empty(seconds), []
    try:
        places = {name: cfg.base.pose for name, cfg in cell.robots.items()}
        arms = [RobotController(world, stepper, loop.clock, name, pose) for name, pose in places.items()]
        for arm in arms:
            arm.use_controller(controller)
        before = copy(world.data)

        async def work() -> None:
            patrols = [asyncio.ensure_future(_patrol(arm)) for arm in arms]
            for number in range(seconds):
                engine.segment = []
                start_s = process_time()
                await loop.clock.sleep(SEGMENT_S)
                times_s[number] = process_time() - start_s
                segments.append(engine.segment)
            for patrol in patrols:
                patrol.cancel()

        loop.run(work())
    finally:
        loop.close()
    return times_s, world, before, segments


async def _patrol(arm: RobotController) -> None:
    while True:
        for waypoint_deg in WAYPOINTS_DEG[arm.name]:
            await arm.move_joints(np.radians(waypoint_deg), SPEED)


class _Plain:
    """The world's engine as it is."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.step = world.engine.step
        self.addresses = world.engine.addresses
        self.segment: Segment = []


class _Capturing(_Plain):
    """Records every row of control that physics is asked to step with."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.step = self._note_and_step

    def _note_and_step(self, count: int) -> None:
        self.segment.append((count, self.world.data.ctrl.copy()))
        self.world.engine.step(count)
