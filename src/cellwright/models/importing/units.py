"""Numbers that look as if they were meant in other units: limits in degrees, sizes in millimetres."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.model_settings import Kind
from cellwright.models.importing.notes import Notes, listed
from cellwright.models.importing.source import ParsedDescription

__all__ = ["note_units"]

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
MOST_TURN_RAD = 4 * np.pi
MOST_SPEED_RADPS = 120.0
MOST_SLIDE_M = 10.0
LARGEST_M = {"arm": 20.0, "tool": 3.0, "part": 3.0, "fixture": 200.0}


def note_units(source: ParsedDescription, kind: Kind, notes: Notes) -> None:
    """Notes numbers that are too large to be meant as they are written; nothing is changed."""
    model = source.spec.copy().compile()
    turning = [model.joint(n).name for n in _beyond(model, HINGE, MOST_TURN_RAD)]
    sliding = [model.joint(n).name for n in _beyond(model, SLIDE, MOST_SLIDE_M)]
    fast = [name for name, speed in source.velocity_limits.items() if speed > MOST_SPEED_RADPS and _turns(model, name)]
    for names, what in (
        (turning, "limits of more than two turns either way, in rad; degrees may be meant"),
        (fast, f"speed limits beyond {MOST_SPEED_RADPS:g} rad/s; degrees may be meant"),
        (sliding, f"limits beyond {MOST_SLIDE_M:g} m; millimetres may be meant"),
    ):
        if names:
            notes.guessed(f"joint{'s' * (len(names) > 1)} {listed(names)}", f"{what}; taken as written")
    size_m = _size_m(model)
    if size_m > LARGEST_M[kind]:
        notes.guessed("size", f"{size_m:.4g} m from end to end; millimetres may be meant; taken as written")


def _turns(model: Any, joint: str) -> bool:
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
    return number >= 0 and int(model.jnt_type[number]) == HINGE


def _beyond(model: Any, kind: int, most: float) -> list[int]:
    largest = np.abs(model.jnt_range).max(axis=1, initial=0.0)
    return np.flatnonzero((model.jnt_type == kind) & (model.jnt_limited > 0) & (largest > most)).tolist()


def _size_m(model: Any) -> float:
    """Returns the longest side of the box about all bodies and shapes, planes left out, as drawn."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    solid = model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    radii = model.geom_rbound[solid][:, None]
    points = [data.xpos[1:], data.geom_xpos[solid] - radii, data.geom_xpos[solid] + radii]
    return float(np.ptp(np.concatenate(points), axis=0).max())
