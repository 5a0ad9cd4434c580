"""The cost of line of sight: the laboratory on patrol beside the same one whose detectors look through everything."""

from __future__ import annotations

from time import process_time

import numpy as np

from cellwright.bench.patrol import start_patrol
from cellwright.bench.replay import SEGMENT_S
from cellwright.bench.result import MeasurementFailed
from cellwright.cells import Cell
from cellwright.lab import Lab
from cellwright.sensors import Detector
from cellwright.sim.sight import LineOfSight, ObjectsInView

__all__ = ["sight_cost"]


class _NoSight(LineOfSight):
    """Sees everything whole, at no cost; for what a detector needs besides, it looks once."""

    def look(self) -> ObjectsInView:
        """Returns that nothing is hidden."""
        if not hasattr(self, "_whole"):
            shifts_m = super().look().shifts_m
            self._whole = ObjectsInView(np.ones(len(shifts_m)), np.zeros_like(shifts_m))
        return self._whole


def sight_cost(cell: Cell, seed: int, segments: int) -> float:
    """Returns the share of the laboratory's speed that line of sight costs, the median of paired seconds; not below 0.

    Raises:
        MeasurementFailed: The two laboratories did not do the same.
    """
    shares = []
    with Lab(cell, seed) as seeing, Lab(cell, seed) as blind:
        detectors = [sensor for sensor in blind.sensors if isinstance(sensor, Detector)]
        for detector in detectors:
            detector.sight = _NoSight(blind.world, detector.actual)
        patrols = [(lab, start_patrol(lab)) for lab in (seeing, blind)]
        for lab, _ in patrols:
            lab.advance(SEGMENT_S)
        for _ in range(segments):
            start_s = process_time()
            seeing.advance(SEGMENT_S)
            middle_s = process_time()
            blind.advance(SEGMENT_S)
            seeing_s, blind_s = middle_s - start_s, process_time() - middle_s
            shares.append(1 - blind_s / seeing_s)
        for lab, tasks in patrols:
            for task in tasks:
                task.cancel()
            lab.advance(0.1)
        if not np.array_equal(seeing.world.data.qpos, blind.world.data.qpos):
            raise MeasurementFailed("the cost of line of sight", "the two laboratories ended in different states")
    return max(0.0, float(np.median(shares)))
