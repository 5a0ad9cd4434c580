"""The welds that the grasp lock switches on and off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import mujoco

from cellwright.core.pose import Pose

__all__ = ["add_lock_constraints", "close_lock", "open_lock"]

TIME_CONSTANT_S = 0.004
IMPEDANCE = 0.999  # the pads' friction is hard; a weld of MuJoCo's usual softness would yield to it


def _name(robot: str) -> str:
    return f"{robot}/grasp_lock"


def add_lock_constraints(spec: Any, robots: Iterable[str]) -> None:
    """Adds one weld per gripper, switched off; which part it holds is decided when it is used.

    Until then it names the world, which, unlike a part, cannot be removed together with the weld.
    """
    for robot in robots:
        weld = spec.add_equality(name=_name(robot), type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
        weld.name1, weld.name2, weld.active = f"{robot}/tool/tool", "world", False
        weld.solref[:2] = (TIME_CONSTANT_S, 1.0)
        weld.solimp[:2] = (IMPEDANCE, IMPEDANCE)


def close_lock(
    model: Any, data: Any, robot: str, part_body: int, pose_part_in_tool: Pose, anchor_in_tool: Sequence[float]
) -> None:
    """Welds a part to a robot's tool.

    Args:
        model: MuJoCo's model.
        data: MuJoCo's data.
        robot: The robot with the tool.
        part_body: The part's body.
        pose_part_in_tool: The pose in which it is held.
        anchor_in_tool: The anchor of the weld: between the pads. Elsewhere, the part would turn as the pads creep.
    """
    weld = model.equality(_name(robot)).id
    model.eq_obj2id[weld] = part_body
    model.eq_data[weld, 0:3] = pose_part_in_tool.inverse().apply(anchor_in_tool)  # in the part's frame
    model.eq_data[weld, 3:6] = anchor_in_tool
    model.eq_data[weld, 6:10] = pose_part_in_tool.quaternion
    data.eq_active[weld] = True


def open_lock(model: Any, data: Any, robot: str) -> None:
    """Switches a robot's weld off."""
    data.eq_active[model.equality(_name(robot)).id] = False
