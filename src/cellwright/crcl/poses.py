"""Converts poses and tolerances of CRCL messages to those of this package, and back."""

from __future__ import annotations

import math

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.crcl import messages as m
from cellwright.crcl.robot import Tolerance

__all__ = ["checked_number", "checked_pose", "message_of_pose", "misses", "tolerance_of"]

MOST = 1e9  # metres or radians
AXIS_ERROR = 1e-3  # by which an axis may differ from length 1, and the two from a right angle; NIST's own rule


def checked_pose(pose: m.Pose, where: str, axis_error: float = AXIS_ERROR) -> Pose:
    """Returns the pose of a message, with orthonormal axes: the small errors that are allowed are removed.

    Raises:
        BadInput: A number is not finite, an axis has not length 1, or the axes are not perpendicular.
    """
    point = (pose.point.x, pose.point.y, pose.point.z)
    x_axis, z_axis = (np.array([axis.i, axis.j, axis.k]) for axis in (pose.x_axis, pose.z_axis))
    for letter, value in zip("XYZ", point, strict=True):
        checked_number(f"{where}: {letter}", value)
    for name, axis in (("XAxis", x_axis), ("ZAxis", z_axis)):
        length = math.hypot(*axis.tolist())  # which does not overflow
        if not abs(length - 1.0) <= axis_error:
            raise BadInput(f"{where}: {name} has length {length:.6g} (allowed: 1 within {axis_error})")
    dot = float(x_axis @ z_axis)
    if not abs(dot) <= axis_error:
        raise BadInput(f"{where}: XAxis and ZAxis have the dot product {dot:.6g} (allowed: 0 within {axis_error})")
    z_axis = z_axis / np.linalg.norm(z_axis)
    x_axis = x_axis - z_axis * (x_axis @ z_axis)
    x_axis = x_axis / np.linalg.norm(x_axis)
    return Pose.from_matrix(np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis, np.array(point)]))


def checked_number(what: str, value: float) -> float:
    """Returns a number after checking that it can be computed with.

    Raises:
        BadInput: It is not finite, or so large that it cannot be meant.
    """
    if not abs(value) <= MOST:
        raise BadInput(f"{what} is {value} (allowed: -{MOST:g} to {MOST:g})")
    return value


def message_of_pose(pose: Pose) -> m.Pose:
    """Returns a pose as a message."""
    x, y, z = pose.position.tolist()
    rows = pose.rotation_matrix.tolist()
    return m.Pose(m.Point(x, y, z), m.Vector(*(row[0] for row in rows)), m.Vector(*(row[2] for row in rows)))


def tolerance_of(tolerance: m.PoseTolerance | None) -> Tolerance:
    """Returns the tolerance of a message.

    Raises:
        BadInput: A tolerance is negative or no number.
    """
    if tolerance is None:
        return Tolerance()
    t = tolerance
    values = (t.x_point_tolerance, t.y_point_tolerance, t.z_point_tolerance, t.x_axis_tolerance, t.z_axis_tolerance)
    names = ("XPointTolerance", "YPointTolerance", "ZPointTolerance", "XAxisTolerance", "ZAxisTolerance")
    for name, value in zip(names, values, strict=True):
        if value is not None and not value >= 0.0:
            raise BadInput(f"{name} is {value} (allowed: 0 or more)")
    return Tolerance(*values)


def misses(actual: Pose, wanted: Pose, tolerance: Tolerance) -> list[tuple[str, float, float, bool]]:
    """Returns the tolerances that a pose does not keep: name, error, tolerance, and whether it is a length."""
    offset = np.abs(actual.position - wanted.position).tolist()
    ours, theirs = actual.rotation_matrix, wanted.rotation_matrix
    x_angle, z_angle = (
        math.atan2(float(np.linalg.norm(np.cross(ours[:, c], theirs[:, c]))), float(ours[:, c] @ theirs[:, c]))
        for c in (0, 2)
    )
    checks = (
        ("X", offset[0], tolerance.x_m, True),
        ("Y", offset[1], tolerance.y_m, True),
        ("Z", offset[2], tolerance.z_m, True),
        ("XAxis", x_angle, tolerance.x_axis_rad, False),
        ("ZAxis", z_angle, tolerance.z_axis_rad, False),
    )
    return [
        (name, error, limit, length) for name, error, limit, length in checks if limit is not None and error > limit
    ]
