"""Cartesian interpolation between waypoints: straight with a halt at each, or with rounded corners without halts.

Both have a trapezoidal profile of speed: constant acceleration, constant speed, constant deceleration. Position and
rotation share one path length, so that the path does not depend on speeds: a turn by an angle counts like that angle
times an equivalent radius, and the longer of the two ways rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion.cartesian_pieces import Arc, Line, PathPiece

__all__ = ["CartesianSample", "CartesianTrajectory", "Trapezoid", "along", "blended", "linear"]

Array = npt.NDArray[np.float64]

SAME_M = 1e-7
SAME_RAD = 1e-7


@dataclass(frozen=True)
class Trapezoid:
    """From rest to rest over a length: the profile of speed along it."""

    length_m: float
    speed_mps: float
    acceleration_mps2: float

    @property
    def ramp_s(self) -> float:
        """The time until the top speed; a length too short for it is half ramp up, half ramp down."""
        full_s = self.speed_mps / self.acceleration_mps2
        return min(full_s, float(np.sqrt(self.length_m / self.acceleration_mps2)))

    @property
    def duration_s(self) -> float:
        """The duration from rest to rest."""
        top_mps = self.acceleration_mps2 * self.ramp_s
        return 0.0 if top_mps == 0 else self.length_m / top_mps + self.ramp_s

    def at(self, time_s: float) -> tuple[float, float, float]:
        """Returns way, speed and acceleration at a time."""
        a, ramp_s, end_s = self.acceleration_mps2, self.ramp_s, self.duration_s
        t = min(max(time_s, 0.0), end_s)
        if t < ramp_s:
            return a * t**2 / 2, a * t, a
        if t <= end_s - ramp_s:
            return a * ramp_s * (t - ramp_s / 2), a * ramp_s, 0.0
        left = end_s - t
        return self.length_m - a * left**2 / 2, a * left, -a if left > 0 else 0.0


@dataclass(frozen=True)
class CartesianSample:
    """The pose and motion of the frame; velocity and acceleration are (linear, angular) in the parent's axes."""

    pose: Pose
    velocity: Array
    acceleration: Array


class CartesianTrajectory:
    """Stretches of path, each run through from rest to rest.

    Attributes:
        length_m: Of the whole path.
        duration_s: Of the whole motion.
    """

    def __init__(self, stretches: Sequence[Sequence[PathPiece]], speed_mps: float, acceleration_mps2: float) -> None:
        for what, value in (("speed", speed_mps), ("acceleration", acceleration_mps2)):
            if not 1e-6 <= value <= 1e6:
                raise OutOfRange(f"{what} of the interpolation", value, 1e-6, 1e6)
        self._stretches = [list(pieces) for pieces in stretches]
        lengths = [sum(piece.length_m for piece in pieces) for pieces in self._stretches]
        self._profiles = [Trapezoid(length, speed_mps, acceleration_mps2) for length in lengths]
        self.length_m = float(sum(lengths))
        self.duration_s = float(sum(profile.duration_s for profile in self._profiles))

    @property
    def stretches(self) -> list[list[PathPiece]]:
        """The pieces of each stretch."""
        return [list(pieces) for pieces in self._stretches]

    def way_at(self, time_s: float) -> tuple[int, float, float, float]:
        """Returns the stretch at a time since the start, and the way, speed and acceleration along it."""
        number, left_s = 0, max(time_s, 0.0)
        while number < len(self._profiles) - 1 and left_s > self._profiles[number].duration_s:
            left_s -= self._profiles[number].duration_s
            number += 1
        return number, *self._profiles[number].at(left_s)

    def at(self, time_s: float) -> CartesianSample:
        """Returns the sample at a time since the start; the end holds."""
        number, way_m, speed_mps, acceleration_mps2 = self.way_at(time_s)
        pose, slope, bend = along(self._stretches[number], way_m)
        return CartesianSample(pose, slope * speed_mps, slope * acceleration_mps2 + bend * speed_mps**2)


def along(pieces: Sequence[PathPiece], way_m: float) -> tuple[Pose, Array, Array]:
    """Returns the pose, and the derivatives of position and rotation by the way, on pieces that follow each other."""
    for piece in pieces[:-1]:
        if way_m <= piece.length_m:
            break
        way_m -= piece.length_m
    else:
        piece = pieces[-1]
    return piece.at(min(way_m, piece.length_m))


def linear(
    waypoints: Sequence[Pose], speed_mps: float, acceleration_mps2: float, equivalent_radius_m: float = 0.001
) -> CartesianTrajectory:
    """Makes a trajectory straight from each waypoint to the next, with a halt at each."""
    _check(waypoints)
    lines = [[Line(a, b, equivalent_radius_m)] for a, b in pairwise(waypoints)]
    return CartesianTrajectory(lines, speed_mps, acceleration_mps2)


def blended(
    waypoints: Sequence[Pose],
    speed_mps: float,
    acceleration_mps2: float,
    radius_m: float,
    equivalent_radius_m: float = 0.001,
) -> CartesianTrajectory:
    """Makes a trajectory along the same lines without a halt, each corner cut by an arc of the radius.

    Inner waypoints are passed by; the arc touches the lines ``radius tan(bend / 2)`` before and after the corner.

    Raises:
        BadInput: when a line is too short for the arcs at its ends, naming the largest radius that would fit, or
            when the path turns back on itself.
    """
    _check(waypoints)
    if not 1e-9 <= radius_m <= 1e6:
        raise OutOfRange("blend radius", radius_m, 1e-9, 1e6, "m")
    bends = _bends(waypoints)
    _check_room(waypoints, bends, radius_m)
    pieces: list[PathPiece] = []
    start = waypoints[0]
    for number, bend_rad in enumerate(bends, start=1):
        before, via, after = waypoints[number - 1 : number + 2]
        if bend_rad < SAME_RAD:
            pieces.append(Line(start, via, equivalent_radius_m))
            start = via
            continue
        cut_m = radius_m * np.tan(bend_rad / 2)
        along = _direction(before, via)
        left_m = start.distance_m(via)
        enter = start.interpolate(via, (left_m - cut_m) / left_m)
        leave = via.interpolate(after, cut_m / via.distance_m(after))
        pieces.append(Line(start, enter, equivalent_radius_m))
        pieces.append(Arc(enter, leave, along, bend_rad, radius_m, equivalent_radius_m))
        start = leave
    pieces.append(Line(start, waypoints[-1], equivalent_radius_m))
    return CartesianTrajectory([pieces], speed_mps, acceleration_mps2)


def _check(waypoints: Sequence[Pose]) -> None:
    if len(waypoints) < 2:
        raise BadInput(f"an interpolation needs at least 2 waypoints, got {len(waypoints)}")


def _direction(start: Pose, end: Pose) -> Array:
    way = end.position - start.position
    return np.asarray(way / np.linalg.norm(way))


def _bends(waypoints: Sequence[Pose]) -> list[float]:
    """Returns the angle by which the path turns at each inner waypoint."""
    for number, (a, b) in enumerate(pairwise(waypoints)):
        if len(waypoints) > 2 and a.distance_m(b) < SAME_M:
            raise BadInput(f"waypoints {number} and {number + 1} lie at one place, so no corner there can be rounded")
    directions = [_direction(a, b) for a, b in pairwise(waypoints)] if len(waypoints) > 2 else []
    bends = [float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)) for u, v in pairwise(directions)]
    for number, bend_rad in enumerate(bends, start=1):
        if np.pi - bend_rad < SAME_RAD:
            raise BadInput(f"the path turns back on itself at waypoint {number}, which no arc can round")
    return bends


def _check_room(waypoints: Sequence[Pose], bends: list[float], radius_m: float) -> None:
    cuts = [0.0, *(float(np.tan(bend_rad / 2)) if bend_rad >= SAME_RAD else 0.0 for bend_rad in bends), 0.0]
    rooms = [
        (a.distance_m(b) / (cuts[number] + cuts[number + 1]), number)
        for number, (a, b) in enumerate(pairwise(waypoints))
        if cuts[number] + cuts[number + 1] > 0
    ]
    largest_m, number = min(rooms, default=(np.inf, 0))
    if radius_m >= largest_m:
        raise BadInput(
            f"a blend radius of {radius_m:g} m does not fit between waypoints {number} and {number + 1}, "
            f"allowed below {largest_m:.4g} m"
        )
