"""Pictures by ray casting: needs no graphics library at all, so it works on a bare machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.rendering.frame import RayFrame
from cellwright.rendering.scene_mesh import SceneMesh
from cellwright.rendering.view import View

__all__ = ["RayRenderer"]

EDGE_CONTRAST = 0.05  # neighbours that differ by more are sampled again
EDGE_SAMPLES = np.array([[-1, -3], [3, -1], [1, 3], [-3, 1]]) / 8  # places in such a pixel, beside its middle


class RayRenderer:
    """Casts a ray through every pixel, several where neighbours differ; the same scene gives the same pixels."""

    name = "ray"

    def __init__(self) -> None:
        self._model: Any = None
        self._mesh: SceneMesh | None = None

    def render(self, model: Any, data: Any, view: View, size: tuple[int, int] = (1280, 720)) -> npt.NDArray[np.uint8]:
        """Returns the picture as (height, width, 3); `data` must be at least at `mj_forward`'s state of poses."""
        if self._model is not model or self._mesh is None:
            self._model = model
            self._mesh = SceneMesh(model)
        frame = RayFrame(model, data, view.resolve(model, data), size, self._mesh)
        width, height = size
        y, x = np.divmod(np.arange(width * height), width)
        colour, key = frame.trace(x, y)
        picture = colour.reshape(height, width, 3)
        y, x = np.nonzero(_edges(picture, key.reshape(height, width)))
        if len(x):
            fine_x = (x[:, None] + EDGE_SAMPLES[:, 0]).reshape(-1)
            fine_y = (y[:, None] + EDGE_SAMPLES[:, 1]).reshape(-1)
            fine, _ = frame.trace(fine_x, fine_y)
            total = picture[y, x] + fine.reshape(-1, len(EDGE_SAMPLES), 3).sum(axis=1)
            picture[y, x] = total / (len(EDGE_SAMPLES) + 1)
        return np.asarray(np.round(np.clip(picture, 0, 1) * 255), dtype=np.uint8)

    def close(self) -> None:
        """Frees the last model's triangles."""
        self._model = self._mesh = None


def _edges(picture: npt.NDArray[np.float32], key: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Returns pixels that differ from a neighbour in geom or in colour."""
    edge = np.zeros(key.shape, dtype=bool)
    across = (key[:, 1:] != key[:, :-1]) | (np.abs(picture[:, 1:] - picture[:, :-1]).max(axis=2) > EDGE_CONTRAST)
    down = (key[1:] != key[:-1]) | (np.abs(picture[1:] - picture[:-1]).max(axis=2) > EDGE_CONTRAST)
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= down
    edge[:-1] |= down
    return edge
