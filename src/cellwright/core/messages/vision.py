"""Objects that are recognised in images, at one moment and over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.core.messages.base import Array, Message
from cellwright.core.pose import Pose
from cellwright.core.rich_text import html_table

__all__ = ["Detections", "Tracks"]

MOST_NAMED = 6  # objects in a line at the prompt


@dataclass(slots=True, kw_only=True)
class Detections(Message):
    """Objects seen at one moment, one row each, in no meaningful order and without identity.

    Attributes:
        frame: The frame of the poses.
        skus: The SKU as which each object was recognised.
        positions: (n, 3).
        quaternions: (n, 4), w first.
        variances: (n, 6): x, y, z in m2, roll, pitch, yaw in rad2, about the frame's fixed axes; infinite where the
            detector does not measure: the pose has there what is usual for the SKU.
        scores: (n,), 0 to 1.
    """

    frame: str
    skus: tuple[str, ...]
    positions: Array
    quaternions: Array
    variances: Array
    scores: Array

    def __repr__(self) -> str:
        seen = [f"{sku} ({x:.3f}, {y:.3f})" for sku, (x, y, _) in zip(self.skus, self.positions, strict=True)]
        more = [f"{len(seen) - MOST_NAMED} more"] if len(seen) > MOST_NAMED else []
        return f"<{self._title()}: {', '.join(seen[:MOST_NAMED] + more) or 'nothing'}>"

    def _repr_html_(self) -> str:
        rows = []
        for sku, *where, spread, score in zip(
            self.skus, self.positions, self.quaternions, self.variances, self.scores, strict=True
        ):
            pose = Pose(*where)
            told = [*(f"{value:.4f}" for value in pose.position), f"{np.degrees(pose.rpy[2]):.1f}"]
            measured = np.isfinite(spread)[[0, 1, 2, 5]]  # what is usual for the SKU is not told as if it were seen
            rows.append((sku, *(text if one else "" for text, one in zip(told, measured, strict=True)), f"{score:.2f}"))
        columns = ["SKU", "x [m]", "y [m]", "z [m]", "yaw [deg]", "score []"]
        return html_table(f"{self._title()}: {len(self.skus)} objects", columns, rows)

    def _title(self) -> str:
        return f"{self.source} at {self.time_s:.2f} s, in {self.frame}"


@dataclass(slots=True, kw_only=True)
class Tracks(Message):
    """Objects followed over time in the cell frame; columns as in `Detections`, with identity, age and slot."""

    identities: tuple[str, ...]
    skus: tuple[str, ...]
    positions: Array
    quaternions: Array
    variances: Array
    ages_s: Array
    slots: tuple[str, ...]
