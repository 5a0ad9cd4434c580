"""A motion through poses without a halt: straight lines, rounded corners, slow only where it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.core.slices import Slices, at_once, spans
from cellwright.motion.kinematics import ArmKinematics, checked_angles
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.path import PosePath
from cellwright.motion.profile import LineSpeed, PathMotion
from cellwright.motion.reparametrisation import time_spaced_places
from cellwright.motion.route import Route
from cellwright.motion.spline import Spline

__all__ = ["ThroughMove"]

Array = npt.NDArray[np.float64]

REPARAMETRISATIONS = (
    (0.6, 2.0),
    (0.7, 3.0),
    (0.6, 4.0),
)  # to try: share of the limits, smoothing as a multiple of a / j
JOINT_TOLERANCE_RAD = 2e-5
UNLIMITED = 1e9
SLICE_PLACES = 400  # that are looked up in some milliseconds
SLICE_MIDDLES = 40  # that are compared in some milliseconds
CRAWLING = 10.0  # times as long as with a halt at every pose and joints without limits: refused


class ThroughMove(PathMotion):
    """A motion of the flange straight from pose to pose, passing inner ones within 3/8 of the blend distance.

    Speed, acceleration and jerk along the way stay within `speed`, those of the joints within theirs, in corners, too.
    Where a joint cannot keep up, the motion is slower there, and only there. As it can be stopped at any moment within
    all limits, corners take their share of them: past poses that are close together, halting may be quicker.

    Attributes:
        route: The way, of the flange or its tool.

    Args:
        kinematics: Of the arm.
        start_rad: The start configuration, at rest.
        poses_in_base: Of the flange, or, with a tool, of the tool, one after the other.
        speed: The largest speed along the way.
        blend_m: The distance before and after a pose at which the way may leave its lines.
        duration_s: The wanted duration, instead of the shortest.
        tool: In the flange; None moves the flange itself.

    Raises:
        BadInput: without poses.
        Unreachable: when a point of the way is.
        JobFailed: when it passes so near a singular configuration that no joint could keep up.
    """

    def __init__(
        self,
        kinematics: ArmKinematics,
        start_rad: npt.ArrayLike,
        poses_in_base: Sequence[Pose],
        speed: LineSpeed,
        blend_m: float,
        duration_s: float | None = None,
        tool: Pose | None = None,
    ) -> None:
        at_once(self._make(kinematics, start_rad, poses_in_base, speed, blend_m, duration_s, tool))

    @classmethod
    def in_slices(
        cls,
        kinematics: ArmKinematics,
        start_rad: npt.ArrayLike,
        poses_in_base: Sequence[Pose],
        speed: LineSpeed,
        blend_m: float,
        tool: Pose | None = None,
    ) -> Slices[Self]:
        """Makes the same motion in slices."""
        move = cls.__new__(cls)
        yield from move._make(kinematics, start_rad, poses_in_base, speed, blend_m, None, tool)
        return move

    def _make(
        self,
        kinematics: ArmKinematics,
        start_rad: npt.ArrayLike,
        poses_in_base: Sequence[Pose],
        speed: LineSpeed,
        blend_m: float,
        duration_s: float | None,
        tool: Pose | None,
    ) -> Slices[None]:
        if not poses_in_base:
            raise BadInput(f"{kinematics.arm.name} needs at least 1 pose to move through, got 0")
        start = checked_angles(kinematics.arm, start_rad)
        in_flange = tool or Pose.identity()
        poses = [kinematics.forward(start) @ in_flange, *poses_in_base]
        self.route = Route(poses, blend_m, speed.speed_mps / speed.turn_radps)
        back = in_flange.inverse()

        def flange_at(fraction: float) -> Pose:
            return self.route.at(fraction) @ back

        length_m = max(self.route.length_m, 1e-6)
        solved = yield from PosePath.in_slices(
            kinematics, start, flange_at, self.route.length_m, self.route.turn_rad, "way"
        )
        limits = _with_way(JointLimits.of(kinematics.arm), speed)
        even = np.linspace(0.0, 1.0, solved.spline.pieces + 1)
        steepness = yield from _steepness(solved.spline, even, length_m)
        fastest = speed.speed_mps / length_m
        path = solved.spline
        best = yield from PathLimits(fastest, UNLIMITED, UNLIMITED).within_in_slices(limits, *steepness)
        for share, times in REPARAMETRISATIONS:
            smooth_s = times * speed.acceleration_mps2 / speed.jerk_mps3
            places, shortest_s = yield from time_spaced_places(
                steepness, limits, fastest, share, smooth_s, solved.spline.pieces
            )
            spline = yield from _through_places(solved.spline, places)
            wanted = PathLimits(1 / shortest_s, UNLIMITED, UNLIMITED)
            paced = yield from wanted.within_in_slices(limits, *(yield from _steepness(spline, places, length_m)))
            if paced.duration_s < best.duration_s and (yield from _same(spline, solved.spline, places)):
                path, best = spline, paced
        if best.duration_s > CRAWLING * _halting_s(self.route.lengths_m, speed):
            raise JobFailed(f"{kinematics.arm.name} would have to crawl along the way: {solved.hardest()}")
        yield from self._run_along(kinematics.arm, path, best, duration_s)


def _halting_s(lengths_m: Sequence[float], speed: LineSpeed) -> float:
    limits = (speed.speed_mps, speed.acceleration_mps2, speed.jerk_mps3)
    return 1.0 + sum(PathLimits(*(limit / length for limit in limits)).duration_s for length in lengths_m)


def _with_way(joints: JointLimits, speed: LineSpeed) -> JointLimits:
    """Returns the limits of the joints, and behind them those along the way."""
    rows = (joints.velocity_radps, joints.acceleration_radps2, joints.jerk_radps3)
    way = (speed.speed_mps, speed.acceleration_mps2, speed.jerk_mps3)
    return JointLimits(*(np.append(row, value) for row, value in zip(rows, way, strict=True)))


def _through_places(solved: Spline, places: Array) -> Slices[Spline]:
    """Makes a spline through places of another one, in slices."""
    rows = []
    for part in spans(len(places), SLICE_PLACES):
        rows += [solved.at(float(place))[0] for place in places[part]]
        yield
    return (yield from Spline.in_slices(np.array(rows)))


def _steepness(spline: Spline, places: Array, length_m: float) -> Slices[tuple[Array, Array, Array]]:
    """Returns the steepness of the joints, and behind them of the way, in slices."""
    way = yield from Spline.in_slices(places[:, None] * length_m)
    first, second, third = (np.column_stack(both) for both in zip(spline.steepness(), way.steepness(), strict=True))
    return first, second, third


def _same(spline: Spline, solved: Spline, places: Array) -> Slices[bool]:
    """Checks in slices whether a spline through places of another one stays on it between them."""
    for number, (row, before, after) in enumerate(zip(spline.middles(), places[:-1], places[1:], strict=True), 1):
        if number % SLICE_MIDDLES == 0:
            yield
        near = np.array([solved.at(before + (after - before) * share)[0] for share in np.linspace(0.4, 0.6, 9)])
        steps = np.diff(near, axis=0)  # the nearest point of the lines between these
        along = np.einsum("ij,ij->i", row - near[:-1], steps) / (np.einsum("ij,ij->i", steps, steps) + 1e-30)
        nearest = near[:-1] + np.clip(along, 0, 1)[:, None] * steps
        if np.abs(nearest - row).max(axis=1).min() > JOINT_TOLERANCE_RAD:
            return False
    return True
