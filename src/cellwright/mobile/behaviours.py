"""Control programs for e-pucks, rules from readings to speeds, which run unchanged on simulated and real robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import atan2, cos, hypot, pi, radians, remainder, sin
from typing import Protocol

from cellwright.core.errors import UnknownName
from cellwright.mobile.readings import RobotReadings

__all__ = [
    "BEHAVIOURS",
    "AvoidObstacles",
    "Behaviour",
    "FollowByRange",
    "FollowByTransform",
    "FollowWall",
    "SquareByOdometry",
    "SquareByTime",
]

Speeds = tuple[float, float]
"""Metres a second ahead, and radians a second counter-clockwise."""
STOP: Speeds = (0.0, 0.0)
FRONT_RAD = {0: radians(-10), 1: radians(-40), 6: radians(40), 7: radians(10)}
STALE_S = 1.0


class Behaviour(Protocol):
    """A control program: called with every new odometry of its robot."""

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns the speeds from now on: metres a second ahead, radians a second counter-clockwise."""


class SquareByTime:
    """Drives squares by the clock alone, as if wheels always did what they are told."""

    def __init__(self, side_m: float = 0.3, laps: int = 1, speed_mps: float = 0.08, turn_radps: float = 1.5) -> None:
        side_s, turn_s = side_m / speed_mps, pi / 2 / turn_radps
        self._speeds = (speed_mps, 0.0), (0.0, turn_radps)
        self._lengths_s = side_s, turn_s
        self._end_s = 4 * laps * (side_s + turn_s)
        self._start_s: float | None = None

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns the speeds of the part of the square that the clock says."""
        if self._start_s is None:
            self._start_s = robot.time_s
        passed_s = robot.time_s - self._start_s
        self.done = passed_s >= self._end_s
        if self.done:
            return STOP
        within_s = passed_s % sum(self._lengths_s)
        return self._speeds[0] if within_s < self._lengths_s[0] else self._speeds[1]

    done = False


class SquareByOdometry:
    """Drives squares from corner to corner in `odom`, slower the nearer it comes, and corrects its direction."""

    def __init__(self, side_m: float = 0.3, laps: int = 1, speed_mps: float = 0.08, turn_radps: float = 1.5) -> None:
        self._side_m, self._left = side_m, 4 * laps
        self._most = speed_mps, turn_radps
        self._start: tuple[float, float, float] | None = None
        self._corner = 0
        self._driving = True
        self.done = False

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns speeds in proportion to what is left, of the way to the corner or of the turn in it."""
        if self._start is None:
            self._start = robot.x_m, robot.y_m, robot.yaw_rad
        if self.done:
            return STOP
        heading_rad = self._start[2] + self._corner * pi / 2
        if self._driving:
            ahead_m, aside_m = self._to_corner(robot, heading_rad)
            if ahead_m > 0.001:
                turn = 4 * (remainder(heading_rad - robot.yaw_rad, 2 * pi) + 8 * aside_m)
                return min(self._most[0], max(0.005, 4 * ahead_m)), _within(turn, self._most[1])
            self._driving = False
            self._corner += 1
            heading_rad += pi / 2
        left_rad = remainder(heading_rad - robot.yaw_rad, 2 * pi)
        if abs(left_rad) > 0.005:
            return 0.0, _within(4 * left_rad, self._most[1])
        self._driving = True
        self.done = self._corner == self._left
        return STOP

    def _to_corner(self, robot: RobotReadings, heading_rad: float) -> tuple[float, float]:
        """Returns how far the corner is ahead and how far aside, along the side of the square."""
        assert self._start is not None
        x_m, y_m, yaw_rad = self._start
        for side in range(self._corner % 4 + 1):
            x_m += self._side_m * cos(yaw_rad + side * pi / 2)
            y_m += self._side_m * sin(yaw_rad + side * pi / 2)
        way_x, way_y = x_m - robot.x_m, y_m - robot.y_m
        ahead_m = way_x * cos(heading_rad) + way_y * sin(heading_rad)
        return ahead_m, way_y * cos(heading_rad) - way_x * sin(heading_rad)


class AvoidObstacles:
    """Drives about and turns away from what the front sensors see, harder the nearer it is (Braitenberg's vehicle)."""

    WEIGHTS: Mapping[int, float] = {0: 3.0, 1: 2.5, 2: 1.0, 5: -1.0, 6: -2.5, 7: -3.0}

    def __init__(self, speed_mps: float = 0.06) -> None:
        self._speed_mps = speed_mps
        self._escape = 0.0

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns less speed and more turn the nearer something is; in a corner it turns until the way is free."""
        ahead = max(robot.nearness(0), robot.nearness(7), 0.8 * robot.nearness(1), 0.8 * robot.nearness(6))
        turn = 2.5 * sum(weight * robot.nearness(number) for number, weight in self.WEIGHTS.items())
        if ahead > 0.5:
            self._escape = self._escape or (2.0 if turn >= 0 else -2.0)  # keeps its mind in a corner
            return 0.0, self._escape
        if ahead < 0.2:
            self._escape = 0.0
        return self._speed_mps * max(0.0, 1 - 1.6 * ahead), self._escape or _within(turn, 3.0)


class FollowWall:
    """Keeps a wall at its right at a distance, by the sensors that look right and ahead to the right."""

    def __init__(self, distance_m: float = 0.02, speed_mps: float = 0.05) -> None:
        self._distance_m = distance_m
        self._speed_mps = speed_mps
        self._found = False

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns a turn in proportion to the error of the distance; round outer corners it drives an arc."""
        if max(robot.nearness(0), robot.nearness(7)) > 0.35:  # a wall ahead: turns left until the way is free
            self._found = True
            return 0.0, 2.0
        if robot.sees(2) or robot.sees(1):
            self._found = True
            error_m = (robot.ranges_m[2] if robot.sees(2) else robot.max_range_m) - self._distance_m
            ahead = robot.nearness(1)
            return self._speed_mps, _within(-35.0 * error_m + 2.5 * max(0.0, ahead - 0.25), 2.0)
        if self._found:  # the wall has ended: round its corner, to the right
            return self._speed_mps, -self._speed_mps / (0.037 + self._distance_m)
        return self._speed_mps, 0.0


class FollowByRange:
    """Follows what is before it at a distance: a proportional controller on the front proximity sensors.

    Args:
        gap_m: The wanted distance from the sensors.
        gain_per_s: Speed for each metre that the gap is too wide.
        turn_gain_per_s: Turn speed for each radian that the leader is aside.
    """

    def __init__(self, gap_m: float = 0.015, gain_per_s: float = 4.0, turn_gain_per_s: float = 5.0) -> None:
        self._gap_m = gap_m
        self._gains = gain_per_s, turn_gain_per_s
        self._last_rad = 0.0
        self._seen_s: float | None = None

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns speeds in proportion to the errors of gap and direction; a lost leader is looked for for a while."""
        weights = {number: robot.nearness(number) for number in FRONT_RAD}
        if not any(weights.values()):
            return self._look_for(robot.time_s)
        self._seen_s = robot.time_s
        aside_rad = sum(FRONT_RAD[number] * weight for number, weight in weights.items()) / sum(weights.values())
        self._last_rad = aside_rad
        nearest_m = min(robot.ranges_m[number] for number in weights)
        speed = self._gains[0] * (nearest_m - self._gap_m)
        return _within(speed, 0.12), _within(self._gains[1] * aside_rad, 3.0)

    def _look_for(self, time_s: float) -> Speeds:
        lost_s = time_s - self._seen_s if self._seen_s is not None else 0.0
        if self._seen_s is None or lost_s > 3.0:
            return STOP
        side = 1.0 if self._last_rad >= 0 else -1.0
        return (0.06, 1.0 * side) if lost_s < 0.6 else (0.0, 1.5 * side if lost_s < 1.6 else -1.5 * side)


class FollowByTransform:
    """Follows another robot by the transform between their bodies, however far it is away.

    Args:
        leader: The other robot's name.
        gap_m: The wanted distance of the bodies' middles.
        gain_per_s: Speed for each metre that the gap is too wide.
        turn_gain_per_s: Turn speed for each radian that the leader is aside.
    """

    def __init__(
        self, leader: str = "ePuck0", gap_m: float = 0.15, gain_per_s: float = 2.0, turn_gain_per_s: float = 4.0
    ) -> None:
        self._leader = f"{leader}/base_link"
        self._gap_m = gap_m
        self._gains = gain_per_s, turn_gain_per_s

    def update(self, robot: RobotReadings) -> Speeds:
        """Returns speeds in proportion to what the transform tells; without a fresh one the robot stands."""
        frames = robot.frames
        if self._leader not in frames or robot.base not in frames:
            return STOP
        if robot.time_s - frames.time_s(self._leader) > STALE_S:
            return STOP
        try:
            x_m, y_m, _ = (float(value) for value in frames.pose(self._leader, robot.base).position)
        except LookupError:  # one of the two has told nothing yet
            return STOP
        aside_rad, excess_m = atan2(y_m, x_m), hypot(x_m, y_m) - self._gap_m
        speed = self._gains[0] * excess_m * max(0.0, cos(aside_rad))
        turn = self._gains[1] * aside_rad if abs(excess_m) > 0.005 or abs(aside_rad) > 0.2 else 0.0
        return _within(speed, 0.12), _within(turn, 3.0)


BEHAVIOURS: Mapping[str, Callable[[], Behaviour]] = {
    "avoid": AvoidObstacles,
    "follow_range": FollowByRange,
    "follow_transform": FollowByTransform,
    "square": SquareByOdometry,
    "square_open": SquareByTime,
    "wall": FollowWall,
}


def behaviour_named(name: str) -> Behaviour:
    """Returns a control program by name, with its usual figures."""
    if name not in BEHAVIOURS:
        raise UnknownName("behaviour", name, BEHAVIOURS)
    return BEHAVIOURS[name]()


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)
