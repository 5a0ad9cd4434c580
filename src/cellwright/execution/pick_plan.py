"""A pick and place planned from end to end before the robot moves: which way round to grasp, and all paths between.

A part may be taken from any side that its gripper fits. Which sides are free, from which of them the part can be
lifted, carried and set down again, is found out here, from beliefs alone: a scene of drawings, and where the part was
seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GripperFigures, PartFigures
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.execution.grasp_paths import GraspPath, find_grasp_paths, line_checker
from cellwright.execution.held_part import attached_part, is_round, pitched, turned
from cellwright.execution.pick_motions import PickPlacePlan, PickPlaceSettings
from cellwright.motion import LineMove, TimedPath
from cellwright.motion.grasps import Grasp, find_grasps
from cellwright.motion.planning import (
    CatalogueModel,
    ExactChecker,
    InSomePoses,
    MotionPlanner,
    MotionPlanRequest,
    MotionPlanResult,
    Obstacle,
    Scene,
    TiltLimit,
)
from cellwright.motion.planning.scene import TOOL

__all__ = ["PickPlacePlanner"]

Array = npt.NDArray[np.float64]

MOST_PICKS = 12
MOST_LINES = 200
MOST_PLACES, MOST_PLACES_ALIKE = 32, 8  # an arm that holds something upright keeps its posture: not every one will do
GRASPS_TRIED = 4  # when the part cannot be carried from one, the next
PLACE_TURNS = 8  # in which a part that is not round may stand on its place
CURVE_STEP_S = 0.02
NOWHERE = "nowhere to set it down"


class PickPlacePlanner:
    """Plans for one kind of part in one believed scene, in which the part itself does not stand.

    Args:
        scene: The robot with its gripper, and what is around it.
        part: What is moved; which way it stands on its place does not matter.
        support: The obstacle on which it stands and is set down: touched by the part, and by nothing else.
        settings: How.

    Raises:
        MissingExtra: without the optional packages.
        BadInput: for a robot without a gripper, or a part that is taken beside its axis.
        JobFailed: when the gripper cannot take such a part.
    """

    def __init__(
        self, scene: Scene, part: PartFigures, support: str, settings: PickPlaceSettings | None = None
    ) -> None:
        tool = scene.robot.tool
        if not isinstance(tool, GripperFigures):
            raise BadInput(f"a pick and place needs a gripper, and {scene.robot.arm.name} has none")
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
        chosen = [grasp for grasp in found if grasp.kind is self.settings.kind]
        self.grasps = (
            [pitched(grasp, self.settings.pitch_rad) for grasp in chosen] if self.settings.pitch_rad else chosen
        )
        if not self.grasps:
            raise JobFailed(f"{tool.title} has no grasp of a {part.title.lower()} from the {self.settings.kind}")
        self._open = _with_fingers(scene, tool.open_m)
        held = attached_part(part, self.grasps)
        carried = _with_fingers(scene, self.grasps[0].width_m / 2).holding(held)
        self._upright = TiltLimit.upright(held, self.settings.tilt_rad)
        self.carrying = MotionPlanner(carried)
        self._set_down = ExactChecker(carried.allowing(part.name, support))

    def plan(
        self,
        start_rad: npt.ArrayLike,
        pose_part: Pose,
        pose_place: Pose,
        seed: int = 0,
        other_turns_rad: Sequence[float] = (),
    ) -> PickPlacePlan:
        """Plans the transfer of the part from one pose in the world to another, from where the arm stands and back.

        Args:
            start_rad: Where the arm stands.
            pose_part: The part's pose.
            pose_place: Its goal.
            seed: Of the paths.
            other_turns_rad: Turns about its z from there in which the part may stand as well: nothing is hit in any.

        Raises:
            JobFailed: with the reason, when something cannot be planned.
        """
        start = np.asarray(start_rad, float)
        before, after = self.open_planner(pose_part, other_turns_rad), self._planners_at(pose_place)
        reason = f"no side of the {self.part.title.lower()} can be reached straight"
        for picks in self._rounds(before, pose_part, start):
            for _ in range(min(GRASPS_TRIED, len(picks))):
                approach = self._path(before, start, [way.before_rad for way in picks], seed)
                pick = picks.pop(_which(approach, [way.before_rad for way in picks]))
                found = [(at, way) for pose, at in after for way in self.places(at, pose, pick.after_rad, pick.grasp)]
                places = [way for _, way in found]
                reason = f"the {self.part.title.lower()} cannot be carried to its place: "
                if not places and is_round(self.part):
                    raise JobFailed(reason + NOWHERE)  # however it is held
                carry = self.carrying.plan(self.carry_request(pick, places, seed)) if places else None
                if carry is not None and carry.is_success:
                    there, place = found[_which(carry, [way.before_rad for way in places])]
                    withdraw = self._path(there, place.after_rad, [start], seed)
                    return self._timed(before, there, approach, pick, carry, place, withdraw)
                reason += NOWHERE if carry is None else carry.reason
        raise JobFailed(reason)

    def _rounds(self, before: MotionPlanner, pose_part: Pose, near_rad: Array) -> Iterator[list[GraspPath]]:
        """Yields straight paths to the part, to be tried in turn: the nearest, then those of each other posture.

        An arm that holds something upright keeps its posture, so when no place can be reached with one, another may do.
        """
        nearest = self.picks(before, pose_part, near_rad)
        tried = nearest[:1]
        yield nearest
        left = self.picks(before, pose_part, near_rad, MOST_LINES) if tried else []
        while left := [way for way in left if not any(other.is_alike(way.at_rad) for other in tried)]:
            tried.append(left[0])
            yield [way for way in left if left[0].is_alike(way.at_rad)]

    def _planners_at(self, pose_place: Pose) -> list[tuple[Pose, MotionPlanner]]:
        """Returns the poses in which the part may stand on its place, with the planner for each."""
        poses = [pose_place] if is_round(self.part) else turned(pose_place, PLACE_TURNS)
        return [(pose, self.open_planner(pose)) for pose in poses]

    def open_planner(self, pose_part: Pose, turns_rad: Sequence[float] = ()) -> MotionPlanner:
        """Returns the planner for an open gripper while the part stands there, or turned about its z by any of some."""
        turns = tuple(Pose.from_xyz_rpy((0, 0, 0), (0, 0, turn)) for turn in (0.0, *turns_rad))
        shape = InSomePoses(CatalogueModel(self.part), turns)
        return MotionPlanner(self._open.with_obstacles([Obstacle(self.part.name, shape, pose_part)]))

    def picks(self, before: MotionPlanner, pose_part: Pose, near_rad: Array, most: int = MOST_PICKS) -> list[GraspPath]:
        """Returns straight paths to the part and up with it, nearest first."""
        poses = [
            (g, pose_part @ g.pose_approach, pose_part @ g.pose_tcp, pose_part @ g.pose_retreat) for g in self.grasps
        ]
        return self._ways(poses, before.exact, self._set_down, near_rad, most)

    def places(
        self, after: MotionPlanner, pose_place: Pose, near_rad: Array, grasp: Grasp | None = None
    ) -> list[GraspPath]:
        """Returns straight paths down to the place and away from it, nearest first, in several postures of the arm.

        Args:
            after: The planner while the part stands there.
            pose_place: Where.
            near_rad: The current joint angles.
            grasp: How it is held; for a round part it does not matter.
        """
        raised = Pose(pose_place.position + [0.0, 0.0, self.settings.release_m], pose_place.quaternion)
        grasps = self.grasps if grasp is None or is_round(self.part) else [grasp]
        poses = [(g, raised @ g.pose_retreat, raised @ g.pose_tcp, raised @ g.pose_approach) for g in grasps]
        return self._ways(poses, self._set_down, after.exact, near_rad, MOST_PLACES, MOST_PLACES_ALIKE)

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
        most_alike: int | None = None,
    ) -> list[GraspPath]:
        margin_m, close = self.settings.margin_m / 2, (TOOL, self.part.name)
        until, then = (line_checker(exact, margin_m, near_rad, close) for exact in (first, second))
        return find_grasp_paths(poses, until, then, self.carrying, near_rad, most, most_alike)

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
            give_up=self._curve(before, replace(approach, path_rad=approach.path_rad[::-1])),
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


def _with_fingers(scene: Scene, each_m: float) -> Scene:
    joints = {f"finger_{side}": each_m for side in ("left", "right")}
    return replace(scene, robot=replace(scene.robot, tool_joints=joints))


def _which(result: MotionPlanResult, goals_rad: Sequence[Array]) -> int:
    """Returns the goal at which a path ends."""
    return int(np.linalg.norm(np.array(goals_rad) - result.path_rad[-1], axis=1).argmin())
