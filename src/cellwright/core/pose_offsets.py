"""Offsets of whole poses, interpolated by Eqn 1: translations, and turns as rotation vectors; and their inverse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.errors import BadInput
from cellwright.core.offset_map import OffsetMap
from cellwright.core.pose import Pose

__all__ = ["PoseOffsets"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseOffsets:
    """Offsets measured at registration points: what is reported becomes what is, and back.

    At a reported pose the interpolated translation is added to the position, and the interpolated rotation vector,
    about the axes of the parent frame, turns it.

    Attributes:
        points_m: Registration points as they were reported, (n, 2) for distances in the plane, or (n, 3).
        offsets_m: Translations to be added there, (n, 3).
        turns_rad: Rotation vectors, (n, 3).
    """

    points_m: npt.ArrayLike
    offsets_m: npt.ArrayLike
    turns_rad: npt.ArrayLike

    def __post_init__(self) -> None:
        if self._map.points.shape[1] not in (2, 3) or self._map.offsets.shape[1] != 6:
            raise BadInput("pose offsets: points of 2 or 3 numbers, with offsets and turns of 3 each")

    @cached_property
    def _map(self) -> OffsetMap:
        try:
            offsets = np.hstack([np.atleast_2d(np.array(part, float)) for part in (self.offsets_m, self.turns_rad)])
        except ValueError:
            raise BadInput("pose offsets: need as many offsets as turns, each of 3 numbers") from None
        return OffsetMap(np.asarray(self.points_m, float), offsets)

    @cached_property
    def _in_points(self) -> OffsetMap:
        """The part of the offsets that moves a point among the registration points."""
        return OffsetMap(self._map.points, self._map.offsets[:, : self._map.points.shape[1]])

    def offset_at(self, position_m: npt.ArrayLike) -> Array:
        """Returns the interpolated translation and rotation vector at a reported position, 6 numbers."""
        return self._map.offset_at(np.asarray(position_m, float)[: self._map.points.shape[1]])

    def corrected(self, reported: Pose) -> Pose:
        """Returns the pose that is meant by a reported one."""
        offset = self.offset_at(reported.position)
        turn = rotation.quaternion_from_vector(offset[3:])
        return Pose(reported.position + offset[:3], rotation.multiply(turn, reported.quaternion))

    def reported(self, true: Pose) -> Pose:
        """Returns the inverse, used in simulation: the pose whose correction is this one (exact, iterated).

        Raises:
            BadInput: The offsets change as fast as the position.
        """
        point = self._in_points.to_vision(true.position[: self._map.points.shape[1]])
        offset = self._map.offset_at(point)
        back = rotation.quaternion_from_vector(-offset[3:])
        position = true.position - offset[:3]
        position[: len(point)] = point
        return Pose(position, rotation.multiply(back, true.quaternion))
