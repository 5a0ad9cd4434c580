"""The model of a calibration file: what was measured of a cell, for any controller to load.

Metres, degrees and the world frame of the drawings, unless a key says otherwise. The world is pinned by the first
robot of the file and the table that it works at: x, y and direction by its base as drawn, height and level by that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.core.config import Cfg
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.core.registration_points import (
    LARGEST_OFFSET_M,
    Metres,
    Offset,
    Registered,
    RegistrationPoint,
    Turn,
)
from cellwright.perception.calibration.absolute_orientation import Similarity
from cellwright.perception.calibration.camera import CalibratedCamera, CameraPair
from cellwright.perception.calibration.fields import FittedPose

__all__ = [
    "CalibratedDetector",
    "CalibratedRobot",
    "CalibratedSurface",
    "Calibration",
    "MeasuredPair",
    "PairSet",
    "RegistrationMethod",
    "RegistrationPoint",
    "RobotTransform",
]

FORMAT: Literal["cellwright-calibration"] = "cellwright-calibration"

RegistrationMethod = Literal["eqn1", "rigid_eqn1"]
"""`eqn1` takes offsets alone, as the laboratory does; `rigid_eqn1` fits a transform first, and offsets to the rest."""


def _check_small(moved_m: float, what: str) -> None:
    """Refuses a correction that moves something farther than any could."""
    if moved_m > LARGEST_OFFSET_M:
        raise ValueError(
            f"units mixed up? {what} is moved by {moved_m:.3g} m, and a correction moves it by {LARGEST_OFFSET_M:g} m "
            "at most; write metres and degrees"
        )


class CalibratedRobot(Registered):
    """A robot as it was measured.

    Attributes:
        base: The pose of its base in the world.
        tool: The pose of its tool's point as it is, in the frame of the tool's point that the robot reports.
        points: Offsets of positions that it reports, in its base frame: what Eqn 1 adds to be where it is.
    """

    base: FittedPose
    tool: FittedPose = FittedPose()

    @model_validator(mode="after")
    def _is_small(self) -> Self:
        _check_small(float(np.abs(self.tool.xyz_m).max()), "the tool's point")
        return self

    def in_world(self, pose_reported_in_base: Pose) -> Pose:
        """Returns where the tool's point is in the world when the robot reports it there in its base."""
        pose = pose_reported_in_base
        pose = self.offsets.corrected(pose) if self.offsets else pose
        return self.base.pose @ pose @ self.tool.pose

    def in_base(self, pose_in_world: Pose) -> Pose:
        """Returns what to command, in the robot's base, so that the tool's point comes there: the exact inverse."""
        pose = self.base.pose.inverse() @ pose_in_world @ self.tool.pose.inverse()
        return self.offsets.reported(pose) if self.offsets else pose


class CalibratedDetector(Registered):
    """The correction of what a detector reports, by the drawings of its camera, to where it is.

    A reported point p becomes ``q = rigid (scale p)``, and then ``q + offset(q)`` by Eqn 1.

    Attributes:
        rigid: The transform that is applied first.
        scale: Of lengths, before it: a camera that hangs lower than drawn sees everything larger.
        points: Offsets that are left.
        residual_m: Root mean square of what the rigid correction leaves at the points, and what it cannot know
            elsewhere; added to the deviation of corrected positions.
    """

    rigid: FittedPose = FittedPose()
    scale: Annotated[float, Field(ge=0.8, le=1.25)] = 1.0
    residual_m: Annotated[Offset, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _is_small(self) -> Self:
        places = np.array([(*point.at_m, 0.0) for point in self.points]).reshape(-1, 3)
        before = self.rigid.pose.inverse().apply(places) / self.scale
        _check_small(float(np.abs(places - before)[:, :2].max(initial=0.0)), "what is seen")
        return self

    @cached_property
    def similarity(self) -> Similarity:
        """The rigid correction with its scale."""
        return Similarity(self.rigid.pose, self.scale)

    def corrected(self, reported: Pose) -> Pose:
        """Returns where something is that is reported there."""
        pose = self.rigid.pose @ Pose(self.scale * reported.position, reported.quaternion)
        return self.offsets.corrected(pose) if self.offsets else pose

    def reported(self, true: Pose) -> Pose:
        """Returns what is reported of something that is there: the exact inverse, by iteration."""
        pose = self.rigid.pose.inverse() @ (self.offsets.reported(true) if self.offsets else true)
        return Pose(pose.position / self.scale, pose.quaternion)

    def corrected_variances(self, variances: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Returns variances of x, y, z, roll, pitch, yaw with what the correction itself may be off; infinite stay.

        The small turn of the correction leaves the axes as they are.
        """
        widened = np.array(variances, float)
        widened[..., :3] += self.residual_m**2
        return widened


class CalibratedSurface(Cfg):
    """A table top as it was touched.

    Attributes:
        at_m: x and y at which the height was fitted.
        height_m: The height there.
        tilt_deg: The angles about x and y of the world by which it is tilted.
        residual_m: Root mean square of what touched points are off the plane.
    """

    at_m: tuple[Metres, Metres]
    height_m: Metres
    tilt_deg: tuple[Turn, Turn] = (0.0, 0.0)
    residual_m: Annotated[Offset, Field(ge=0)] = 0.0

    def height_at(self, xy_m: npt.ArrayLike) -> float:
        """Returns the height of the plane at x and y of the world."""
        x, y = np.asarray(xy_m, float)[:2] - self.at_m
        about_x, about_y = np.tan(np.radians(self.tilt_deg))
        return float(self.height_m + about_x * y - about_y * x)


class MeasuredPair(Cfg):
    """A point as two of the cell know it.

    Attributes:
        name: Of the mark or the place.
        from_m: In the frame of the one.
        to_m: In the frame of the other.
        residual_m: How far the fitted transform is off there.
        rejected: Why it was left out; empty for one that was used.
    """

    name: str
    from_m: tuple[Metres, Metres, Metres]
    to_m: tuple[Metres, Metres, Metres]
    residual_m: Annotated[Metres, Field(ge=0)] = 0.0
    rejected: str = ""


class PairSet(Cfg):
    """All pairs that were measured between two of the cell, raw, with their residuals.

    Attributes:
        source: The robot or detector whose coordinates come first; a robot's are in its base, a detector's in the
            world of the drawings.
        target: The other.
        pairs: What was measured.
        residual_m: Root mean square over the pairs that were used.
    """

    source: str
    target: str
    pairs: tuple[MeasuredPair, ...]
    residual_m: Annotated[Metres, Field(ge=0)] = 0.0


class RobotTransform(Cfg):
    """The base of one robot in the base of another.

    Attributes:
        robot: The one.
        in_robot: The other.
        pose: Its pose.
        residual_m: Root mean square over the pairs that it was fitted to.
    """

    robot: str
    in_robot: str
    pose: FittedPose
    residual_m: Annotated[Metres, Field(ge=0)] = 0.0


class Calibration(Cfg):
    """A calibration file.

    Attributes:
        format: Always `cellwright-calibration`.
        version: Of the format.
        cell: The name of the cell.
        method: How detectors were registered.
        made: When and how it was made, for people.
        drawings: Entry of the drawings, such as `robots.fanuc` -> a digest of what it said when this was made.
        robots: Robots that were measured; the first pins the world.
        detectors: Corrections of detectors.
        surfaces: Table tops by the names of their fixtures.
        fixtures: Poses of fixtures, such as tool holders, in the world.
        cameras: Intrinsics and poses of cameras.
        camera_pairs: Stereo pairs.
        pair_sets: The measured data.
        transforms: Between robots.
        end: The last line, without which the file was cut off.
    """

    format: Literal["cellwright-calibration"] = FORMAT
    version: Literal[1] = 1
    cell: str
    method: RegistrationMethod = "rigid_eqn1"
    made: str = ""
    drawings: dict[str, str] = Field(default_factory=dict)
    robots: dict[str, CalibratedRobot] = Field(default_factory=dict)
    detectors: dict[str, CalibratedDetector] = Field(default_factory=dict)
    surfaces: dict[str, CalibratedSurface] = Field(default_factory=dict)
    fixtures: dict[str, FittedPose] = Field(default_factory=dict)
    cameras: dict[str, CalibratedCamera] = Field(default_factory=dict)
    camera_pairs: tuple[CameraPair, ...] = ()
    pair_sets: tuple[PairSet, ...] = ()
    transforms: tuple[RobotTransform, ...] = ()
    end: Literal["cellwright-calibration"] = FORMAT

    def base_of(self, robot: str, drawn: Mapping[str, Pose]) -> Pose:
        """Returns the base of a robot in the world: as fitted, or as drawn where it was not measured.

        Raises:
            UnknownName: Neither has such a robot.
        """
        if robot in self.robots:
            return self.robots[robot].base.pose
        if robot not in drawn:
            raise UnknownName("robot", robot, {*self.robots, *drawn})
        return drawn[robot]

    def corrected(self, detector: str, reported: Pose) -> Pose:
        """Returns where something is that a detector reports; unchanged for one that was not registered."""
        own = self.detectors.get(detector)
        return own.corrected(reported) if own else reported
