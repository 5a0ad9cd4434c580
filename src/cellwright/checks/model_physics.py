"""Conformance in motion: what touches at home, what holds still, whether energy stays what it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cellwright.checks.finding import Finding
from cellwright.sim.contacts import deepest_overlap
from cellwright.sim.physics import apply_options

__all__ = ["check_contacts_at_home", "check_energy", "check_holds", "check_rest"]

TOUCH_M = 1e-4
SWING_S, SWING_STEP_S = 1.0, 5e-4
SPIN_RADPS = (1.0, 2.0, 3.0)
DRIFT = 1e-3
"""Share of the largest kinetic energy that a second of free swing may make or lose."""

REST_S, REST_STEP_S = 2.0, 2e-3
REST_SPEED_MPS = 1e-3
SINK_M = 5e-4
HOLD_S, WATCHED = 0.5, 100
HOLD_RAD = 1e-3
NUDGE = 0.01
"""rad or m: far enough for a servo that swings to swing visibly, less than any clearance at home."""


def check_contacts_at_home(spec: Any, home: Mapping[str, float]) -> Finding:
    """Checks that at home the joints are within their limits and no link is inside another."""
    model, data = _at_home(spec, home)
    outside = [
        model.joint(number).name
        for number in range(model.njnt)
        if model.jnt_limited[number] and _is_single(model, number) and not _within(model, data, number)
    ]
    overlap = deepest_overlap(model, data)
    depth = 0.0 if overlap is None else overlap.depth_m
    values = {"contacts": float(data.ncon), "deepest_m": depth}
    if outside:
        text = f"outside their limits: {', '.join(outside)}"
        return Finding("contacts at home", False, text, values, "give another home, or mend the limits")
    if overlap is not None and depth > TOUCH_M:
        remedy = "give another home; or leave the pair out, where the links overlap as they are drawn"
        return Finding("contacts at home", False, f"{overlap}", values, remedy)
    return Finding("contacts at home", True, "no link is inside another", values)


def check_holds(spec: Any, home: Mapping[str, float]) -> Finding | None:
    """Checks that servos bring it home after a push and hold it there against its weight; None without servos."""
    model, data = _at_home(spec, home)
    if not model.nu:
        return None
    start = data.qpos.copy()
    servoed = []
    for actuator in range(len(model.actuator_ctrladr)):
        at = int(model.jnt_qposadr[int(model.actuator_trnid[actuator, 0])])
        servoed.append(at)
        data.ctrl[int(model.actuator_ctrladr[actuator])] = start[at]
        data.qpos[at] += NUDGE if data.qpos[at] <= 0 else -NUDGE
    mujoco.mj_step(model, data, round(HOLD_S / model.opt.timestep))
    seen = []
    for _ in range(WATCHED):
        mujoco.mj_step(model, data)
        seen.append((data.qpos - start)[servoed])
    off, swing = np.abs(np.mean(seen, axis=0)), np.ptp(seen, axis=0) / 2
    worst = int(np.argmax(off + swing))
    values = {"moved": float(off.max()), "swing": float(swing.max())}
    if off[worst] + swing[worst] <= HOLD_RAD and _sane(data):
        detail = f"back from {1000 * NUDGE:g} mrad or mm within {HOLD_S:g} s, to {off[worst]:.1e} rad or m"
        return Finding("holds still", True, detail, values)
    name = model.joint(int(model.actuator_trnid[worst, 0])).name
    if swing[worst] > off[worst]:
        detail = f"'{name}' swings by {swing[worst]:.2g} rad or m {HOLD_S:g} s after a push of {NUDGE:g}"
        return Finding("holds still", False, detail, values, "give its servo more damping, or less stiffness")
    detail = f"'{name}' is {off[worst]:.2g} rad or m away {HOLD_S:g} s after a push of {NUDGE:g}"
    return Finding("holds still", False, detail, values, "give its servo more effort or stiffness")


def check_rest(spec: Any) -> Finding:
    """Checks that a free body, put on a table, comes to rest without sinking in."""
    own = spec.copy()
    apply_options(own, REST_STEP_S, sleep=False)
    own.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[0.5, 0.005, 1e-4])
    model = own.compile()
    data = mujoco.MjData(model)
    data.qpos[2] -= _lowest(model, data) - 1e-3
    mujoco.mj_step(model, data, round(REST_S / REST_STEP_S))
    speed = float(np.abs(data.qvel[:3]).max())
    depth = max((-float(contact.dist) for contact in data.contact), default=0.0)
    values = {"contacts": float(data.ncon), "deepest_m": depth, "speed_mps": speed}
    detail = f"{data.ncon} contacts, {depth * 1000:.3f} mm deep at most; moves at {speed * 1000:.2g} mm/s"
    ok = _sane(data) and bool(data.ncon) and speed <= REST_SPEED_MPS and depth <= SINK_M
    remedy = "give it a shape to touch with and a face to lie on; look at its contact settings"
    return Finding("contacts at rest", ok, detail, values, remedy)


def check_energy(spec: Any, home: Mapping[str, float]) -> Finding:
    """Checks that without drives, losses, stops and contacts it neither gains nor loses energy.

    What is free is thrown with a spin about all its axes.
    """
    own = spec.copy()
    own.option.timestep = SWING_STEP_S
    own.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    off = mujoco.mjtDisableBit
    own.option.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION | off.mjDSBL_CONTACT
    own.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    for body in own.bodies:
        body.gravcomp = 0.0
    model = own.compile()
    for field in (model.dof_damping, model.dof_frictionloss, model.jnt_stiffness):
        field[:] = 0.0
    data = mujoco.MjData(model)
    thrown = bool(model.njnt) and int(model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE)
    if thrown:
        data.qvel[3:6] = SPIN_RADPS
    else:
        _go_home(model, data, home)
    mujoco.mj_forward(model, data)
    start, kinetic = float(data.energy.sum()), 0.0
    for _ in range(20):
        mujoco.mj_step(model, data, round(SWING_S / SWING_STEP_S / 20))
        kinetic = max(kinetic, float(data.energy[1]))
    mujoco.mj_forward(model, data)
    drift = abs(float(data.energy.sum()) - start) / kinetic if kinetic > 1e-12 else 0.0
    detail = f"{'thrown' if thrown else 'let swing'} for {SWING_S:g} s: {drift:.1e} of {kinetic:.3g} J"
    values = {"drift": drift, "kinetic_j": kinetic}
    remedy = "look for links that are far too light for what hangs on them"
    return Finding("energy drift", drift <= DRIFT and _sane(data), detail, values, remedy)


def _at_home(spec: Any, home: Mapping[str, float]) -> tuple[Any, Any]:
    own = spec.copy()
    apply_options(own, REST_STEP_S, sleep=False)
    model = own.compile()
    data = mujoco.MjData(model)
    _go_home(model, data, home)
    for number in range(model.njnt):  # zero need not be within the limits
        if model.jnt_limited[number] and _is_single(model, number) and model.joint(number).name not in home:
            at = int(model.jnt_qposadr[number])
            data.qpos[at] = np.clip(data.qpos[at], *model.jnt_range[number])
    mujoco.mj_forward(model, data)
    return model, data


def _go_home(model: Any, data: Any, home: Mapping[str, float]) -> None:
    for joint, position in home.items():
        data.qpos[model.joint(joint).qposadr[0]] = position


def _is_single(model: Any, number: int) -> bool:
    return int(model.jnt_type[number]) in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def _within(model: Any, data: Any, number: int) -> bool:
    low, high = model.jnt_range[number]
    return bool(low - 1e-9 <= data.qpos[model.jnt_qposadr[number]] <= high + 1e-9)


def _lowest(model: Any, data: Any) -> float:
    """Returns the height of the lowest point of what can be touched, by the geoms' boxes."""
    mujoco.mj_kinematics(model, data)
    lowest = np.inf
    for geom in range(model.ngeom):
        if not model.geom_contype[geom] or model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue
        centre, half = model.geom_aabb[geom].reshape(2, 3)
        turn = data.geom_xmat[geom].reshape(3, 3)
        lowest = min(lowest, float(data.geom_xpos[geom][2] + turn[2] @ centre - np.abs(turn[2]) @ half))
    return float(lowest) if np.isfinite(lowest) else 0.0


def _sane(data: Any) -> bool:
    return bool(np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all()) and not data.warning.number.any()
