"""Pictures by ray casting: needs no graphics library at all, so it works on a bare machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.rendering.frame import RayFrame
from cellwright.rendering.quality import BEST, Quality
from cellwright.rendering.renderer import Renderer
from cellwright.rendering.scene_mesh import SceneMesh
from cellwright.rendering.shot import DEPTH, GEOM, RGB, Shot, blank_shot
from cellwright.rendering.view import Frustum

__all__ = ["RayRenderer"]

EDGE_CONTRAST = 0.05  # neighbours that differ by more are sampled again
EDGE_SAMPLES = np.array([[-1, -3], [3, -1], [1, 3], [-3, 1]]) / 8  # places in such a pixel, beside its middle


class RayRenderer(Renderer):
    """Casts a ray through every pixel, several where neighbours differ; the same scene gives the same pixels."""

    name = "ray"

    def __init__(self) -> None:
        self._model: Any = None
        self._mesh: SceneMesh | None = None

    def shoot(
        self,
        model: Any,
        data: Any,
        frustum: Frustum,
        size: tuple[int, int],
        *,
        exposure: float = 1.0,
        layers: tuple[str, ...] = (RGB,),
        quality: Quality = BEST,
    ) -> Shot:
        """Returns the layers of a picture that are asked for; light is scaled by the exposure before it is cut off."""
        if self._model is not model or self._mesh is None:
            self._model = model
            self._mesh = SceneMesh(model)
        frame = RayFrame(model, data, frustum, size, self._mesh, shadows=quality.shadows)
        shot = blank_shot(size)
        width, height = size
        y, x = np.divmod(np.arange(width * height), width)
        if DEPTH in layers or GEOM in layers:
            depth_m, geom = frame.measure(x, y)
            shot.depth_m[:], shot.geom[:] = depth_m.reshape(height, width), geom.reshape(height, width)
        if RGB not in layers:
            return shot
        colour, key = frame.trace(x, y)
        picture = colour.reshape(height, width, 3)
        edges = _edges(picture, key.reshape(height, width)) if quality.samples > 1 else np.zeros((height, width), bool)
        y, x = np.nonzero(edges)
        if len(x):
            fine_x = (x[:, None] + EDGE_SAMPLES[:, 0]).reshape(-1)
            fine_y = (y[:, None] + EDGE_SAMPLES[:, 1]).reshape(-1)
            fine, _ = frame.trace(fine_x, fine_y)
            total = picture[y, x] + fine.reshape(-1, len(EDGE_SAMPLES), 3).sum(axis=1)
            picture[y, x] = total / (len(EDGE_SAMPLES) + 1)
        shot.rgb[:] = np.round(np.clip(exposure * picture, 0, 1) * 255)
        return shot

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
