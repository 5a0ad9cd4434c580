"""The errors of a reading: bias, drift, noise, resolution, range, in this order."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.core.config import Cfg, Number, draw

__all__ = ["Noise", "NoiseCfg"]

Array = npt.NDArray[np.float64]
Amount = Annotated[float, Field(ge=0)]


class NoiseCfg(Cfg):
    """The errors of one reading, in the reading's own unit.

    Attributes:
        bias: Constant error, the same for the whole run; a distribution draws it once per axis.
        random_walk: Standard deviation by which the drift grows in one second.
        sd: Standard deviation of the noise of each sample.
        resolution: Readings are whole multiples of it; 0 means continuous.
        low: Smallest reading.
        high: Largest reading.
    """

    bias: Number = 0.0
    random_walk: Amount = 0.0
    sd: Amount = 0.0
    resolution: Amount = 0.0
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low is {self.low:g}, above high, {self.high:g}")
        return self


class Noise:
    """Applies the errors to arrays of one size; keeps the drift.

    Args:
        cfg: The errors.
        size: Numbers per reading.
        period_s: Time between readings, by which the drift grows.
        rng: The sensor's own stream.
    """

    def __init__(self, cfg: NoiseCfg, size: int, period_s: float, rng: np.random.Generator) -> None:
        self._cfg = cfg
        self._rng = rng
        self._size = size
        self._drift = np.array([draw(cfg.bias, rng) for _ in range(size)])
        self._walk = cfg.random_walk * float(np.sqrt(period_s))
        self._offset = bool(self._drift.any()) or self._walk > 0
        self._clipped = cfg.low is not None or cfg.high is not None
        self._exact = not (self._offset or cfg.sd or cfg.resolution or self._clipped)

    @property
    def is_none(self) -> bool:
        """Whether readings are exact."""
        return self._exact

    def save(self) -> Array:
        """Returns the drift, its only state."""
        return self._drift.copy()

    def load(self, drift: Array) -> None:
        """Restores a drift that was saved."""
        self._drift = drift.copy()

    def apply(self, truth: Array) -> Array:
        """Returns a reading; always a new array."""
        if self._exact:
            return truth.copy()
        cfg, rng = self._cfg, self._rng
        if self._walk:
            self._drift += rng.standard_normal(self._size) * self._walk
        reading = truth + self._drift if self._offset else truth.copy()
        if cfg.sd:
            reading += rng.standard_normal(self._size) * cfg.sd
        if cfg.resolution:
            reading = np.round(reading / cfg.resolution) * cfg.resolution
        if self._clipped:
            reading = np.clip(reading, cfg.low, cfg.high)
        return reading
