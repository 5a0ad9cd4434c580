"""Objects that are recognised in images, at one moment and over time."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.core.messages.base import Array, Message

__all__ = ["Detections", "Tracks"]


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
