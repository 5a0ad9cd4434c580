"""Commands that move the robot."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from cellwright.crcl.messages.base import DataThing, abstract
from cellwright.crcl.messages.commands import MiddleCommand
from cellwright.crcl.messages.data import JointPositionsTolerances, Point, Pose
from cellwright.crcl.types import AtLeast, Boolean, Double, Int

__all__ = [
    "ActuateJoint",
    "ActuateJoints",
    "JointDetails",
    "JointForceTorque",
    "JointSpeedAccel",
    "MoveScrew",
    "MoveThroughTo",
    "MoveTo",
]


@dataclass(frozen=True, slots=True)
class MoveTo(MiddleCommand):
    """Moves the controlled point to a pose and stops there."""

    move_straight: Boolean
    end_position: Pose


@dataclass(frozen=True, slots=True)
class MoveThroughTo(MiddleCommand):
    """Moves the controlled point near each waypoint and stops at the last; their number is stated once more."""

    move_straight: Boolean
    waypoint: Annotated[tuple[Pose, ...], AtLeast(2)]
    num_positions: Int


@dataclass(frozen=True, slots=True)
class MoveScrew(MiddleCommand):
    """Goes to a start, advances freely along an axis, then turns about it while it advances further."""

    _: KW_ONLY
    start_position: Pose | None = None
    axis_point: Point | None = None
    axial_distance_free: Double | None = None
    axial_distance_screw: Double
    turn: Double


@abstract
@dataclass(frozen=True, slots=True)
class JointDetails(DataThing):
    """The way in which a joint gets to its target."""


@dataclass(frozen=True, slots=True)
class JointSpeedAccel(JointDetails):
    """By speed and acceleration, in the joint's units per second and per second squared."""

    _: KW_ONLY
    joint_speed: Double | None = None
    joint_accel: Double | None = None


@dataclass(frozen=True, slots=True)
class JointForceTorque(JointDetails):
    """By force or torque and its rate of change."""

    _: KW_ONLY
    setting: Double | None = None
    change_rate: Double | None = None


@dataclass(frozen=True, slots=True)
class ActuateJoint(DataThing):
    """The target of one joint; joints count from 1."""

    joint_number: Int
    joint_position: Double
    joint_details: JointDetails


@dataclass(frozen=True, slots=True)
class ActuateJoints(MiddleCommand):
    """Moves joints to their targets; those that are not listed go on as before."""

    actuate_joint: Annotated[tuple[ActuateJoint, ...], AtLeast(1)]
    _: KW_ONLY
    joint_tolerances: JointPositionsTolerances | None = None
