"""The exercises that come with the course: a square, obstacles, a wall, a leader."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from math import ceil, cos, pi, sin
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import MOBILES
from cellwright.cells import Cell, load_cell
from cellwright.core.errors import BadInput
from cellwright.course.exercise import EXERCISES, WATCH_S, Exercise, ExerciseItem, ExerciseRun, Figures
from cellwright.course.walls import random_walls, to_walls_m
from cellwright.lab import Lab
from cellwright.mobile import BusRobot, RobotReadings

__all__ = ["starter_text"]

Array = npt.NDArray[np.float64]

RADIUS_M = MOBILES.get("epuck").radius_m
TOUCH_M = 0.0005
AGAIN_S = 1.0


def starter_text(name: str) -> str:
    """Returns the file with which a student begins.

    Raises:
        BadInput: There is no such exercise, or it is one of another package, which has none.
    """
    EXERCISES.get(name)
    try:
        return (files("cellwright.course") / "starters" / f"{name}.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"the exercise '{name}' comes from another package, and without a file to begin with") from None


def _cell(changes: dict[str, Any]) -> Cell:
    return load_cell("epucks@one").changed(changes)


def _place(x_m: float, y_m: float, yaw_rad: float) -> dict[str, Any]:
    pose = {"xyz_m": [x_m, y_m, 0.0], "rpy_deg": [0.0, 0.0, float(np.degrees(yaw_rad))]}
    return {"mobiles": {"ePuck": {"count": 1, "pose": pose}}}


def _touches(gaps_m: Array) -> int:
    """Returns how often a body came to touch something; a touch that lasts counts again every second."""
    touching = gaps_m <= TOUCH_M
    edges = np.flatnonzero(np.diff(np.concatenate([[False], touching, [False]]).astype(int)))
    return sum(ceil((end - start) * WATCH_S / AGAIN_S) for start, end in edges.reshape(-1, 2).tolist())


def _share(value: float, none_at: float, all_at: float) -> float:
    """Returns 0 to 1, in proportion between two values."""
    return float(np.clip((value - none_at) / (all_at - none_at), 0.0, 1.0))


@EXERCISES.register("square")
class _Square(Exercise):
    title: ClassVar[str] = "Drive a square and come back, by odometry"
    time_limit_s: ClassVar[float] = 60.0

    NEAR_M, FAR_M = 0.04, 0.10

    def task(self, rng: np.random.Generator) -> dict[str, Any]:
        return {"side_m": round(float(rng.uniform(0.25, 0.40)), 2), "turn": str(rng.choice(["left", "right"]))}

    def cell(self, task: Figures, rng: np.random.Generator) -> Cell:
        return _cell({"arena": {"size_m": [2.0, 2.0]}, **_place(0.0, 0.0, float(rng.uniform(-pi, pi)))})

    def score(self, run: ExerciseRun) -> list[ExerciseItem]:
        side_m, turn = run.task["side_m"], 1 if run.task["turn"] == "left" else -1
        way, yaw = run.xy_m[:, -1], run.yaw_rad[0, -1]
        corners = [way[0]]
        for number in range(4):
            angle = yaw + turn * number * pi / 2
            corners.append(corners[-1] + side_m * np.array([cos(angle), sin(angle)]))
        items, since = list[ExerciseItem](), 0
        for number in range(1, 4):
            away_m = np.hypot(*(way[since:] - corners[number]).T)
            nearest = int(away_m.argmin())
            share = _share(away_m[nearest], self.FAR_M, self.NEAR_M)
            reason = f"passed at {1000 * away_m[nearest]:.0f} mm; all points up to {1000 * self.NEAR_M:.0f} mm"
            items.append(ExerciseItem(f"corner {number}", 15 * share, 15, reason))
            if share > 0:
                since += nearest  # corners count in their order
        all_before = all(item.points > 0 for item in items)
        end_m = float(np.hypot(*(way[-1] - corners[4])))
        share = _share(end_m, self.FAR_M, self.NEAR_M) if all_before else 0.0
        reason = f"ended {1000 * end_m:.0f} mm from its start" + ("" if all_before else ", but a corner is missing")
        items.append(ExerciseItem("back", 35 * share, 35, reason))
        last = way[-round(1.0 / WATCH_S) :]
        stands = float(np.hypot(*(last - last[-1]).T).max()) < 0.001
        reason = "still drives in the end" if not stands else "stands" if share else "stands, but not where it began"
        return [*items, ExerciseItem("stop", 20.0 * (stands and share > 0), 20, reason)]


@EXERCISES.register("avoid")
class _Avoid(Exercise):
    title: ClassVar[str] = "Drive about without touching anything, by the proximity sensors"
    time_limit_s: ClassVar[float] = 60.0

    SIZE_M = 1.0
    TILE_M = 0.1
    WAY_M, TILES = 2.0, 30

    def task(self, rng: np.random.Generator) -> dict[str, Any]:
        return {"walls": int(rng.integers(4, 7))}

    def cell(self, task: Figures, rng: np.random.Generator) -> Cell:
        walls = random_walls(rng, task["walls"], self.SIZE_M)
        arena = {"size_m": [self.SIZE_M, self.SIZE_M], "inner_walls_m": walls}
        return _cell({"arena": arena, **_place(0.0, 0.0, float(rng.uniform(-pi, pi)))})

    def score(self, run: ExerciseRun) -> list[ExerciseItem]:
        way = run.xy_m[:, -1]
        touches = _touches(to_walls_m(run.cell, way) - RADIUS_M)
        tiles = len({tuple(tile) for tile in np.floor(way / self.TILE_M).astype(int).tolist()})
        way_share, tile_share = _share(run.way_m, 0.1, self.WAY_M), _share(tiles, 1, self.TILES)
        # A robot that stands, or goes round in the free place where it began, touches nothing.
        clear = max(0.0, 1 - 0.2 * touches) * min(way_share, tile_share)
        return [
            ExerciseItem(
                "clear", 50 * clear, 50, f"touches of a wall: {touches}; each, and each second of it, costs a fifth"
            ),
            ExerciseItem("way", 25 * way_share, 25, f"drove {run.way_m:.2f} m; all points from {self.WAY_M:g} m"),
            ExerciseItem("tiles", 25 * tile_share, 25, f"saw {tiles} tiles of 10 cm; all points from {self.TILES}"),
        ]


@EXERCISES.register("wall")
class _Wall(Exercise):
    title: ClassVar[str] = "Follow the wall at the right, round its corners"
    time_limit_s: ClassVar[float] = 90.0

    NEAREST_M, FARTHEST_M = 0.003, 0.045
    MARK_M, REACH_M = 0.10, 0.12

    def task(self, rng: np.random.Generator) -> dict[str, Any]:
        return {"distance_m": round(float(rng.uniform(0.015, 0.030)), 3)}

    def cell(self, task: Figures, rng: np.random.Generator) -> Cell:
        width_m, depth_m = (round(float(rng.uniform(0.7, 0.9)), 2) for _ in range(2))
        x_m = round(float(rng.uniform(-0.05, 0.05)), 2)
        wall = [[x_m, -depth_m / 2], [x_m, round(float(rng.uniform(-0.05, 0.0)), 2)]]  # outer and inner corners
        start_y_m = -depth_m / 2 + RADIUS_M + task["distance_m"] + 0.005
        arena = {"size_m": [width_m, depth_m], "inner_walls_m": [wall]}
        return _cell({"arena": arena, **_place(-width_m / 2 + 0.15, start_y_m, 0.0)})

    def score(self, run: ExerciseRun) -> list[ExerciseItem]:
        way = run.xy_m[:, -1]
        away_m = to_walls_m(run.cell, way)
        gap_m = away_m - RADIUS_M
        moves = np.hypot(*np.diff(way, axis=0).T) > 0.0002
        near = ((gap_m > self.NEAREST_M) & (gap_m < self.FARTHEST_M))[1:]
        near_share = float((near & moves).sum()) / max(1, len(moves)) / 0.75  # turning in corners takes time, too
        marks = self._marks(run.cell)
        reached = sum(bool((np.hypot(*(way - mark).T) < self.REACH_M).any()) for mark in marks)
        touches = _touches(gap_m)
        round_share = _share(reached / len(marks), 0.25, 0.95)
        clear = max(0.0, 1 - 0.2 * touches) * round_share
        return [
            ExerciseItem(
                "near",
                40 * min(1.0, near_share),
                40,
                f"drove along a wall, {1000 * self.NEAREST_M:.0f} to {1000 * self.FARTHEST_M:.0f} mm from it, for "
                f"{75 * min(1.3, near_share):.0f} % of the time; all points from 75 %",
            ),
            ExerciseItem("round", 40 * round_share, 40, f"came along {reached} of {len(marks)} parts of the wall"),
            ExerciseItem(
                "clear", 20 * clear, 20, f"touches of a wall: {touches}; each, and each second of it, costs a fifth"
            ),
        ]

    def _marks(self, cell: Cell) -> list[Array]:
        """Returns points along all walls, on the side of the room."""
        assert cell.arena is not None
        (width_m, depth_m), room_m = cell.arena.size_m, RADIUS_M + 0.02
        x_m, y_m = width_m / 2 - room_m, depth_m / 2 - room_m
        ways: list[tuple[Sequence[float], Sequence[float]]] = [
            ((-x_m, -y_m), (x_m, -y_m)),
            ((x_m, -y_m), (x_m, y_m)),
            ((x_m, y_m), (-x_m, y_m)),
            ((-x_m, y_m), (-x_m, -y_m)),
        ]
        (wall_x, _), (_, end_y) = cell.arena.inner_walls_m[0]
        ways += [((side, -y_m), (side, end_y)) for side in (wall_x - room_m, wall_x + room_m)]
        marks = list[Array]()
        for start, end in np.array(ways):
            count = max(2, round(float(np.hypot(*(end - start))) / self.MARK_M))
            marks += [start + (end - start) * (number + 0.5) / count for number in range(count)]
        return marks


class _GentleWay:
    """The leader's program: speeds and turns from the seed, far from what a follower cannot do."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._until_s = 2.0  # stands at first
        self._leg = 0.0, 0.0

    def update(self, robot: RobotReadings) -> tuple[float, float]:
        if robot.time_s >= self._until_s:
            self._until_s = robot.time_s + self._rng.uniform(1.5, 4.0)
            self._leg = float(self._rng.uniform(0.02, 0.05)), float(self._rng.uniform(-0.5, 0.5))
        return self._leg


@EXERCISES.register("follow")
class _Follow(Exercise):
    title: ClassVar[str] = "Follow the leader, by the proximity sensors and a proportional controller"
    time_limit_s: ClassVar[float] = 45.0

    SEEN_M, GOOD_M = 0.05, 0.010

    def task(self, rng: np.random.Generator) -> dict[str, Any]:
        return {"gap_m": round(float(rng.uniform(0.012, 0.022)), 3)}

    def cell(self, task: Figures, rng: np.random.Generator) -> Cell:
        spacing_m = 2 * RADIUS_M + task["gap_m"] + 0.004
        robots = {
            "count": 2,
            "arrange": {"shape": "grid", "spacing_m": round(spacing_m, 4), "columns": 2, "yaw_deg": 180.0},
            "pose": {"rpy_deg": [0.0, 0.0, float(np.degrees(rng.uniform(-pi, pi)))]},
        }
        return _cell({"mobiles": {"ePuck": robots}}).model_copy(update={"arena": None})

    def start(self, lab: Lab, rng: np.random.Generator) -> None:
        leader = next(iter(lab.mobiles))
        BusRobot(lab.bus, leader, _GentleWay(rng), lab.mobile(leader).move)

    def score(self, run: ExerciseRun) -> list[ExerciseItem]:
        gap_m = np.hypot(*(run.xy_m[:, -1] - run.xy_m[:, 0]).T) - 2 * RADIUS_M
        seen = np.asarray((gap_m < self.SEEN_M) & (gap_m > TOUCH_M))  # pushing is not following
        moves = np.hypot(*np.diff(run.xy_m[:, -1], axis=0).T) > 0.0002
        seen_share, moved = float(seen.mean()), float(moves.mean()) > 0.3
        error_m = float(np.abs(gap_m - run.task["gap_m"]).mean())
        touches = _touches(gap_m)
        near_share = _share(seen_share, 0.2, 1.0) if moved else 0.0
        gap_share = _share(error_m, 4 * self.GOOD_M, self.GOOD_M) if moved else 0.0
        clear = max(0.0, 1 - 0.2 * touches) * near_share
        return [
            ExerciseItem(
                "near",
                50 * near_share,
                50,
                f"within {1000 * self.SEEN_M:.0f} mm, not touching, for {100 * seen_share:.0f} % of the time",
            ),
            ExerciseItem(
                "gap",
                30 * gap_share,
                30,
                f"off the gap by {1000 * error_m:.0f} mm; all points up to {1000 * self.GOOD_M:.0f} mm",
            ),
            ExerciseItem(
                "clear",
                20 * clear,
                20,
                f"touches of the leader: {touches}; each, and each second of it, costs a fifth",
            ),
        ]
