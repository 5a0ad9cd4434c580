"""The rate of poses that a database takes in: for benchmarks, and for choosing a server."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from cellwright.knowledge.database import Database
from cellwright.knowledge.generated.records import KittingWorkstation, Part, PoseOnlyLocation, StockKeepingUnit
from cellwright.knowledge.world_model import WorldModel

__all__ = ["pose_update_rate"]


def pose_update_rate(url: str | Path, seconds: float = 2.0, *, objects: int = 500) -> float:
    """Returns updates per second through `WorldModel.observe`: every pose changes, is stored and enters the history.

    Args:
        url: A database that may be filled with objects of the benchmark.
        seconds: The duration of the measurement, after a few batches to warm up.
        objects: The number of objects of one observation.
    """
    database = Database(url)
    try:
        names = [f"rate_{n}" for n in range(objects)]
        with database.session() as session:
            cell, sku = KittingWorkstation(name="rate_cell"), StockKeepingUnit(name="rate_sku")
            for name in names:
                place = PoseOnlyLocation(name=f"{name}_at", ref_object=cell)
                session.add(Part(name=name, sku=sku, primary_location=place))
        model = WorldModel(database)
        poses = np.tile(np.eye(4), (objects, 1, 1))
        rng = np.random.default_rng(0)
        batches, warm = 0, 3
        start_s = time.perf_counter()
        while batches <= warm or time.perf_counter() - start_s < seconds:
            if batches == warm:
                start_s = time.perf_counter()
            poses[:, :3, 3] = rng.uniform(-1.0, 1.0, (objects, 3))
            model.observe(names, poses, float(batches), "benchmark")
            batches += 1
        return (batches - warm) * objects / (time.perf_counter() - start_s)
    finally:
        database.close()
