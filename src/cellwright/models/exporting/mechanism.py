"""Descriptions in a form that a less expressive format can hold: one robot, joints at the origin of their child."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import (
    WORLD,
    FrameDescription,
    JointDescription,
    JointKind,
    LinkDescription,
    ModelDescription,
    PlacedModel,
    SensorDescription,
    WorldDescription,
)
from cellwright.models.importing.notes import Notes

__all__ = ["as_one_model", "as_world", "is_open_at_zero", "with_plain_joints", "without_loops"]

AT_ORIGIN_M = 1e-12
LOOP_M = 1e-6
ANCHOR_FREE_KINDS = (JointKind.FIXED, JointKind.PRISMATIC, JointKind.FLOATING, JointKind.PLANAR)
"""Kinds whose motion is the same wherever their axis is."""
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def as_one_model(world: WorldDescription) -> ModelDescription:
    """Returns all models as one that hangs on the ground: `link_1` of `fanuc` becomes `fanuc/link_1`.

    What may go anywhere hangs on a floating joint, the rest as it did.
    """
    links: list[LinkDescription] = []
    joints: list[JointDescription] = []
    frames: list[FrameDescription] = []
    sensors: list[SensorDescription] = []
    for placed in world.models:
        model, name = placed.model, placed.model.name

        def called(own: str, name: str = name) -> str:
            return own if own in (WORLD, name) else f"{name}/{own}"

        for link in model.links:
            visuals, collisions = (
                tuple(replace(shape, name=f"{name}/{shape.name}" if shape.name else "") for shape in shapes)
                for shapes in (link.visuals, link.collisions)
            )
            links.append(replace(link, name=called(link.name), visuals=visuals, collisions=collisions))
        frames += [replace(frame, name=called(frame.name), link=called(frame.link)) for frame in model.frames]
        sensors += [replace(sensor, name=called(sensor.name), link=called(sensor.link)) for sensor in model.sensors]
        fastened = {joint.child for joint in model.joints if joint.parent == WORLD}
        for root in model.roots:
            if root not in fastened:
                kind = JointKind.FIXED if model.static else JointKind.FLOATING
                ending = "fixed" if model.static else "floating"
                carrier = f"{called(root)}_{ending}"
                joints.append(
                    JointDescription(name=carrier, kind=kind, parent=WORLD, child=called(root), pose=placed.pose)
                )
        for joint in model.joints:
            moved = replace(joint, name=f"{name}/{joint.name}", parent=called(joint.parent), child=called(joint.child))
            if joint.mimic is not None:
                moved = replace(moved, mimic=replace(joint.mimic, joint=f"{name}/{joint.mimic.joint}"))
            if joint.parent == WORLD:
                moved = replace(moved, pose=placed.pose @ joint.pose)
            joints.append(moved)
    return ModelDescription(
        name=world.name, links=tuple(links), joints=tuple(joints), frames=tuple(frames), sensors=tuple(sensors)
    )


def as_world(model: ModelDescription) -> WorldDescription | ModelDescription:
    """Returns a model that hangs on the ground in several places as a world of models; an indivisible one as it is."""
    owner = {root: root for root in model.roots}
    waiting = list(owner)
    while waiting:
        link = waiting.pop()
        inner = [j.child for j in model.joints if j.parent == link and model.joint_of(j.child) is j]
        owner |= dict.fromkeys(inner, owner[link])
        waiting += inner
    ties = [(joint.parent, joint.child) for joint in model.joints if joint.parent != WORLD]
    ties += [(joint.child, other.child) for joint in model.joints for other in model.joints if _follows(joint, other)]
    if len(model.roots) == 1 or any(owner[one] != owner[other] for one, other in ties):
        return model
    placed = []
    for root in model.roots:
        carrier = model.joint_of(root)
        joints = [joint for joint in model.joints if owner[joint.child] == root and joint.parent != WORLD]
        free = carrier is None or carrier.kind is JointKind.FLOATING
        static = not free and all(joint.kind is JointKind.FIXED for joint in (carrier, *joints) if joint)
        if carrier is not None and not free and not static:
            joints.insert(0, replace(carrier, pose=Pose.identity()))
        own = ModelDescription(
            name=root,
            links=tuple(link for link in model.links if owner[link.name] == root),
            joints=tuple(joints),
            frames=tuple(frame for frame in model.frames if owner[frame.link] == root),
            sensors=tuple(sensor for sensor in model.sensors if owner[sensor.link] == root),
            static=static,
        )
        placed.append(PlacedModel(model=own, pose=Pose.identity() if carrier is None else carrier.pose))
    return WorldDescription(name=model.name, models=tuple(placed))


def _follows(joint: JointDescription, other: JointDescription) -> bool:
    return joint.mimic is not None and joint.mimic.joint == other.name


def without_loops(model: ModelDescription, notes: Notes) -> ModelDescription:
    """Returns the model as a tree: a link hangs on its first joint."""
    carried: set[str] = set()
    kept = []
    for joint in model.joints:
        if joint.child in carried:
            notes.dropped(f"joint {joint.name}", "closes a loop; the format has trees only")
        else:
            carried.add(joint.child)
            kept.append(joint)
    return replace(model, joints=tuple(kept))


def with_plain_joints(model: ModelDescription, notes: Notes) -> ModelDescription:
    """Returns the model with every joint turning about or sliding along an axis through the origin of its child.

    Where it does not, links without mass come between: one for an axis elsewhere, one or two for the further axes of
    universal and ball joints. A screw, which couples two motions, stays at its zero.
    """
    links: list[LinkDescription] = list(model.links)
    joints: list[JointDescription] = []
    for joint in model.joints:
        if joint.kind is JointKind.SCREW:
            notes.changed(f"joint {joint.name}", "a screw cannot be said; written as fixed")
            joint = replace(joint, kind=JointKind.FIXED)
        axes = _axes(joint)
        offset = Pose(np.array(joint.anchor_m), np.array([1.0, 0.0, 0.0, 0.0]))
        away = joint.kind not in ANCHOR_FREE_KINDS and max(map(abs, joint.anchor_m)) > AT_ORIGIN_M
        if len(axes) == 1 and not away:
            joints.append(replace(joint, anchor_m=(0.0, 0.0, 0.0)))
            continue
        what = (
            "its axis is not at its child's origin" if len(axes) == 1 else f"a {joint.kind} joint has {len(axes)} axes"
        )
        notes.changed(f"joint {joint.name}", f"{what}; links without mass come between")
        parent, pose = joint.parent, joint.pose @ offset if away else joint.pose
        for number, axis in enumerate(axes, 1):
            last = number == len(axes) and not away
            child = joint.child if last else f"{joint.child}_axis_{number}"
            if not last:
                links.append(LinkDescription(name=child))
            kind = joint.kind if len(axes) == 1 else JointKind.CONTINUOUS
            name = joint.name if len(axes) == 1 else f"{joint.name}_{number}"
            limits = joint.limits if len(axes) == 1 else replace(joint.limits, lower=None, upper=None)
            turn = replace(joint, name=name, kind=kind, parent=parent, child=child, pose=pose, axis=axis, limits=limits)
            joints.append(replace(turn, anchor_m=(0.0, 0.0, 0.0), axis_2=None))
            parent, pose = child, Pose.identity()
        if away:
            back = JointDescription(name=f"{joint.name}_back", kind=JointKind.FIXED, parent=parent, child=joint.child)
            joints.append(replace(back, pose=offset.inverse()))
    return replace(model, links=tuple(links), joints=tuple(joints))


def _axes(joint: JointDescription) -> list[tuple[float, float, float]]:
    match joint.kind:
        case JointKind.BALL:
            return list(AXES)
        case JointKind.UNIVERSAL:
            return [joint.axis, joint.axis_2 or AXES[1]]
    return [joint.axis]


def is_open_at_zero(model: ModelDescription, joint: JointDescription) -> bool:
    """Returns whether a joint that closes a loop is torn apart where all joints are at zero.

    Formats that know loops take the place of the second joint from the poses of the links there.
    """
    ends = joint.pose.apply(joint.anchor_m), np.array(joint.anchor_m)
    places = []
    for link, point in zip((joint.parent, joint.child), ends, strict=True):
        carrier = model.joint_of(link)
        while carrier is not None:
            point = carrier.pose.apply(point)
            carrier = model.joint_of(carrier.parent)
        places.append(point)
    return bool(np.linalg.norm(places[0] - places[1]) > LOOP_M)
