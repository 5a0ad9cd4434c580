"""From what was seen and touched to a calibration: bases, tools, detectors, table tops.

The world of a calibration is pinned by the first robot and the table that it works at: height and level are those of
the table as it is drawn, x, y and the direction of x those of the robot's base as it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import FURNITURE
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.core import rotation
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.drawings.calibration import drawn_places
from cellwright.drawings.prior import Drawings
from cellwright.perception.calibration import (
    CalibratedRobot,
    CalibratedSurface,
    Calibration,
    FittedPose,
    PairSet,
    RobotTransform,
    fit_plane,
    register_detector,
    register_robots,
    touched_surface,
)
from cellwright.trials.registration.places import AREA_M2, largest_area_m2, spread_enough
from cellwright.trials.registration.procedure import MarkMeasurements

__all__ = ["FittedCalibration", "fit_marks"]

Array = npt.NDArray[np.float64]

DETECTOR_LIMIT_M = 0.003  # root mean square that a rigid correction of a detector may leave
ROBOT_LIMIT_M = 0.0015  # the same of the transform between two robots
PLANE_M = 3  # points of a plane
FOOT_M = np.array([0.0, 0.0, CALIBRATION_MARK.height_m])


@dataclass(frozen=True)
class FittedCalibration:
    """A calibration and how good it is.

    Attributes:
        calibration: What is written into a file.
        problems: Why it must not be used, a line each; none of a good one.
        notes: What was left out, and why.
    """

    calibration: Calibration
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Fit:
    """The parts of a calibration, as they become known."""

    drawings: Drawings
    measured: MarkMeasurements
    bases: dict[str, Pose] = field(default_factory=dict)
    sets: list[PairSet] = field(default_factory=list)
    transforms: list[RobotTransform] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fit_marks(drawings: Drawings, measured: MarkMeasurements, made: str = "") -> FittedCalibration:
    """Fits all that was measured.

    Args:
        drawings: Of the cell.
        measured: What was seen and touched.
        made: When and how, for people.

    Raises:
        JobFailed: Marks that fix nothing, or contradict each other.
    """
    try:
        return _fitted(_Fit(drawings, measured), made)
    except BadInput as error:
        raise JobFailed(f"the marks cannot be fitted: {error}") from error


def _fitted(fit: _Fit, made: str) -> FittedCalibration:
    drawings, measured = fit.drawings, fit.measured
    for robot in measured.touched:
        fit.bases[robot] = _base(fit, robot)
    feet = _feet_in_world(fit)
    detectors = {}
    for robot in measured.touched:
        vision = drawings.cell.robots[robot].vision
        assert vision is not None
        detector, seen = vision.detector, measured.seen[vision.detector]
        if detector in detectors:
            continue
        own = {name: foot_m for name, foot_m in _feet(fit, robot).items() if name in seen}
        if not spread_enough(np.array(list(own.values())).reshape(-1, 3)):  # others have errors of their own
            own = {name: foot_m for name, foot_m in (feet | own).items() if name in seen}
        found = register_detector(
            [seen[name].foot_m for name in own], list(own.values()), list(own), source=detector, target=robot
        )
        detectors[detector] = found.detector
        fit.sets.append(found.pairs)
        _judge(fit, f"{detector} against {robot}", found.fit.rms_m, DETECTOR_LIMIT_M, found.fit.rejected)
    calibration = Calibration(
        cell=drawings.cell.name,
        made=made,
        drawings=dict(drawn_places(drawings).digests),
        robots={
            robot: CalibratedRobot(
                base=FittedPose.of(base), tool=FittedPose.of(Pose.from_xyz_rpy([*measured.touched[robot].tool_m, 0.0]))
            )
            for robot, base in fit.bases.items()
        },
        detectors=detectors,
        surfaces=dict(_surfaces(fit, feet)),
        pair_sets=tuple(fit.sets),
        transforms=tuple(fit.transforms),
    )
    return FittedCalibration(calibration, tuple(fit.problems), tuple(fit.notes))


def _judge(fit: _Fit, what: str, rms_m: float, limit_m: float, rejected: Mapping[str, str]) -> None:
    if rms_m > limit_m:
        fit.problems.append(
            f"{what}: marks fit to {1000 * rms_m:.2f} mm (allowed {1000 * limit_m:g} mm): calibrate again, with "
            "nothing moved meanwhile"
        )
    fit.notes += [f"{what}: {name} was left out: {why}" for name, why in rejected.items()]


# ------------------------------------------------------------ robots


def _base(fit: _Fit, robot: str) -> Pose:
    """Returns the base of a robot in the world: by marks that an earlier one touched, too, else by its own table."""
    own = fit.measured.touched[robot].points_in_base_m
    for other in fit.bases:
        theirs = fit.measured.touched[other].points_in_base_m
        both = [name for name in own if name in theirs]
        if len(both) < PLANE_M or largest_area_m2(np.array([own[name] for name in both])) < AREA_M2:
            continue
        found = register_robots(
            [own[name] for name in both], [theirs[name] for name in both], both, robot=robot, other=other
        )
        fit.transforms.append(found.transform)
        fit.sets.append(found.pairs)
        _judge(fit, f"{robot} against {other}", found.fit.rms_m, ROBOT_LIMIT_M, found.fit.rejected)
        return fit.bases[other] @ found.transform.pose.pose
    if fit.bases:
        fit.notes.append(
            f"{robot} and {', '.join(fit.bases)} touched no three marks in common: where one stands from the other is "
            "left out, and each is level with its own table"
        )
    return _levelled(fit, robot)


def _levelled(fit: _Fit, robot: str) -> Pose:
    """Returns a drawn base turned and raised as little as makes the robot's table level, at its drawn height."""
    drawn, points = fit.drawings.layout.bases[robot], fit.measured.touched[robot].points_in_base_m
    on_tables: dict[str, list[str]] = {}
    for place in fit.measured.places:
        if place.name in points:
            on_tables.setdefault(place.table, []).append(place.name)
    table, names = max(on_tables.items(), key=lambda item: len(item[1]))
    plane = fit_plane([drawn.apply(points[name]) - FOOT_M for name in names])
    upright = np.array([-plane.slope_x, -plane.slope_y, 1.0])
    upright /= np.linalg.norm(upright)
    axis = np.cross(upright, [0.0, 0.0, 1.0])
    turn = rotation.quaternion_from_vector(np.arcsin(np.linalg.norm(axis)) * axis / max(np.linalg.norm(axis), 1e-12))
    middle = np.array([*plane.xy_m, plane.height_m])
    about = Pose(np.array([*plane.xy_m, _top_m(fit.drawings, table)]), turn) @ Pose.from_xyz_rpy(-middle)
    return about @ drawn


def _top_m(drawings: Drawings, table: str) -> float:
    figures = FURNITURE.get(drawings.cell.fixtures[table].model)
    assert isinstance(figures, TableFigures)
    return float(drawings.layout.fixtures[table].position[2]) + figures.top_m


# ------------------------------------------------------------ marks and tables


def _feet_in_world(fit: _Fit) -> dict[str, Array]:
    """Returns mark -> its foot, by the first robot that touched it."""
    feet: dict[str, Array] = {}
    for robot in fit.bases:
        feet = _feet(fit, robot) | feet
    return feet


def _feet(fit: _Fit, robot: str) -> dict[str, Array]:
    points = fit.measured.touched[robot].points_in_base_m
    return {name: fit.bases[robot].apply(point_m) - FOOT_M for name, point_m in points.items()}


def _surfaces(fit: _Fit, feet: Mapping[str, Array]) -> Iterator[tuple[str, CalibratedSurface]]:
    tables: dict[str, list[str]] = {}
    for place in fit.measured.places:
        if place.name in feet:
            tables.setdefault(place.table, []).append(place.name)
    for table, names in tables.items():
        points = np.array([feet[name] for name in names])
        if len(points) < PLANE_M or largest_area_m2(points) < AREA_M2:
            fit.notes.append(f"{table}: {len(names)} marks on it fix no plane; it stays as drawn")
            continue
        yield table, touched_surface(points)
