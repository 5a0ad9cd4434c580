"""The speed of the laboratory while it looks: a kit from pixels, and two cameras that take pictures all the time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from statistics import median

from cellwright.bench.patrol import start_patrol
from cellwright.bench.result import MeasurementConditions, MeasurementFailed
from cellwright.core.extras import has_extra
from cellwright.core.messages import Message
from cellwright.lab import Lab
from cellwright.lab.camera_detector import CameraDetector
from cellwright.lab.cell_file import read_cell

__all__ = ["TARGETS", "kit_from_pixels", "two_cameras"]

TARGETS = {"aprs.tasked_rtf": {"min": 5.0}, "aprs.two_cameras_rtf": {"min": 2.0}}
ORDER = "kit_m2l1"
KITS, QUICK_KITS = 3, 1
CAMERAS = ("camera_fanuc", "camera_motoman")
QUICK_DRAWN: Mapping[str, object] = {"shadows": False, "samples": 1}
WORKS: Mapping[str, tuple[bool, Mapping[str, object]]] = {  # whether arms move, and how pictures are drawn
    "two_cameras": (True, QUICK_DRAWN),
    "two_cameras_still": (False, QUICK_DRAWN),
    "two_cameras_shadows": (True, {}),
}
LAB_S, QUICK_LAB_S = 10.0, 1.0
SETTLED_S = 0.2


def kit_from_pixels(conditions: MeasurementConditions) -> dict[str, float]:
    """Returns how much faster than real time a kit is built from pixels, by the wall clock; nothing without OpenCV.

    Raises:
        MeasurementFailed: A kit was not done: one that fails is soon over.
    """
    if not has_extra("cv2", "numba"):
        conditions.say("no kit from pixels without OpenCV and numba: pip install 'cellwright[vision,cameras]'")
        return {}
    count = QUICK_KITS if conditions.quick else KITS
    runs = [_built(conditions.seed + number) for number in range(count + 1)][1:]  # the first one compiles
    return {
        "aprs.tasked_rtf": median(sim_s / wall_s for sim_s, wall_s, _, _ in runs),
        "aprs.tasked_cpu_rtf": median(sim_s / cpu_s for sim_s, _, cpu_s, _ in runs),
        "aprs.tasked_frames": median(frames for _, _, _, frames in runs),
        "aprs.tasked_n": float(count),
    }


def _built(seed: int) -> tuple[float, float, float, float]:
    """Returns simulated, wall and processor's seconds of a kit, and its frames."""
    with Lab.from_cell("aprs", seed, source="camera") as lab:
        frames = 0

        def count(message: Message) -> Message:
            nonlocal frames
            frames += 1
            return message

        for sensor in lab.sensors:
            if isinstance(sensor, CameraDetector):
                sensor.filters.append(count)
        start_s, cpu_s = time.perf_counter(), time.process_time()
        report = lab.run(ORDER, robots=["fanuc"])
        took_s, cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
    if not report.done:
        raise MeasurementFailed("a kit from pixels", f"seed {seed}: {report.status}: {report.reason}")
    return report.time_s, took_s, cpu_s, float(frames)


def two_cameras(conditions: MeasurementConditions, renderer: str) -> dict[str, float]:
    """Returns the speed with two cameras of 640 x 480 at 10 pictures a second, and the processor's time per second.

    Both arms are on patrol or at home, pictures without shadows and with one sample per pixel; then with both, as they
    are unless the cell's file says otherwise.
    """
    lab_s = QUICK_LAB_S if conditions.quick else LAB_S
    metrics: dict[str, float] = {}
    for name, (moving, drawn) in WORKS.items():
        wall_s, cpu_s = _two_cameras_s(conditions.seed, lab_s, {"renderer": renderer, **drawn}, moving=moving)
        metrics |= {f"aprs.{name}_rtf": lab_s / wall_s, f"aprs.{name}_cpu": cpu_s / lab_s}
    return metrics


def _two_cameras_s(seed: int, duration_s: float, drawn: Mapping[str, object], *, moving: bool) -> tuple[float, float]:
    """Returns the wall clock's and the processor's time."""
    cell = read_cell("aprs")
    lines = [
        {"type": "color_camera", "camera": name, "resolution_px": [640, 480], "rate_hz": 10, **drawn}
        for name in CAMERAS
    ]
    with Lab(cell.model_copy(update={"sensors": (*cell.sensors, *lines)}), seed) as lab:
        taken = list[int]()
        for name in CAMERAS:
            lab.bus.subscribe(
                f"/{name}/image_raw", lambda _, message: taken.append(message.sequence), subscriber="bench"
            )

        async def work() -> tuple[float, float]:
            tasks = start_patrol(lab) if moving else []
            await lab.clock.sleep(SETTLED_S)
            taken.clear()
            start_s, cpu_s = time.perf_counter(), time.process_time()
            await lab.clock.sleep(duration_s)
            took_s = time.perf_counter() - start_s, time.process_time() - cpu_s
            for task in tasks:
                task.cancel()
            return took_s

        took_s = lab.perform(work())
    if len(taken) < 2 * (10 * duration_s - 1):
        raise MeasurementFailed("two cameras", f"{len(taken)} pictures were taken in {duration_s:g} s")
    return took_s
