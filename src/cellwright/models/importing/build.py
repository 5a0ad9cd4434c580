"""From a description to an `MjSpec`: every link a body, every frame kept, nothing fused, nothing merged."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import reduce
from typing import Any

import mujoco
import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import (
    WORLD,
    FrameDescription,
    JointDescription,
    JointKind,
    LinkDescription,
    ModelDescription,
    SensorDescription,
)
from cellwright.models.importing.geoms import GeomBuilder
from cellwright.models.importing.meshes import MeshStore
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.tree import collision_links

__all__ = ["build_description", "frame_of"]

HINGE, SLIDE, BALL = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_BALL
SITE_SIZE_M = [0.005, 0.005, 0.005]
LOOP_SOLREF = [0.004, 1.0]
CLOSING = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.BALL, JointKind.FIXED)


def build_description(model: ModelDescription, store: MeshStore, notes: Notes, *, in_pieces: bool = False) -> Any:
    """Returns the model as a spec with one root body, without a joint to the world and without actuators.

    Bodies and joints have the names of the description's links and joints; a site of a link's or frame's name marks
    each of its frames, also those of links that weigh nothing. Every link must have an inertial, or be a frame.

    Args:
        model: The description.
        store: Its meshes.
        notes: Gets a note for everything that is not as in the file.
        in_pieces: Whether hollow meshes collide as convex pieces, not as their hulls.
    """
    spec = mujoco.MjSpec()
    spec.modelname = model.name
    spec.compiler.degree = False
    geoms = GeomBuilder(spec, store, notes, in_pieces=in_pieces)
    carrier = {link.name: model.joint_of(link.name) for link in model.links}
    between, rough = _only_between_joints(model), collision_links(model)
    bodies: dict[str, Any] = {}
    for link in _parents_first(model):
        if link.name in between:
            continue
        joints = [] if (joint := carrier[link.name]) is None else [joint]
        while joints and joints[0].parent in between:
            above = carrier[joints[0].parent]
            assert above is not None
            joints.insert(0, above)
        parent = joints[0].parent if joints else WORLD
        pose = reduce(operator.matmul, (joint.pose for joint in joints), Pose.identity())
        body = (spec.worldbody if parent == WORLD else bodies[parent]).add_body(name=link.name, **frame_of(pose))
        below = Pose.identity()
        turned = []
        for joint in reversed(joints):  # each as the last link of the chain sees it
            turned.append(_seen_from(joint, below))
            below = joint.pose @ below
        for joint in reversed(turned):
            _add_joint(spec, body, joint, notes)
        bodies[link.name] = body
        _add_inertial(body, link)
        if link.name not in rough:
            geoms.add(body, link)
        elif not rough[link.name].doubled:
            geoms.add(body, link, drawn=not rough[link.name].seen)
        body.add_site(name=link.name, size=SITE_SIZE_M, group=4)
    geoms.note_missing()
    taken = set(bodies)
    for frame in model.frames:
        _add_frame(bodies, frame, taken, notes)
    _add_couplings(spec, model, notes)
    for joint in model.joints:
        if joint is not carrier[joint.child]:
            _close_loop(spec, bodies, joint, notes)
    for sensor in model.sensors:
        _add_sensor(spec, bodies, sensor, notes)
    return spec


def frame_of(pose: Pose) -> dict[str, Any]:
    """Returns a pose as the arguments that MuJoCo's elements take."""
    return {"pos": np.array(pose.position), "quat": np.array(pose.quaternion)}


def _parents_first(model: ModelDescription) -> list[LinkDescription]:
    children: dict[str, list[str]] = {}
    for link in model.links:
        joint = model.joint_of(link.name)
        children.setdefault(WORLD if joint is None else joint.parent, []).append(link.name)
    by_name = {link.name: link for link in model.links}
    order, waiting = [], list(reversed(children.get(WORLD, [])))
    while waiting:
        name = waiting.pop()
        order.append(by_name[name])
        waiting.extend(reversed(children.get(name, [])))
    return order


def _only_between_joints(model: ModelDescription) -> set[str]:
    """Returns links that only stand for a second joint of the next one: no mass, no shape, no other children."""
    named = {frame.link for frame in model.frames} | {sensor.link for sensor in model.sensors}
    found = set()
    for link in model.links:
        below = [joint for joint in model.joints if joint.parent == link.name]
        above = [joint for joint in model.joints if joint.child == link.name]
        bare = link.inertial is None and not link.visuals and not link.collisions and link.name not in named
        if bare and len(below) == 1 and len(above) == 1 and JointKind.FIXED not in (below[0].kind, above[0].kind):
            found.add(link.name)
    return found


def _seen_from(joint: JointDescription, pose: Pose) -> JointDescription:
    """Returns a joint with its axes and anchor in a frame that has that pose in its child's."""
    back = pose.inverse()

    def turned(axis: tuple[float, float, float]) -> tuple[float, float, float]:
        x, y, z = back.rotation_matrix @ np.array(axis)
        return (float(x), float(y), float(z))

    x, y, z = back.apply(joint.anchor_m)
    second = None if joint.axis_2 is None else turned(joint.axis_2)
    return replace(joint, axis=turned(joint.axis), axis_2=second, anchor_m=(float(x), float(y), float(z)))


def _add_inertial(body: Any, link: LinkDescription) -> None:
    if link.inertial is None:
        return
    body.explicitinertial = True
    body.mass = link.inertial.mass_kg
    body.ipos = link.inertial.pose.position
    turn = link.inertial.pose.rotation_matrix
    tensor = turn @ link.inertial.inertia_kgm2 @ turn.T
    body.fullinertia = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _add_joint(spec: Any, body: Any, joint: JointDescription, notes: Notes) -> None:
    limits, at = joint.limits, joint.anchor_m
    match joint.kind:
        case JointKind.FIXED:
            return
        case JointKind.REVOLUTE | JointKind.CONTINUOUS | JointKind.PRISMATIC:
            kind = SLIDE if joint.kind is JointKind.PRISMATIC else HINGE
            made = body.add_joint(name=joint.name, type=kind, axis=joint.axis, pos=at)
            bounded = limits.lower is not None and limits.upper is not None
            if joint.kind is not JointKind.CONTINUOUS and bounded and joint.mimic is None:
                made.limited = True
                made.range = (limits.lower, limits.upper)
            if limits.effort and joint.mimic is None:
                made.actfrclimited = True
                made.actfrcrange = (-limits.effort, limits.effort)
            made.damping[0] = joint.damping
            made.frictionloss = joint.friction
        case JointKind.BALL:
            body.add_joint(name=joint.name, type=BALL, pos=at).damping[0] = joint.damping
        case JointKind.UNIVERSAL:
            for name, axis in ((joint.name, joint.axis), (f"{joint.name}_2", joint.axis_2 or (0.0, 1.0, 0.0))):
                body.add_joint(name=name, type=HINGE, axis=axis, pos=at).damping[0] = joint.damping
        case JointKind.SCREW:
            body.add_joint(name=f"{joint.name}_slide", type=SLIDE, axis=joint.axis, pos=at)
            body.add_joint(name=joint.name, type=HINGE, axis=joint.axis, pos=at).damping[0] = joint.damping
            _couple(spec, f"{joint.name}_slide", joint.name, joint.thread_pitch_m / (2 * np.pi), 0.0)
        case JointKind.PLANAR:
            across = list(np.eye(3)[np.argsort(np.abs(joint.axis))][:2])
            for name, row in zip(("x", "y"), across, strict=True):
                flat = row - np.array(joint.axis) * (row @ np.array(joint.axis))
                body.add_joint(name=f"{joint.name}_{name}", type=SLIDE, axis=flat / np.linalg.norm(flat))
            body.add_joint(name=f"{joint.name}_yaw", type=HINGE, axis=joint.axis)
            notes.changed(f"joint {joint.name}", "planar: two slides and a hinge")
        case JointKind.FLOATING if joint.parent == WORLD:
            body.add_freejoint(name=joint.name)
        case JointKind.FLOATING:
            for name, row in zip("xyz", np.eye(3), strict=True):
                body.add_joint(name=f"{joint.name}_{name}", type=SLIDE, axis=row)
            body.add_joint(name=joint.name, type=BALL)
            notes.changed(f"joint {joint.name}", "floating: three slides and a ball joint")


def _add_frame(bodies: dict[str, Any], frame: FrameDescription, taken: set[str], notes: Notes) -> None:
    if frame.name in taken:
        notes.dropped(f"frame {frame.name}", "the name is taken by a link or frame")
        return
    taken.add(frame.name)
    bodies[frame.link].add_site(name=frame.name, size=SITE_SIZE_M, group=4, **frame_of(frame.pose))


def _add_couplings(spec: Any, model: ModelDescription, notes: Notes) -> None:
    single = {JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.SCREW}
    kinds = {joint.name: joint.kind for joint in model.joints}
    by_name = {joint.name: joint for joint in model.joints}
    for joint in model.joints:
        if joint.mimic is None or joint.kind is JointKind.FIXED:
            continue
        if joint.kind not in single or kinds[joint.mimic.joint] not in single:
            notes.dropped(f"joint {joint.name}", "<mimic> between joints that have more than one axis")
            continue
        _note_limits(joint, by_name[joint.mimic.joint], notes)
        _couple(spec, joint.name, joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)


def _note_limits(joint: JointDescription, leader: JointDescription, notes: Notes) -> None:
    """Notes limits of followers that are not used, because a follower goes where its leader takes it."""
    ends, own = (leader.limits.lower, leader.limits.upper), (joint.limits.lower, joint.limits.upper)
    if joint.mimic is None or None in ends or None in own:
        return
    moved = sorted(joint.mimic.multiplier * (end or 0.0) + joint.mimic.offset for end in ends)
    if moved[0] < (own[0] or 0.0) - 1e-3 or moved[1] > (own[1] or 0.0) + 1e-3:
        text = (
            f"its limits {own[0]:g} to {own[1]:g} forbid where '{leader.name}' takes it ({moved[0]:g} to {moved[1]:g})"
        )
        notes.changed(f"joint {joint.name}", f"{text}; not used")


def _couple(spec: Any, follower: str, leader: str, multiplier: float, offset: float) -> None:
    spec.add_equality(
        name=f"{follower} follows {leader}",
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=follower,
        name2=leader,
        data=[offset, multiplier] + [0.0] * 10,
        solref=LOOP_SOLREF,
    )


def _close_loop(spec: Any, bodies: dict[str, Any], joint: JointDescription, notes: Notes) -> None:
    """Closes a loop: a link's second joint holds two points on its axis together, or the two links as a whole."""
    where = f"joint {joint.name}"
    if joint.parent == WORLD or joint.kind not in CLOSING:
        notes.dropped(where, f"closes a loop with a {joint.kind} joint, for which there is no constraint")
        return
    parent, child = bodies[joint.parent], bodies[joint.child]
    points = [np.array(joint.anchor_m)]
    if joint.kind is not JointKind.BALL:
        points.append(points[0] + 0.05 * np.array(joint.axis))
    if joint.kind is JointKind.FIXED:
        points.append(points[0] + 0.05 * np.cross(joint.axis, np.eye(3)[np.argmin(np.abs(joint.axis))]))
    for number, point in enumerate(points):
        ends = (f"{joint.name} parent {number}", f"{joint.name} child {number}")
        parent.add_site(name=ends[0], pos=joint.pose.apply(point), size=SITE_SIZE_M, group=4)
        child.add_site(name=ends[1], pos=point, size=SITE_SIZE_M, group=4)
        spec.add_equality(
            name=f"{joint.name} {number}",
            type=mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=ends[0],
            name2=ends[1],
            solref=LOOP_SOLREF,
        )
    notes.changed(where, f"closes a loop: held by {len(points)} point constraints")


def _lens(sensor: SensorDescription) -> dict[str, Any]:
    """Returns the vertical opening angle and the pixels, from the horizontal angle (1.047 rad is SDF's default)."""

    def number(ending: str, default: float) -> float:
        text = next((value for key, value in sensor.settings.items() if key.endswith(ending)), "")
        try:
            return float(text)
        except ValueError:
            return default

    wide, high = number("image/width", 320), number("image/height", 240)
    angle = min(max(number("horizontal_fov", 1.047), 0.01), 3.0)
    if wide < 1 or high < 1:
        return {}
    tangent = np.tan(angle / 2) * high / wide
    return {"fovy": float(np.degrees(2 * np.arctan(tangent))), "resolution": [int(wide), int(high)]}


def _add_sensor(spec: Any, bodies: dict[str, Any], sensor: SensorDescription, notes: Notes) -> None:
    body = bodies[sensor.link]
    site = f"sensor {sensor.name}"
    body.add_site(name=site, size=SITE_SIZE_M, group=4, **frame_of(sensor.pose))
    kinds = {
        "imu": (("acceleration", mujoco.mjtSensor.mjSENS_ACCELEROMETER), ("turn", mujoco.mjtSensor.mjSENS_GYRO)),
        "force_torque": (("force", mujoco.mjtSensor.mjSENS_FORCE), ("torque", mujoco.mjtSensor.mjSENS_TORQUE)),
    }
    if sensor.kind in ("camera", "depth", "depth_camera", "rgbd_camera"):
        turn = Pose.from_xyz_rpy((0.0, 0.0, 0.0), (np.pi / 2, 0.0, -np.pi / 2))  # x forward -> -z forward
        body.add_camera(name=sensor.name, **_lens(sensor), **frame_of(sensor.pose @ turn))
        text = "a camera of the model; for pictures the cell names one of its own"
        notes.changed(f"sensor {sensor.name}", f"a {sensor.kind} at {sensor.rate_hz or 0:g} Hz is {text}")
    elif sensor.kind in kinds:
        for name, kind in kinds[sensor.kind]:
            spec.add_sensor(name=f"{sensor.name}_{name}", type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site)
    else:
        notes.dropped(f"sensor {sensor.name}", f"a {sensor.kind} is not simulated; its place is kept as site '{site}'")
