"""The processor's time of dense stereo, by profile and by CAD model."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from cellwright.catalogue.rovi_objects import BOTTLE, COFFEE_CAN
from cellwright.core.extras import has_extra
from cellwright.core.pose import Pose
from cellwright.core.results import MeasurementConditions
from cellwright.experiments.stereo_scenes import SURFACE_M, StereoScene, with_gaussian
from cellwright.perception.stereo import FastStereo, Workspace, model_of

__all__ = ["M1_TARGETS", "dense_stereo_ms"]

M1_TARGETS: Mapping[str, Mapping[str, float]] = {"m1.cpu_ms": {"max": 100.0}, "m1.cad_cpu_ms": {"max": 500.0}}
TIMES, QUICK_TIMES = 15, 3
SIGMA = 15
WORKSPACE = Workspace((0.0, 0.90), (0.80, 1.20), SURFACE_M)


def dense_stereo_ms(conditions: MeasurementConditions) -> dict[str, float]:
    """Returns the median time for a bottle by its profile, and for a can with a handle by its model; all threads."""
    if not has_extra("cv2", "scipy"):
        conditions.say("OpenCV is not installed (pip install 'cellwright[vision]'): no stereo")
        return {}
    scene = StereoScene(conditions.seed)
    scene.arrange(
        {"bottle": Pose.from_xyz_rpy([0.55, 1.0, SURFACE_M]), "can": Pose.from_xyz_rpy([0.3, 1.05, SURFACE_M])}
    )
    pair, rng = scene.take(), np.random.default_rng(conditions.seed)
    metrics = {"m1.n": float(QUICK_TIMES if conditions.quick else TIMES)}
    for name, figures in (("m1.cpu_ms", BOTTLE), ("m1.cad_cpu_ms", COFFEE_CAN)):
        method, times = FastStereo(model_of(figures), WORKSPACE), []
        for _ in range(int(metrics["m1.n"]) + 1):
            noisy = with_gaussian(pair, SIGMA, rng)
            start = time.process_time()
            method.locate(*noisy)
            times.append(time.process_time() - start)
        metrics[name] = float(1000 * np.median(times[1:]))  # the first makes what is kept of the model
    return metrics
