"""The force of a gripper's fingers, by what its file says about its drive."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.models.importing.jaws import PREFIX, Jaws
from cellwright.models.importing.notes import Notes

__all__ = ["FORCE_N", "grip_force"]

FORCE_N = 40.0
"""Of each finger, where the file says nothing."""

LEAST_FORCE_N, MOST_FORCE_N = 1.0, 500.0  # of one finger: what is outside is a placeholder


def grip_force(model: Any, driver: int, jaws: Jaws, notes: Notes) -> float:
    """Returns the force at each pad that the file's effort makes, if that is a gripper's force."""
    effort, of = _effort(model, driver, jaws)
    if not effort:
        notes.guessed(
            "grip force", f"the file gives no effort: {FORCE_N:g} N of each finger (grip_force_n gives another)"
        )
        return FORCE_N
    lever = abs((jaws.positions[-1] - jaws.positions[0]) / (jaws.halves_m[-1] - jaws.halves_m[0]))
    force = float(f"{effort * lever / 2:.3g}")
    if LEAST_FORCE_N <= force <= MOST_FORCE_N:
        notes.guessed("grip force", f"{force:g} N of each finger, by the effort of {of} (grip_force_n gives another)")
        return force
    notes.changed("grip force", f"the effort of {of} would press with {force:.3g} N; {FORCE_N:g} N are taken")
    return FORCE_N


def _effort(model: Any, driver: int, jaws: Jaws) -> tuple[float, str]:
    """Returns the largest effort of the driven joint and its source: the joint, or an actuator that acts on it."""
    if model.jnt_actfrclimited[driver]:
        return float(np.abs(model.jnt_actfrcrange[driver]).max()), f"joint {jaws.driver.removeprefix(PREFIX)}"
    data, lengths = mujoco.MjData(model), []
    for qpos in (jaws.qpos[0], jaws.qpos[-1]):
        data.qpos[:] = qpos
        mujoco.mj_fwdPosition(model, data)
        lengths.append(np.array(data.actuator_length))
    ratios = np.abs(lengths[1] - lengths[0]) / abs(jaws.positions[-1] - jaws.positions[0])
    for number in np.flatnonzero(model.actuator_forcelimited):
        if ratios[number] > 0:
            effort = float(np.abs(model.actuator_forcerange[number]).max() * ratios[number])
            return effort, f"actuator {model.actuator(number).name or number}"
    return 0.0, ""
