"""`cellwright bench vision`: the processor's time for a picture, and the speed of a laboratory with cameras."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from cellwright.bench import vision_kitting
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.bench.vision_kitting import kit_from_pixels, two_cameras
from cellwright.bench.vision_m1 import M1_TARGETS, dense_stereo_ms
from cellwright.bench.vision_m3 import M3_TARGETS, sparse_stereo_times
from cellwright.bench.vision_overhead import OVERHEAD_TARGETS, overhead_metrics
from cellwright.core.extras import has_extra
from cellwright.lab.cell_file import read_cell
from cellwright.rendering import Renderer, choose_renderer
from cellwright.rendering.probe import GL_PLATFORMS, probe
from cellwright.sim import World
from cellwright.sim.picture import cell_view

__all__ = ["vision"]

PICTURES, QUICK_PICTURES = 15, 3
TARGETS: Mapping[str, Mapping[str, float]] = {
    "render.soft_640_ms": {"max": 160.0},
    "render.soft_1280_ms": {"max": 400.0},
    **vision_kitting.TARGETS,
    **OVERHEAD_TARGETS,
    **M3_TARGETS,
    **M1_TARGETS,
}


@BENCHES.register("vision")
def vision(conditions: MeasurementConditions) -> Measurement:
    """Measures pictures of the agility laboratory, with shadows, and the laboratory while two cameras take them."""
    count = QUICK_PICTURES if conditions.quick else PICTURES
    world = World(read_cell("aprs"), conditions.seed)
    metrics: dict[str, float] = {"render.n": float(count)}
    has_gl = any(probe(platform).works for platform in GL_PLATFORMS)
    if has_gl:
        metrics["render.gl_640_ms"] = _picture_ms(world, choose_renderer("gl"), (640, 480), count)
    else:
        conditions.say("OpenGL does not work here: cellwright doctor tells why")
    if has_extra("numba"):
        for name, size in (("render.soft_640_ms", (640, 480)), ("render.soft_1280_ms", (1280, 960))):
            metrics[name] = _picture_ms(world, choose_renderer("soft"), size, count)
    else:
        conditions.say("numba is not installed (pip install 'cellwright[cameras]'): no pictures by compiled code")
    metrics |= overhead_metrics(world, count)
    metrics |= sparse_stereo_times(conditions)
    metrics |= dense_stereo_ms(conditions)
    metrics |= two_cameras(conditions, "gl" if has_gl else "auto") | kit_from_pixels(conditions)
    return Measurement(metrics, {name: limit for name, limit in TARGETS.items() if name in metrics})


def _picture_ms(world: World, renderer: Renderer, size: tuple[int, int], count: int) -> float:
    """Returns the processor's time for a picture of the whole cell, all threads together; the first is not counted."""
    view = cell_view(world, size[0] / size[1])
    return _cpu_ms(lambda: renderer.render(*world.appearance.now(), view, size), count)


def _cpu_ms(work: Callable[[], object], count: int) -> float:
    work()
    times = []
    for _ in range(count):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(1000 * np.median(times))
