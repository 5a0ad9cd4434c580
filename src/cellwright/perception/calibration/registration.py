"""From measured pairs to the entries of a calibration: detectors against robots, robots against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.perception.calibration.absolute_orientation import Similarity
from cellwright.perception.calibration.fields import DIGITS, FittedPose, rounded
from cellwright.perception.calibration.model import (
    CalibratedDetector,
    CalibratedSurface,
    MeasuredPair,
    PairSet,
    RegistrationMethod,
    RegistrationPoint,
    RobotTransform,
)
from cellwright.perception.calibration.robust_fit import TOLERANCE_M, PairFit, fit_pairs
from cellwright.perception.calibration.touched_plane import fit_plane

__all__ = ["DetectorRegistration", "RobotRegistration", "register_detector", "register_robots", "touched_surface"]


@dataclass(frozen=True)
class DetectorRegistration:
    """A detector's correction and what it was made of.

    Attributes:
        detector: The correction.
        pairs: The measured data, with residuals of the rigid fit.
        fit: The rigid fit.
    """

    detector: CalibratedDetector
    pairs: PairSet
    fit: PairFit


@dataclass(frozen=True)
class RobotRegistration:
    """The transform between two robots and what it was made of.

    Attributes:
        transform: The base of the one in the base of the other.
        pairs: The measured data, with residuals.
        fit: The fit.
    """

    transform: RobotTransform
    pairs: PairSet
    fit: PairFit


def register_detector(
    seen_m: npt.ArrayLike,
    touched_m: npt.ArrayLike,
    names: Sequence[str] = (),
    *,
    source: str,
    target: str,
    method: RegistrationMethod = "rigid_eqn1",
    turns_deg: npt.ArrayLike | None = None,
    tolerance_m: float = TOLERANCE_M,
) -> DetectorRegistration:
    """Returns the correction of a detector from places that it saw and a robot touched, both in the world.

    Args:
        seen_m: As the detector reported them by the drawings, (n, 3).
        touched_m: Where the robot had its tool's point there, (n, 3), in the world by its base.
        names: Of the marks.
        source: The detector.
        target: The robot.
        method: `rigid_eqn1` fits a transform with a scale, and offsets to what it leaves; `eqn1` offsets alone.
        turns_deg: Rotation vectors that `eqn1` is to have at the points, (n, 3); none where rotations were not
            measured. With `rigid_eqn1`, what is left of them after the transform.
        tolerance_m: How far a pair may be off the transform of the others.

    Raises:
        BadInput: Points that fix no transform, or contradict each other.
    """
    seen, touched = np.array(seen_m, float), np.array(touched_m, float)
    fit = fit_pairs(seen, touched, names, scaled=True, tolerance_m=tolerance_m)
    kept = np.flatnonzero(fit.kept)
    first = fit.transform if method == "rigid_eqn1" else Similarity(Pose.identity())
    at_m = first.apply(seen[kept])
    turns = np.zeros_like(seen) if turns_deg is None else np.array(turns_deg, float)
    points = tuple(
        RegistrationPoint(at_m=rounded(at)[:2], offset_m=rounded(offset), turn_deg=rounded(turn))
        for at, offset, turn in zip(at_m, touched[kept] - at_m, turns[kept], strict=True)
    )
    detector = CalibratedDetector(
        rigid=FittedPose.of(first.pose),
        scale=round(first.scale, DIGITS),
        points=points,
        residual_m=round(fit.rms_m, DIGITS),
    )
    return DetectorRegistration(detector, pair_set(seen, touched, fit, source, target), fit)


def register_robots(
    points_in_robot_m: npt.ArrayLike,
    points_in_other_m: npt.ArrayLike,
    names: Sequence[str] = (),
    *,
    robot: str,
    other: str,
    tolerance_m: float = TOLERANCE_M,
) -> RobotRegistration:
    """Returns the base of one robot in that of another, from places that both touched.

    With the other's base in the world, ``pose_base_of_other @ transform`` is the robot's.

    Args:
        points_in_robot_m: In the base of the one, (n, 3).
        points_in_other_m: In the base of the other.
        names: Of the marks.
        robot: The one.
        other: The other.
        tolerance_m: How far a pair may be off the transform of the others.

    Raises:
        BadInput: Points that fix no transform, or contradict each other.
    """
    fit = fit_pairs(points_in_robot_m, points_in_other_m, names, tolerance_m=tolerance_m)
    pairs = pair_set(points_in_robot_m, points_in_other_m, fit, robot, other)
    transform = RobotTransform(
        robot=robot, in_robot=other, pose=FittedPose.of(fit.pose), residual_m=round(fit.rms_m, DIGITS)
    )
    return RobotRegistration(transform, pairs, fit)


def touched_surface(points_m: npt.ArrayLike) -> CalibratedSurface:
    """Returns a table top's height and tilt from points of the world at which it was touched, (n, 3).

    Raises:
        BadInput: Points that fix no plane.
    """
    plane = fit_plane(points_m)
    about_x, about_y = (round(angle, DIGITS) for angle in plane.tilt_deg)
    return CalibratedSurface(
        at_m=(round(plane.xy_m[0], DIGITS), round(plane.xy_m[1], DIGITS)),
        height_m=round(plane.height_m, DIGITS),
        tilt_deg=(about_x, about_y),
        residual_m=round(float(np.sqrt(np.mean(np.square(plane.residuals_m)))), DIGITS),
    )


def pair_set(start: npt.ArrayLike, end: npt.ArrayLike, fit: PairFit, source: str, target: str) -> PairSet:
    """Returns measured pairs as a file has them."""
    pairs = tuple(
        MeasuredPair(
            name=name,
            from_m=rounded(a),
            to_m=rounded(b),
            residual_m=round(residual, DIGITS),
            rejected=fit.rejected.get(name, ""),
        )
        for name, a, b, residual in zip(
            fit.names, np.array(start, float), np.array(end, float), fit.residuals_m, strict=True
        )
    )
    return PairSet(source=source, target=target, pairs=pairs, residual_m=round(fit.rms_m, DIGITS))
