"""Averaged poses of the objects in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.core.messages import Detections
from cellwright.core.pose import Pose

__all__ = ["AveragedScene", "Sighting"]

SAME_OBJECT_M = 0.015


@dataclass(frozen=True)
class Sighting:
    """An object seen: what it was taken for, where, in how many frames."""

    sku: str
    pose_in_world: Pose
    frames: int

    def distance_m(self, position: np.ndarray) -> float:
        """Returns how far from a place it is, in the plane."""
        return float(np.hypot(*(self.pose_in_world.position - position)[:2]))


class AveragedScene:
    """The objects of several frames, brought together by kind and place.

    Detections have no identity and their rows jump, so rows of one SKU that lie together are one object; its pose
    is their mean. Objects seen in less than half of the frames are left out.
    """

    def __init__(self, frames: Sequence[Detections]) -> None:
        clusters: list[tuple[str, list[np.ndarray], list[np.ndarray]]] = []
        for frame in frames:
            for sku, position, quaternion in zip(frame.skus, frame.positions, frame.quaternions, strict=True):
                for known_sku, positions, quaternions in clusters:
                    if sku == known_sku and np.linalg.norm(positions[0] - position) < SAME_OBJECT_M:
                        positions.append(position)
                        quaternions.append(quaternion * np.sign(quaternion @ quaternions[0] or 1.0))
                        break
                else:
                    clusters.append((sku, [position], [quaternion]))
        self.sightings = [
            Sighting(sku, Pose(np.mean(positions, axis=0), np.mean(quaternions, axis=0)), len(positions))
            for sku, positions, quaternions in clusters
            if 2 * len(positions) >= len(frames)
        ]

    def of_sku(self, sku: str) -> list[Sighting]:
        """Returns all objects taken for that SKU, in a fixed order of place."""
        found = [s for s in self.sightings if s.sku == sku]
        return sorted(found, key=lambda s: tuple(np.round(s.pose_in_world.position, 2)))

    def near(self, sku: str, position: np.ndarray, within_m: float = np.inf) -> list[Sighting]:
        """Objects of that SKU near a place, measured in the plane; nearest first."""
        return sorted(
            (s for s in self.of_sku(sku) if s.distance_m(position) <= within_m), key=lambda s: s.distance_m(position)
        )
