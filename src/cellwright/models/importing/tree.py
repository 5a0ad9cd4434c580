"""Makes one tree of a description: unique names, parents that exist, one root, no cycle; the rest is noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import WORLD, JointDescription, JointKind, LinkDescription, ModelDescription
from cellwright.models.importing.notes import DescriptionError, Notes, listed

__all__ = ["CollisionLink", "collision_links", "normalized_tree", "renamed", "rigid_groups"]

T = TypeVar("T", LinkDescription, JointDescription)

MOST_LINKS = 5000
DEEPEST = 500  # links that hang on each other; the engine gives up at twice as many


def normalized_tree(model: ModelDescription, file: Path, notes: Notes, *, loops: bool = False) -> ModelDescription:
    """Returns the model with one root.

    Args:
        model: As it was read.
        file: For messages.
        notes: Gets a note for every correction.
        loops: Whether a link may be the child of two joints, which close a loop; otherwise the second is dropped.

    Raises:
        DescriptionError: No link is left, or there are too many.
    """
    if len(model.links) > MOST_LINKS:
        raise DescriptionError(file, f"has {len(model.links)} links, allowed are {MOST_LINKS}")
    model = _without_slashes(_without_world_link(model, notes), notes)
    links = _once(model.links, "link", notes)
    names = {link.name for link in links}
    joints = []
    carried: dict[str, str] = {}
    for joint in _numbered(model.joints, notes):
        missing = [end for end in (joint.parent, joint.child) if end not in names and end != WORLD]
        if joint.child == WORLD:
            missing.append(WORLD)
        if missing or joint.parent == joint.child:
            why = f"link '{missing[0]}' does not exist" if missing else "it joins a link to itself"
            notes.dropped(f"joint {joint.name}", why)
            continue
        if joint.child in carried and not loops:
            what = f"link '{joint.child}' hangs on joint '{carried[joint.child]}' already"
            notes.dropped(f"joint {joint.name}", what)
            continue
        carried.setdefault(joint.child, joint.name)
        joints.append(joint)
    tree = _one_root(replace(model, links=tuple(links), joints=tuple(joints)), file, notes)
    _check_depth(tree, file)
    return _mimics_checked(_fix_immobile_joints(tree, notes), notes)


def _fix_immobile_joints(model: ModelDescription, notes: Notes) -> ModelDescription:
    """Fixes joints whose limits leave no way at that position; what follows one is fixed where that puts it."""
    by_name = {joint.name: joint for joint in model.joints}

    def position(joint: JointDescription, above: tuple[str, ...] = ()) -> float | None:
        if joint.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS) or joint.name in above:
            return None
        if joint.mimic is None:
            limits = joint.limits
            return limits.lower if limits.lower is not None and limits.lower == limits.upper else None
        leader = by_name.get(joint.mimic.joint)
        led = None if leader is None else position(leader, (*above, joint.name))
        return None if led is None else joint.mimic.multiplier * led + joint.mimic.offset

    joints = []
    for joint in model.joints:
        at = position(joint)
        if at is not None:
            why = "its limits leave no way" if joint.mimic is None else "what it follows is fixed"
            notes.changed(f"joint {joint.name}", f"{why}: it is fixed at {at:g}")
            joint = replace(joint, kind=JointKind.FIXED, pose=joint.pose @ _moved(joint, at), mimic=None)
        joints.append(joint)
    return replace(model, joints=tuple(joints))


def _moved(joint: JointDescription, position: float) -> Pose:
    """Returns the motion of a joint in its child's frame."""
    axis = np.array(joint.axis)
    if joint.kind is JointKind.PRISMATIC:
        return Pose.from_xyz_rpy(position * axis)
    turn = Pose(np.zeros(3), np.concatenate([[np.cos(position / 2)], np.sin(position / 2) * axis]))
    return Pose.from_xyz_rpy(joint.anchor_m) @ turn @ Pose.from_xyz_rpy(-np.array(joint.anchor_m))


def _check_depth(model: ModelDescription, file: Path) -> None:
    parents = {joint.child: joint.parent for joint in reversed(model.joints)}
    depths: dict[str, int] = {}
    for link in model.links:
        way = [link.name]
        while way[-1] in parents and parents[way[-1]] not in depths and len(way) <= DEEPEST:
            way.append(parents[way[-1]])
        depth = depths.get(parents.get(way[-1], ""), 0)
        for number, name in enumerate(reversed(way), 1):
            depths[name] = depth + number
        if depths[link.name] > DEEPEST:
            raise DescriptionError(
                file, f"its links hang on each other more than {DEEPEST} deep, down to '{link.name}'"
            )


def rigid_groups(model: ModelDescription) -> dict[str, int]:
    """Returns link -> number of the group of links that are fixed to each other."""
    group = {link.name: number for number, link in enumerate(model.links)}
    for joint in model.joints:
        if joint.kind is JointKind.FIXED and joint.parent != WORLD:
            old, new = group[joint.child], group[joint.parent]
            group = {name: new if number == old else number for name, number in group.items()}
    return group


class CollisionLink(NamedTuple):
    """A link of nothing but collision shapes, fixed to one that describes the body.

    Attributes:
        seen: Whether that one has looks.
        doubled: Whether that one has collision shapes of its own.
    """

    seen: bool
    doubled: bool


def collision_links(model: ModelDescription) -> dict[str, CollisionLink]:
    """Returns links that are nothing but collision shapes of another one, to which they are fixed.

    Some makers give rough shapes for self-collision a link of their own; its mass and looks are its neighbour's.
    """
    groups = rigid_groups(model)
    seen = {groups[link.name] for link in model.links if link.visuals}
    weighed = {groups[link.name] for link in model.links if link.inertial}
    bare = [link for link in model.links if link.collisions and not link.visuals and link.inertial is None]
    rough = [link for link in bare if groups[link.name] in seen | weighed]
    whole = [link for link in model.links if link.collisions and link not in rough]
    solid = {groups[link.name] for link in whole}
    return {link.name: CollisionLink(groups[link.name] in seen, groups[link.name] in solid) for link in rough}


def _once(links: tuple[LinkDescription, ...], kind: str, notes: Notes) -> list[LinkDescription]:
    seen: dict[str, LinkDescription] = {}
    for link in links:
        if link.name in seen:
            notes.dropped(f"{kind} {link.name}", "the name is used twice; the second one is left out")
        else:
            seen[link.name] = link
    return list(seen.values())


def _numbered(joints: tuple[JointDescription, ...], notes: Notes) -> list[JointDescription]:
    """Numbers joints with the same name: without one of them its child would be lost."""
    taken = {joint.name for joint in joints}
    seen: set[str] = set()
    named = []
    for joint in joints:
        if joint.name in seen:
            number = next(n for n in range(2, 10_000) if f"{joint.name}_{n}" not in taken)
            notes.changed(f"joint {joint.name}", f"the name is used twice; the second one is '{joint.name}_{number}'")
            joint = replace(joint, name=f"{joint.name}_{number}")
            taken.add(joint.name)
        seen.add(joint.name)
        named.append(joint)
    return named


def _without_world_link(model: ModelDescription, notes: Notes) -> ModelDescription:
    """Removes a bare root link `world`, a common name of the ground; any other link of that name is renamed."""
    world = next((link for link in model.links if link.name == WORLD), None)
    if world is None:
        return model
    bare = not (world.visuals or world.collisions or model.joint_of(WORLD) or len(model.links) == 1)
    if bare:
        notes.changed("link world", "stands for the ground; what hangs on it becomes a root")
        return replace(model, links=tuple(link for link in model.links if link is not world))
    other = "world_link"
    notes.changed("link world", f"the name is reserved for the ground; it is called '{other}'")

    return renamed(model, lambda name: other if name == WORLD else name)


def _without_slashes(model: ModelDescription, notes: Notes) -> ModelDescription:
    """Replaces slashes: in a cell, what stands before a slash is the robot that a name belongs to."""
    names = [*(link.name for link in model.links), *(joint.name for joint in model.joints)]
    names += [frame.name for frame in model.frames]
    slashed = [name for name in names if "/" in name]
    if slashed:
        what = f"{listed(slashed)}: a slash parts robots from links; it is an underscore now"
        notes.changed("names", what)
        return renamed(model, lambda name: name.replace("/", "_"))
    return model


def renamed(model: ModelDescription, new: Callable[[str], str]) -> ModelDescription:
    """Returns the model with other names."""
    joints = []
    for joint in model.joints:
        mimic = replace(joint.mimic, joint=new(joint.mimic.joint)) if joint.mimic else None
        changed = replace(joint, name=new(joint.name), parent=new(joint.parent), child=new(joint.child), mimic=mimic)
        joints.append(changed)
    return replace(
        model,
        links=tuple(replace(link, name=new(link.name)) for link in model.links),
        joints=tuple(joints),
        frames=tuple(replace(frame, name=new(frame.name), link=new(frame.link)) for frame in model.frames),
        sensors=tuple(replace(sensor, link=new(sensor.link)) for sensor in model.sensors),
    )


def _one_root(model: ModelDescription, file: Path, notes: Notes) -> ModelDescription:
    """Returns the model with one root, or all those that are fastened to the ground by joints of their own."""
    roots = model.roots
    if not roots:
        raise DescriptionError(file, f"model '{model.name}' has no root: its joints run in a circle")
    reached = {root: _below(model, root) for root in roots}
    grounded = [root for root in roots if model.joint_of(root) is not None]
    best = max(roots, key=lambda root: (root in grounded, len(reached[root]), -roots.index(root)))
    chosen = grounded or [best]
    for root in roots:
        if root not in chosen:
            what = f"a second root with {len(reached[root])} links; '{best}' has {len(reached[best])}"
            notes.dropped(f"link {root}", what)
    everywhere = set().union(*reached.values())
    for link in model.links:
        if link.name not in everywhere:
            notes.dropped(f"link {link.name}", "its joints run in a circle that hangs on no root")
    kept = set().union(*(reached[root] for root in chosen))
    return replace(
        model,
        links=tuple(link for link in model.links if link.name in kept),
        joints=tuple(j for j in model.joints if j.child in kept and (j.parent in kept or j.parent == WORLD)),
        frames=tuple(frame for frame in model.frames if frame.link in kept),
        sensors=tuple(sensor for sensor in model.sensors if sensor.link in kept),
    )


def _below(model: ModelDescription, root: str) -> set[str]:
    children: dict[str, list[str]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    found, waiting = {root}, [root]
    while waiting:
        for child in children.get(waiting.pop(), []):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _mimics_checked(model: ModelDescription, notes: Notes) -> ModelDescription:
    """Returns the model with mimics only of joints that exist and move, and not of each other in a circle."""
    by_name = {joint.name: joint for joint in model.joints}
    joints = []
    for joint in model.joints:
        chain: list[Any] = [joint.name]
        mimic = joint.mimic
        while mimic is not None and mimic.joint in by_name and mimic.joint not in chain:
            chain.append(mimic.joint)
            mimic = by_name[mimic.joint].mimic
        if joint.mimic is not None:
            leader = by_name.get(joint.mimic.joint)
            why = ""
            if leader is None:
                why = f"joint '{joint.mimic.joint}', which it follows, does not exist"
            elif mimic is not None and mimic.joint in chain:
                why = "its mimics run in a circle"
            elif leader.kind is JointKind.FIXED:
                why = f"joint '{leader.name}', which it follows, is fixed"
            if why:
                notes.dropped(f"joint {joint.name}", f"<mimic>: {why}; it moves by itself")
                joint = replace(joint, mimic=None)
        joints.append(joint)
    return replace(model, joints=tuple(joints))
