"""Paths of motions, without time: straight in joint space, or with the flange along poses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.core.slices import Slices, at_once, spans
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.spline import Spline

__all__ = ["JointPath", "LinePath", "Path", "PosePath"]

Array = npt.NDArray[np.float64]

LINE_STEP_M = 0.004
LINE_STEP_RAD = 0.02
LINE_TOLERANCE_M = 2e-5
LINE_TOLERANCE_RAD = 2e-4
LINE_REFINEMENTS = 4  # doublings: points down to 0.5 mm apart
MOST_PIECES = 10_000  # of 4 mm or 0.02 rad each, before they are doubled: 40 m, or 32 turns
MANY_PIECES = 10_000  # whose table takes some milliseconds
JUMP_RAD = 1.5 * np.pi  # from one point to the next
SLICE_POSES = 40  # that are solved in some milliseconds; a check takes half as long
START_TOLERANCE_M = 1e-4
START_TOLERANCE_RAD = 1e-3


class Path(Protocol):
    """Joint angles over a parameter that runs from 0 to 1."""

    def at(self, fraction: float) -> tuple[Any, Any, Any]:
        """Returns joint angles and their first and second derivative by the parameter."""

    def at_many(self, fractions: Array) -> tuple[Array, Array, Array]:
        """Returns the same at many places, in rows."""

    def steepness(self) -> tuple[Array, Array, Array]:
        """Returns the magnitudes of the first three derivatives (points, joints), nowhere exceeded."""


class JointPath:
    """All joints in proportion from one configuration to another."""

    def __init__(self, start_rad: Array, goal_rad: Array) -> None:
        self._start = start_rad
        self._way = goal_rad - start_rad
        self._straight = np.zeros_like(start_rad)

    def at(self, fraction: float) -> tuple[Any, Any, Any]:
        """Returns joint angles and their first and second derivative by the parameter."""
        return self._start + fraction * self._way, self._way, self._straight

    def at_many(self, fractions: Array) -> tuple[Array, Array, Array]:
        """Returns the same at many places, in rows."""
        column = fractions[:, None]
        return self._start + column * self._way, self._way[None], self._straight[None]

    def steepness(self) -> tuple[Array, Array, Array]:
        """Returns the magnitudes of the first three derivatives."""
        none = self._straight[None]
        return np.abs(self._way)[None], none, none


class PosePath:
    """The flange along any smooth course of poses, by inverse kinematics on the way.

    The path is solved at points a few millimetres apart, each taking the configuration nearest to the one before;
    between them is a spline, and the points are doubled until the flange is on its course there, too. A course on
    which the arm would have to jump from one branch of its configurations to another never gets there.

    Attributes:
        length_m: Of the course.
        turn_rad: Of the flange on the way.
        spline: Through the configurations.

    Args:
        kinematics: Of the arm.
        start_rad: The start configuration.
        pose_at: The flange in the base frame by the fraction of the way, 0 to 1.
        length_m: Of the course.
        turn_rad: Of the flange on the way.
        what: The name of the course, in messages.

    Raises:
        BadInput: when the course begins elsewhere, or is too long to be solved.
        Unreachable: when a point of it is; its end is looked at first.
        JobFailed: when it passes so near a singular configuration that no joint could keep up.
    """

    def __init__(
        self,
        kinematics: ArmKinematics,
        start_rad: Array,
        pose_at: Callable[[float], Pose],
        length_m: float,
        turn_rad: float,
        what: str = "course",
    ) -> None:
        at_once(self._make(kinematics, start_rad, pose_at, length_m, turn_rad, what))

    @classmethod
    def in_slices(
        cls,
        kinematics: ArmKinematics,
        start_rad: Array,
        pose_at: Callable[[float], Pose],
        length_m: float,
        turn_rad: float,
        what: str = "course",
    ) -> Slices[PosePath]:
        """Makes the same path, solved in slices."""
        path = PosePath.__new__(PosePath)
        yield from path._make(kinematics, start_rad, pose_at, length_m, turn_rad, what)
        return path

    def _make(
        self,
        kinematics: ArmKinematics,
        start_rad: Array,
        pose_at: Callable[[float], Pose],
        length_m: float,
        turn_rad: float,
        what: str,
    ) -> Slices[None]:
        self._kinematics = kinematics
        self._start = start_rad
        self._pose_at = pose_at
        self._what = what
        self.length_m = length_m
        self.turn_rad = turn_rad
        stands = kinematics.forward(start_rad)
        if not stands.is_close(pose_at(0.0), tolerance_m=START_TOLERANCE_M, tolerance_rad=START_TOLERANCE_RAD):
            away_m = stands.distance_m(pose_at(0.0))
            raise BadInput(
                f"the {what} of {kinematics.arm.name} starts {away_m * 1000:.3g} mm and "
                f"{np.degrees(stands.angle_rad(pose_at(0.0))):.3g} deg away from its flange, "
                f"allowed {START_TOLERANCE_M * 1000:g} mm and {np.degrees(START_TOLERANCE_RAD):.2g} deg"
            )
        kinematics.require_reachable(pose_at(1.0), start_rad)
        pieces = max(1, int(np.ceil(max(length_m / LINE_STEP_M, turn_rad / LINE_STEP_RAD))))
        if pieces > MOST_PIECES:
            raise BadInput(
                f"the {what} of {kinematics.arm.name} is {length_m:.6g} m long and turns by {turn_rad:.6g} rad "
                f"(allowed: {MOST_PIECES * LINE_STEP_M:g} m and {MOST_PIECES * LINE_STEP_RAD:g} rad)"
            )
        for _ in range(LINE_REFINEMENTS):
            self.spline = yield from self._solved(pieces)
            if (yield from self._on_course()):
                break
            pieces *= 2
        else:
            raise JobFailed(f"{kinematics.arm.name} cannot follow the {what}: {self.hardest()}")
        self.at = self.spline.at
        self.at_many = self.spline.at_many
        self.steepness = self.spline.steepness

    def hardest(self) -> str:
        """Returns the place on the course where a joint moves the farthest, and that joint, as text."""
        steps = np.abs(np.diff(self.spline.rows, axis=0))
        return f"{self._swing(steps, 0, len(steps))}, near a singular configuration"

    def _swing(self, steps: Array, first: int, pieces: int) -> str:
        piece, joint = np.unravel_index(int(steps.argmax()), steps.shape)
        return (
            f"after {100 * (first + piece) / pieces:.0f} % of it {self._kinematics.arm.joints[joint].name} would have "
            f"to swing by {np.degrees(steps[piece, joint]):.0f} deg at once"
        )

    def _solved(self, pieces: int) -> Slices[Spline]:
        rows = [self._start]
        for part in spans(pieces, max(1, SLICE_POSES // self._kinematics.effort)):
            poses = [self._pose_at(number / pieces) for number in range(part.start + 1, part.stop + 1)]
            rows += self._kinematics.nearest_along(poses, rows[-1])
            self._refuse_jumps(np.array(rows[part.start :]), part.start, pieces)
            if part.stop < pieces:  # a short path is one slice with what comes next
                yield
        table = np.array(rows)
        if pieces > MANY_PIECES:
            yield
        return (yield from Spline.in_slices(table))

    def _refuse_jumps(self, rows: Array, first: int, pieces: int) -> None:
        """Refuses a path on which a joint at its limit would jump by a full turn, however near the points are."""
        steps = np.abs(np.diff(rows, axis=0))
        if steps.max() > JUMP_RAD:
            raise JobFailed(
                f"{self._kinematics.arm.name} cannot follow the {self._what}: {self._swing(steps, first, pieces)}"
            )

    def _on_course(self) -> Slices[bool]:
        """Checks in slices whether the flange is on its course in the middle of every piece."""
        middles = self.spline.middles()
        for part in spans(len(middles), 2 * SLICE_POSES):
            if not self._near_course(middles[part], range(part.start, part.stop)):
                return False
            if part.stop < len(middles):
                yield
        return True

    def _near_course(self, middles: Array, numbers: range) -> bool:
        wanted = np.array([self._pose_at((number + 0.5) / self.spline.pieces).matrix for number in numbers])
        reached = self._kinematics.forward_of_many(middles)
        away_m = np.sqrt(((reached[:, :3, 3] - wanted[:, :3, 3]) ** 2).sum(axis=1))
        # Two rotation matrices whose angle is a differ by sqrt(8) sin(a / 2).
        sines = np.sqrt(((reached[:, :3, :3] - wanted[:, :3, :3]) ** 2).sum(axis=(1, 2)) / 8)
        turned_rad = 2 * np.arcsin(np.minimum(sines, 1.0))
        return bool((away_m <= LINE_TOLERANCE_M).all() and (turned_rad <= LINE_TOLERANCE_RAD).all())


class LinePath(PosePath):
    """The flange, or a tool that is fixed to it, straight from where it is to a pose."""

    @classmethod
    def between(
        cls, kinematics: ArmKinematics, start_rad: Array, pose_goal_in_base: Pose, tool: Pose | None = None
    ) -> Slices[Self]:
        """Makes the path, solved in slices."""
        flange = kinematics.forward(start_rad)
        pose = flange if tool is None else flange @ tool
        back = None if tool is None else tool.inverse()

        between = pose.towards(pose_goal_in_base)

        def along(fraction: float) -> Pose:
            there = between(fraction)
            return there if back is None else there @ back

        length_m, turn_rad = pose.distance_m(pose_goal_in_base), pose.angle_rad(pose_goal_in_base)
        path = cls.__new__(cls)
        yield from path._make(kinematics, start_rad, along, length_m, turn_rad, "straight line")
        return path
