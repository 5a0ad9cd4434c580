"""The overhead of the laboratory over its physics: paired segments of both, alternating in one coroutine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.bench.patrol import listen, start_patrol
from cellwright.bench.replay import SEGMENT_S, Segment, replay
from cellwright.bench.result import MeasurementFailed
from cellwright.cells import Cell
from cellwright.lab import Lab
from cellwright.sim import World

__all__ = ["SpeedPairs", "keep_awake", "measure_awake", "measure_idle", "measure_pairs"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SpeedPairs:
    """CPU seconds of simulated seconds, side by side, so that a machine that slows down slows both."""

    lab_s: Array
    raw_s: Array
    raw_steps: Array

    @property
    def ratio(self) -> float:
        """Median of the laboratory's speed as a fraction of raw physics."""
        return float(np.median(self.raw_s / self.lab_s))

    @property
    def python_ms_per_sim_s(self) -> float:
        """The median of the laboratory's overhead."""
        return float(np.median(self.lab_s - self.raw_s)) / SEGMENT_S * 1e3

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per CPU second of the laboratory."""
        return SEGMENT_S / float(np.median(self.lab_s))

    @property
    def raw_steps_per_s(self) -> float:
        """Physics steps per CPU second of the raw loop."""
        return float(np.median(self.raw_steps / self.raw_s))


def measure_pairs(
    cell: Cell,
    seed: int,
    segments: list[Segment],
    record: Path | None = None,
    start: Callable[[Lab], object] = start_patrol,
) -> SpeedPairs:
    """Runs the patrol, or other work, once more, and after every second of it the raw replay of the same second.

    Raises:
        MeasurementFailed: when the two did not do the same to the last bit, or an arm touched something.
    """
    raw = World(cell, seed)
    raw_step = raw.engine.step if raw.mobiles else partial(mujoco.mj_step, raw.model, raw.data)
    lab_s, raw_s = np.empty(len(segments)), np.empty(len(segments))
    with Lab(cell, seed) as lab:
        if record is not None:
            lab.record(record)
        places = _object_places(lab.world)

        async def work() -> None:
            start(lab)
            for i, segment in enumerate(segments):
                start_s = process_time()
                await lab.clock.sleep(SEGMENT_S)
                middle_s = process_time()
                replay(raw_step, raw.data, segment)
                lab_s[i], raw_s[i] = middle_s - start_s, process_time() - middle_s

        lab.perform(work())
        if not np.array_equal(raw.data.qpos, lab.world.data.qpos):
            raise MeasurementFailed(
                "the laboratory's speed", "the raw replay ended in another state than the laboratory"
            )
        if not np.array_equal(places, _object_places(lab.world)):
            raise MeasurementFailed("the laboratory's speed", "an arm on patrol moved one of the objects")
    return SpeedPairs(lab_s, raw_s, np.array([sum(count for count, _ in segment) for segment in segments], float))


def measure_awake(cell: Cell, seed: int, count: int) -> Array:
    """Returns CPU seconds of simulated seconds of the patrol with every loose object awake."""
    return _measure(cell, seed, count, awake=True, start=start_patrol)


def measure_idle(cell: Cell, seed: int, count: int) -> Array:
    """Returns CPU seconds of simulated seconds in which no robot moves, but sensors publish to a subscriber."""
    return _measure(cell, seed, count, awake=False, start=listen)


def _measure(cell: Cell, seed: int, count: int, *, awake: bool, start: Callable[[Lab], object]) -> Array:
    lab_s = np.empty(count)
    with Lab(cell, seed) as lab:
        if awake:
            keep_awake(lab.world)

        async def work() -> None:
            start(lab)
            for i in range(count):
                start_s = process_time()
                await lab.clock.sleep(SEGMENT_S)
                lab_s[i] = process_time() - start_s

        lab.perform(work())
    return lab_s


def keep_awake(world: World) -> None:
    """Keeps everything in the world awake."""
    world.model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)


def _object_places(world: World) -> Array:
    """Returns the poses of the loose objects, to the last bit: asleep, they do not move at all."""
    return np.array([world.data.qpos[item.qpos : item.qpos + 7] for item in world.objects.values()])
