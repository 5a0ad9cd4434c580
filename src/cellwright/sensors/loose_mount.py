"""A camera whose mount is loose: in each picture it rests in one of a few places; what is recognised is in clusters."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cellwright.sensors.image_noise import PICTURE_NOISES, Picture, PictureNoise, PictureNoiseCfg
from cellwright.sensors.pose_noise import LAB_CLUSTERS_M, ClusterCfg, Clusters, PoseNoise

__all__ = ["LooseMount", "LooseMountCfg"]

LAB_PIXEL_M = 0.00046  # what a pixel of the laboratory's cameras shows of the tables below them


def _in_pixels(clusters: tuple[ClusterCfg, ...]) -> tuple[ClusterCfg, ...]:
    return tuple(ClusterCfg(share=one.share, mean=one.mean / LAB_PIXEL_M, sd=one.sd / LAB_PIXEL_M) for one in clusters)


class LooseMountCfg(PictureNoiseCfg):
    """A mount that rests in places of its own along columns and along rows.

    Attributes:
        columns_px: The places by which pictures are shifted to the right; the default scatters places on the tables of
            the APRS laboratory, seen by its own cameras, like those that were measured there.
        rows_px: The places by which they are shifted downwards.
    """

    columns_px: Clusters = _in_pixels(LAB_CLUSTERS_M[0])
    rows_px: Clusters = _in_pixels(LAB_CLUSTERS_M[1])


@PICTURE_NOISES.register("loose_mount")
class LooseMount(PictureNoise[LooseMountCfg]):
    """Shifts each picture as a whole, to one of the places and a little beside it."""

    Cfg: ClassVar[type[PictureNoiseCfg]] = LooseMountCfg

    def __init__(self, cfg: LooseMountCfg) -> None:
        super().__init__(cfg)
        self._places = PoseNoise([cfg.columns_px, cfg.rows_px], [1.0, 1.0])

    def apply(self, picture: Picture, rng: np.random.Generator) -> Picture:
        """Returns the picture, shifted; at its edges what was last seen goes on."""
        right, down = self._places.draw(rng, 1)[0]
        return _shifted(_shifted(picture, float(down), 0), float(right), 1)


def _shifted(picture: Picture, way_px: float, axis: int) -> Picture:
    """Returns the picture moved along an axis; each pixel is a mean of the two between which it was."""
    whole = int(np.floor(way_px))
    part = np.float32(way_px - whole)
    numbers = np.arange(picture.shape[axis]) - whole
    last = picture.shape[axis] - 1
    near = picture.take(np.clip(numbers, 0, last), axis=axis)
    far = picture.take(np.clip(numbers - 1, 0, last), axis=axis)
    return near + part * (far - near)
