"""The motions of a planned pick and place, and what they are planned by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution.pick_place import PathArm, PlannedWay
from cellwright.motion import LineSpeed, Motion
from cellwright.motion.grasps import Grasp, GraspKind

__all__ = ["PickPlacePlan", "PickPlaceSettings", "StandingPart"]

SLOW = LineSpeed(0.15, 0.6, 6.0)


@dataclass(frozen=True)
class PickPlaceSettings:
    """Settings of a pick and place.

    Attributes:
        kind: From where the gripper comes.
        pitch_rad: How far a gripper that comes from the side is inclined downwards, about the line between its jaws.
        headings: How many directions of the grasp about the part's axis are looked at.
        approach_m: Length of the straight way to the part, and away from it.
        lift_m: How far it is lifted straight up, and lowered straight down.
        release_m: How high above its place it is let go.
        margin_m: What paths keep away from obstacles.
        tilt_rad: How far the carried part may lean.
        scale: Share of the joints' speed and acceleration on planned paths.
        carry_scale: The same for acceleration with the part in hand: hard jerks make it creep between the pads.
        tolerance_rad: How far a timed path may leave the planned one.
        line: Speed of the straight ways.
        planner: A name of `MOTION_PLANNERS`.
    """

    kind: GraspKind = GraspKind.SIDE
    pitch_rad: float = 0.0
    headings: int = 24
    approach_m: float = 0.10
    lift_m: float = 0.05
    release_m: float = 0.0015
    margin_m: float = 0.010
    tilt_rad: float = float(np.radians(5.0))
    scale: float = 0.5
    carry_scale: float = 0.15
    tolerance_rad: float = 0.004
    line: LineSpeed = SLOW
    planner: str = "rrt_connect"


@dataclass(frozen=True)
class StandingPart:
    """A part as it is believed to stand.

    Attributes:
        pose_in_world: Its pose.
        other_turns_rad: Turns about its z from there in which it may stand as well: it is taken so that it does not
            matter which is so.
    """

    pose_in_world: Pose
    other_turns_rad: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PickPlacePlan:
    """Seven motions, each beginning where the one before ends; the jaws close after `reach` and open after `lower`.

    Attributes:
        approach: Through free space to before the part.
        reach: Straight to it.
        lift: Straight up with it.
        carry: Through free space to above its place.
        lower: Straight down.
        retreat: Straight away.
        withdraw: Through free space to the start.
        back_off: Instead of `lift`, straight back from a part that was missed.
        give_up: After `back_off`, through free space to the start.
        grasp: How the part is taken.
    """

    approach: Motion
    reach: Motion
    lift: Motion
    carry: Motion
    lower: Motion
    retreat: Motion
    withdraw: Motion
    back_off: Motion
    give_up: Motion
    grasp: Grasp

    def pick_way(self, arm: PathArm) -> PlannedWay:
        """Returns an arm's way to the part and up with it."""
        return PlannedWay(arm, (self.approach,), self.reach, self.lift, self.back_off)

    def place_way(self, arm: PathArm) -> PlannedWay:
        """Returns an arm's way to the place and away from it."""
        return PlannedWay(arm, (self.carry,), self.lower, self.retreat)

    @property
    def grasp_text(self) -> str:
        """The grasp in words."""
        down_rad = np.arcsin(np.clip(-self.grasp.pose_tcp.rotation_matrix[2, 2], -1.0, 1.0))
        inclined = f", inclined by {abs(np.degrees(down_rad)):.0f} deg" if self.grasp.kind is GraspKind.SIDE else ""
        return f"from the {self.grasp.kind}{inclined}, {np.degrees(self.grasp.turn_rad):.0f} deg about its axis"

    @property
    def duration_s(self) -> float:
        """The duration of all motions together."""
        motions = (self.approach, self.reach, self.lift, self.carry, self.lower, self.retreat, self.withdraw)
        return float(sum(motion.duration_s for motion in motions))
