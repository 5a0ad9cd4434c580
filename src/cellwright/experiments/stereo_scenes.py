"""Scenes for stereo: the ROVI cell with its projector on, drawn once for many draws of noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.core.pose import Pose
from cellwright.lab.pictures import take_pictures
from cellwright.perception.picture import Picture
from cellwright.sensors import make_sensor
from cellwright.sensors.cameras import StereoCamera
from cellwright.sim import World

__all__ = ["SURFACE_M", "PicturePair", "StereoScene", "with_gaussian", "with_papers_noise"]

PicturePair = tuple[Picture, Picture]
SURFACE_M = 0.750  # the pick area of the ROVI cell
SENSOR = "stereo"


class StereoScene:
    """The ROVI cell, posed at will, and the pictures of its stereo camera.

    Args:
        seed: Of what is random in the cell.
        exact: Whether cameras are where the drawings have them, as in the paper; else as `actual` of the cell says.
        changes: To the cell's file.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        exact: bool = True,
        changes: Mapping[str, Any] | None = None,
    ) -> None:
        cell = load_cell("rovi").changed({**(changes or {}), "fidelity": "kinematic"})
        if exact:
            cell = cell.model_copy(update={"actual": ActualCfg()})
        self.world = World(cell, seed)
        self.world.projectors.on = dict.fromkeys(self.world.projectors.on, True)
        line = next(line for line in cell.sensors if line.get("name") == SENSOR)
        sensor = make_sensor({**line, "noise": []}, self.world, "stereo scene")
        assert isinstance(sensor, StereoCamera)
        self._sensor = sensor

    def arrange(self, poses_in_world: Mapping[str, Pose]) -> None:
        """Puts parts of the cell elsewhere; nothing falls."""
        for name, pose in poses_in_world.items():
            self.world.place(name, pose)

    def take(self) -> PicturePair:
        """Returns the left and the right picture, without noise."""
        left, right = take_pictures(self._sensor)
        return left, right


def with_gaussian(pair: PicturePair, sigma: float, rng: np.random.Generator) -> PicturePair:
    """Returns a pair with independent normal noise of both signs in every channel of every pixel.

    Args:
        pair: Without noise.
        sigma: Its standard deviation in grey levels.
        rng: For this trial.
    """
    if sigma == 0:
        return pair
    return _added(pair, [sigma * rng.standard_normal(picture.pixels.shape, np.float32) for picture in pair])


def with_papers_noise(pair: PicturePair, sigma: float, rng: np.random.Generator) -> PicturePair:
    """Returns a pair with the noise of the ROVI project's code: the same in both, cut off below zero."""
    noise = np.round(np.clip(sigma * rng.standard_normal(pair[0].pixels.shape, np.float32), 0, 255))
    return _added(pair, [noise, noise])


def _added(pair: PicturePair, noises: list[npt.NDArray[np.float32]]) -> PicturePair:
    left, right = (
        replace(picture, pixels=np.round(np.clip(picture.pixels + noise, 0, 255)).astype(np.uint8))
        for picture, noise in zip(pair, noises, strict=True)
    )
    return left, right
