"""Moves the poses of commands into another frame: a program for one table is run at another."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose as FramePose
from cellwright.crcl.messages import (
    ActuateJoints,
    CRCLCommand,
    InitCanon,
    LengthUnitEnum,
    MoveScrew,
    MoveThroughTo,
    MoveTo,
    Point,
    Pose,
    PoseAndSet,
    PoseTolerance,
    RunProgram,
    SetEndPoseTolerance,
    SetIntermediatePoseTolerance,
    SetLengthUnits,
    Vector,
)
from cellwright.crcl.units import CrclUnits, Quantity

__all__ = ["FrameMove"]

P = TypeVar("P", bound=Pose)


class FrameMove:
    """Moves commands, one after the other as they are executed: a length unit holds from the command that sets it.

    Poses of MoveTo, MoveThroughTo and MoveScrew are moved, and the point of a screw's axis. Joint positions stay what
    they are, and so do tolerances, which lie along the robot's axes.

    Args:
        pose_program_in_robot: The frame that the numbers of the program are in, in the frame of the robot; metres.
    """

    def __init__(self, pose_program_in_robot: FramePose) -> None:
        self._turn = pose_program_in_robot.rotation_matrix.tolist()
        self._shift_m = pose_program_in_robot.position.tolist()
        self._length: LengthUnitEnum | None = None
        self._is_turned = self._turn != FramePose.identity().rotation_matrix.tolist()

    def __call__(self, command: CRCLCommand) -> CRCLCommand:
        """Returns the command in the robot's frame.

        Raises:
            BadInput: It has a pose, and its unit is not known.
        """
        match command:
            case InitCanon():
                self._length = None  # which unit holds now depends on the robot
            case SetLengthUnits():
                self._length = command.unit_name
            case MoveTo():
                return replace(command, end_position=self._pose(command.end_position))
            case MoveThroughTo():
                return replace(command, waypoint=tuple(map(self._pose, command.waypoint)))
            case MoveScrew():
                start, axis = command.start_position, command.axis_point
                return replace(
                    command,
                    start_position=start and self._pose(start),
                    axis_point=axis and self._point(axis),
                )
        return command

    def remark(self, command: CRCLCommand) -> str:
        """Returns a remark on the parts of a command that are not moved although they may be meant to; else empty."""
        if isinstance(command, ActuateJoints):
            return "joint positions are not moved"
        if isinstance(command, RunProgram):
            return "the program that it names is not moved"
        if self._is_turned and _is_uneven(command):
            return "tolerances stay along the robot's axes"
        return ""

    def _pose(self, pose: P) -> P:
        return replace(
            pose, point=self._point(pose.point), x_axis=self._vector(pose.x_axis), z_axis=self._vector(pose.z_axis)
        )

    def _point(self, point: Point) -> Point:
        x, y, z = self._turned(point.x, point.y, point.z)
        if not any(self._shift_m):
            return replace(point, x=x, y=y, z=z)
        if self._length is None:
            raise BadInput(
                "the unit of its poses is not known, so they cannot be moved by metres "
                "(allowed: SetLengthUnits before them, or --units such as mm)"
            )
        per_m = 1.0 / CrclUnits(length=self._length).factor(Quantity.LENGTH)
        dx, dy, dz = (shift_m * per_m for shift_m in self._shift_m)
        return replace(point, x=x + dx, y=y + dy, z=z + dz)

    def _vector(self, vector: Vector) -> Vector:
        i, j, k = self._turned(vector.i, vector.j, vector.k)
        return replace(vector, i=i, j=j, k=k)

    def _turned(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        if not self._is_turned:
            return x, y, z
        first, second, third = (row[0] * x + row[1] * y + row[2] * z for row in self._turn)
        return first, second, third


def _is_uneven(command: CRCLCommand) -> bool:
    """Returns whether a command has a tolerance that is not the same along all axes."""
    tolerances: list[PoseTolerance | None] = []
    if isinstance(command, SetEndPoseTolerance | SetIntermediatePoseTolerance):
        tolerances = [command.tolerance]
    elif isinstance(command, MoveTo | MoveThroughTo):
        poses = (command.end_position,) if isinstance(command, MoveTo) else command.waypoint
        tolerances = [pose.tolerance for pose in poses if isinstance(pose, PoseAndSet)]
    return any(len({t.x_point_tolerance, t.y_point_tolerance, t.z_point_tolerance}) > 1 for t in tolerances if t)
