"""Sparse stereo: what is looked for, and the interface of its methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cellwright.core.errors import UnknownName
from cellwright.core.extras import need_extra
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import PoseMeasurement

__all__ = ["SPARSE_METHODS", "CubeOnPlate", "SparseStereo", "sparse_stereo"]

SPARSE_METHODS = "fast", "paper"


@dataclass(frozen=True, kw_only=True)
class CubeOnPlate:
    """The cube that is looked for, and the plate on which it lies flat, both by the drawings.

    Attributes:
        min_xy_m: Least corner of the plate in the world.
        max_xy_m: Its largest corner.
        plate_z_m: Its upper face.
        edge_m: Edge of the cube; None where it is not known.
    """

    min_xy_m: tuple[float, float]
    max_xy_m: tuple[float, float]
    plate_z_m: float
    edge_m: float | None = None


class SparseStereo(Protocol):
    """The interface of the methods of sparse stereo."""

    def measure(self, left: Picture | None, right: Picture | None) -> PoseMeasurement:
        """Returns the pose of the cube's centre; its yaw is one of four that are alike, from -45 to 45 degrees."""


def sparse_stereo(
    method: str, task: CubeOnPlate, reference: tuple[Picture | None, Picture | None] | None = None
) -> SparseStereo:
    """Returns a method of sparse stereo.

    Args:
        method: `fast`, or `paper`: that of the ROVI project, for comparison.
        task: The cube and the plate.
        reference: Left and right picture of the empty plate, which `fast` compares with; `paper` has no use for it.

    Raises:
        MissingExtra: OpenCV is not installed.
        UnknownName: There is no such method.
    """
    need_extra("sparse stereo", "vision", "cv2")
    if method == "fast":
        from cellwright.perception.stereo.sparse_fast import FastSparseStereo

        return FastSparseStereo(task, reference)
    if method == "paper":
        from cellwright.perception.stereo.sparse_paper import PaperSparseStereo

        return PaperSparseStereo(task)
    raise UnknownName("method of sparse stereo", method, SPARSE_METHODS)
