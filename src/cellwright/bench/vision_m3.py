"""The processor's time of one measurement by sparse stereo, in pictures of the ROVI workcell."""

from __future__ import annotations

import time

import numpy as np

from cellwright.core.extras import has_extra
from cellwright.core.results import MeasurementConditions
from cellwright.experiments.rovi_m3_runs import TABLE_7
from cellwright.experiments.sparse_scenes import CubeScene, noisy, pick_plate
from cellwright.perception.stereo import sparse_stereo

__all__ = ["M3_TARGETS", "sparse_stereo_times"]

M3_TARGETS = {"m3.cpu_ms": {"max": 100.0}}
SIGMA = 15.0
REPEATS, QUICK_REPEATS = 5, 1


def sparse_stereo_times(conditions: MeasurementConditions) -> dict[str, float]:
    """Returns median times, all threads together; a reference is learnt before."""
    if not has_extra("cv2", "numba"):
        conditions.say("OpenCV or numba is not installed (pip install 'cellwright[vision]'): no sparse stereo")
        return {}
    rng = np.random.default_rng(conditions.seed)
    scene = CubeScene("wood", conditions.seed)
    empty = noisy(scene.pictures(None), SIGMA, rng)
    pairs = [noisy(scene.pictures(place), SIGMA, rng) for place in TABLE_7[:: 3 if conditions.quick else 1]]
    methods = {
        "m3.cpu_ms": sparse_stereo("fast", pick_plate(), empty),
        "m3.unknown_size_cpu_ms": sparse_stereo("fast", pick_plate(None), empty),
        "m3.without_reference_cpu_ms": sparse_stereo("fast", pick_plate()),
        "m3.paper_cpu_ms": sparse_stereo("paper", pick_plate()),
    }
    metrics = {}
    for name, method in methods.items():
        method.measure(*pairs[0])
        times = []
        for _ in range(QUICK_REPEATS if conditions.quick else REPEATS):
            for pair in pairs:
                start = time.process_time()
                method.measure(*pair)
                times.append(time.process_time() - start)
        metrics[name] = float(1000 * np.median(times))
    return metrics
