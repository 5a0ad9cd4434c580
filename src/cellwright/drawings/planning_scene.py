"""The scene of a motion planner by the drawings of a cell, and the areas of its tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS, FurnitureFigures
from cellwright.catalogue.furniture_kinds import PlatedTableFigures
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.drawings.prior import Drawings
from cellwright.motion.planning import CatalogueModel, Obstacle, Scene, SceneRobot

__all__ = ["TableArea", "planning_scene", "table_area"]


@dataclass(frozen=True)
class TableArea:
    """An area of a table: a raised plate on it.

    Attributes:
        table: The fixture that it is on.
        pose_in_world: The middle of its upper face, axes along its sides.
        size_m: Its lengths along them.
    """

    table: str
    pose_in_world: Pose
    size_m: tuple[float, float]

    @property
    def corners_in_world(self) -> np.ndarray:
        """Its four corners (4, 3)."""
        x, y = self.size_m[0] / 2, self.size_m[1] / 2
        return self.pose_in_world.apply([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])

    def room_m(self, point_in_world: np.ndarray) -> float:
        """Returns the distance of a point from the nearest edge, in the plane; negative outside."""
        inside = self.pose_in_world.inverse().apply(np.asarray(point_in_world, float))
        return float(min(self.size_m[0] / 2 - abs(inside[0]), self.size_m[1] / 2 - abs(inside[1])))


def table_area(fixtures: Iterable[tuple[str, FurnitureFigures, Pose]], name: str) -> TableArea:
    """Returns an area by its name.

    Args:
        fixtures: The name, figures and pose in the world of each, such as `Drawings.fixtures`.
        name: Of the area.

    Raises:
        UnknownName: No table has it.
    """
    known = []
    for fixture, figures, pose in fixtures:
        for plate in figures.plates if isinstance(figures, PlatedTableFigures) else ():
            known.append(plate.name)
            if plate.name == name:
                low, high = np.array(plate.min_xy_m), np.array(plate.max_xy_m)
                middle = Pose.from_xyz_rpy((*((low + high) / 2), plate.top_m))
                return TableArea(fixture, pose @ middle, (float(high[0] - low[0]), float(high[1] - low[1])))
    raise UnknownName("area of a table", name, known)


def planning_scene(drawings: Drawings, robot: str, leave_out: Collection[str] = ()) -> Scene:
    """Returns a robot, all furniture and the parts that have a place of their own, where the drawings have them.

    Joints turn by half a turn to either side, which spares a planner to look at the same posture several times; but not
    the last one, which a level tool has at the very end of that range.

    Args:
        drawings: Of the cell.
        robot: Which robot.
        leave_out: Parts by name that are not where they are drawn, such as one that is looked for.

    Raises:
        BadInput: The robot has no tool.
    """
    cell, layout = drawings.cell, drawings.layout
    drawings.named_robots([robot])
    cfg = cell.robots[robot]
    if cfg.tool is None:
        raise BadInput(f"{cell.where}: {robot} has no tool to pick with")
    arm = ROBOTS.get(cfg.model)
    joints = (
        *(replace(j, position_limits_rad=_half_turn(j.position_limits_rad)) for j in arm.joints[:-1]),
        arm.joints[-1],
    )
    fixtures = [
        Obstacle(n, CatalogueModel(FURNITURE.get(cell.fixtures[n].model)), p) for n, p in layout.fixtures.items()
    ]
    parts = [
        Obstacle(p.name, CatalogueModel(PARTS.get(p.model)), p.pose_in_world)
        for p in layout.parts
        if p.name not in leave_out
    ]
    own = SceneRobot(replace(arm, joints=joints), layout.bases[robot], TOOLS.get(cfg.tool))
    return Scene(own, (*fixtures, *parts))


def _half_turn(limits_rad: tuple[float, float]) -> tuple[float, float]:
    return max(limits_rad[0], -pi), min(limits_rad[1], pi)
