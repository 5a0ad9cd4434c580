"""Base placement of an arm: grasping configurations counted over a grid of places, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, gripper_model
from cellwright.cells import Cell, nominal_layout
from cellwright.core.errors import BadInput, ConfigError, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.experiments.experiment import DataTable
from cellwright.experiments.plots import Heatmap
from cellwright.experiments.pool import run_jobs
from cellwright.experiments.reach_scene import BaseReach, ReachScene, ReachTask
from cellwright.motion.grasps import GraspKind, find_grasps

__all__ = ["WEIGHTS", "BaseGrid", "ReachMap", "default_grid", "map_reach", "reach_task"]

Array = npt.NDArray[np.float64]
WEIGHTS = ("free", "manipulability", "nearness")
MOST_PLACES = 100_000
NO_POOL = 4  # so few places are counted here before other processes have started


@dataclass(frozen=True)
class BaseGrid:
    """Places of the base, both ends included."""

    x_m: tuple[float, float]
    y_m: tuple[float, float]
    step_m: float = 0.1

    def __post_init__(self) -> None:
        if not 0.001 <= self.step_m <= 10:
            raise OutOfRange("grid step", self.step_m, 0.001, 10, "m")
        for name, (low, high) in (("x", self.x_m), ("y", self.y_m)):
            if not -100 <= low <= high <= 100:
                raise BadInput(f"the grid's {name} goes from {low:g} to {high:g} m; both within -100 to 100, in order")
        if len(self.xs) * len(self.ys) > MOST_PLACES:
            raise BadInput(f"the grid has {len(self.xs) * len(self.ys)} places, allowed {MOST_PLACES}: larger step_m")

    @property
    def xs(self) -> Array:
        """The columns."""
        return self._along(self.x_m)

    @property
    def ys(self) -> Array:
        """The rows."""
        return self._along(self.y_m)

    def _along(self, ends: tuple[float, float]) -> Array:
        count = int(np.floor((ends[1] - ends[0]) / self.step_m + 1e-6)) + 1
        return np.round(ends[0] + self.step_m * np.arange(count), 9)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return ((float(x), float(y)) for y in self.ys for x in self.xs)


@dataclass(frozen=True)
class ReachMap:
    """The counts of a grid."""

    task: ReachTask
    grid: BaseGrid
    rows: Sequence[BaseReach]

    def of(self, kind: GraspKind) -> list[BaseReach]:
        """Returns the rows of one kind of grasp."""
        return [row for row in self.rows if row.kind is kind]

    def total(self, kind: GraspKind, weight: str = "free") -> float:
        """Returns the sum over all places."""
        return float(sum(getattr(row, weight) for row in self.of(kind)))

    def best(self, kind: GraspKind, weight: str = "free") -> BaseReach:
        """Returns the place with the most; of equals, the first along y, then x."""
        return max(self.of(kind), key=lambda row: getattr(row, weight))

    def values(self, kind: GraspKind, weight: str = "free") -> Array:
        """Returns the counts: rows along y, columns along x."""
        numbers = [getattr(row, weight) for row in self.of(kind)]
        return np.array(numbers, float).reshape(len(self.grid.ys), len(self.grid.xs))

    def table(self) -> DataTable:
        """Returns all numbers as a table."""
        columns = ["grasp", "base_x_m", "base_y_m", "solutions", "free"]
        if self.task.weighted:
            columns += ["manipulability", "nearness"]
        numbers = [[str(r.kind), r.x_m, r.y_m, r.solutions, r.free, r.manipulability, r.nearness] for r in self.rows]
        return DataTable(columns, [row[: len(columns)] for row in numbers])

    def heatmap(self, weight: str = "free", name: str = "reachability") -> Heatmap:
        """Returns the counts as a plot."""
        meaning = {
            "free": "collision-free configurations",
            "manipulability": "manipulability summed over collision-free configurations",
            "nearness": "nearness to home summed over collision-free configurations",
        }[weight]
        place = self.task.pose_part_in_world.position
        return Heatmap(
            name,
            f"{meaning[0].upper()}{meaning[1:]} that take the {self.task.part} at "
            f"({place[0]:g}, {place[1]:g}) m, over places of the base.",
            self.grid.xs,
            self.grid.ys,
            {f"{kind}: {self.total(kind, weight):,.0f}": self.values(kind, weight) for kind in self.task.heights_m},
            {self.task.part: (float(place[0]), float(place[1]))},
        )


def reach_task(
    cell: Cell,
    robot: str | None = None,
    part: str | None = None,
    *,
    fixtures: Sequence[str] | None = None,
    turns: int = 181,
    weighted: bool = False,
    seed: int = 0,
) -> ReachTask:
    """Returns the task of a cell: one robot, one object where it stands by the drawings, the fixtures; nothing else.

    Args:
        cell: Any cell.
        robot: By default its first.
        part: A loose part by its name in the cell; by default its first.
        fixtures: Names of those that count; by default all.
        turns: Angles about the object's axis.
        weighted: Whether to weigh configurations as well.
        seed: Of the parts that the cell scatters.
    """
    if not 1 <= turns <= 3601:
        raise OutOfRange("turns", turns, 1, 3601)
    layout = nominal_layout(cell, seed)
    if not cell.robots:
        raise BadInput(f"{cell.where}: the cell has no robot; add one under robots")
    parts = {placed.name: placed for placed in layout.parts}
    if not parts:
        raise BadInput(f"{cell.where}: the cell has no part to reach for")
    name, chosen = robot or next(iter(cell.robots)), part or next(iter(parts))
    if name not in cell.robots:
        raise UnknownName("robot", name, cell.robots, cell.where)
    if chosen not in parts:
        raise UnknownName("part", chosen, parts, cell.where)
    cfg, placed = cell.robots[name], parts[chosen]
    if cfg.tool is None:
        raise ConfigError(cell.where, f"robots.{name}.tool", "a robot without a tool takes nothing; give it a gripper")
    for fixture in fixtures or ():
        if fixture not in cell.fixtures:
            raise UnknownName("fixture", fixture, cell.fixtures, cell.where)
    height_m = PARTS.get(placed.model).grasp_height_m
    return ReachTask(
        robot=cfg.model,
        tool=cfg.tool,
        part=placed.model,
        pose_part_in_world=placed.pose_in_world,
        pose_base_in_world=layout.bases[name],
        fixtures={
            fixture: (cell.fixtures[fixture].model, pose)
            for fixture, pose in layout.fixtures.items()
            if fixtures is None or fixture in fixtures
        },
        home_rad=tuple(np.radians(cfg.home_deg).tolist()),
        heights_m={GraspKind.TOP: _top_height_m(placed.model, cfg.tool), GraspKind.SIDE: height_m},
        turns=turns,
        weighted=weighted,
    )


def map_reach(
    task: ReachTask,
    grid: BaseGrid,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> ReachMap:
    """Counts every place of the grid, by default with as many processes as there are cores."""
    places = list(grid)
    if workers is None and len(places) <= NO_POOL:
        workers = 1
    rows = run_jobs("reachability", _count, places, workers, progress, partial(_prepare, task))
    return ReachMap(task, grid, [row for found in rows for row in found])


def default_grid(pose_base_in_world: Pose, step_m: float = 0.1) -> BaseGrid:
    """Returns a grid around the place of the robot: in the ROVI cell, exactly the table."""
    x, y = (float(value) for value in pose_base_in_world.position[:2])
    return BaseGrid((round(x - 0.4, 9), round(x + 0.4, 9)), (round(y - 0.55, 9), round(y + 0.55, 9)), step_m)


_scene: ReachScene | None = None


def _prepare(task: ReachTask) -> None:
    global _scene
    _scene = ReachScene(task)


def _count(place: tuple[float, float]) -> list[BaseReach]:
    assert _scene is not None
    return _scene.count(*place)


def _top_height_m(part: str, tool: str) -> float:
    """Returns the tool's height of the best grasp from above; where there is none, that of the grasp point."""
    found = find_grasps(PARTS.get(part), gripper_model(tool), impossible_too=True)
    return float(next(g for g in found if g.kind is GraspKind.TOP).pose_tcp.position[2])
