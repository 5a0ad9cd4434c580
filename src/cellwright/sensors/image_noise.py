"""The noise of pictures: models by name, to which others may add theirs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cellwright.core.config import Cfg, validate
from cellwright.core.errors import BadInput, ConfigError
from cellwright.core.plugin_errors import plugin_error
from cellwright.core.registry import Registry

__all__ = ["PICTURE_NOISES", "PictureNoise", "make_noises", "with_models"]

Picture = npt.NDArray[np.float32]
Share = Annotated[float, Field(ge=0, le=1)]


class PictureNoiseCfg(Cfg):
    """The configuration that models of noise have in common.

    Attributes:
        model: The registered name.
    """

    model: str


C = TypeVar("C", bound=PictureNoiseCfg)


class PictureNoise(ABC, Generic[C]):
    """A model of noise: changes the picture of one moment, and keeps nothing.

    Attributes:
        Cfg: Class of its configuration.
        of_depth: Whether it changes depths in metres, not colours from 0 to 1.
    """

    Cfg: ClassVar[type[PictureNoiseCfg]]
    of_depth: ClassVar[bool] = False

    def __init__(self, cfg: C) -> None:
        self.cfg = cfg

    @abstractmethod
    def apply(self, picture: Picture, rng: np.random.Generator) -> Picture:
        """Returns the picture with noise; colours are cut off afterwards."""


PICTURE_NOISES: Registry[type[PictureNoise[Any]]] = Registry("picture noise", "cellwright.picture_noises")
"""Name, as `model` in a camera's noise -> class; `@PICTURE_NOISES.register("name")` adds one."""


def with_models(picture: Picture, models: Iterable[PictureNoise[Any]], rng: np.random.Generator) -> Picture:
    """Returns a picture changed by models of noise, one after the other.

    Raises:
        PluginError: A model of others fails, or returns no picture of the same size; one line that names its place.
    """
    for model in models:
        kind = type(model)
        what = f"picture noise '{model.cfg.model}' fails in apply"
        try:
            changed = model.apply(picture, rng)
            if not isinstance(changed, np.ndarray) or changed.shape != picture.shape:
                got = f"an array of {changed.shape}" if isinstance(changed, np.ndarray) else type(changed).__name__
                raise BadInput(f"apply returns an array like its picture, {picture.shape}, not {got}")
            if not kind.of_depth and not np.isfinite(changed).all():
                raise BadInput("apply returns colours that are no numbers")
        except Exception as error:
            raise plugin_error(what, error, kind) from error
        picture = changed
    return picture


def make_noises(lines: Iterable[Mapping[str, Any]], where: str, *, of_depth: bool) -> list[PictureNoise[Any]]:
    """Returns the models of a camera's noise; errors name the line."""
    made = []
    for number, line in enumerate(lines):
        place, name = f"{where}.noise.{number}", line.get("model")
        if not isinstance(name, str):
            raise ConfigError(place, "model", f"name a noise (available: {', '.join(PICTURE_NOISES)})")
        kind = PICTURE_NOISES.get(name, f"{place}.model")
        if kind.of_depth != of_depth:
            fit = [known for known in PICTURE_NOISES if PICTURE_NOISES.get(known).of_depth == of_depth]
            raise ConfigError(
                place, "model", f"'{name}' is no noise of {'depths' if of_depth else 'colours'}: {', '.join(fit)}"
            )
        made.append(kind(validate(dict(line), kind.Cfg, place)))
    return made


class GaussianCfg(PictureNoiseCfg):
    """Noise of every channel of every pixel.

    Attributes:
        sd: Standard deviation, of colours from 0 to 1.
    """

    sd: Share


@PICTURE_NOISES.register("gaussian")
class GaussianNoise(PictureNoise[GaussianCfg]):
    """Independent normal noise, of mean zero."""

    Cfg: ClassVar[type[PictureNoiseCfg]] = GaussianCfg

    def apply(self, picture: Picture, rng: np.random.Generator) -> Picture:
        """Returns the picture with noise."""
        noise = rng.standard_normal(picture.shape, dtype=np.float32)
        noise *= np.float32(self.cfg.sd)
        noise += picture
        return noise


class ShotNoiseCfg(PictureNoiseCfg):
    """Noise of the light itself.

    Attributes:
        sd: Standard deviation of a white pixel; that of a darker one is less, by the root of its brightness.
    """

    sd: Share


@PICTURE_NOISES.register("shot")
class ShotNoise(PictureNoise[ShotNoiseCfg]):
    """Photons are counted: the variance is proportional to the light."""

    Cfg: ClassVar[type[PictureNoiseCfg]] = ShotNoiseCfg

    def apply(self, picture: Picture, rng: np.random.Generator) -> Picture:
        """Returns the picture with noise."""
        spread = np.float32(self.cfg.sd) * np.sqrt(np.maximum(picture, 0))
        return picture + spread * rng.standard_normal(picture.shape, dtype=np.float32)


class KinectNoiseCfg(PictureNoiseCfg):
    """Noise of a depth camera that throws a pattern; figures of its first generation, estimated.

    Attributes:
        sd_m: Standard deviation at the nearest.
        sd_per_m: What the square of the distance beyond `from_m` adds to it.
        from_m: From where the noise grows.
        step_px: Disparities are whole multiples of it; 0 for none.
        focal_baseline_px_m: Focal length in pixels times the distance of projector and camera.
        lost_at_edges: Probability that a pixel beside a step in depth has none.
        edge_m: What counts as a step.
    """

    sd_m: Annotated[float, Field(ge=0, le=1)] = 0.0012
    sd_per_m: Annotated[float, Field(ge=0, le=1)] = 0.0019
    from_m: Annotated[float, Field(ge=0, le=10)] = 0.4
    step_px: Annotated[float, Field(ge=0, le=10)] = 0.125
    focal_baseline_px_m: Annotated[float, Field(gt=0, le=1e4)] = 43.5
    lost_at_edges: Share = 0.5
    edge_m: Annotated[float, Field(gt=0, le=10)] = 0.03


@PICTURE_NOISES.register("kinect")
class KinectNoise(PictureNoise[KinectNoiseCfg]):
    """Noise that grows with the square of the distance, steps of disparity, and holes beside edges."""

    Cfg: ClassVar[type[PictureNoiseCfg]] = KinectNoiseCfg
    of_depth: ClassVar[bool] = True

    def apply(self, picture: Picture, rng: np.random.Generator) -> Picture:
        """Returns the depths with noise."""
        cfg = self.cfg
        spread = cfg.sd_m + cfg.sd_per_m * np.maximum(picture - cfg.from_m, 0) ** 2
        chance = rng.random(picture.shape, dtype=np.float32)  # drawn for all: what is seen does not shift the stream
        noisy = picture + spread * rng.standard_normal(picture.shape, dtype=np.float32)
        if cfg.step_px:
            steps = np.round(cfg.focal_baseline_px_m / np.maximum(noisy, 1e-3) / cfg.step_px)
            noisy = cfg.focal_baseline_px_m / (np.maximum(steps, 1) * cfg.step_px)
        edge = np.zeros(picture.shape, bool)
        across, down = np.abs(np.diff(picture, axis=1)) > cfg.edge_m, np.abs(np.diff(picture, axis=0)) > cfg.edge_m
        edge[:, 1:] |= across
        edge[:, :-1] |= across
        edge[1:] |= down
        edge[:-1] |= down
        return np.where(edge & (chance < cfg.lost_at_edges), np.nan, noisy).astype(np.float32)


class GaussianDepthCfg(PictureNoiseCfg):
    """Noise of every depth.

    Attributes:
        sd_m: Standard deviation.
    """

    sd_m: Annotated[float, Field(ge=0, le=10)]


@PICTURE_NOISES.register("gaussian_depth")
class GaussianDepthNoise(PictureNoise[GaussianDepthCfg]):
    """Independent normal noise, the same at every distance."""

    Cfg: ClassVar[type[PictureNoiseCfg]] = GaussianDepthCfg
    of_depth: ClassVar[bool] = True

    def apply(self, picture: Picture, rng: np.random.Generator) -> Picture:
        """Returns the depths with noise."""
        return picture + np.float32(self.cfg.sd_m) * rng.standard_normal(picture.shape, dtype=np.float32)
