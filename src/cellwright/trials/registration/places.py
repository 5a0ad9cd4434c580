"""Places for calibration marks: free by the drawings, seen by a detector, reached by the robots that touch them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ROBOTS, TRAYS, gripper_model
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.drawings.prior import Drawings
from cellwright.drawings.reach import WristRange
from cellwright.execution.arm import tool_down
from cellwright.execution.arm_capsules import ArmCapsules
from cellwright.execution.mark_touch import (
    ABOVE_M,
    HALF_TURN_RAD,
    OVER_M,
    SIDE_NEAR_M,
    SIDE_START_M,
    Fingers,
    first_side,
)
from cellwright.motion import ArmKinematics
from cellwright.motion.planning.furniture_boxes import furniture_boxes
from cellwright.perception import ViewModel, Visibility
from cellwright.trials.detector_views import view_model

__all__ = ["CORNERS", "MarkPlace", "MarkPlaces", "spread_enough"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

GRID_M = 0.01  # between places that are looked at
CORNERS = 4  # marks of a robot: near the corners of its work volume
SHARED = 3  # marks, at least, that two robots touch: a plane
FREE_M = 0.01  # between a mark's wall and what stands beside it, by the drawings
HAND_M = 0.10  # about a mark's axis nothing is higher than its top: there the hand works
ARM_M = 0.30  # above the table, up to which the room about a mark must be free
SPARE_M = 0.018  # by which a mark may be elsewhere and still be reached
VIEW_M = 0.01  # by which cameras may be elsewhere than they are drawn
APART_M = 0.10  # between two marks of a robot, at least
AREA_M2 = 0.005  # of the largest triangle of a robot's marks, at least: two of its sides are 0.1 m
ASIDE_RAD = tuple(float(x) for x in np.radians([0.0, 45.0, -45.0, 90.0, -90.0]))
ENOUGH = 0.95  # of the places that are seen with the arm turned aside in the best way
THINNED = 17  # of the free places, every how many is asked where a rough answer is enough
BATCH = 16  # places whose reach is computed at a time
TURNS_RAD = tuple(float(x) for x in np.radians([0.0, 90.0, 45.0, -45.0]))


@dataclass(frozen=True)
class MarkPlace:
    """A place of a mark, as it is meant to be.

    Attributes:
        name: The mark's.
        table: What it stands on.
        xyz_m: Its foot, in the world by the drawings.
    """

    name: str
    table: str
    xyz_m: tuple[float, float, float]

    @property
    def top_m(self) -> Array:
        """The middle of its upper face."""
        return np.array(self.xyz_m) + [0.0, 0.0, CALIBRATION_MARK.height_m]


class MarkPlaces:
    """Free places of a cell, by its drawings alone.

    Args:
        drawings: Of the cell.
    """

    def __init__(self, drawings: Drawings) -> None:
        self._drawings = drawings
        self._tables = {
            name: (figures, pose) for name, figures, pose in drawings.fixtures if isinstance(figures, TableFigures)
        }
        self._boxes = [
            (pose @ pose_box, np.array(half_m))
            for _, figures, pose in drawings.fixtures
            for pose_box, half_m in furniture_boxes(figures)
        ]
        self._kinematics = {
            name: (ArmKinematics(ROBOTS.get(robot.model)), WristRange(ROBOTS.get(robot.model)))
            for name, robot in drawings.cell.robots.items()
        }
        detectors = [robot.vision.detector for robot in drawings.cell.robots.values() if robot.vision is not None]
        self._view = view_model(drawings, list(dict.fromkeys(detectors))) if detectors else ViewModel({})
        self._reach: dict[str, dict[bytes, bool]] = {}
        self._capsules = {
            name: ArmCapsules(ROBOTS.get(robot.model), drawings.layout.bases[name])
            for name, robot in drawings.cell.robots.items()
        }

    @cached_property
    def aside_rad(self) -> Mapping[str, float]:
        """Robot -> how far it is turned about its first axis, from where it begins, so as to hide no marks."""
        turns = dict.fromkeys(self._drawings.cell.robots, 0.0)
        for name in turns:
            turns[name] = self._least_in_the_way(name, turns)
        return turns

    # ------------------------------------------------------------ choosing

    def choose(self, robots: Sequence[str]) -> list[MarkPlace]:
        """Returns places near the corners of the table that each robot works at, and some that two of them reach.

        Raises:
            BadInput: A robot has no four such places.
        """
        spots = [spot for table in self._tables for spot in self._free(table)]
        points = np.array([spot.xyz_m for spot in spots]).reshape(-1, 3)
        tables = np.array([spot.table for spot in spots])
        seen = {robot: self.seen_by(self.detector_of(robot), points) for robot in robots}
        chosen: list[int] = []
        for one, other in combinations(robots, 2):
            both = self._far_apart((one, other), points, np.flatnonzero(seen[one] | seen[other]), [], SHARED)
            chosen += both if len(both) == SHARED and largest_area_m2(points[both]) >= AREA_M2 else []
        for robot in robots:
            some = np.flatnonzero(seen[robot])[::THINNED]
            names = tables[some[self._reaches(robot, points[some])]]
            table = max(self._tables, key=lambda name, names=names: int((names == name).sum()), default="")  # type: ignore[misc]
            own = [k for k in chosen if seen[robot][k] and tables[k] == table and self._reaches(robot, points[[k]])[0]]
            own += self._far_apart((robot,), points, np.flatnonzero(seen[robot] & (tables == table)), own, CORNERS)
            chosen += [k for k in own if k not in chosen]
            if not spread_enough(points[own]):
                raise BadInput(
                    f"{self._drawings.cell.where}: {robot} has no {CORNERS} free places for marks that it reaches and "
                    f"{self.detector_of(robot)} sees; make room on its table, or say where they stand by --mark x,y"
                )
        return [MarkPlace(f"mark_{n}", spots[k].table, spots[k].xyz_m) for n, k in enumerate(chosen, start=1)]

    def named(self, given: Iterable[tuple[float, float]]) -> list[MarkPlace]:
        """Returns places that a user has chosen, on the table below each of them.

        Raises:
            BadInput: One that is beside all tables, or not free.
        """
        places: list[MarkPlace] = []
        for number, (x, y) in enumerate(given, start=1):
            table = self.table_below(x, y)
            if not table:
                names = ", ".join(self._tables) or "none"
                raise BadInput(f"--mark {x:g},{y:g}: no table is there (tables: {names})")
            place = MarkPlace(f"mark_{number}", table, (x, y, self._top_m(table)))
            if not self._is_free(np.array([place.xyz_m]), table)[0]:
                raise BadInput(
                    f"--mark {x:g},{y:g}: something stands there by the drawings, or a hand has no room; choose "
                    "another place, or none at all: then free places are found"
                )
            if any(np.hypot(x - p.xyz_m[0], y - p.xyz_m[1]) < APART_M for p in places):
                raise BadInput(f"--mark {x:g},{y:g}: another mark is nearer than {APART_M:g} m; choose another place")
            places.append(place)
        return places

    def drawn(self) -> list[MarkPlace]:
        """Returns the marks that stand in the cell by its file."""
        return [
            MarkPlace(part.name, self.table_below(*part.pose_in_world.position[:2]), _xyz(part.pose_in_world.position))
            for part in self._drawings.layout.parts
            if part.model == CALIBRATION_MARK.name
        ]

    def table_below(self, x: float, y: float) -> str:
        """Returns the highest table under a point; empty without one."""
        found = [name for name in self._tables if self._on_table(np.array([[x, y, 0.0]]), name, 0.0)[0]]
        return max(found, key=self._top_m, default="")

    def detector_of(self, robot: str) -> str:
        """Returns the detector that looks at a robot's work.

        Raises:
            BadInput: It has none.
        """
        vision = self._drawings.cell.robots[robot].vision
        if vision is None:
            raise BadInput(
                f"{self._drawings.cell.where}: {robot} has no detector to be calibrated to; add its key vision"
            )
        return vision.detector

    # ------------------------------------------------------------ questions

    def seen_by(self, detector: str, feet_m: Array) -> Mask:
        """Returns which of these marks a detector sees, by the drawings, while all arms are turned aside."""
        return self._seen(detector, feet_m, self.aside_rad)

    def _seen(self, detector: str, feet_m: Array, aside_rad: Mapping[str, float]) -> Mask:
        if detector not in self._view.detectors:
            return np.zeros(len(feet_m), bool)
        tops = feet_m + [0.0, 0.0, CALIBRATION_MARK.height_m]
        arms = {name: self._arm(name, turn_rad) for name, turn_rad in aside_rad.items()}
        found = self._view.visibility_from(detector, tops, CALIBRATION_MARK.radius_m + VIEW_M, arms)
        return np.asarray(found == Visibility.CLEAR)

    def _arm(self, robot: str, aside_rad: float) -> Array:
        cfg = self._drawings.cell.robots[robot]
        first_rad, *others_rad = np.radians(cfg.home_deg)
        return self._capsules[robot].at([first_rad + aside_rad, *others_rad], cfg.tool or "")

    def _least_in_the_way(self, robot: str, others_rad: Mapping[str, float]) -> float:
        """Returns the turn about a robot's first axis with which it hides the least, its hand far from all places."""
        vision = self._drawings.cell.robots[robot].vision
        spots = [spot.xyz_m for table in self._tables for spot in self._free(table)][::THINNED]
        if vision is None or not spots:
            return 0.0
        counts, away_m = dict[float, int](), dict[float, float]()
        for turn_rad in ASIDE_RAD:
            asides = {**others_rad, robot: turn_rad}
            counts[turn_rad] = int(self._seen(vision.detector, np.array(spots), asides).sum())
            hand = self._arm(robot, turn_rad)[-1, :2]
            away_m[turn_rad] = float(np.hypot(*(hand - np.mean(spots, axis=0)[:2])))
        clear = [turn_rad for turn_rad, count in counts.items() if count >= ENOUGH * max(counts.values())]
        return max(clear, key=away_m.__getitem__)

    def turns_for(self, robot: str, place: MarkPlace) -> list[float]:
        """Returns the turns of the tool with which a robot touches all sides of a mark; none out of its reach."""
        foot = np.array([place.xyz_m])
        asked = [(turn + half,) for half in (0.0, HALF_TURN_RAD) for turn in TURNS_RAD]
        found = [self._yaws(robot, foot, turns_rad)[0] for turns_rad in asked]
        return [float(yaw_rad) for yaw_rad in found if not np.isnan(yaw_rad)]

    def _reaches(self, robot: str, feet_m: Array) -> Mask:
        """Returns which marks a robot touches with its tool turned in two ways."""
        known = self._reach.setdefault(robot, {})
        new = [row for row, foot in enumerate(feet_m) if foot.tobytes() not in known]
        both = np.zeros(len(new), bool)
        for turn_rad in TURNS_RAD:
            rows = np.flatnonzero(~both)
            yaws = self._yaws(robot, feet_m[new][rows], (turn_rad, turn_rad + HALF_TURN_RAD))
            both[rows] = ~np.isnan(yaws)
        known |= {feet_m[row].tobytes(): bool(is_good) for row, is_good in zip(new, both, strict=True)}
        return np.array([known[foot.tobytes()] for foot in feet_m], bool)

    def _far_apart(
        self, robots: Sequence[str], points: Array, among: Rows, have: Sequence[int], count: int
    ) -> list[int]:
        """Returns places to add to those that there are, each as far from all others as all robots reach: corners."""
        kept = list(have)
        while len(kept) < count and len(among):
            others = points[kept] if kept else points[among].mean(axis=0)[None]
            away_m = np.min([np.hypot(*(points[among] - other)[:, :2].T) for other in others], axis=0)
            order = among[np.argsort(-away_m, kind="stable")][: int((away_m >= (APART_M if kept else 0.0)).sum())]
            best = next((k for k in self._in_reach(robots, points, order)), None)
            if best is None:
                break
            kept.append(best)
        return kept[len(have) :]

    def _in_reach(self, robots: Sequence[str], points: Array, order: Rows) -> Iterator[int]:
        """Yields the places that all robots reach, in the order in which they are given."""
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            for robot in robots:
                batch = batch[self._reaches(robot, points[batch])]
            yield from batch.tolist()

    def _yaws(self, robot: str, feet_m: Array, turns_rad: Sequence[float]) -> Array:
        """Returns the direction of the tool with the first of some turns, for marks that a robot touches with all.

        Not a number where it does not.
        """
        cfg, base = self._drawings.cell.robots[robot], self._drawings.layout.bases[robot]
        gripper = gripper_model(str(cfg.tool))
        fingers, flange_in_tool = Fingers.of(gripper), Pose.from_xyz_rpy(gripper.tcp_xyz_m).inverse()
        tops = feet_m + [0.0, 0.0, CALIBRATION_MARK.height_m + fingers.tip_m]
        towards = tops - base.position
        radial = np.arctan2(towards[:, 1], towards[:, 0])
        _, wrist = self._kinematics[robot]
        hand_m, from_world = float(np.linalg.norm(gripper.tcp_xyz_m)), base.inverse()
        rows = np.array([k for k, top in enumerate(tops) if not wrist.is_beyond(from_world.apply(top), hand_m)], int)
        for is_all in (False, True):  # most that are out of reach are so at the middle already
            poses = [
                [
                    from_world @ tool_down(tops[row] + offset_m, radial[row] + turn_rad) @ flange_in_tool
                    for turn_rad in turns_rad
                    for offset_m in (_ways(-towards[row], radial[row] + turn_rad, fingers) if is_all else [np.zeros(3)])
                ]
                for row in rows
            ]
            rows = rows[self._all_solved(robot, poses)]
        yaws = np.full(len(feet_m), np.nan)
        yaws[rows] = radial[rows] + turns_rad[0]
        return yaws

    def _all_solved(self, robot: str, poses: Sequence[Sequence[Pose]]) -> Mask:
        """Returns which of these lists of flange poses, in the robot's base, it gets to all of."""
        kinematics, wrist = self._kinematics[robot]
        near = [not any(map(wrist.too_far, group)) for group in poses]
        asked = [pose for group, is_near in zip(poses, near, strict=True) if is_near for pose in group]
        home_rad = np.radians(self._drawings.cell.robots[robot].home_deg)
        counts = iter([len(one) for one in kinematics.inverse_of_many(asked, home_rad)] if asked else [])
        least = [
            min([next(counts) for _ in group]) if is_near else 0 for group, is_near in zip(poses, near, strict=True)
        ]
        return np.array(least, int) > 0

    # ------------------------------------------------------------ room

    def _free(self, table: str) -> list[MarkPlace]:
        figures, pose = self._tables[table]
        half = np.array(figures.size_m) / 2 - CALIBRATION_MARK.radius_m - FREE_M
        if (half <= 0).any():
            return []
        grid = np.stack(np.meshgrid(*(np.arange(-h, h + 1e-9, GRID_M) for h in half)), axis=-1).reshape(-1, 2)
        points = pose.apply(np.column_stack([grid, np.full(len(grid), figures.top_m)]))
        return [MarkPlace("", table, _xyz(point)) for point in points[self._is_free(points, table)]]

    def _is_free(self, feet_m: Array, table: str) -> Mask:
        """Returns whether a mark stands there on nothing but the table, and a hand has room above it."""
        room_m = CALIBRATION_MARK.radius_m + FREE_M
        free = self._on_table(feet_m, table, room_m)
        for pose, half in self._boxes:
            spread = np.abs(pose.rotation_matrix) @ half
            low, high = pose.position[2] - spread[2], pose.position[2] + spread[2]
            in_foot = (high > feet_m[:, 2] + 1e-4) & (low < feet_m[:, 2] + CALIBRATION_MARK.height_m)
            in_hand = (high > feet_m[:, 2] + CALIBRATION_MARK.height_m - FREE_M) & (low < feet_m[:, 2] + ARM_M)
            beside = np.maximum(np.abs(feet_m[:, :2] - pose.position[:2]) - spread[:2], 0.0)
            away_m = np.hypot(*beside.T)
            free &= ~(in_foot & (away_m < room_m)) & ~(in_hand & (away_m < HAND_M))
        for tray in self._drawings.layout.trays:
            size = np.array(TRAYS.get(tray.model).size_m) / 2
            local = tray.pose_in_world.inverse().apply(feet_m)
            away_m = np.hypot(*np.maximum(np.abs(local[:, :2]) - size, 0.0).T)
            free &= ~((away_m < room_m) & (np.abs(local[:, 2]) < CALIBRATION_MARK.height_m))
        for part in self._drawings.layout.parts:
            away_m = np.hypot(*(feet_m - part.pose_in_world.position)[:, :2].T)
            free &= (away_m > 2 * room_m) | (part.model == CALIBRATION_MARK.name)
        for population in self._drawings.cell.populations:
            if population.region is not None:
                low, high = np.array(population.region.min_xy_m), np.array(population.region.max_xy_m)
                beside = np.maximum(np.maximum(low - feet_m[:, :2], feet_m[:, :2] - high), 0.0)
                free &= np.hypot(*beside.T) > 2 * room_m
        return free

    def _on_table(self, points_m: Array, table: str, room_m: float) -> Mask:
        figures, pose = self._tables[table]
        local = pose.inverse().apply(points_m)
        return np.asarray((np.abs(local[:, :2]) <= np.array(figures.size_m) / 2 - room_m).all(axis=1))

    def _top_m(self, table: str) -> float:
        figures, pose = self._tables[table]
        return float(pose.position[2] + figures.top_m)


def largest_area_m2(points_m: Array) -> float:
    """Returns the area of the largest triangle of points, seen from above; 0 of fewer than three."""
    xy = np.asarray(points_m, float)[:, :2]
    triangles = [(b - a, c - a) for a, b, c in combinations(xy, 3)]
    return max((abs(float(u[0] * v[1] - u[1] * v[0])) / 2 for u, v in triangles), default=0.0)


def spread_enough(points_m: Array) -> bool:
    """Returns whether marks are four at least, and far from one line."""
    return len(points_m) >= CORNERS and largest_area_m2(points_m) >= AREA_M2


def _ways(towards_m: Array, yaw_rad: float, fingers: Fingers) -> list[Array]:
    """Returns where a tool gets to about a mark: above it, and to its four sides, from over its rim to below it."""
    turn = tool_down(np.zeros(3), yaw_rad).rotation_matrix
    ways = [np.array([0.0, 0.0, ABOVE_M + SPARE_M])]
    for axis, extent_m in enumerate(fingers.half_m):
        first = first_side(turn[:, axis], towards_m)
        for sign, start_m in ((first, SIDE_START_M), (-first, SIDE_NEAR_M)):
            far_m = CALIBRATION_MARK.radius_m + extent_m + start_m + SPARE_M
            ways += [
                sign * far_m * turn[:, axis] + [0.0, 0.0, z_m] for z_m in (OVER_M + SPARE_M, -fingers.depth_m - SPARE_M)
            ]
    return ways


def _xyz(point: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in point)
    return x, y, z
