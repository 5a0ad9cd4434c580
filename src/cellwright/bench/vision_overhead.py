"""The processor's time for recognition in one picture from above."""

from __future__ import annotations

import time

import numpy as np

from cellwright.core.extras import has_extra
from cellwright.drawings import Drawings
from cellwright.drawings.recognition import recognition_model
from cellwright.lab.cell_file import read_cell
from cellwright.lab.pictures import take_pictures
from cellwright.perception.recognition import OverheadRecogniser
from cellwright.sensors import ColorCamera, make_sensor
from cellwright.sim import World

__all__ = ["OVERHEAD_TARGETS", "overhead_metrics"]

OVERHEAD_TARGETS = {"overhead.cpu_ms": {"max": 250.0}}
CAMERA, NOISE = "camera_fanuc", 0.007


def overhead_metrics(world: World, count: int) -> dict[str, float]:
    """Returns the processor's time for a picture of 2048 x 2048 pixels, all threads together; nothing without OpenCV.

    Args:
        world: The agility laboratory.
        count: Pictures; the first is not counted.
    """
    if not has_extra("cv2"):
        return {}
    line = {"type": "color_camera", "camera": CAMERA, "noise": [{"model": "gaussian", "sd": NOISE}]}
    sensor = make_sensor(line, world, "bench")
    assert isinstance(sensor, ColorCamera)
    (picture,) = take_pictures(sensor)
    recogniser = OverheadRecogniser(recognition_model(Drawings.of(read_cell("aprs"))))
    times, found = [], 0
    for _ in range(count + 1):
        start = time.process_time()
        found = len(recogniser.recognise(picture))
        times.append(time.process_time() - start)
    return {"overhead.cpu_ms": float(1000 * np.median(times[1:])), "overhead.objects": float(found)}
