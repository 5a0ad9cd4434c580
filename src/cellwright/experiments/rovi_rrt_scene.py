"""The ROVI project's obstacle scene, as its experiment has it and as a planner believes it."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS
from cellwright.cells import Cell, PoseCfg, load_cell
from cellwright.core.pose import Pose
from cellwright.drawings.planning_scene import planning_scene
from cellwright.drawings.prior import Drawings
from cellwright.execution import PickPlacePlanner
from cellwright.motion.planning import Scene

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
    """Returns robot, furniture, can, mug and crate as the drawings have them, without the bottle."""
    return planning_scene(Drawings.of(load_cell(CELL)), ROBOT, [BOTTLE])


def home_rad() -> npt.NDArray[np.float64]:
    """Returns the arm's start configuration."""
    return np.radians(load_cell(CELL).robots[ROBOT].home_deg)


@cache
def pick_place_planner() -> PickPlacePlanner:
    """Returns the planner, which is made once for each process."""
    return PickPlacePlanner(believed_scene(), PARTS.get(BOTTLE), TABLE)
