"""The layers of a picture: colours, depths, and the geom that each pixel shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["DEPTH", "GEOM", "RGB", "Shot", "blank_shot"]

RGB, DEPTH, GEOM = "rgb", "depth", "geom"
"""The layers that may be asked for."""


@dataclass(frozen=True)
class Shot:
    """The layers of one picture; one that was not asked for may be blank.

    Attributes:
        rgb: Colours, (height, width, 3).
        depth_m: Distance along the optical axis, (height, width); not a number where nothing is seen.
        geom: The geom that is seen, (height, width); -1 where none is.
    """

    rgb: npt.NDArray[np.uint8]
    depth_m: npt.NDArray[np.float32]
    geom: npt.NDArray[np.int32]


def blank_shot(size: tuple[int, int]) -> Shot:
    """Returns a picture that shows nothing, of so many columns and rows."""
    width, height = size
    return Shot(
        np.zeros((height, width, 3), np.uint8),
        np.full((height, width), np.nan, np.float32),
        np.full((height, width), -1, np.int32),
    )
