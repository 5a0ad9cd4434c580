"""The interface of renderers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.rendering.quality import BEST, Quality
from cellwright.rendering.shot import RGB, Shot
from cellwright.rendering.view import Frustum, View

__all__ = ["Renderer"]


class Renderer(ABC):
    """Draws pictures of MuJoCo models.

    Attributes:
        name: By which it is chosen.
    """

    name: str

    def render(self, model: Any, data: Any, view: View, size: tuple[int, int] = (1280, 720)) -> npt.NDArray[np.uint8]:
        """Returns the picture as (height, width, 3); `data` must be at least at `mj_forward`'s state of poses."""
        return self.shoot(model, data, view.resolve(model, data), size).rgb

    @abstractmethod
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

    @abstractmethod
    def close(self) -> None:
        """Frees what it holds; it may draw again afterwards."""
