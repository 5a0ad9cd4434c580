"""Location records: the pose of an object in the frame of another, its uncertainty, evidence and time."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.core.pose import Pose
from cellwright.knowledge.generated import records
from cellwright.knowledge.workstation import Place, Vector3

__all__ = ["DRAWINGS", "DRAWN_S", "axes_of", "locate", "point_of"]

DRAWINGS = "drawings"
"""The evidence of everything that no sensor has seen yet."""

DRAWN_S = -1.0
"""Drawings are older than anything that is seen: the cell's clock starts at zero."""


def locate(
    location: records.PoseLocation,
    reference: records.SolidObject,
    place: Place,
    evidence: str = DRAWINGS,
    time_s: float = DRAWN_S,
) -> None:
    """Sets the pose of a location, its uncertainty, evidence and time."""
    location.ref_object, location.evidence, location.timestamp = reference, evidence, time_s
    location.point, location.x_axis, location.z_axis = axes_of(place.pose)
    position_m, orientation_rad = place.spread.position_m, place.spread.orientation_rad
    location.position_standard_deviation, location.orientation_standard_deviation = (
        max(position_m),
        max(orientation_rad),
    )
    location.position_covariance, location.orientation_covariance = _diagonal(position_m), _diagonal(orientation_rad)


def axes_of(pose: Pose) -> tuple[records.Point, records.Vector, records.Vector]:
    """Returns a pose as the kitting model writes it: its position and the directions of its x and z axes."""
    matrix = pose.matrix
    return point_of(matrix[:3, 3]), vector_of(matrix[:3, 0]), vector_of(matrix[:3, 2])


def point_of(numbers: Iterable[float]) -> records.Point:
    """Returns three numbers as a position."""
    return records.Point(*(float(number) for number in numbers))


def vector_of(numbers: Iterable[float]) -> records.Vector:
    """Returns three numbers as a direction."""
    return records.Vector(*(float(number) for number in numbers))


def _diagonal(deviations: Vector3) -> records.Covariance:
    x, y, z = (float(deviation) ** 2 for deviation in deviations)
    return records.Covariance(x, 0.0, 0.0, y, 0.0, z)
