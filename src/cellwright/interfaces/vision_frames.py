"""The extended protocol of the vision socket: a line of JSON per frame, with all that a detector tells.

A client asks for it by its first line. It holds time, sequence number, source, frame, and of every object SKU, pose,
six variances and score, so that reading a frame gives the very message that the detector published.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.core.messages import Detections

__all__ = ["DETECTIONS_PROTOCOL", "LAB_PROTOCOL", "PROTOCOLS", "decode_frame", "encode_frame"]

LAB_PROTOCOL, DETECTIONS_PROTOCOL = "aprs", "detections/1"
PROTOCOLS = (LAB_PROTOCOL, DETECTIONS_PROTOCOL)
_COLUMNS = {"position_m": 3, "quaternion_wxyz": 4, "variances": 6}


def encode_frame(detections: Detections) -> str:
    """Returns a frame as one line, without its newline; what was not measured is null."""
    rows = zip(
        detections.skus,
        detections.positions.reshape(-1, 3).tolist(),
        detections.quaternions.reshape(-1, 4).tolist(),
        detections.variances.reshape(-1, 6).tolist(),
        detections.scores.tolist(),
        strict=True,
    )
    frame = {
        "time_ns": detections.time_ns,
        "sequence": detections.sequence,
        "source": detections.source,
        "frame": detections.frame,
        "objects": [
            {
                "sku": sku,
                "position_m": _told(position),
                "quaternion_wxyz": _told(quaternion),
                "variances": _told(variances),
                "score": _told([score])[0],
            }
            for sku, position, quaternion, variances, score in rows
        ],
    }
    return json.dumps(frame, separators=(",", ":"), allow_nan=False)


def decode_frame(line: str | bytes) -> Detections:
    """Returns the detections of a line.

    Raises:
        BadInput: What is wrong with it.
    """
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f"a frame of {DETECTIONS_PROTOCOL} is a line of JSON, not {line[:60]!r}") from None
    if not isinstance(frame, dict):
        raise BadInput(f"a frame of {DETECTIONS_PROTOCOL} is a JSON object, not {line[:60]!r}")
    objects = _of(frame, "objects", list)
    for one in objects:
        if not isinstance(one, dict):
            raise BadInput(f"objects of a frame are JSON objects, not {str(one)[:60]!r}")
    position, quaternion, variances = (_table(objects, key, count) for key, count in _COLUMNS.items())
    scores = _table([one | {"score": [one.get("score")]} for one in objects], "score", 1)
    return Detections(
        _of(frame, "time_ns", int),
        _of(frame, "sequence", int),
        _of(frame, "source", str),
        frame=_of(frame, "frame", str),
        skus=tuple(_of(one, "sku", str) for one in objects),
        positions=position,
        quaternions=quaternion,
        variances=np.where(np.isnan(variances), np.inf, variances),
        scores=scores[:, 0],
    )


def _told(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def _of(data: dict[str, Any], key: str, kind: Any) -> Any:
    value = data.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        name = getattr(kind, "__name__", "number")
        raise BadInput(f"'{key}' of a frame should be of type {name}, and is {str(value)[:60]!r}")
    return value


def _number(value: float, key: str) -> float:
    if not math.isfinite(value):
        raise BadInput(f"'{key}' of a frame should be a finite number, and is {value}")
    return float(value)


def _table(objects: list[dict[str, Any]], key: str, count: int) -> np.ndarray:
    """Returns a row of numbers for each object; not a number where there is null."""
    table = np.full((len(objects), count), np.nan)
    for row, one in enumerate(objects):
        values = _of(one, key, list)
        if len(values) != count:
            raise BadInput(f"'{key}' of a frame has {count} numbers, not {len(values)}")
        for column, value in enumerate(values):
            if value is not None:
                table[row, column] = _number(_of({key: value}, key, int | float), key)
    return table
