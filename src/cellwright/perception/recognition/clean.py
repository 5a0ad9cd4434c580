"""Smaller pictures without the bias of their noise."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["SmallPicture", "features", "noise_sd"]

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
LEAST_SD = 0.02  # below, nothing is cut off that matters
DARK = 0.12  # added to the sum of the colours before ratios are taken: dark pixels have no colour
CHROMA = 1.5  # weight of ratios of colours against the logarithm of brightness


class SmallPicture:
    """A picture of which some pixels along each axis became one.

    Attributes:
        pixels: (rows, columns, 3), 8 bits.
        factor: How many became one along each axis.
        noise: Standard deviation of its colours, 0 to 1, estimated.
    """

    def __init__(self, pixels: Pixels, factor: int, blur_px: float, sd: float) -> None:
        import cv2

        rows, columns = (side // factor * factor for side in pixels.shape[:2])
        small = pixels[:rows, :columns]
        if factor > 1:
            small = cv2.resize(small, (columns // factor, rows // factor), interpolation=cv2.INTER_AREA)
        if blur_px > 0:
            small = cv2.GaussianBlur(small, (0, 0), blur_px)
        if sd > LEAST_SD:
            small = cv2.LUT(small, _unclipped(sd))
        self.pixels, self.factor = small, factor
        self.noise = sd / factor / max(1.0, 2 * math.sqrt(math.pi) * blur_px)

    def sampled(self, pixels: npt.NDArray[np.float64]) -> Floats:
        """Returns features at columns and rows of the whole picture, (..., 2) -> (..., 3); not a number outside."""
        import cv2

        shape = pixels.shape[:-1]
        flat = (pixels.reshape(-1, shape[-1], 2) / self.factor - 0.5).astype(np.float32)
        across, down = np.ascontiguousarray(flat[..., 0]), np.ascontiguousarray(flat[..., 1])
        rows, columns = self.pixels.shape[:2]
        outside = ~((across >= -0.5) & (down >= -0.5) & (across <= columns - 0.5) & (down <= rows - 0.5))
        across[outside] = down[outside] = 0.0
        colours = cv2.remap(self.pixels, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        found = features(colours, self.noise)
        found[outside] = np.nan
        return found.reshape(*shape, 3)


def features(colours: Pixels, noise: float = 0.0) -> Floats:
    """Returns two ratios of colours, which shadows leave as they are, and the logarithm of brightness, (..., 3)."""
    values = colours.astype(np.float32) * np.float32(1 / 255)
    red, green, blue = values[..., 0], values[..., 1], values[..., 2]
    total = red + green + blue + np.float32(DARK + 3 * noise)
    found = np.empty(values.shape, np.float32)
    scale = np.float32(CHROMA) / total
    found[..., 0] = (red - green) * scale
    found[..., 1] = (np.float32(0.5) * (red + green) - blue) * scale
    found[..., 2] = np.log(total)
    return found


def noise_sd(pixels: Pixels) -> float:
    """Returns the standard deviation of a picture's noise, of colours from 0 to 1: that of most second differences."""
    some = pixels[4::8].astype(np.int16)
    second = np.abs(some[:, 2:] - 2 * some[:, 1:-1] + some[:, :-2])
    inner = (some[:, 1:-1] > 0) & (some[:, 1:-1] < 255)
    if inner.sum() < 100:
        return 0.0
    return float(np.median(second[inner]) / 0.6745 / math.sqrt(6) / 255)


def _unclipped(sd: float) -> Pixels:
    """Returns the table that undoes what noise does to mean values where it is cut off at black and at white."""
    values = np.linspace(0.0, 1.0, 1001)
    low, high = -values / sd, (1 - values) / sd
    normal = np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))
    density = np.exp(-(np.array([low, high]) ** 2) / 2) / math.sqrt(2 * math.pi)
    below, above = normal(low), normal(high)
    means = values * (above - below) + sd * (density[0] - density[1]) + (1 - above)
    table = np.interp(np.arange(256) / 255, means, values)
    return np.round(255 * table).astype(np.uint8)
