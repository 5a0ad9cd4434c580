"""`cellwright bench vision`: the processor's time for a picture, and the speed of a laboratory with cameras."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.core.extras import has_extra
from cellwright.lab import Lab
from cellwright.lab.cell_file import read_cell
from cellwright.rendering import Renderer, choose_renderer
from cellwright.rendering.probe import GL_PLATFORMS, probe
from cellwright.sim import World
from cellwright.sim.picture import cell_view

__all__ = ["vision"]

PICTURES, QUICK_PICTURES = 15, 3
LAB_S, QUICK_LAB_S = 10.0, 1.0
CAMERAS = ("camera_fanuc", "camera_motoman")
TARGETS: Mapping[str, Mapping[str, float]] = {
    "render.soft_640_ms": {"max": 160.0},
    "render.soft_1280_ms": {"max": 400.0},
    "aprs.two_cameras_rtf": {"min": 2.0},
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
    lab_s = QUICK_LAB_S if conditions.quick else LAB_S
    wall_s, cpu_s = _two_cameras_s(conditions.seed, lab_s, "gl" if has_gl else "auto")
    metrics |= {"aprs.two_cameras_rtf": lab_s / wall_s, "aprs.two_cameras_cpu": cpu_s / lab_s}
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


def _two_cameras_s(seed: int, duration_s: float, renderer: str) -> tuple[float, float]:
    """Returns the wall clock's and the processor's time, with two cameras of 640 x 480 at 10 pictures a second."""
    cell = read_cell("aprs")
    lines = [
        {"type": "color_camera", "camera": name, "resolution_px": [640, 480], "rate_hz": 10, "renderer": renderer}
        for name in CAMERAS
    ]
    with Lab(cell.model_copy(update={"sensors": (*cell.sensors, *lines)}), seed) as lab:
        taken = []
        for name in CAMERAS:
            lab.bus.subscribe(
                f"/{name}/image_raw", lambda _, message: taken.append(message.sequence), subscriber="bench"
            )
        lab.advance(0.2)
        taken.clear()
        start, cpu_start = time.perf_counter(), time.process_time()
        lab.advance(duration_s)
        took_s = time.perf_counter() - start, time.process_time() - cpu_start
    assert len(taken) >= 2 * (10 * duration_s - 1), "pictures were not taken"
    return took_s
