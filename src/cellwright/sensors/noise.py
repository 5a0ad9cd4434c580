"""The errors of a reading: bias, drift, noise, resolution, range, in this order."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.core.config import Cfg, Number, draw

__all__ = ["Noise", "NoiseCfg", "ReadingStream"]

Array = npt.NDArray[np.float64]
Amount = Annotated[float, Field(ge=0)]


class NoiseCfg(Cfg):
    """The errors of one reading, in the reading's own unit.

    Attributes:
        bias: Constant error, the same for the whole run; a distribution draws it once per axis.
        random_walk: Standard deviation by which the drift grows in one second.
        mean: Mean of the noise.
        sd: Standard deviation of the noise of each sample.
        probability: Share of the readings that have noise.
        inward: Whether noise leads away from the limits: it is subtracted from a reading at `high` or beyond, added to
            one at `low` or below, and in between has a random sign.
        resolution: Readings are whole multiples of it; 0 means continuous.
        low: Smallest reading.
        high: Largest reading.
    """

    bias: Number = 0.0
    random_walk: Amount = 0.0
    mean: float = 0.0
    sd: Amount = 0.0
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    inward: bool = False
    resolution: Amount = 0.0
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low is {self.low:g}, above high, {self.high:g}")
        return self

    def within(self, low: float, high: float) -> NoiseCfg:
        """Returns it with these limits, where it has none."""
        own = {"low": low if self.low is None else self.low, "high": high if self.high is None else self.high}
        return self.model_copy(update=own)


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
        self._noisy = bool(cfg.sd or cfg.mean) and cfg.probability > 0
        self._low = -np.inf if cfg.low is None else cfg.low
        self._high = np.inf if cfg.high is None else cfg.high
        self._exact = not (self._offset or self._noisy or cfg.resolution or self._clipped)

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

    @property
    def has_walk(self) -> bool:
        """Whether it drifts, so that a reading depends on those before."""
        return self._walk > 0

    def apply(self, truth: Array, rng: np.random.Generator | None = None) -> Array:
        """Returns a reading; always a new array.

        Args:
            truth: What would be read without errors.
            rng: The stream of this one reading; its own otherwise. Drift comes from its own.
        """
        if self._exact:
            return truth.copy()
        cfg = self._cfg
        if self._walk:
            self._drift += self._rng.standard_normal(self._size) * self._walk
        reading = truth + self._drift if self._offset else truth.copy()
        if self._noisy:
            reading += self._noise(reading, rng or self._rng)
        if cfg.resolution:
            reading = np.rint(reading / cfg.resolution) * cfg.resolution
        if self._clipped:
            np.maximum(reading, self._low, out=reading)  # np.clip takes three times as long
            np.minimum(reading, self._high, out=reading)
        return reading

    def _noise(self, reading: Array, rng: np.random.Generator) -> Array:
        cfg = self._cfg
        noise = rng.standard_normal(self._size) * cfg.sd + cfg.mean
        if cfg.probability < 1:
            noise *= rng.random(self._size) < cfg.probability  # to index by truth values takes three times as long
        if cfg.inward:
            flipped = (reading >= self._high) | ((reading > self._low) & (rng.random(self._size) < 0.5))
            np.negative(noise, out=noise, where=flipped)
        return noise


class ReadingStream:
    """A random stream for each reading of a sensor, which depends on the reading's number alone.

    So a reading that nobody wants need not be made, and one that is repeated from a snapshot is the same.

    Args:
        rng: The sensor's own stream, from which the key is drawn.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._bits = np.random.Philox(key=int(rng.integers(2**63)))
        self._start = self._bits.state
        self._rng = np.random.Generator(self._bits)

    def of(self, sequence: int) -> np.random.Generator:
        """Returns the stream of a reading; that of the reading before is over."""
        self._start["state"]["counter"][1] = sequence
        self._bits.state = self._start
        return self._rng
