"""The ROVI project's obstacle scene, as its experiment has it and as a planner believes it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import pi

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS
from cellwright.cells import Cell, PoseCfg, load_cell, nominal_layout
from cellwright.core.pose import Pose
from cellwright.execution import PickPlacePlanner
from cellwright.motion.planning import CatalogueModel, Obstacle, Scene, SceneRobot

__all__ = ["BOTTLE", "PICKS", "PLACE", "believed_scene", "cell_with_bottle_at", "home_rad", "pick_place_planner"]

CELL, ROBOT, BOTTLE, TABLE = "rovi", "ur5", "bottle", "table"
PICKS = {name: Pose.from_xyz_rpy((x_m, 1.05, 0.75)) for name, x_m in (("p1", 0.15), ("p2", 0.40), ("p3", 0.65))}
PLACE = Pose.from_xyz_rpy((0.70, 0.11, 0.75))


def cell_with_bottle_at(pick: str) -> Cell:
    """Returns the cell with its bottle at one of the three locations; nothing but friction holds it in the gripper."""
    cell = load_cell(CELL)
    x, y, z = (float(value) for value in PICKS[pick].position)
    moved = cell.parts[BOTTLE].model_copy(update={"pose": PoseCfg(xyz_m=(x, y, z))})
    return cell.model_copy(update={"parts": {**cell.parts, BOTTLE: moved}})


@cache
def believed_scene() -> Scene:
    """Returns robot, furniture, can, mug and crate as the drawings have them, without the bottle.

    As in the project each joint turns by half a turn to either side, which spares a planner to look at the same posture
    several times; but not the last one, which a level tool has at the very end of that range.
    """
    cell = load_cell(CELL)
    layout, cfg = nominal_layout(cell, 0), cell.robots[ROBOT]
    arm = ROBOTS.get(cfg.model)
    joints = (*(replace(joint, position_limits_rad=(-pi, pi)) for joint in arm.joints[:-1]), arm.joints[-1])
    assert cfg.tool is not None
    robot = SceneRobot(replace(arm, joints=joints), layout.bases[ROBOT], TOOLS.get(cfg.tool))
    fixtures = [
        Obstacle(n, CatalogueModel(FURNITURE.get(cell.fixtures[n].model)), p) for n, p in layout.fixtures.items()
    ]
    parts = [
        Obstacle(p.name, CatalogueModel(PARTS.get(p.model)), p.pose_in_world) for p in layout.parts if p.name != BOTTLE
    ]
    return Scene(robot, (*fixtures, *parts))


def home_rad() -> npt.NDArray[np.float64]:
    """Returns the arm's start configuration."""
    return np.radians(load_cell(CELL).robots[ROBOT].home_deg)


@cache
def pick_place_planner() -> PickPlacePlanner:
    """Returns the planner, which is made once for each process."""
    return PickPlacePlanner(believed_scene(), PARTS.get(BOTTLE), TABLE)
