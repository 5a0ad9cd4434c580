"""The result of recognition in one picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.messages import Detections

__all__ = ["Recognised"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """The objects that were recognised in a picture, one row each, ordered by SKU and, inside it, by score.

    Attributes:
        source: The camera's name.
        time_s: Simulation time of the picture.
        skus: The classes.
        positions: (n, 3) in the world; heights are those that are usual where the object was seen.
        quaternions: (n, 4), w first; round parts have no rotation.
        variances: (n, 6): x, y, z in m2, roll, pitch, yaw in rad2; infinite where nothing is measured.
        scores: (n,), 0 to 1: how much of the outline was seen where the drawings have it.
        outlines_px: Their outlines in the picture, (k, 2) columns and rows each.
        faults: Why nothing could be seen, or what was left out; one sentence each.
    """

    source: str
    time_s: float
    skus: tuple[str, ...] = ()
    positions: Array
    quaternions: Array
    variances: Array
    scores: Array
    outlines_px: tuple[Array, ...] = ()
    faults: tuple[str, ...] = ()

    @classmethod
    def nothing(cls, source: str, time_s: float, *faults: str) -> Recognised:
        """Returns an empty result, with the reasons for it."""
        none = [np.zeros((0, columns)) for columns in (3, 4, 6)]
        return cls(
            source=source,
            time_s=time_s,
            positions=none[0],
            quaternions=none[1],
            variances=none[2],
            scores=np.zeros(0),
            faults=faults,
        )

    def __len__(self) -> int:
        return len(self.skus)

    def detections(self, sequence: int, source: str | None = None) -> Detections:
        """Returns them as a detector's message, in the world's frame.

        Args:
            sequence: The number of the message.
            source: Its source; the camera's name by default.
        """
        return Detections(
            round(self.time_s * 1e9),
            sequence,
            source or self.source,
            frame="world",
            skus=self.skus,
            positions=self.positions,
            quaternions=self.quaternions,
            variances=self.variances,
            scores=self.scores,
        )
