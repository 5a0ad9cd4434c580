"""The noise of measured poses: a normal distribution per axis, or several, where readings lie in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from cellwright.core.config import Cfg

__all__ = ["LAB_CLUSTERS_M", "AngleNoise", "ClusterCfg", "Clusters", "LengthNoise", "PoseNoise"]

Array = npt.NDArray[np.float64]


class ClusterCfg(Cfg):
    """One of several clusters in which readings of an axis lie.

    Attributes:
        share: The share of readings in it; those of all clusters together are taken as the whole.
        mean: Its middle, off the truth, in the axis' unit.
        sd: Its standard deviation.
    """

    share: Annotated[float, Field(gt=0, le=1)]
    mean: Annotated[float, Field(ge=-180, le=180)] = 0.0
    sd: Annotated[float, Field(ge=0, le=180)]


def _clusters(clusters: tuple[ClusterCfg, ...]) -> tuple[ClusterCfg, ...]:
    if not 1 <= len(clusters) <= 5:
        raise ValueError(f"one to five clusters, not {len(clusters)}")
    return clusters


Clusters = Annotated[tuple[ClusterCfg, ...], AfterValidator(_clusters)]
LengthNoise = Annotated[float, Field(ge=0, le=1)] | Clusters
"""A standard deviation in metres, or clusters."""
AngleNoise = Annotated[float, Field(ge=0, le=180)] | Clusters
"""A standard deviation in degrees, or clusters."""

LAB_CLUSTERS_M: tuple[tuple[ClusterCfg, ...], tuple[ClusterCfg, ...]] = (
    (
        ClusterCfg(share=0.30, mean=-0.000342, sd=0.00009),
        ClusterCfg(share=0.45, mean=0.00002, sd=0.00009),
        ClusterCfg(share=0.25, mean=0.0003744, sd=0.00009),
    ),
    (
        ClusterCfg(share=0.25, mean=-0.0004474, sd=0.00010),
        ClusterCfg(share=0.45, mean=-0.00002, sd=0.00010),
        ClusterCfg(share=0.30, mean=0.0004028, sd=0.00010),
    ),
)
"""Clusters of x and y like those of the APRS laboratory's recognition. That there are three per axis, and that all
together scatter by 0.28 and 0.33 mm about the mean, is published; shares, middles and widths are ours."""


class PoseNoise:
    """Noise of several axes.

    Args:
        axes: For each a standard deviation or clusters; None for an axis that is not measured.
        units: By what the figures are multiplied, for each axis.
    """

    def __init__(self, axes: Sequence[float | tuple[ClusterCfg, ...] | None], units: Sequence[float]) -> None:
        whole = [(ClusterCfg(share=1, sd=axis),) if isinstance(axis, float | int) else axis for axis in axes]
        most = max((len(clusters) for clusters in whole if clusters), default=1)
        self._ends = np.ones((len(axes), most))
        self._means, self._sds = np.zeros((len(axes), most)), np.zeros((len(axes), most))
        self.variances = np.full(len(axes), np.inf)
        for k, (clusters, unit) in enumerate(zip(whole, units, strict=True)):
            if clusters is None:
                continue
            shares = np.array([one.share for one in clusters]) / sum(one.share for one in clusters)
            means, sds = (unit * np.array([getattr(one, key) for one in clusters]) for key in ("mean", "sd"))
            self._ends[k, : len(clusters)] = shares.cumsum()
            self._means[k, : len(clusters)], self._sds[k, : len(clusters)] = means, sds
            mean = shares @ means
            self.variances[k] = shares @ (sds**2 + means**2) - mean**2
        self._is_clustered = most > 1

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Returns the errors of so many readings, count x axes; zero for an axis that is not measured."""
        axes = len(self._ends)
        normal = rng.standard_normal((count, axes))
        if not self._is_clustered:
            result: Array = normal * self._sds[:, 0] + self._means[:, 0]
            return result
        which = (rng.random((count, axes, 1)) >= self._ends[:, :-1]).sum(axis=2)
        rows = np.arange(axes)
        clustered: Array = normal * self._sds[rows, which] + self._means[rows, which]
        return clustered
