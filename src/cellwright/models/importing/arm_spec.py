"""The model of an imported arm in the form that cells expect: a base that stands, servos, a flange, wrist sensors."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import ArmFigures
from cellwright.models.arm import SERVO_INPUTS, add_wrist
from cellwright.models.description import WORLD
from cellwright.models.importing.build import frame_of
from cellwright.models.importing.chain import Chain, body_pose
from cellwright.models.importing.contacts import exclude_contacts
from cellwright.models.importing.notes import Notes, listed

__all__ = ["arm_spec", "beyond_flange", "free_flange_name", "main_root", "note_replaced", "only_subtree"]

FLANGE, OTHER_FLANGE = "flange", "cellwright_flange"
HELD_HZ = 8.0  # natural frequency of what holds a joint that does not belong to the arm


def arm_spec(spec: Any, chain: Chain, figures: ArmFigures, notes: Notes) -> Any:
    """Turns a file's spec into an arm's: all bodies, shapes and frames stay, under their own names.

    What refers to them by name (pairs that do not touch, couplings, tendons) stays as it is, too.
    """
    compiled = spec.compile()
    base, tip = compiled.body(chain.base).name, compiled.body(chain.tip_body).name
    others = [compiled.joint(n).name for n in range(compiled.njnt) if compiled.joint(n).name not in chain.joints]
    inertia = {name: float(compiled.dof_invweight0[compiled.joint(name).dofadr[0]]) for name in others}
    spec = only_subtree(spec, base, notes)
    _remove_carrier_mass(spec, base, notes)
    note_replaced(spec, "servos with the same force limits", notes)
    for item in [*spec.actuators, *spec.sensors]:
        spec.delete(item)
    body = spec.body(base)
    for joint in list(body.joints):
        spec.delete(joint)
    if beyond := beyond_flange(compiled, chain.tip_body):
        what = f"kept beyond the flange '{chain.tip_name}': a tool mounted there would stand in it"
        remedy = "where a cell gives the arm one, name another --tip or a description without it"
        notes.guessed(f"link{'s' * (len(beyond) > 1)} {listed(beyond)}", f"{what}; {remedy}")
    flange = spec.body(tip).add_body(name=figures.flange_body, **frame_of(chain.tip_pose))
    add_wrist(spec, flange)
    for link in spec.bodies:
        link.gravcomp = 1.0
    gains = zip(figures.stiffness_nm_per_rad, figures.damping_nms_per_rad, strict=True)
    for joint, (kp, kv) in zip(figures.joints, gains, strict=True):
        _drive(spec, joint, kp, kv)
    for name in others:
        if spec.joint(name) is not None:
            _hold(spec, name, inertia[name], notes)
    exclude_contacts(spec, notes)
    return spec


def beyond_flange(model: Any, body: int) -> list[str]:
    """Returns the bodies beyond the flange that have collision shapes, such as a hand of the arm's own."""
    hanging, found = {body}, []
    for number in range(body + 1, model.nbody):  # children have higher numbers
        if int(model.body_parentid[number]) in hanging:
            hanging.add(number)
            geoms = slice(model.body_geomadr[number], model.body_geomadr[number] + model.body_geomnum[number])
            if np.any(model.geom_contype[geoms] | model.geom_conaffinity[geoms]):
                found.append(str(model.body(number).name))
    return found


def only_subtree(spec: Any, root: str, notes: Notes) -> Any:
    """Returns the spec with nothing beside a body and what hangs on it; what carries it stays, fixed."""
    compiled = spec.copy().compile()
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    path, number = [], compiled.body(root).id
    while number > 0:
        path.append(compiled.body(number).name)
        number = int(compiled.body_parentid[number])
    away = []
    for above, kept in ((WORLD, path[-1]), *zip(path[:0:-1], path[-2::-1], strict=True)):
        for body in list((spec.worldbody if above == WORLD else spec.body(above)).bodies):
            if body.name != kept:
                away.append(body.name)
                spec.delete(body)
    if away:
        notes.dropped(f"link{'s' * (len(away) > 1)} {listed(away)}", f"with what hangs on it: not part of '{root}'")
        used = {geom.meshname for geom in spec.geoms}
        for mesh in [mesh for mesh in spec.meshes if mesh.name not in used]:
            spec.delete(mesh)
    above = [joint for name in path[1:] for joint in spec.body(name).joints]
    if above:
        what = f"carries '{root}', which stands still"
        notes.dropped(f"joint{'s' * (len(above) > 1)} {listed([joint.name for joint in above])}", what)
    for joint in above:
        spec.delete(joint)
    top = spec.body(path[-1])
    pose = body_pose(data, compiled.body(root).id).inverse() @ body_pose(data, compiled.body(path[-1]).id)
    top.pos, top.quat = np.array(pose.position), np.array(pose.quaternion)
    return spec


def _remove_carrier_mass(spec: Any, base: str, notes: Notes) -> None:
    """Removes the mass of what carries the base, which is not the arm's: it stands still as a shape."""
    carriers, at = [], spec.body(base)
    while (at := at.parent).name != WORLD:
        carriers.append(at)
    model = spec.copy().compile()
    heavy = [body.name for body in carriers if model.body(body.name).mass[0] > 0]
    for body in carriers:
        body.explicitinertial, body.mass, body.inertia = True, 0.0, np.zeros(3)
        body.fullinertia = np.full(6, np.nan)
    if heavy:
        what = f"carries '{base}': stands still, is seen and touched, but is not weighed"
        notes.changed(f"link{'s' * (len(heavy) > 1)} {listed(heavy)}", what)


def note_replaced(spec: Any, by: str, notes: Notes) -> None:
    """Notes that drives and sensors of the file are replaced by those that controllers know."""
    if drives := len(list(spec.actuators)):
        notes.changed("drives", f"the file's {drives} give way to {by}")
    if sensors := [sensor.name for sensor in spec.sensors]:
        notes.dropped(
            "sensors", f"{listed(sensors)}: their places are kept; what measures there is for the cell to say"
        )


def main_root(spec: Any) -> str:
    """Returns the top-level body on which most joints hang."""
    compiled = spec.copy().compile()
    roots = [body.name for body in spec.worldbody.bodies]
    joints = {root: int((compiled.body_rootid[compiled.jnt_bodyid] == compiled.body(root).id).sum()) for root in roots}
    return str(max(roots, key=lambda root: (joints[root], -roots.index(root))))


def free_flange_name(spec: Any) -> str:
    """Returns the name of the arm's own flange: `flange`, unless the file has something of that name."""
    taken = {item.name for item in (*spec.bodies, *spec.sites)}
    name, number = FLANGE, 1
    while name in taken:
        name = OTHER_FLANGE if number == 1 else f"{OTHER_FLANGE}_{number}"
        number += 1
    return name


def _drive(spec: Any, joint: Any, kp: float, kv: float) -> None:
    hinge = spec.joint(joint.name)
    effort = (-joint.effort_limit_nm, joint.effort_limit_nm)
    hinge.range, hinge.limited = joint.position_limits_rad, True
    hinge.armature = joint.armature_kgm2
    hinge.damping[0] = joint.viscous_damping_nms_per_rad
    hinge.actgravcomp = True
    hinge.actfrcrange, hinge.actfrclimited = effort, True
    servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    servo.set_to_pid(kp=kp, kv=kv, ctrlspec=SERVO_INPUTS)
    servo.ctrlrange, servo.ctrllimited = joint.position_limits_rad, True
    servo.velrange = (-joint.velocity_limit_radps, joint.velocity_limit_radps)
    servo.forcerange, servo.forcelimited = effort, True


def _hold(spec: Any, name: str, mobility: float, notes: Notes) -> None:
    """Adds a spring that keeps a joint beside the chain where it was drawn, unless it follows another."""
    if any(name in (e.name1,) for e in spec.equalities if e.type == mujoco.mjtEq.mjEQ_JOINT):
        return
    joint = spec.joint(name)
    if joint.type not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
        return
    inertia = 1 / max(mobility, 1e-6)
    omega = 2 * np.pi * HELD_HZ
    joint.stiffness[0] = inertia * omega**2
    joint.springref = joint.ref  # a spring of the file may pull elsewhere, and limits may push
    joint.range = (min(joint.range[0], joint.ref), max(joint.range[1], joint.ref))
    joint.damping[0] = max(float(joint.damping[0]), 2 * inertia * omega)
    notes.changed(f"joint {name}", "does not belong to the arm; a spring holds it where it is drawn")
