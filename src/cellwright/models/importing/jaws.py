"""Analysis of a gripper's mechanism: the joint that drives it, the two pads that meet, and their distance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.models.importing.notes import Notes

__all__ = ["PREFIX", "Jaws", "analyse_jaws", "branch_of", "find_driver", "more_fingers", "pad_box"]

Array = npt.NDArray[np.float64]
PREFIX = "own "
"""Before the names of the file's elements, which then cannot meet those that controllers look for."""

STEPS = 13
SETTLE_STEPS = 400
FAR_M = 1.0
LEAST_STROKE_M = 0.002
UNLIMITED = 1.0  # rad or m either way, of a driver without limits
FLUSH_M = 0.0002  # by which pieces of one pad may differ
AS_FAR = 0.9  # as the pads reach out: what moves there is a finger, too


@dataclass(frozen=True, eq=False)
class Jaws:
    """A gripper's mechanism, sampled from end to end.

    Attributes:
        driver: Name of the driven joint.
        positions: Its positions, from open to closed (n).
        halves_m: Distance of each pad from the middle there (n), falling.
        qpos: Positions of all joints there (n, nq).
        pads: The two geoms that meet, by their numbers.
        faces: Of each finger, its pad and what else of it lies flush with that: pads may be of several pieces.
        middle_m: Between the closed pads, in the root's frame.
        jaw_axis: From the second pad to the first, in the root's frame.
    """

    driver: str
    positions: Array
    halves_m: Array
    qpos: Array
    pads: tuple[int, int]
    faces: tuple[tuple[int, ...], tuple[int, ...]]
    middle_m: Array
    jaw_axis: Array


def find_driver(model: Any, where: str, notes: Notes) -> tuple[int, list[int]]:
    """Returns the driving joint, and other joints that move by themselves."""
    coupled = [n for n in range(model.neq) if model.eq_type[n] == mujoco.mjtEq.mjEQ_JOINT]
    followers = {int(model.eq_obj1id[n]) for n in coupled}
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    free = [n for n in range(model.njnt) if n not in followers and int(model.jnt_type[n]) in single]
    if not free:
        raise BadInput(f"{where}: no joint moves; a gripper has one that is driven")
    leads = {n: sum(int(model.eq_obj2id[e]) == n for e in coupled) for n in free}
    on_joint = model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT
    driven = model.actuator_trnid[on_joint, 0].tolist()
    tendons = [
        int(model.actuator_trnid[a, 0])
        for a in range(model.nu)
        if model.actuator_trntype[a] == mujoco.mjtTrn.mjTRN_TENDON
    ]
    wrapped = {int(model.wrap_objid[model.tendon_adr[t]]) for t in tendons}
    limited = {n: bool(model.jnt_limited[n]) for n in free}
    best = max(free, key=lambda n: (n in wrapped, leads[n], limited[n], n in driven, -n))
    others = [n for n in free if n != best]
    if leads[best] == 0 and best not in wrapped and others:
        notes.guessed(f"joint {model.joint(best).name}", "nothing says which joint drives; this one is taken")
    if not limited[best]:
        notes.guessed(f"joint {model.joint(best).name}", f"no position limits: -{UNLIMITED:g} to {UNLIMITED:g}")
    return best, others


def analyse_jaws(model: Any, driver: int, where: str) -> Jaws:
    """Samples the driver's range and finds the pads' positions; what hangs on constraints follows by physics."""
    low, high = model.jnt_range[driver] if model.jnt_limited[driver] else (-UNLIMITED, UNLIMITED)
    positions = np.linspace(low, high, STEPS)
    qpos = _sweep(model, driver, positions)
    pads = _pads(model, qpos, where)
    data = mujoco.MjData(model)
    gaps, ends = [], []
    for row in qpos:
        gap, points = _gap(model, data, row, *pads)
        gaps.append(gap)
        ends.append(points)
    if gaps[0] < gaps[-1]:
        positions, qpos, gaps, ends = positions[::-1], qpos[::-1], gaps[::-1], ends[::-1]
    widths = np.array(gaps)
    last = int(np.argmax(widths <= 0)) if (widths <= 0).any() else len(widths) - 1
    if last < 2:
        raise BadInput(f"{where}: its pads overlap when it is open")
    positions, qpos, widths, ends = positions[: last + 1], qpos[: last + 1], widths[: last + 1], ends[: last + 1]
    keep = np.concatenate([[True], np.diff(widths) < 0])
    first, second = ends[-2][:3], ends[-2][3:]
    axis = first - second
    if not np.linalg.norm(axis) > 1e-9:
        raise BadInput(f"{where}: its pads do not face each other")
    axis /= np.linalg.norm(axis)
    _gap(model, data, qpos[-1], *pads)
    flush = [_flush(model, data, pad, side * axis) for pad, side in zip(pads, (-1.0, 1.0), strict=True)]
    faces = [_face(model, data, geoms, side * axis) for geoms, side in zip(flush, (-1.0, 1.0), strict=True)]
    return Jaws(
        driver=model.joint(driver).name,
        positions=positions[keep],
        halves_m=np.maximum(widths[keep], 0.0) / 2,
        qpos=qpos[keep],
        pads=pads,
        faces=(flush[0], flush[1]),
        middle_m=(faces[0] + faces[1]) / 2,
        jaw_axis=axis,
    )


def branch_of(model: Any, body: int) -> int:
    """Returns the first body from the root on that moves and carries this one: a finger's first link."""
    body = int(model.body_weldid[body])
    while model.body_weldid[model.body_parentid[body]] != 0:
        body = int(model.body_weldid[model.body_parentid[body]])
    return body


def more_fingers(model: Any, jaws: Jaws) -> list[str]:
    """Returns bodies of other branches than the pads' that move and reach out as far as they do."""
    data = mujoco.MjData(model)
    data.qpos[:] = jaws.qpos[-1]
    mujoco.mj_kinematics(model, data)
    out = jaws.middle_m - jaws.jaw_axis * (jaws.jaw_axis @ jaws.middle_m)
    out /= max(float(np.linalg.norm(out)), 1e-9)

    def branch(geom: int) -> int:
        return branch_of(model, int(model.geom_bodyid[geom]))

    def reach(geom: int) -> float:
        centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        turn = data.geom_xmat[geom].reshape(3, 3)
        return float(out @ (data.geom_xpos[geom] + turn @ centre) + np.abs(out @ turn) @ half)

    touched = np.flatnonzero((model.geom_contype + model.geom_conaffinity) > 0)
    moving = [int(g) for g in touched if model.body_weldid[model.geom_bodyid[g]] != 0]
    least = AS_FAR * min(reach(pad) for pad in jaws.pads)
    mine = {branch(pad) for pad in jaws.pads}
    found = {
        branch(geom): model.geom_bodyid[geom] for geom in moving if branch(geom) not in mine and reach(geom) > least
    }
    return [model.body(int(body)).name for body in found.values()]


def pad_box(model: Any, jaws: Jaws, turn: Pose) -> tuple[Array, Array, Array]:
    """Returns the first pad's corners when closed, in the flange's frame; and how much nearer its end was before.

    It ends where the fingers end, also on their way: those on linkages may reach farther out before they are closed.

    Args:
        model: The gripper.
        jaws: Its mechanism.
        turn: The root's pose in the flange's frame.
    """
    data = mujoco.MjData(model)

    def corners(geom: int) -> Array:
        own = model.geom_aabb[geom, :3] + model.geom_aabb[geom, 3:] * np.array(list(product((-1.0, 1.0), repeat=3)))
        return np.array([turn.apply(data.geom_xmat[geom].reshape(3, 3) @ c + data.geom_xpos[geom]) for c in own])

    touched = np.flatnonzero((model.geom_contype + model.geom_conaffinity) > 0)
    moving = [int(geom) for geom in touched if model.body_weldid[model.geom_bodyid[geom]] != 0]
    tips = []
    for qpos in jaws.qpos:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        tips.append(max(corners(geom)[:, 2].max() for geom in moving))
    pad = np.concatenate([corners(geom) for geom in jaws.faces[0]])
    low, high = pad.min(axis=0), pad.max(axis=0)
    high[2] = max(tips)
    return low, high, max(tips) - np.array(tips)


def _sweep(model: Any, driver: int, positions: Array) -> Array:
    """Returns positions of all joints for each of the driver's."""
    data = mujoco.MjData(model)
    model.opt.gravity[:] = 0
    model.opt.timestep = 0.002
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    model.dof_damping[:] = np.maximum(model.dof_damping, 1e-3)
    at, dof = int(model.jnt_qposadr[driver]), int(model.jnt_dofadr[driver])
    rows = []
    mujoco.mj_forward(model, data)
    for position in positions:
        start = float(data.qpos[at])
        for step in range(SETTLE_STEPS):
            share = min(1.0, (step + 1) / (SETTLE_STEPS / 2))
            data.qpos[at] = start + (position - start) * share
            data.qvel[dof] = 0.0
            if share == 1.0:
                data.qvel[:] *= 0.9
            mujoco.mj_step(model, data)
        data.qpos[at] = position
        rows.append(np.array(data.qpos))
    return np.array(rows)


def _gap(model: Any, data: Any, qpos: Array, first: int, second: int) -> tuple[float, Array]:
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    ends = np.zeros(6)
    gap = float(mujoco.mj_geomDistance(model, data, first, second, FAR_M, ends))
    return gap, ends


def _points(model: Any, data: Any, geom: int) -> Array:
    """Returns corners of a geom, or of the box round it."""
    turn, place = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        own = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(float)
    else:
        centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        own = centre + half * np.array(list(product((-1.0, 1.0), repeat=3)))
    return np.asarray(own @ turn.T + place)


def _flush(model: Any, data: Any, pad: int, inwards: Array) -> tuple[int, ...]:
    """Returns a pad, and the other solid geoms of its body that reach as far inwards."""
    at = float((_points(model, data, pad) @ inwards).max())
    same = model.body_weldid[model.geom_bodyid] == model.body_weldid[model.geom_bodyid[pad]]
    solid = same & ((model.geom_contype + model.geom_conaffinity) > 0)
    others = [int(geom) for geom in np.flatnonzero(solid) if geom != pad]
    return (pad, *(g for g in others if abs(float((_points(model, data, g) @ inwards).max()) - at) < FLUSH_M))


def _face(model: Any, data: Any, geoms: tuple[int, ...], inwards: Array) -> Array:
    """Returns the middle of the side of a pad that looks at the other one."""
    found = []
    for geom in geoms:
        points = _points(model, data, geom)
        along = points @ inwards
        found.append(points[along >= along.max() - 0.15 * np.ptp(along)])
    near = np.concatenate(found)
    return np.asarray((near.min(axis=0) + near.max(axis=0)) / 2)


def _pads(model: Any, qpos: Array, where: str) -> tuple[int, int]:
    """Returns the two geoms whose distance changes most and that come nearest; of several, the outermost."""
    touched = [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    moving = [g for g in touched if model.body_weldid[model.geom_bodyid[g]] != 0]
    data = mujoco.MjData(model)
    best: tuple[float, tuple[int, int]] | None = None
    for first, second in combinations(moving, 2):
        if model.body_weldid[model.geom_bodyid[first]] == model.body_weldid[model.geom_bodyid[second]]:
            continue
        ends = [_gap(model, data, qpos[i], first, second)[0] for i in (0, -1)]
        stroke, nearest = abs(ends[0] - ends[1]), max(min(ends), 0.0)
        out = float(np.linalg.norm((data.geom_xpos[first] + data.geom_xpos[second]) / 2))
        score = stroke - 2 * nearest + 0.3 * out
        if stroke >= LEAST_STROKE_M and (best is None or score > best[0]):
            best = (score, (first, second))
    if best is None:
        raise BadInput(f"{where}: no two solid parts move towards each other; a gripper needs two fingers that do")
    return best[1]
