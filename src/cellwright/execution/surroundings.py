"""Geometry of what stands about a robot, from the belief state: heights, covers, what lies on a kit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from cellwright.execution.outline import is_over, leans_on
from cellwright.knowledge import BeliefState, BelievedPart
from cellwright.knowledge.tray_layout import tray_layout
from cellwright.orders import KitDesign

__all__ = ["box_of", "carried", "extras", "is_covered", "is_loose", "is_movable", "reaches", "top_m"]

Array = npt.NDArray[np.float64]

NEAR_M = 0.25  # beyond what a robot reaches, nothing is in its way
BESIDE_M = 0.001  # a part that is nearer to a tray than this may touch it: detectors err by a third of it
ON_FLOOR_M = 0.005  # a tray that is seen so near to the floor of a box stands on it
COVERS_M = 0.05  # trays on top of each other are nearer than this; those side by side are not
DEVIATIONS = 2.0  # by which something may be lower than it is believed to be
NEAREST_DEVIATIONS = 3.0  # by which it may be nearer
HIGHEST_M = 0.20  # above a tray; what is believed to be higher hangs in a hand


def box_of(believed: BeliefState, kit: str) -> str:
    """Returns the box for finished kits that a kit is seen to be in; empty when it is in none."""
    for box in believed.relations.capacity:
        if box not in believed.relations.sizes or not believed.has_pose(box):
            continue
        length_m, width_m, _ = believed.relations.sizes[box]
        x, y, z = np.abs((believed.pose(box).inverse() @ believed.pose(kit)).position)
        if x <= length_m / 2 and y <= width_m / 2 and z <= ON_FLOOR_M:
            return box
    return ""


def is_covered(believed: BeliefState, tray: str) -> bool:
    """Returns whether another tray lies on it: no detector above sees it then."""
    here = believed.pose(tray).position
    apart = [believed.pose(other).position - here for other in believed.trays() if other != tray]
    return any(z > 0.0 and np.hypot(x, y) < COVERS_M for x, y, z in apart)


def carried(believed: BeliefState) -> frozenset[str]:
    """Returns trays in hands, and the parts that are seen on them."""
    found: set[str] = set()
    for thing in believed.held.values():
        tray = believed.detected_as(thing)
        if believed.kind(tray) != "KitTray" or not believed.has_pose(tray):
            continue
        found.add(tray)
        length_m, width_m, height_m = tray_layout(believed.sku(tray)).size_m
        from_world = believed.pose(tray).inverse()
        for part in believed.parts():
            x, y, z = np.abs(from_world.apply(part.position))
            if x <= length_m / 2 and y <= width_m / 2 and z <= height_m + HIGHEST_M / 2:
                found.add(part.name)
    return frozenset(found)


def extras(believed: BeliefState, kit: str, design: KitDesign, parts: Iterable[BelievedPart]) -> list[BelievedPart]:
    """Returns parts that lie on the tray of a kit, or lean on it, and in none of the slots of its design.

    A part whose height is not known well may lie lower than it is believed to: what may touch the kit counts.
    """
    tray = believed.tray_of.get(kit, "")
    if not tray or not believed.has_pose(kit):
        return []
    size_m = length_m, width_m, height_m = tray_layout(believed.sku(tray)).size_m
    from_world, slots = believed.pose(kit).inverse(), believed.slots_of_kit(kit, design)
    found = []
    for part in parts:
        x, y, z = from_world.apply(part.position)
        beside_m = np.hypot(max(abs(x) - length_m / 2, 0.0), max(abs(y) - width_m / 2, 0.0))
        if beside_m >= part.reach_m + BESIDE_M or z >= height_m + HIGHEST_M / 2:
            continue
        if any(slot.holds(part) for slot in slots) or not is_loose(believed, part, besides=kit):
            continue
        unknown_m = max(DEVIATIONS * float(np.sqrt(believed.variances(part.name)[2])) - BESIDE_M, 0.0)
        pose, lower_m = from_world @ part.pose_in_world, min(unknown_m, max(z, 0.0))
        near_m = max(BESIDE_M, NEAREST_DEVIATIONS * part.sd_m)
        if is_over(part.sku, pose, size_m) or leans_on(part.sku, pose, size_m, near_m, lower_m):
            found.append(part)
    return found


def is_loose(believed: BeliefState, part: BelievedPart, besides: str = "") -> bool:
    """Returns whether a part lies in no slot of a parts tray and of no kit; the slots of one kit may be left out."""
    trays = [tray.name for tray in believed.of_kind("PartsTray") if believed.has_pose(tray.name)]
    if any(slot.holds(part) for tray in trays for slot in believed.slots_of_tray(tray)):
        return False
    kits = [kit.name for kit in believed.of_kind("Kit") if kit.name != besides]
    return not any(slot.holds(part) for kit in kits for slot in believed.slots_on_kit_tray(kit))


def is_movable(believed: BeliefState, tray: str) -> bool:
    """Returns whether a tray need not stay: a kit tray of no kit, or of one that robots carry about.

    One that no drawing has, and that was only seen, may be gone again, or never have been there.
    """
    thing = believed.objects[tray]
    if believed.kind(thing.reference or "") == "KittingWorkstation":
        return True
    return thing.kind == "KitTray" and (thing.reference or "") not in believed.stationary


def reaches(believed: BeliefState, robot: str, point: Array) -> bool:
    """Returns whether a point lies between the places that the robot is known to reach; an estimate."""
    boxes = believed.relations.boxes.get(robot)
    if boxes is None:
        return False
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    return bool(((low <= point) & (point <= high)).all())


def top_m(believed: BeliefState, robot: str) -> float:
    """Returns the height of the highest thing that stands where the robot works."""
    boxes = believed.relations.boxes.get(robot)
    if boxes is None:
        return 0.0
    low, high = boxes[:, 0].min(axis=0)[:2] - NEAR_M, boxes[:, 1].max(axis=0)[:2] + NEAR_M
    tree, in_air = believed.tree, carried(believed)
    is_near = ((low <= tree.in_world[:, :2, 3]) & (tree.in_world[:, :2, 3] <= high)).all(axis=1)
    trays = [tray for tray in believed.trays() if tray not in in_air and is_near[tree.index[tray]]]
    tray_top_m = max(
        (float(tree.in_world[tree.index[t], 2, 3]) + tray_layout(believed.sku(t)).size_m[2] for t in trays), default=0.0
    )
    parts = (part for part in believed.parts() if part.name not in in_air and is_near[tree.index[part.name]])
    tops = (part.top_m for part in parts if part.top_m <= tray_top_m + HIGHEST_M)
    return max(tray_top_m if trays else 0.0, max(tops, default=0.0))
