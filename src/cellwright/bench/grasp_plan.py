"""Planning of a bottle's transfer: a grasp and collision-free motions, from detections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, gripper_model
from cellwright.cells import Cell, Layout
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.execution import PathArm, PlannedWay
from cellwright.motion import LineMove, LineSpeed, Motion, TimedPath
from cellwright.motion.grasps import Grasp, find_grasps
from cellwright.motion.planning import (
    AttachedObject,
    CatalogueModel,
    Cylinder,
    ExactChecker,
    JointBounds,
    MotionPlanner,
    MotionPlanRequest,
    Obstacle,
    Scene,
    SceneRobot,
    TiltLimit,
    goals_from_poses,
)

__all__ = ["BottlePlan", "BottlePlanner"]

Array = npt.NDArray[np.float64]

JOINT_SPEED = 1.0
FAST = LineSpeed(speed_mps=0.4)
SLOW = LineSpeed(speed_mps=0.12, acceleration_mps2=0.6, jerk_mps3=6.0)
MARGIN_M = 0.010  # more than the errors of base, tool and detector together
TOLERANCE_RAD = 0.005
LIMIT_MARGIN_RAD = 0.02  # within the joint limits: a path that is rounded leaves its lines by the tolerance
TILT_RAD = np.radians(30)  # of the bottle on its way
FINGER_MARGIN_M = 0.003
RELEASE_ABOVE_M = 0.002
TURNS = 12
BRANCHES = 4  # postures that are tried at one end of a line
ENOUGH = 4  # lines to choose from
LINE_CHECKS = 20
FREE_FROM = 0.1  # of a lift: until then the bottle is near what it stands on
LEAVE_M = 0.1
VIA_DRAWS = 5
VIA_BOX_M = ((0.05, 0.05, 0.90), (0.75, 1.15, 1.15))
ITERATIONS, SHORTCUTS = 4000, 200


@dataclass(frozen=True, kw_only=True)
class BottlePlan:
    """The motions, and their grasp.

    Attributes:
        grasp: The grasp.
        reach: From home to before the bottle.
        advance: Straight to it.
        lift: Straight up with it.
        carry: Through the air to above its new place, with a detour.
        descend: Straight down.
        leave: Straight away.
    """

    grasp: Grasp
    reach: Motion
    advance: Motion
    lift: Motion
    carry: Sequence[Motion]
    descend: Motion
    leave: Motion

    def pick_way(self, arm: PathArm) -> PlannedWay:
        """Returns an arm's way to the bottle and up with it."""
        return PlannedWay(arm, (self.reach,), self.advance, self.lift)

    def place_way(self, arm: PathArm) -> PlannedWay:
        """Returns an arm's way to the place and away from it."""
        return PlannedWay(arm, self.carry, self.descend, self.leave)


class BottlePlanner:
    """Plans in one cell by its drawings.

    Args:
        cell: The cell.
        nominal: Its drawings.
        robot: The arm's name.
        bottle: The part's name.
    """

    def __init__(self, cell: Cell, nominal: Layout, robot: str, bottle: str) -> None:
        line = cell.robots[robot]
        self._arm = ROBOTS.get(line.model)
        self._tool = gripper_model(str(line.tool))
        self._bottle = bottle
        self._figures = PARTS.get(nominal.objects[bottle].model)
        self._home_rad = np.radians(line.home_deg)
        fixtures = [Obstacle(n, CatalogueModel(FURNITURE.get(f.model)), f.pose.pose) for n, f in cell.fixtures.items()]
        parts = [Obstacle(p.name, CatalogueModel(PARTS.get(p.model)), p.pose_in_world) for p in nominal.parts]
        base = SceneRobot(self._arm, nominal.bases[robot], self._tool, _fingers(self._tool.open_m))
        self._scene = Scene(base, (*fixtures, *parts))

    def plan(self, pose_seen: Pose, pose_target: Pose, random: np.random.Generator) -> BottlePlan | None:
        """Returns the best grasp for which there is a path; None when there is none.

        Args:
            pose_seen: Of the bottle.
            pose_target: The target; its rotation is of no importance.
            random: Chooses among grasps of equal rank, and where the carry leads through.
        """
        empty = MotionPlanner(self._with_bottle(pose_seen))
        grasps = find_grasps(self._figures, self._tool, turns=TURNS)
        shuffled = [grasps[number] for number in random.permutation(len(grasps))]
        for grasp in sorted(shuffled, key=lambda g: -g.score):
            try:
                return self._plan_with(grasp, empty, pose_seen, pose_target, random)
            except JobFailed:
                continue
        return None

    def _with_bottle(self, pose_bottle: Pose) -> Scene:
        """Returns the scene with the bottle, padded up to the width of the open gripper: its pose is uncertain."""
        radius_m, height_m = self._tool.open_m - FINGER_MARGIN_M, 2 * self._figures.grasp_height_m
        middle = pose_bottle @ Pose.from_xyz_rpy((0.0, 0.0, height_m / 2))
        return self._scene.with_obstacles([Obstacle(self._bottle, Cylinder(radius_m, height_m), middle)])

    def _plan_with(
        self, grasp: Grasp, empty: MotionPlanner, pose_seen: Pose, pose_target: Pose, random: np.random.Generator
    ) -> BottlePlan:
        """Returns a plan with one grasp.

        Raises:
            JobFailed: when there is none.
        """
        advances = _lines(empty, [(pose_seen @ grasp.pose_approach, pose_seen @ grasp.pose_tcp)], self._home_rad)
        reach, advance = _path_to_line(empty, self._home_rad, advances, random)
        held = AttachedObject(self._bottle, CatalogueModel(self._figures), grasp.pose_tcp.inverse())
        closed = replace(self._scene.robot, tool_joints=_fingers(grasp.width_m / 2))
        carrying = MotionPlanner(replace(self._scene.without(self._bottle), robot=closed).holding(held))
        lift = _line(carrying, _end(advance), pose_seen @ grasp.pose_retreat, FAST)
        _require_free(carrying.exact, lift, FREE_FROM, 1.0)
        tilt = TiltLimit.upright(held, TILT_RAD)
        detour = _detour(carrying, _end(lift), grasp, tilt, random)
        above = pose_target @ Pose.from_xyz_rpy((0.0, 0.0, RELEASE_ABOVE_M))
        turned = [above @ Pose.from_xyz_rpy((0, 0, 0), (0, 0, random.uniform(-np.pi, np.pi))) for _ in range(TURNS)]
        descents = [(pose @ grasp.pose_retreat, pose @ grasp.pose_tcp) for pose in turned]
        found = _lines(carrying, descents, _end(detour), until=1 - FREE_FROM)
        arrive, descend = _path_to_line(carrying, _end(detour), found, random, tilt)
        back = _tool(empty, _end(descend)) @ Pose.from_xyz_rpy((0.0, 0.0, -LEAVE_M))
        leave = _line(empty, _end(descend), back, FAST)
        _require_free(ExactChecker(self._with_bottle(pose_target)), leave)
        carry = (detour, arrive)
        return BottlePlan(
            grasp=grasp, reach=reach, advance=advance, lift=lift, carry=carry, descend=descend, leave=leave
        )


def _fingers(half_m: float) -> dict[str, float]:
    return {"finger_left": half_m, "finger_right": half_m}


def _end(motion: Motion) -> Array:
    """Returns the last configuration of a motion."""
    return np.asarray(motion.at(motion.duration_s)[0])


def _tool(planner: MotionPlanner, joints_rad: Array) -> Pose:
    return planner.ring.tool_in_world(planner.kinematics.forward(joints_rad))


def _line(planner: MotionPlanner, start_rad: Array, pose_tool_in_world: Pose, speed: LineSpeed) -> LineMove:
    return LineMove(planner.kinematics, start_rad, planner.ring.flange_for_tool(pose_tool_in_world), speed)


def _require_free(checker: ExactChecker, line: LineMove, since: float = 0.0, until: float = 1.0) -> None:
    states = np.array([line.path.at(float(share))[0] for share in np.linspace(since, until, LINE_CHECKS)])
    blocked = checker.first_blocked(states)
    if blocked is not None:
        raise JobFailed(f"on a line {checker.touch(blocked)}")


def _lines(
    planner: MotionPlanner, ends: Sequence[tuple[Pose, Pose]], near_rad: Array, until: float = 1.0
) -> list[LineMove]:
    """Returns feasible slow lines of the tool, in every posture of the arm, from the first pose to the second."""
    found = []
    for pose_from, pose_to in ends:
        goals = goals_from_poses(planner.kinematics, planner.ring, [pose_to], planner.exact, near_rad, BRANCHES)
        for joints in goals.free_rad:
            try:
                start = _end(_line(planner, joints, pose_from, SLOW))  # from its end, where postures are told apart
                line = _line(planner, start, pose_to, SLOW)
                _require_free(planner.exact, line, until=until)
            except JobFailed:
                continue
            found.append(line)
            if len(found) == ENOUGH:
                return found
    return found


def _path_to_line(
    planner: MotionPlanner,
    start_rad: Array,
    lines: Sequence[LineMove],
    random: np.random.Generator,
    tilt: TiltLimit | None = None,
) -> tuple[Motion, LineMove]:
    """Returns the path to the start of one of the lines, and that line."""
    starts = [np.asarray(line.at(0.0)[0]) for line in lines]
    motion = _motion(planner, MotionPlanRequest(start_rad, starts, tilt=tilt, seed=int(random.integers(2**31))))
    return motion, lines[int(np.argmin([np.abs(start - _end(motion)).max() for start in starts]))]


def _detour(
    planner: MotionPlanner, start_rad: Array, grasp: Grasp, tilt: TiltLimit, random: np.random.Generator
) -> Motion:
    """Returns the path to a random pose in mid air, the bottle upright there."""
    for _ in range(VIA_DRAWS):
        place = Pose.from_xyz_rpy(random.uniform(*VIA_BOX_M), (0.0, 0.0, random.uniform(-np.pi, np.pi)))
        request = MotionPlanRequest(
            start_rad, goal_poses=[place @ grasp.pose_tcp], tilt=tilt, seed=int(random.integers(2**31))
        )
        try:
            return _motion(planner, request)
        except JobFailed:
            continue
    raise JobFailed(f"no way to a via point was found in {VIA_DRAWS} draws")


def _motion(planner: MotionPlanner, request: MotionPlanRequest) -> Motion:
    if not len(request.goals_rad) and not request.goal_poses:
        raise JobFailed("there is nothing to plan for")
    kinematics = planner.kinematics
    limits = JointBounds(tuple(kinematics.lower_rad + LIMIT_MARGIN_RAD), tuple(kinematics.upper_rad - LIMIT_MARGIN_RAD))
    found = planner.plan(replace(request, margin_m=MARGIN_M, limits=limits, iterations=ITERATIONS, shortcuts=SHORTCUTS))
    if not found.is_success:
        raise JobFailed(found.reason)
    return TimedPath(kinematics.arm, list(found.path_rad), JOINT_SPEED, JOINT_SPEED, TOLERANCE_RAD)
