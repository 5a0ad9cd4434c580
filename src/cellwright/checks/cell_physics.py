"""Conformance of a cell at rest: what touches, how hard, and whether anything stirs by itself."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import mujoco
import numpy as np

from cellwright.checks.finding import Finding
from cellwright.sim import World
from cellwright.sim.contacts import body_contacts, deepest_overlap

__all__ = ["check_contacts", "check_stillness"]

DEEPEST_M = 1e-3
MOST_WEIGHTS = 3.0
"""A pair presses no harder than this many times the weight of all loose things; more is something jammed."""

STILL_S, PIECES = 1.0, 10
STILL_J = 1e-6
STRAYED = 1e-3


def check_contacts(world: World) -> Finding:
    """Checks that nothing is pressed into anything else, and nothing presses harder than by its weight."""
    model, data = _awake(world)
    pairs = body_contacts(model, data)
    hardest = max(pairs, key=lambda touch: touch.force_n, default=None)
    overlap = deepest_overlap(model, data)
    depth = 0.0 if overlap is None else max(0.0, overlap.depth_m)
    force = 0.0 if hardest is None else hardest.force_n
    free = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    weight = float(np.linalg.norm(model.opt.gravity)) * float(model.body_subtreemass[free].sum())
    values = {"pairs": float(len(pairs)), "deepest_m": depth, "hardest_n": force}
    if overlap is not None and depth > DEEPEST_M:
        return Finding("contacts at rest", False, str(overlap), values, "move them apart; nothing fits so tightly")
    if hardest is not None and force > MOST_WEIGHTS * weight:
        whose = f"'{hardest.first}' and '{hardest.second}'"
        text = f"{whose} press with {force:.3g} N; all that is loose weighs {weight:.3g} N"
        return Finding("contacts at rest", False, text, values, "give them room: something is jammed between others")
    detail = f"{len(pairs)} pairs touch, {depth * 1000:.3f} mm deep and with {force:.3g} N at most"
    return Finding("contacts at rest", True, detail, values)


def check_stillness(world: World) -> Finding:
    """Checks that nothing stirs, kept awake for a second: servos hold, contacts do not chatter."""
    model, most, strayed = _stir_on_wheels(world) if world.mobiles else _stir(*_awake(world))
    worst = max(range(model.njnt), key=lambda joint: _most(model, joint, strayed), default=None)
    moved = 0.0 if worst is None else _most(model, worst, strayed)
    detail = f"in {STILL_S:g} s at most {most:.1e} J, and {moved:.1e} m or rad"
    detail += f" ('{model.joint(worst).name}')" if worst is not None and (moved > STRAYED or most > STILL_J) else ""
    values = {"kinetic_j": most, "moved": moved}
    remedy = "put it where it lies steadily; if it is a robot's joint, look at its servo with `cellwright model check`"
    return Finding("energy at rest", most <= STILL_J and moved <= STRAYED, detail, values, remedy)


def _stir_on_wheels(world: World) -> tuple[Any, float, Any]:
    """Does so with the world itself, which is put back: motors and a rough floor are the engine's own."""
    start, flags = world.snapshot(), world.model.opt.enableflags
    world.model.opt.enableflags &= ~mujoco.mjtEnableBit.mjENBL_SLEEP.value
    world.data.qvel[:] = -0.0
    try:
        return _stir(world.model, world.data, world.engine.step)
    finally:
        world.model.opt.enableflags = flags
        world.restore(start)


def _stir(model: Any, data: Any, step: Callable[[int], None] | None = None) -> tuple[Any, float, Any]:
    """Returns a model, the most energy that it has had in a second, and how far each coordinate has come."""
    before, most = data.qpos.copy(), 0.0
    for _ in range(PIECES):
        (step or partial(mujoco.mj_step, model, data))(round(STILL_S / PIECES / model.opt.timestep))
        mujoco.mj_energyVel(model, data)
        most = max(most, float(data.energy[1]))
    return model, most, np.abs(data.qpos - before)


def _most(model: Any, joint: int, strayed: Any) -> float:
    first = int(model.jnt_qposadr[joint])
    last = int(model.jnt_qposadr[joint + 1]) if joint + 1 < model.njnt else model.nq
    return float(strayed[first:last].max())


def _awake(world: World) -> tuple[Any, Any]:
    """Returns a copy of the world, at rest but not asleep: sleeping bodies have no contacts."""
    model = copy(world.model)
    model.opt.enableflags &= ~mujoco.mjtEnableBit.mjENBL_SLEEP.value
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = world.data.qpos, world.data.ctrl
    data.eq_active[:] = world.data.eq_active
    mujoco.mj_forward(model, data)
    return model, data
