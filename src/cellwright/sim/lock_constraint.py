"""The welds that the grasp lock switches on and off."""

from __future__ import annotations

from typing import Any

import mujoco

__all__ = ["add_lock_constraints", "lock_name"]


def lock_name(robot: str) -> str:
    """Name of a robot's weld in the model."""
    return f"{robot}/grasp_lock"


def add_lock_constraints(spec: Any, robots: list[str], any_object: str) -> None:
    """One weld per gripper, switched off; which part it holds is decided when it is used."""
    for robot in robots:
        weld = spec.add_equality(name=lock_name(robot), type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
        weld.name1, weld.name2, weld.active = f"{robot}/tool/tool", any_object, False
        weld.solref[:2] = (0.004, 1.0)
