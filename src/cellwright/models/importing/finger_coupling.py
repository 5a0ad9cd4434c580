"""Fingers of a gripper whose file does not couple them: two that travel alike move alike, others are refused."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import BadInput
from cellwright.models.importing.jaws import PREFIX, branch_of
from cellwright.models.importing.notes import Notes, listed

__all__ = ["couple_fingers"]

MOST_FREE = 3  # joints beside the driver that nothing couples


def couple_fingers(spec: Any, driver: int, others: list[int], where: str, notes: Notes) -> None:
    """Makes a second finger without a mimic follow the first; anything else is left to its springs and constraints."""
    model = spec.copy().compile()
    loops = any(model.eq_type[n] == mujoco.mjtEq.mjEQ_CONNECT for n in range(model.neq))
    if loops or not others:
        return
    if len(others) > MOST_FREE:
        names = listed([model.joint(number).name.removeprefix(PREFIX) for number in (driver, *others)])
        raise BadInput(f"{where}: joints {names} all move by themselves; a gripper has one that drives the others")
    leader, span = model.joint(driver), np.ptp(model.jnt_range[driver])
    alike = [n for n in others if model.jnt_type[n] == model.jnt_type[driver] and model.jnt_limited[n]]
    alike = [n for n in alike if abs(np.ptp(model.jnt_range[n]) - span) < 1e-3 * max(span, 1e-6)]
    _check_pair(model, driver, others, alike, where)
    for number in others:
        other = model.joint(number)
        if number not in alike:
            notes.guessed(f"joint {other.name}", "nothing drives it; it is free")
            continue
        same = abs(model.jnt_range[number][0] - model.jnt_range[driver][0]) < 1e-3 * max(span, 1e-6)
        sign = 1.0 if same else -1.0
        spec.add_equality(
            name=f"{other.name} follows {leader.name}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=other.name,
            name2=leader.name,
            data=[0.0, sign] + [0.0] * 10,
            solref=[0.004, 1.0],
        )
        notes.guessed(f"joint {other.name}", f"follows '{leader.name}' (times {sign:g}): the file couples neither")


def _check_pair(model: Any, driver: int, others: list[int], alike: list[int], where: str) -> None:
    """Refuses fingers that each have a drive of their own, unless they are two that travel alike.

    Raises:
        BadInput: There are others.
    """
    driven = set(model.actuator_trnid[model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT, 0].tolist())
    driven |= set(np.flatnonzero(model.jnt_actfrclimited).tolist())
    own = branch_of(model, int(model.jnt_bodyid[driver]))
    beside = {
        number: branch
        for number in others
        if (number in driven or number in alike) and (branch := branch_of(model, int(model.jnt_bodyid[number]))) != own
    }
    if len(set(beside.values())) > 1 or any(number not in alike for number in beside):
        names = listed([model.joint(number).name.removeprefix(PREFIX) for number in (driver, *beside)])
        allowed = "a gripper has one drive that its other joints follow (mimic), or two fingers of the same travel"
        raise BadInput(f"{where}: nothing couples {names}, which move a finger each; {allowed}")
