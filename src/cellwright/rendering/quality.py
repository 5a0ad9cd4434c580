"""The care with which colours are drawn."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BEST", "Quality"]


@dataclass(frozen=True)
class Quality:
    """The care with which colours are drawn: less is faster. Depths and geoms do not depend on it.

    Attributes:
        shadows: Whether things keep light from others.
        samples: 4 per pixel, where it shows an edge, or 1.
    """

    shadows: bool = True
    samples: int = 4


BEST = Quality()
"""As careful as can be."""
