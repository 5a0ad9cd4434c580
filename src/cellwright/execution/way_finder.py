"""Ways of an arm round obstacles: straight while that is free, planned when it is not; by drawings and belief alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS, ArmFigures, Figures, FurnitureFigures
from cellwright.core.errors import BadInput, JobFailed, MissingExtra
from cellwright.core.extras import has_extra
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.execution.arm_room import ArmPosture, arm_room, held_reach_m, tool_in_flange
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.motion.chain import SerialChain
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.planning import (
    AttachedObject,
    CatalogueModel,
    ExactChecker,
    MotionPlanner,
    MotionPlanRequest,
    Obstacle,
    Scene,
    SceneRobot,
    TiltLimit,
)
from cellwright.motion.planning.checker import CollisionPair, between
from cellwright.motion.planning.furniture_boxes import furniture_boxes

__all__ = ["WayFinder"]

Array = npt.NDArray[np.float64]
Boxes = tuple[Array, Array]
"""Lowest and highest corners (n, 3) of boxes along the axes of the world."""

LOOK_RAD = 0.15  # steps of that look, of the joint that turns most; within them a point moves less than its room
STEP_RAD = 0.02  # steps of the exact check
MARGIN_M = 0.02  # a planned way keeps from everything, a straight one is content without
TILT_RAD = float(np.radians(45.0))  # of what hangs in the hand on a planned way
PIECE_M, PIECE_RAD = 0.08, 0.3  # of a line, between which the joints turn evenly enough
EXTRA = ("numba",)
MOST_CHECKERS = 6
SHORTCUTS = 300  # every corner that is cut saves the arm a stop


class WayFinder:
    """Finds ways of one arm.

    A straight way is first looked at roughly: by points along the arm with some room about them, against boxes about
    everything that stands there, which takes a millisecond. Only where that finds something near are true shapes
    asked; and only where these touch, a way is planned.

    Args:
        name: The robot.
        arm: Its figures.
        pose_base_in_world: By the drawings.
        fixtures: What stands about by the drawings: name, figures, pose.
    """

    def __init__(
        self,
        name: str,
        arm: ArmFigures,
        pose_base_in_world: Pose,
        fixtures: Sequence[tuple[str, FurnitureFigures, Pose]] = (),
    ) -> None:
        self._name = name
        self._arm = arm
        self._base = pose_base_in_world
        self._fixtures = tuple(fixtures)
        self._kinematics = ArmKinematics(arm)
        self._chain = SerialChain(arm)
        self._checkers: dict[Hashable, ExactChecker] = {}

    def find(
        self,
        start_rad: npt.ArrayLike,
        goal: Pose | Sequence[float],
        *,
        tool: str = "",
        straight: bool = True,
        held: AttachedObject | None = None,
        others: Sequence[ArmPosture] = (),
        things: Callable[[], Sequence[Obstacle]] = tuple,
        seed: int = 0,
    ) -> list[tuple[float, ...]]:
        """Returns the corners of a way round what is in the way, joint angles each; none when the straight way is free.

        Args:
            start_rad: Joint angles of the arm where it stands.
            goal: A pose of its tool in the world, or joint angles.
            tool: Its tool's name in the catalogue.
            straight: Whether the straight way to a pose is a line; otherwise the joints turn evenly.
            held: What is in its hand.
            others: The other arms.
            things: Makes what is believed to stand about; asked only when a way is planned.
            seed: Of the search.

        Raises:
            StepFailed: There is something in the way, and no way round it was found, or the extra to find one is not
                installed.
        """
        start = np.asarray(start_rad, float)
        why = self.blocked(start, goal, tool=tool, straight=straight, held=held, others=others)
        if not why:
            return []
        if not has_extra(*EXTRA):
            raise StepFailed(FailureKind.ARM, f"{why}; pip install 'cellwright[motion]' finds a way round")
        return self._plan(self._scene(tool, held, others, things()), start, goal, held, why, seed)

    def blocked(
        self,
        start_rad: npt.ArrayLike,
        goal: Pose | Sequence[float],
        *,
        tool: str = "",
        straight: bool = True,
        held: AttachedObject | None = None,
        others: Sequence[ArmPosture] = (),
    ) -> str:
        """Returns what blocks the straight way, as of `find`, in words; empty when nothing does, or it has no end."""
        start = np.asarray(start_rad, float)
        ring = KinematicRing(self._base, tool_in_flange(tool))
        states = self._states(start, goal, ring, straight=straight)
        if states is None or not self._is_near(states, tool, held, others):
            return ""  # what cannot be reached so, the robot says itself
        exact = self._checker(tool, held, others)
        if touching := exact.touches(start):  # by the drawings, where it really stands: they cannot be believed there
            exact = ExactChecker(_allowing(exact.bodies.scene, touching))
        touched = exact.first_blocked(between(states, STEP_RAD))
        return "" if touched is None else f"the straight way of {self._name} is blocked: {exact.touch(touched)}"

    def _plan(
        self,
        scene: Scene,
        start: Array,
        goal: Pose | Sequence[float],
        held: AttachedObject | None,
        why: str,
        seed: int,
    ) -> list[tuple[float, ...]]:
        request = MotionPlanRequest(start, seed=seed, margin_m=MARGIN_M, shortcuts=SHORTCUTS)
        if isinstance(goal, Pose):
            half_turn = goal @ Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, np.pi])
            request = replace(request, goal_poses=[goal, half_turn])  # fingers are the same after half a turn
        else:
            request = replace(request, goals_rad=[goal])
        if held is not None:
            request = replace(request, tilt=TiltLimit.upright(held, TILT_RAD))
        try:
            result = MotionPlanner(scene).plan(request)
        except (BadInput, JobFailed, MissingExtra) as error:
            raise StepFailed(FailureKind.ARM, f"{why}; {error}") from None
        if not result.is_success:
            raise StepFailed(FailureKind.ARM, f"{why}; no way round was found: {result.reason}")
        return [tuple(float(angle) for angle in corner) for corner in result.path_rad[1:]]

    def _checker(self, tool: str, held: AttachedObject | None, others: Sequence[ArmPosture]) -> ExactChecker:
        """Returns the exact checker; to make one takes a while, so those for the last few tools and hands are kept."""
        shape = held.shape if held is not None else None
        model = shape.figures.name if isinstance(shape, CatalogueModel) else repr(shape)
        known = (tool, model, *((other.name, other.tool, other.joints_rad) for other in others))
        if known not in self._checkers:
            if len(self._checkers) >= MOST_CHECKERS:
                del self._checkers[next(iter(self._checkers))]
            self._checkers[known] = ExactChecker(self._scene(tool, held, others, ()))
        return self._checkers[known]

    def _scene(
        self, tool: str, held: AttachedObject | None, others: Sequence[ArmPosture], things: Sequence[Obstacle]
    ) -> Scene:
        robot = SceneRobot(self._arm, self._base, TOOLS.get(tool) if tool else None)
        fixed = [Obstacle(name, CatalogueModel(figures), pose) for name, figures, pose in self._fixtures]
        arms = [obstacle for other in others for obstacle in _obstacles(other)]
        named = {obstacle.name: obstacle for obstacle in (*things, *fixed, *arms)}
        if held is not None:
            named.pop(held.name, None)
        return Scene(robot, tuple(named.values()), held)

    def _states(
        self, start: Array, goal: Pose | Sequence[float], ring: KinematicRing, *, straight: bool
    ) -> Array | None:
        """Returns the configurations on the straight way, near enough to each other; None when there is no such way."""
        try:
            if not isinstance(goal, Pose):
                return np.array([start, goal], float)
            flange = ring.flange_for_tool(goal)
            if not straight:
                return np.array([start, self._kinematics.nearest(flange, start)])
            first = self._kinematics.forward(start)
            pieces = max(1, round(first.distance_m(flange) / PIECE_M), round(first.angle_rad(flange) / PIECE_RAD))
            states = [start]
            for number in range(1, pieces + 1):
                states.append(self._kinematics.nearest(first.interpolate(flange, number / pieces), states[-1]))
            return np.array(states)
        except JobFailed:
            return None

    def _is_near(self, states: Array, tool: str, held: AttachedObject | None, others: Sequence[ArmPosture]) -> bool:
        """Returns whether anything is near the way, roughly."""
        points, room = arm_room(self._chain, self._base, between(states, LOOK_RAD), tool)
        beside_m, below_m = held_reach_m(held)
        most_m = np.maximum(room, np.where(np.arange(len(room)) == len(room) - 1, beside_m, 0.0))
        lowest, highest = (points - most_m[:, None]).min(axis=(0, 1)), (points + most_m[:, None]).max(axis=(0, 1))
        low, high = self._boxes
        about = ((low <= highest) & (high >= lowest)).all(axis=1)
        for one, other in zip(low[about], high[about], strict=True):
            gap = np.maximum(np.maximum(one - points, points - other), 0.0)
            tip = gap[:, -1]  # what hangs there is wide and flat, and travels low over tables
            if (np.einsum("...i,...i", gap, gap) < room**2).any():
                return True
            if ((np.hypot(tip[:, 0], tip[:, 1]) < beside_m) & (tip[:, 2] < below_m)).any():
                return True
        for posture in others:
            chain = SerialChain(posture.arm)
            there, around = arm_room(chain, posture.pose_base_in_world, np.array([posture.joints_rad]), posture.tool)
            for point, radius_m in zip(there[0], around, strict=True):
                away = points - point
                if (np.einsum("...i,...i", away, away) < (most_m + radius_m) ** 2).any():
                    return True
        return False

    @cached_property
    def _boxes(self) -> Boxes:
        """Boxes about the solids of all fixtures, but for what the arm stands on: its first links are always near."""
        corners = []
        for _, figures, pose in self._fixtures:
            for pose_box, size in furniture_boxes(figures):
                placed = pose @ pose_box
                half = np.abs(placed.rotation_matrix) @ np.array(size)
                corners.append((placed.position - half, placed.position + half))
        if not corners:
            return np.empty((0, 3)), np.empty((0, 3))
        low, high = (np.array(side) for side in zip(*corners, strict=True))
        return low, high


def _allowing(scene: Scene, touching: Sequence[CollisionPair]) -> Scene:
    """Returns the scene in which these pairs may touch."""
    for pair in touching:
        scene = scene.allowing(pair.first, pair.second)
    return scene


def _obstacles(other: ArmPosture) -> list[Obstacle]:
    """Returns another arm, and its tool, as they stand."""
    joints = {joint.name: angle for joint, angle in zip(other.arm.joints, other.joints_rad, strict=True)}
    found = [Obstacle(other.name, CatalogueModel(other.arm, joints), other.pose_base_in_world)]
    if other.tool:
        flange = other.pose_base_in_world @ ArmKinematics(other.arm).forward(np.array(other.joints_rad))
        figures: Figures = TOOLS.get(other.tool)
        found.append(Obstacle(f"{other.name}'s tool", CatalogueModel(figures), flange))
    return found
