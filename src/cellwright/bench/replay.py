"""Raw physics under exactly the laboratory's control, as the reference of its speed.

A raw loop that followed another motion would be compared with other work, so every step count and every row of
control that the laboratory hands to its engine is captured, and the raw loop replays them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.bench.patrol import start_patrol
from cellwright.cells import Cell
from cellwright.lab import Lab
from cellwright.sim.stepper import Engine

__all__ = ["SEGMENT_S", "Segment", "capture", "replay"]

SEGMENT_S = 1.0

Segment = list[tuple[int, npt.NDArray[np.float64]]]
"""One simulated second: how many steps were taken with which control, in order."""


class CapturingEngine:
    """Records its arguments, and steps."""

    def __init__(self, engine: Engine, data: Any) -> None:
        self._engine = engine
        self._data = data
        self.segment: Segment = []

    def step(self, count: int) -> None:
        """Takes a number of steps."""
        self.segment.append((count, self._data.ctrl.copy()))
        self._engine.step(count)

    def addresses(self) -> tuple[int, int]:
        """Returns the memory addresses of model and data."""
        return self._engine.addresses()


def capture(cell: Cell, seed: int, count: int, start: Callable[[Lab], object] = start_patrol) -> list[Segment]:
    """Returns the control of some seconds of patrol, or of other work."""
    segments: list[Segment] = []
    with Lab(cell, seed) as lab:
        engine = CapturingEngine(lab.world.engine, lab.world.data)
        lab.stepper.engine = engine

        async def work() -> None:
            start(lab)
            for _ in range(count):
                engine.segment = []
                await lab.clock.sleep(SEGMENT_S)
                segments.append(engine.segment)

        lab.perform(work())
    return segments


def replay(step: Callable[[int], None], data: Any, segment: Segment) -> None:
    """Takes the same steps in the tightest plain loop, MuJoCo's own or, where hands or wheels are, the engine's."""
    ctrl = data.ctrl
    for count, row in segment:
        ctrl[:] = row
        step(count)
