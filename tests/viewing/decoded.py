"""What the viewer's page reads, read again in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def decoded_mesh(entry: dict[str, Any], blob: bytes) -> tuple[Array, Array, Array]:
    """Returns vertices, normals and triangles of a mesh, as docs/viewer-data.md says."""
    count, triangles = entry["vertices"], entry["triangles"]
    steps = np.frombuffer(blob, "<i2", 3 * count, entry["positions"]).reshape(-1, 3).astype(float)
    low, high = np.array(entry["low"]), np.array(entry["high"])
    vertices = low + (steps + 32768) / 65535 * (high - low)
    normals = np.frombuffer(blob, "i1", 3 * count, entry["normals"]).reshape(-1, 3) / 127
    zigzag = np.frombuffer(blob, "<u4", 3 * triangles, entry["indices"]).astype(np.int64)
    deltas = (zigzag >> 1) ^ -(zigzag & 1)
    return vertices, normals, np.cumsum(deltas).reshape(-1, 3)


def decoded_keys(keys: dict[str, Any], blob: bytes, scene: dict[str, Any]) -> tuple[Array, dict[int, Array]]:
    """Returns times and, for each body with keys, its poses, n x 7."""
    count = keys["count"]
    times = np.frombuffer(blob, "<f4", count, keys["times"]).astype(float)
    poses = {}
    for column in keys["columns"]:
        deltas = np.frombuffer(blob, "<i2", 7 * count, column["offset"]).reshape(7, count).astype(np.int64)
        values = np.cumsum(deltas, axis=1).T.astype(float)
        first = np.array(scene["bodies"][column["body"]]["pose"])
        poses[column["body"]] = np.hstack([first[:3] + values[:, :3] / 10_000, values[:, 3:] / 32767])
    return times, poses
