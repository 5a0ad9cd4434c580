"""The motions of CRCL for an arm: speeds and tolerances of a command, as its controller follows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import CellwrightError
from cellwright.core.pose import Pose
from cellwright.core.slices import Slices
from cellwright.crcl import JointTarget, Pace, Screw, Tolerance, Waypoint
from cellwright.motion import (
    ArmKinematics,
    JointLimits,
    JointPath,
    LineMove,
    LineSpeed,
    Motion,
    PathLimits,
    PathMotion,
    PosePath,
    ThroughMove,
)

__all__ = ["ToolMotions"]

Array = npt.NDArray[np.float64]

RISE_S = 0.1  # in which the acceleration is built up: CRCL knows no jerk
NARROWEST_BLEND_M, WIDEST_BLEND_M = 5e-3, 0.2
LONGEST_ROW, LONGEST_ROW_M = 25, 8.0  # waypoints that are passed without a halt: some seconds of computation
PASSED_WITHIN = 3 / 8  # of the blend distance: what a rounded corner of `ThroughMove` keeps
SAMPLES = 40
SLICE_POSES = 16  # that are looked at in some milliseconds
TINY = 1e-9


class ToolMotions:
    """Motions of one arm's controlled point.

    Args:
        kinematics: Of the arm.
        pose_tool_in_flange: The controlled point; the identity is the flange itself.
    """

    def __init__(self, kinematics: ArmKinematics, pose_tool_in_flange: Pose) -> None:
        self._kinematics = kinematics
        self._tool = pose_tool_in_flange

    def joints(self, start_rad: Array, targets: Sequence[JointTarget]) -> Motion:
        """Returns a motion of joints to positions, all arriving together, none faster than its target says."""
        arm, goal, most = self._kinematics.arm, start_rad.copy(), JointLimits.of(self._kinematics.arm)
        velocity, acceleration = most.velocity_radps.copy(), most.acceleration_radps2.copy()
        for target in targets:
            at = target.number - 1
            goal[at] = target.position
            velocity[at] = min(velocity[at], target.speed or np.inf)
            acceleration[at] = min(acceleration[at], target.acceleration or np.inf)
        far = np.abs(goal - start_rad) + TINY
        rates = [float((row / far).min()) for row in (velocity, acceleration, most.jerk_radps3)]
        return PathMotion(arm, JointPath(start_rad, goal), PathLimits(*rates))

    def through(self, start_rad: Array, waypoints: Iterable[Waypoint], *, straight: bool) -> Slices[list[Motion]]:
        """Computes in slices the motions past all waypoints within their tolerances, to rest at the last.

        Before anything is computed, every waypoint is checked: one that is out of reach costs no time.

        Where the pace changes, the arm halts: speed may be less than was asked for, and never more. It also halts at
        every waypoint when tolerances leave next to no room for corners, where rounding would take longer, and at the
        end of every long row, because a row is computed at once. A path that need not be straight is a joint move for
        one waypoint; several are joined by straight lines where the arm can follow them, because that needs no halts.
        """
        back, known = self._tool.inverse(), list[Waypoint]()
        for waypoint in waypoints:
            self._kinematics.require_reachable(waypoint.pose_tool_in_base @ back, start_rad)
            known.append(waypoint)
            if len(known) % SLICE_POSES == 0:
                yield
        at_rad, motions = start_rad, list[Motion]()
        for row in _rows(known):
            motions += yield from self._row(at_rad, row, row[0].pace, straight=straight)
            at_rad = _end_rad(motions[-1])
        return motions

    def screw(self, start_rad: Array, screw: Screw, pace: Pace) -> Slices[Motion]:
        """Computes in slices the motion of the controlled point along a helix, from where the arm stands."""
        back = self._tool.inverse()
        stands = self._kinematics.forward(start_rad) @ self._tool
        begin = screw.pose_start_in_base
        gap = begin.inverse() @ stands  # what is left by the move before it

        def pose_at(fraction: float) -> Pose:
            return screw.pose_at(fraction) @ gap @ back

        path = yield from PosePath.in_slices(
            self._kinematics, start_rad, pose_at, screw.length_m, abs(screw.turn_rad), "screw"
        )
        rate = min(pace.speed_mps / max(screw.length_m, TINY), pace.turn_radps / max(abs(screw.turn_rad), TINY))
        change = min(
            pace.acceleration_mps2 / max(screw.length_m, TINY),
            pace.turn_acceleration_radps2 / max(abs(screw.turn_rad), TINY),
        )
        return (yield from PathMotion.along(self._kinematics.arm, path, PathLimits(rate, change, change / RISE_S)))

    def _row(self, start_rad: Array, waypoints: list[Waypoint], pace: Pace, *, straight: bool) -> Slices[list[Motion]]:
        poses = [waypoint.pose_tool_in_base for waypoint in waypoints]
        stands = self._kinematics.forward(start_rad) @ self._tool
        blend_m = _blend_m([stands, *poses], [waypoint.tolerance for waypoint in waypoints[:-1]])
        if len(poses) > 1 and blend_m >= NARROWEST_BLEND_M:
            try:
                way = ThroughMove.in_slices(self._kinematics, start_rad, poses, _speed(pace), blend_m, self._tool)
                return [(yield from way)]
            except CellwrightError:
                if straight:
                    raise
        at_rad, motions = start_rad, list[Motion]()
        for pose in poses:
            if straight:
                line = LineMove.in_slices(self._kinematics, at_rad, pose, _speed(pace), self._tool)
                motions.append((yield from line))
            else:
                motions.append(self._free(at_rad, pose, pace))
            yield
            at_rad = _end_rad(motions[-1])
        return motions

    def _free(self, start_rad: Array, pose_tool_in_base: Pose, pace: Pace) -> Motion:
        """Returns a motion of all joints in proportion, the controlled point nowhere faster than its pace."""
        arm = self._kinematics.arm
        goal = self._kinematics.nearest(pose_tool_in_base @ self._tool.inverse(), start_rad)
        path = JointPath(start_rad, goal)
        poses = [self._kinematics.forward(path.at(share)[0]) @ self._tool for share in np.linspace(0, 1, SAMPLES + 1)]
        # Chords are a little shorter than the way, and the fastest moment lies between samples: hence the allowance.
        far_m = 1.02 * SAMPLES * max(a.distance_m(b) for a, b in pairwise(poses)) + TINY
        turn_rad = 1.02 * SAMPLES * max(a.angle_rad(b) for a, b in pairwise(poses)) + TINY
        rate = min(pace.speed_mps / far_m, pace.turn_radps / turn_rad)
        change = min(pace.acceleration_mps2 / far_m, pace.turn_acceleration_radps2 / turn_rad)
        return PathMotion(arm, path, PathLimits(rate, change, change / RISE_S))


def _rows(waypoints: Sequence[Waypoint]) -> Iterator[list[Waypoint]]:
    """Yields waypoints of one pace that are passed in one go: not too many of them, and not too far apart."""
    for pace, group in groupby(waypoints, key=lambda waypoint: waypoint.pace):
        row, way_m = list[Waypoint](), 0.0
        for waypoint in group:
            if row:
                last, next_ = row[-1].pose_tool_in_base, waypoint.pose_tool_in_base
                turn_m = last.angle_rad(next_) * pace.speed_mps / pace.turn_radps
                way_m += max(last.distance_m(next_), turn_m)
                if len(row) == LONGEST_ROW or way_m > LONGEST_ROW_M:
                    yield row
                    row, way_m = [], 0.0
            row.append(waypoint)
        yield row


def _end_rad(motion: Motion) -> Array:
    return np.asarray(motion.at(motion.duration_s)[0])


def _speed(pace: Pace) -> LineSpeed:
    """Returns the speed along a line; the turn is scaled along with it, which keeps both, coordinated or not."""
    acceleration = min(pace.acceleration_mps2, pace.turn_acceleration_radps2 * pace.speed_mps / pace.turn_radps)
    return LineSpeed(pace.speed_mps, acceleration, acceleration / RISE_S, pace.turn_radps)


def _blend_m(poses: Sequence[Pose], tolerances: Sequence[Tolerance]) -> float:
    """Returns the blend distance at which every inner waypoint is passed within its tolerance."""
    blend_m = WIDEST_BLEND_M
    for (before, pose), after, tolerance in zip(pairwise(poses[:-1]), poses[2:], tolerances, strict=True):
        lengths = [t for t in (tolerance.x_m, tolerance.y_m, tolerance.z_m) if t is not None]
        blend_m = min(blend_m, min(lengths, default=0.0) / PASSED_WITHIN)
        for angle in (tolerance.x_axis_rad, tolerance.z_axis_rad):
            if angle is not None:
                for a, b in ((before, pose), (pose, after)):
                    if (turn := a.angle_rad(b)) > TINY:
                        blend_m = min(blend_m, angle / PASSED_WITHIN * max(a.distance_m(b), TINY) / turn)
    return blend_m
