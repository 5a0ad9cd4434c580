"""A pick and place planned from end to end before the robot moves: which way round to grasp, and all paths between.

A round part may be taken from any side. Which sides are free, from which of them the part can be lifted, carried and
set down again, is found out here, from beliefs alone: a scene of drawings, and where the part was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, GripperFigures, PartFigures
from cellwright.catalogue.objects import TurnedFigures
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.execution.grasp_paths import GraspPath, find_grasp_paths, line_checker
from cellwright.execution.pick_place import PathArm, PlannedWay
from cellwright.motion import LineMove, LineSpeed, Motion, TimedPath
from cellwright.motion.grasps import Grasp, GraspKind, find_grasps
from cellwright.motion.planning import (
    AttachedObject,
    CatalogueModel,
    ExactChecker,
    MotionPlanner,
    MotionPlanRequest,
    MotionPlanResult,
    Obstacle,
    Scene,
    TiltLimit,
)
from cellwright.motion.planning.scene import TOOL

__all__ = ["PickPlacePlan", "PickPlacePlanner", "PickPlaceSettings"]

Array = npt.NDArray[np.float64]

MOST_PICKS = 12
MOST_PLACES = 32  # more: an arm that holds something upright keeps its branch, so not every place will do
SLOW = LineSpeed(0.15, 0.6, 6.0)
GRASPS_TRIED = 4  # when the part cannot be carried from one, the next
CURVE_STEP_S = 0.02


@dataclass(frozen=True)
class PickPlaceSettings:
    """Settings of a pick and place.

    Attributes:
        kind: From where the gripper comes.
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
    grasp: Grasp

    def pick_way(self, arm: PathArm) -> PlannedWay:
        """Returns an arm's way to the part and up with it."""
        return PlannedWay(arm, (self.approach,), self.reach, self.lift, self.back_off)

    def place_way(self, arm: PathArm) -> PlannedWay:
        """Returns an arm's way to the place and away from it."""
        return PlannedWay(arm, (self.carry,), self.lower, self.retreat)

    @property
    def duration_s(self) -> float:
        """The duration of all motions together."""
        motions = (self.approach, self.reach, self.lift, self.carry, self.lower, self.retreat, self.withdraw)
        return float(sum(motion.duration_s for motion in motions))


class PickPlacePlanner:
    """Plans for one kind of part in one believed scene, in which the part itself does not stand.

    Args:
        scene: The robot with its gripper, and what is around it.
        part: What is moved; round, so that it may be turned about its axis.
        support: The obstacle on which it stands and is set down: touched by the part, and by nothing else.
        settings: How.

    Raises:
        MissingExtra: without the optional packages.
        BadInput: for a robot without a gripper, or a part that is not round.
        JobFailed: when the gripper cannot take such a part.
    """

    def __init__(
        self, scene: Scene, part: PartFigures, support: str, settings: PickPlaceSettings | None = None
    ) -> None:
        tool = scene.robot.tool
        if not isinstance(tool, GripperFigures):
            raise BadInput(f"a pick and place needs a gripper, and {scene.robot.arm.name} has none")
        if not _is_round(part):
            raise BadInput(
                f"a {part.title.lower()} is not round; only parts that may be turned in the hand are planned for"
            )
        self.settings = settings or PickPlaceSettings()
        self.part = part
        self.tool = tool
        self.arm = scene.robot.arm
        found = find_grasps(
            part,
            tool,
            turns=self.settings.headings,
            approach_m=self.settings.approach_m,
            retreat_m=self.settings.lift_m,
        )
        self.grasps = [grasp for grasp in found if grasp.kind is self.settings.kind]
        if not self.grasps:
            raise JobFailed(f"{tool.title} has no grasp of a {part.title.lower()} from the {self.settings.kind}")
        self._open = _with_fingers(scene, tool.open_m)
        pose_in_tool = self.grasps[0].pose_tcp.inverse()  # round: any of them will do
        held = AttachedObject(part.name, CatalogueModel(part), pose_in_tool)
        carried = _with_fingers(scene, self.grasps[0].width_m / 2).holding(held)
        self._upright = TiltLimit.upright(held, self.settings.tilt_rad)
        self.carrying = MotionPlanner(carried)
        self._set_down = ExactChecker(carried.allowing(part.name, support))

    def plan(self, start_rad: npt.ArrayLike, pose_part: Pose, pose_place: Pose, seed: int = 0) -> PickPlacePlan:
        """Plans the transfer of the part from one pose in the world to another, from where the arm stands and back.

        Raises:
            JobFailed: with the reason, when something cannot be planned.
        """
        start = np.asarray(start_rad, float)
        before, after = self.open_planner(pose_part), self.open_planner(pose_place)
        picks = self.picks(before, pose_part, start)
        if not picks:
            raise JobFailed(f"no side of the {self.part.title.lower()} can be reached straight")
        reason = ""
        for _ in range(min(GRASPS_TRIED, len(picks))):
            approach = self._path(before, start, [way.before_rad for way in picks], seed)
            pick = picks.pop(_which(approach, [way.before_rad for way in picks]))
            places = self.places(after, pose_place, pick.after_rad)
            if not places:
                reason = "nowhere to set it down"
                break
            carry = self.carrying.plan(self.carry_request(pick, places, seed))
            if carry.is_success:
                place = places[_which(carry, [way.before_rad for way in places])]
                withdraw = self._path(after, place.after_rad, [start], seed)
                return self._timed(before, after, approach, pick, carry, place, withdraw)
            reason = carry.reason
        raise JobFailed(f"the {self.part.title.lower()} cannot be carried to its place: {reason}")

    def open_planner(self, pose_part: Pose) -> MotionPlanner:
        """Returns the planner for an open gripper while the part stands there."""
        return MotionPlanner(
            self._open.with_obstacles([Obstacle(self.part.name, CatalogueModel(self.part), pose_part)])
        )

    def picks(self, before: MotionPlanner, pose_part: Pose, near_rad: Array) -> list[GraspPath]:
        """Returns straight paths to the part and up with it, nearest first."""
        poses = [
            (g, pose_part @ g.pose_approach, pose_part @ g.pose_tcp, pose_part @ g.pose_retreat) for g in self.grasps
        ]
        return self._ways(poses, before.exact, self._set_down, near_rad, MOST_PICKS)

    def places(self, after: MotionPlanner, pose_place: Pose, near_rad: Array) -> list[GraspPath]:
        """Returns straight paths down to the place and away from it, nearest first."""
        raised = Pose(pose_place.position + [0.0, 0.0, self.settings.release_m], pose_place.quaternion)
        poses = [(g, raised @ g.pose_retreat, raised @ g.pose_tcp, raised @ g.pose_approach) for g in self.grasps]
        return self._ways(poses, self._set_down, after.exact, near_rad, MOST_PLACES)

    def carry_request(self, pick: GraspPath, places: Sequence[GraspPath], seed: int) -> MotionPlanRequest:
        """Returns the request for the planner `carrying`: from the lifted part to above one of its places, upright."""
        settings = self.settings
        return MotionPlanRequest(
            pick.after_rad,
            [way.before_rad for way in places],
            seed=seed,
            planner=settings.planner,
            margin_m=settings.margin_m,
            tilt=self._upright,
        )

    def _ways(
        self,
        poses: Iterable[tuple[Grasp, Pose, Pose, Pose]],
        first: ExactChecker,
        second: ExactChecker,
        near_rad: Array,
        most: int,
    ) -> list[GraspPath]:
        margin_m, close = self.settings.margin_m / 2, (TOOL, self.part.name)
        until, then = (line_checker(exact, margin_m, near_rad, close) for exact in (first, second))
        return find_grasp_paths(poses, until, then, self.carrying, near_rad, most)

    def _path(
        self, planner: MotionPlanner, start_rad: Array, goals_rad: Sequence[Array], seed: int
    ) -> MotionPlanResult:
        settings = self.settings
        request = MotionPlanRequest(
            start_rad, goals_rad, seed=seed, planner=settings.planner, margin_m=settings.margin_m
        )
        result = planner.plan(request)
        if not result.is_success:
            raise JobFailed(f"{self.arm.name} finds no way: {result.reason}")
        return result

    def _timed(
        self,
        before: MotionPlanner,
        after: MotionPlanner,
        approach: MotionPlanResult,
        pick: GraspPath,
        carry: MotionPlanResult,
        place: GraspPath,
        withdraw: MotionPlanResult,
    ) -> PickPlacePlan:
        return PickPlacePlan(
            approach=self._curve(before, approach),
            reach=self._line(pick.before_rad, pick.at_rad),
            lift=self._line(pick.at_rad, pick.after_rad),
            carry=self._curve(self.carrying, carry, self.settings.carry_scale),
            lower=self._line(place.before_rad, place.at_rad),
            retreat=self._line(place.at_rad, place.after_rad),
            withdraw=self._curve(after, withdraw),
            back_off=self._line(pick.at_rad, pick.before_rad),
            grasp=pick.grasp,
        )

    def _line(self, start_rad: Array, end_rad: Array) -> LineMove:
        kinematics = self.carrying.kinematics
        return LineMove(kinematics, start_rad, kinematics.forward(end_rad), self.settings.line)

    def _curve(self, planner: MotionPlanner, result: MotionPlanResult, acceleration: float | None = None) -> TimedPath:
        """Returns the path with times, itself looked at for collisions: between corners it is no straight line."""
        scale, tolerance_rad = self.settings.scale, self.settings.tolerance_rad
        curve = TimedPath(self.arm, list(result.path_rad), scale, acceleration or scale, tolerance_rad)
        times = np.arange(0.0, curve.duration_s, CURVE_STEP_S)
        blocked = planner.exact.first_blocked(np.array([curve.at(time_s)[0] for time_s in times]))
        if blocked is not None:
            raise JobFailed(f"rounding a corner of its path {self.arm.name} would hit: {planner.exact.touch(blocked)}")
        return curve


def _is_round(part: PartFigures) -> bool:
    return isinstance(part, GearFigures) or (isinstance(part, TurnedFigures) and part.handle is None)


def _with_fingers(scene: Scene, each_m: float) -> Scene:
    joints = {f"finger_{side}": each_m for side in ("left", "right")}
    return replace(scene, robot=replace(scene.robot, tool_joints=joints))


def _which(result: MotionPlanResult, goals_rad: Sequence[Array]) -> int:
    """Returns the goal at which a path ends."""
    return int(np.linalg.norm(np.array(goals_rad) - result.path_rad[-1], axis=1).argmin())
