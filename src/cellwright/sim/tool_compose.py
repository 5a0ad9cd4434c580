"""Changers on flanges, and tools that hang in their holders, in the specification of a cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import CHANGERS, FURNITURE, TOOLS
from cellwright.catalogue.changer import ChangerFigures, ToolHolderFigures
from cellwright.cells import Cell, Layout
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.changer import couple

__all__ = ["LOCK", "add_changer", "add_tools", "changer_of"]

LOCK = "changer_lock"
TIME_CONSTANT_S = 0.004
IMPEDANCE = 0.9999


def changer_of(cell: Cell) -> ChangerFigures | None:
    """Returns the changer of the cell's robots: all that share tools have the same."""
    names = [robot.changer for robot in cell.robots.values() if robot.changer is not None]
    return CHANGERS.get(names[0]) if names else None


def add_changer(flange: Any, model: str, error: Pose) -> None:
    """Adds the robot's half of a changer to an arm's flange."""
    mount = flange.add_frame(pos=np.array(error.position), quat=np.array(error.quaternion))
    mount.attach_body(build(CHANGERS.get(model)).body("changer"), "changer/", "")


def add_tools(spec: Any, cell: Cell, layout: Layout) -> None:
    """Adds all tools of the cell, each a body of its own with its name, and one open lock per changer.

    Until it is used, a lock names the world, which is there whatever happens to tools.
    """
    changer = changer_of(cell)
    if changer is None:
        return
    for name, tool in cell.tools.items():
        pose = Pose.identity()
        if tool.holder is not None:
            holder = FURNITURE.get(cell.fixtures[tool.holder].model)
            assert isinstance(holder, ToolHolderFigures)
            pose = layout.fixtures[tool.holder] @ Pose.from_xyz_rpy(*holder.coupling_xyz_rpy(changer))
        frame = spec.worldbody.add_frame(pos=np.array(pose.position), quat=np.array(pose.quaternion))
        model = couple(changer, build(TOOLS.get(tool.model)))
        body = frame.attach_body(model.body("coupling"), f"{name}/", "")
        body.name = name
        body.add_freejoint(name=name)
    _add_locks(spec, (name for name, robot in cell.robots.items() if robot.changer is not None))


def _add_locks(spec: Any, robots: Iterable[str]) -> None:
    for robot in robots:
        weld = spec.add_equality(name=f"{robot}/{LOCK}", type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
        weld.name1, weld.name2, weld.active = f"{robot}/changer/changer", "world", False
        weld.solref[:2] = (TIME_CONSTANT_S, 1.0)
        weld.solimp[:2] = (IMPEDANCE, IMPEDANCE)
