"""Sources of detections: the state of the simulation, or the pictures of the same cameras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.extras import need_extra
from cellwright.core.messages import Detections
from cellwright.lab.camera_detector import CameraDetectorCfg
from cellwright.sensors import SENSORS

__all__ = ["SOURCES", "with_source"]

STATE, CAMERA = "state", "camera"
SOURCES = (STATE, CAMERA)
FROM_STATE, FROM_PIXELS = "overhead_detector", "camera_detector"
RECOGNITION_S = 0.15  # of simulation time, from a picture's arrival to what is recognised in it
KEPT = frozenset(CameraDetectorCfg.model_fields) - {"type", "noise", "delay_s"}


def with_source(cell: Cell, source: str | None) -> Cell:
    """Returns a cell whose detectors have another source: the same names and cameras, another way to see.

    Args:
        cell: The cell.
        source: `camera` recognises objects in pictures; `state` and None leave the detectors as they are.

    Raises:
        BadInput: There is no such source; or no detector of the cell has a camera that looks down on its tables.
    """
    if source not in (None, *SOURCES):
        raise UnknownName("source", str(source), SOURCES)
    if source != CAMERA:
        return cell
    need_extra("--source camera", "vision", "cv2")
    found = [line for _, line in cell.sensor_lines() if _is_detector(line)]
    wrong = next((line for line in found if line.get("type") not in (FROM_STATE, FROM_PIXELS)), None)
    if wrong is not None:
        what = f"detector '{wrong.get('name')}' is a {wrong.get('type')}, which takes no pictures"
        raise BadInput(f"{cell.where}: {what}; a source of pictures needs detectors of type {FROM_STATE}")
    if not found:
        raise BadInput(f"{cell.where}: the cell has no detector whose camera could take pictures: add one")
    return cell.model_copy(update={"sensors": tuple(_of_pixels(line) for line in cell.sensors)})


def _is_detector(line: Mapping[str, Any]) -> bool:
    kind = line.get("type")
    return isinstance(kind, str) and kind in SENSORS and SENSORS.get(kind).message_type is Detections


def _of_pixels(line: Mapping[str, Any]) -> dict[str, Any]:
    if line.get("type") != FROM_STATE:
        return dict(line)
    kept = {key: value for key, value in line.items() if key in KEPT}
    return {"type": FROM_PIXELS, **kept, "delay_s": float(line.get("delay_s", 0.0)) + RECOGNITION_S}
