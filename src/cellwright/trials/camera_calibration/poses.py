"""Poses for the calibration board: all over a picture and tilted to all sides; in a hand, and before one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, ROBOTS, TOOLS, TRAYS
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.catalogue.printed import CALIBRATION_BOARD
from cellwright.core import rotation
from cellwright.core.camera import Camera
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.drawings.prior import Drawings
from cellwright.execution.arm_capsules import ArmCapsules, gap_m
from cellwright.motion.planning.exact import ExactChecker
from cellwright.motion.planning.scene import AttachedObject, Box, CatalogueModel, Obstacle, Scene, SceneRobot
from cellwright.perception.calibration import DrawnCamera

__all__ = ["HandView", "HandViews", "facing_board", "shown_poses"]

Array = npt.NDArray[np.float64]

SPAN = 0.5  # of the picture's width, that the board takes up when it is shown
NEAREST_M = 0.25
ABOVE_M = 0.15  # the middle of a board above tables, at least
SCALES = (1.0, 0.85, 1.15)  # of the distance at which it is shown
GRID = (-0.30, 0.0, 0.30)  # of the picture's width and height, at which its middle is shown
ROUNDS = 2
TILT_DEG, ROLL_DEG = 28.0, 20.0
GOLDEN_DEG = 137.5  # between the directions of two tilts: none is repeated
HAND_GRID = (-0.4, -0.2, 0.0, 0.2, 0.4)  # of the picture's width and height, where hands are tried
HAND_TILT_DEG, HAND_SHIFT_M = 22.0, 0.06
HAND_VIEWS, LEAST_VIEWS = 14, 10  # that a robot makes, and that are enough
HALF_M = float(np.hypot(*CALIBRATION_BOARD.size_m[:2]) / 2)
REACHES_M = (0.30, 0.40)  # from the hand to the middle of a board that it holds
LIFTS_M = (0.0, -0.10, -0.20, 0.12, -0.30)
HELD_M, LOWEST_M = 0.16, 0.06  # the middle and the corners of a held board above tables, at least
SPREAD_DEG = 10.0  # about a second axis, by which the views of a robot differ
STEP_RAD = 0.05
GAP_M = 0.02  # between an arm and the lines of sight to the board
FARTHEST_RAD = 1.2  # that a joint turns between two views
STEPS_M = (0.0, 0.12, -0.12, 0.24)  # of the hand, to where it looks down at a board
UPS_M = (0.0, 0.1, 0.2)
YAWS_RAD = tuple(float(x) for x in np.radians([0.0, 90.0, -90.0, 180.0]))
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])
MARGIN_M = 0.02  # about a board, in which nothing is
BOARD_BOX = Box((CALIBRATION_BOARD.size_m[0] + 2 * MARGIN_M, CALIBRATION_BOARD.size_m[1] + 2 * MARGIN_M, 2 * MARGIN_M))
FACING = Pose.from_matrix(np.array([[0.0, 0, -1, 0], [-1, 0, 0, 0], [0, 1, 0, 0]]))  # a board that faces a camera


def facing_board(camera: Camera, at_m: npt.ArrayLike) -> Pose:
    """Returns a board at a point of the camera's frame (x ahead, y left, z up), upright and square to its axis."""
    return camera.pose_in_world @ Pose(np.asarray(at_m, float), FACING.quaternion)


def shown_poses(camera: Camera, drawings: Drawings) -> list[Pose]:
    """Returns where to hold the board in front of a camera: all over its picture, tilted to all sides."""
    columns, rows = camera.resolution_px
    usual_m = camera.focal_px * CALIBRATION_BOARD.size_m[0] / (SPAN * columns)
    near_m = max(NEAREST_M, camera.range_m[0])
    usual_m = float(np.clip(min(usual_m, _room_m(camera, drawings)), near_m, max(near_m, camera.range_m[1])))
    poses = []
    for number, (across, down) in enumerate([(a, b) for _ in range(ROUNDS) for b in GRID for a in GRID]):
        ahead_m = usual_m * SCALES[number % len(SCALES)]
        at_m = ahead_m * np.array([1.0, -across * columns / camera.focal_px, -down * rows / camera.focal_px])
        poses.append(facing_board(camera, at_m) @ _tilted(number, TILT_DEG))
    return poses


def _tilted(number: int, tilt_deg: float) -> Pose:
    """Returns the turn of one of many views: about an axis in the board that goes round, and a little in its plane."""
    way = np.radians(GOLDEN_DEG * number)
    vector = np.radians(tilt_deg) * np.array([np.cos(way), np.sin(way), 0.0])
    return Pose(np.zeros(3), rotation.quaternion_from_vector(vector)) @ Pose.from_xyz_rpy(
        [0, 0, 0], [0, 0, np.radians(ROLL_DEG) * np.sin(2.4 * number)]
    )


def _table_tops_m(drawings: Drawings) -> list[float]:
    return [
        float(pose.position[2]) + figures.top_m
        for _, figures, pose in drawings.fixtures
        if isinstance(figures, TableFigures)
    ]


def _room_m(camera: Camera, drawings: Drawings) -> float:
    """Returns how far along its axis a board can be shown above the tables."""
    fall = -float(camera.pose_in_world.rotation_matrix[2, 0])
    tops = [top for top in _table_tops_m(drawings) if top < camera.pose_in_world.position[2]]
    if fall <= 0.05 or not tops:
        return np.inf
    return float((camera.pose_in_world.position[2] - max(tops)) / fall - ABOVE_M)


@dataclass(frozen=True)
class HandView:
    """One configuration of a robot in which a picture is taken.

    Attributes:
        joints_rad: Its joints.
        pose_tool_in_world: Where its hand is then, by the drawings.
    """

    joints_rad: tuple[float, ...]
    pose_tool_in_world: Pose


class HandViews:
    """Finds how a robot shows a board to a camera, or a camera to a board, by the drawings.

    Args:
        drawings: Of the cell.
        robot: The robot.
    """

    def __init__(self, drawings: Drawings, robot: str) -> None:
        self._drawings, self.robot = drawings, robot
        cfg = drawings.cell.robots[robot]
        self._home_rad = np.radians(cfg.home_deg)
        self._tool = cfg.tool or ""
        self._arm = ArmCapsules(ROBOTS.get(cfg.model), drawings.layout.bases[robot])
        base, flange = drawings.layout.bases[robot], self._arm.kinematics.forward(self._home_rad)
        self.pose_tool_in_flange = tool_point(drawings, robot)
        self._home = base @ flange @ self.pose_tool_in_flange
        self._lowest_m = max(_table_tops_m(drawings), default=-np.inf)
        self._bare: ExactChecker | None = None

    # ------------------------------------------------------------ the board in the hand

    def with_board(self, camera: Camera) -> tuple[Pose, list[HandView]]:
        """Returns how the board is fixed to the hand, and configurations that show it to a fixed camera.

        Raises:
            BadInput: The robot gets to no place where the camera sees a board in its hand.
        """
        for hand in self._hands(camera):
            for board in self._boards(camera, hand):
                mount = hand.inverse() @ board
                views = self._around(hand, mount, camera)
                if len(views) >= LEAST_VIEWS and spread_deg([v.pose_tool_in_world for v in views]) >= SPREAD_DEG:
                    views = self._planned(views, AttachedObject("board", BOARD_BOX, mount))
                    if len(views) >= LEAST_VIEWS:
                        return mount, views[:HAND_VIEWS]
        raise BadInput(
            f"{self.robot} gets to no place where {camera.name} would see a board in its hand, by the drawings: name "
            "another robot by --robot, or none: then tags on the table are looked at"
        )

    def _hands(self, camera: Camera) -> Iterator[Pose]:
        """Yields poses of the hand: where it begins, then others in the camera's view, the nearest first."""
        yield self._home
        ahead = camera.range_m[0] + np.arange(0.4, 1.8, 0.2)
        columns, rows = camera.resolution_px
        found = []
        for x, a, b in product(ahead, HAND_GRID, HAND_GRID):
            slopes = np.array([1, a * columns / camera.focal_px, b * rows / camera.focal_px])
            hand = Pose(camera.pose_in_world.apply(x * slopes), self._home.quaternion)
            joints = self._arm.configuration(hand, self._tool, self._home_rad)
            if joints is not None and hand.position[2] > self._lowest_m + ABOVE_M / 2:
                found.append((float(np.abs(joints - self._home_rad).max()), hand))
        for way_rad, hand in sorted(found, key=lambda one: one[0]):
            if way_rad < 1.5 * FARTHEST_RAD:
                yield hand

    def _boards(self, camera: Camera, hand: Pose) -> Iterator[Pose]:
        """Yields poses of a board beside the hand that faces the camera and is seen whole."""
        eye = camera.pose_in_world.position
        for reach_m in REACHES_M:
            for lift_m in LIFTS_M:
                for way in np.radians(np.arange(0.0, 360.0, 45.0)):
                    at = hand.position + [reach_m * np.cos(way), reach_m * np.sin(way), lift_m]
                    if at[2] < self._lowest_m + HELD_M or not camera.sees(at[None], 0.8 * HALF_M)[0]:
                        continue
                    z = (eye - at) / np.linalg.norm(eye - at)
                    x = -camera.pose_in_world.rotation_matrix[:, 1]
                    x = (x - z * (x @ z)) / np.linalg.norm(x - z * (x @ z))
                    yield Pose.from_matrix(np.column_stack([x, np.cross(z, x), z, at]))

    def _around(self, hand: Pose, mount: Pose, camera: Camera) -> list[HandView]:
        """Returns configurations about one, in which the board is tilted, shifted and still seen."""
        first = self._arm.configuration(hand, self._tool, self._home_rad)
        if first is None or not self._is_seen(first, hand @ mount, camera):
            return []
        views: list[HandView] = []
        number = 0
        while len(views) < 2 * HAND_VIEWS and number < 4 * HAND_VIEWS and len(views) >= number / 5 - 2:
            shift = HAND_SHIFT_M * np.array([np.cos(number), np.sin(1.7 * number), np.sin(2.3 * number)])
            board = Pose(shift, UNTURNED) @ hand @ mount @ _tilted(number, HAND_TILT_DEG)
            number += 1
            view = self._view(board @ mount.inverse(), first)
            if view is None or not self._is_seen(np.array(view.joints_rad), board, camera):
                continue
            if self._checker().is_free(view.joints_rad):
                views.append(view)
        return views

    def _view(self, hand: Pose, near_rad: Array) -> HandView | None:
        joints = self._arm.configuration(hand, self._tool, near_rad)
        if joints is None or np.abs(joints - near_rad).max() > FARTHEST_RAD:
            return None
        if hand.position[2] < self._lowest_m + 0.05:
            return None
        return HandView(tuple(joints.tolist()), hand)

    def _is_seen(self, joints_rad: Array, board: Pose, camera: Camera) -> bool:
        """Returns whether a board is in the picture, above the tables, and no arm is between."""
        if not camera.sees(board.position[None], HALF_M / 2)[0]:
            return False
        x, y, _ = np.array(CALIBRATION_BOARD.size_m) / 2
        corners = board.apply([(x, y, 0.0), (-x, y, 0.0), (x, -y, 0.0), (-x, -y, 0.0), (0.0, 0.0, 0.0)])
        if corners[:, 2].min() < self._lowest_m + LOWEST_M:
            return False
        sight = sight_lines(camera, corners, 0.03)
        return gap_m(self._arm.at(joints_rad, self._tool), sight) > GAP_M

    def _checker(self, held: AttachedObject | None = None, beside: tuple[Obstacle, ...] = ()) -> ExactChecker:
        """Returns what tells collisions with all that stands in the cell by the drawings, and with a board."""
        if held is None and not beside and self._bare is not None:
            return self._bare
        drawings, figures = self._drawings, TOOLS.get(self._tool) if self._tool else None
        robot = SceneRobot(self._arm.kinematics.arm, drawings.layout.bases[self.robot], figures)
        things = [Obstacle(name, CatalogueModel(one), pose) for name, one, pose in drawings.fixtures]
        things += [Obstacle(t.name, CatalogueModel(TRAYS.get(t.model)), t.pose_in_world) for t in drawings.layout.trays]
        things += [Obstacle(p.name, CatalogueModel(PARTS.get(p.model)), p.pose_in_world) for p in drawings.layout.parts]
        checker = ExactChecker(Scene(robot, (*things, *beside), held))
        if held is None and not beside:
            self._bare = checker
        return checker

    def _planned(
        self, views: list[HandView], held: AttachedObject | None = None, beside: tuple[Obstacle, ...] = ()
    ) -> list[HandView]:
        """Returns the views to which the joints turn one after the other, and back, without touching anything."""
        checker = self._checker(held, beside)
        kept: list[HandView] = []
        at = self._home_rad
        for view in views:
            goal = np.array(view.joints_rad)
            ways = ((at, goal), (goal, self._home_rad))
            if checker.is_free(goal) and all(checker.is_motion_free(a, b, STEP_RAD) for a, b in ways):
                kept.append(view)
                at = goal
        return kept if spread_deg([view.pose_tool_in_world for view in kept]) >= SPREAD_DEG else []

    # ------------------------------------------------------------ the camera in the hand

    def with_camera(self, camera: DrawnCamera) -> tuple[Pose, list[HandView]]:
        """Returns where a board is to stand, and configurations in which a camera on the flange sees it.

        Raises:
            BadInput: The robot gets to too few such places.
        """
        in_hand = self.pose_tool_in_flange.inverse() @ camera.camera.pose_in_world
        most = 0
        for away in self._aways():
            first = self._arm.configuration(away @ self._home, self._tool, self._home_rad)
            if first is None or not self._checker().is_free(first):
                continue
            eye = replace(camera.camera, pose_in_world=away @ self._home @ in_hand)
            board, poses = self._orbit(eye)
            found = [self._view(pose @ in_hand.inverse(), first) for pose in poses]
            views = [view for view in found if view is not None and self._checker().is_free(view.joints_rad)]
            if len(views) >= LEAST_VIEWS:
                views = self._planned(views, beside=(Obstacle("board", BOARD_BOX, board),))[:HAND_VIEWS]
            most = max(most, len(views))
            if len(views) >= LEAST_VIEWS:
                return board, views
        raise BadInput(
            f"{self.robot} gets to {most} places from which {camera.name} would see a board from other sides, by the "
            f"drawings, and {LEAST_VIEWS} are needed: begin at a pose of the arm with more room (home_deg)"
        )

    def _aways(self) -> Iterator[Pose]:
        """Yields motions of the hand from where it begins: none, then others, ever farther."""
        base = self._drawings.layout.bases[self.robot].position
        out = self._home.position - base
        way = np.arctan2(out[1], out[0])
        steps = sorted(product(STEPS_M, STEPS_M, UPS_M, YAWS_RAD), key=_effort)
        for ahead, aside, up, yaw in steps:
            shift = [ahead * np.cos(way) - aside * np.sin(way), ahead * np.sin(way) + aside * np.cos(way), up]
            about = Pose.from_xyz_rpy(self._home.position, [0, 0, yaw]) @ Pose(-self._home.position, UNTURNED)
            yield Pose(np.array(shift), UNTURNED) @ about

    def _orbit(self, eye: Camera) -> tuple[Pose, list[Pose]]:
        """Returns a board ahead of a camera, and poses of the camera about that."""
        usual_m = eye.focal_px * CALIBRATION_BOARD.size_m[0] / (0.6 * eye.resolution_px[0])
        away_m = max(NEAREST_M, min(usual_m, _room_m(eye, self._drawings) + ABOVE_M - 0.05))
        board = facing_board(eye, [away_m, 0.0, 0.0])
        poses = []
        for number in range(4 * HAND_VIEWS):
            around = board @ _tilted(number, HAND_TILT_DEG) @ board.inverse()
            closer = Pose.from_xyz_rpy([0.05 * np.sin(1.3 * number), 0, 0])
            poses.append(around @ eye.pose_in_world @ closer)
        return board, poses

    def eye_at_home(self, camera: DrawnCamera) -> Camera:
        """Returns a camera of the flange in the world, with the arm where it begins, by the drawings."""
        flange = self._home @ self.pose_tool_in_flange.inverse()
        return replace(camera.camera, pose_in_world=flange @ camera.camera.pose_in_world)


def sight_lines(camera: Camera, points: Array, radius_m: float) -> Array:
    """Returns the lines from points towards a camera as rows of short capsules, as arms have them."""
    shares = np.linspace(0.0, 0.9, 12)[:, None, None]
    ways = points + shares * (camera.pose_in_world.position - points)
    thick_m = np.full((len(points), 1), radius_m)
    return np.concatenate([np.concatenate([a, b, thick_m], axis=1) for a, b in pairwise(ways)])


def _effort(step: tuple[float, float, float, float]) -> float:
    """Returns how little a step of the hand is wanted: high above the tables there is room."""
    ahead, aside, up, yaw = step
    return abs(ahead) + abs(aside) + 0.2 * abs(yaw) + (max(UPS_M) - up)


def spread_deg(poses: Sequence[Pose]) -> float:
    """Returns how far poses are turned against each other about a second axis, root mean square over all pairs."""
    turns = [(b @ a.inverse()).quaternion for a, b in combinations(poses, 2)]
    if not turns:
        return 0.0
    vectors = np.array([rotation.vector_from_quaternion(turn) for turn in turns])
    return float(np.degrees(np.linalg.svd(vectors, compute_uv=False)[1] / np.sqrt(len(turns))))


def tool_point(drawings: Drawings, robot: str) -> Pose:
    """Returns the tool's centre point in the flange's frame, by the drawings."""
    tool = drawings.cell.robots[robot].tool
    return Pose.identity() if tool is None else Pose.from_xyz_rpy(TOOLS.get(tool).tcp_xyz_m)
