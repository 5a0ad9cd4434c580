"""The definition of a complete kit, by the true state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import TrayFigures
from cellwright.core.errors import BadInput
from cellwright.judge.boxes import boxes_of
from cellwright.judge.seating import Seating, judge_slots
from cellwright.orders import KitDesign
from cellwright.sim import World

__all__ = ["IN_BOX", "TOOL_CLEAR", "KitItem", "KitVerdict", "judge_kit", "parts_on"]

IN_BOX, TOOL_CLEAR = "in its box", "tool clear"
CLEAR_M = 0.010  # a tool is clear of a tray when it is at least so far from it and what is on it
ON_TRAY_M = 0.0005  # a part this near to a tray touches it
ABOVE_M = 0.10  # what is higher above a tray is not on it


@dataclass(frozen=True)
class KitItem:
    """One thing that a complete kit needs: the tray, a slot, no extras, a tool out of the way, its box.

    Attributes:
        name: Which.
        passed: Whether it is so.
        reason: Why not, or how well.
        right_part: Of a slot, whether a part of the right SKU is there, seated or not.
    """

    name: str
    passed: bool
    reason: str
    right_part: bool = False


@dataclass(frozen=True)
class KitVerdict:
    """The verdict on a kit: complete or not, and why.

    Attributes:
        tray: The tray that was judged.
        design: What it should be.
        items: `tray`, the design's slots by name, `extras`, `tool clear`; in a cell with boxes for finished kits also
            `in its box`.
        seatings: What is in each slot of the design.
    """

    tray: str
    design: str
    items: tuple[KitItem, ...]
    seatings: tuple[Seating, ...] = ()

    @property
    def done(self) -> bool:
        """True if every item passed."""
        return all(item.passed for item in self.items)

    @property
    def reason(self) -> str:
        """The reason why it is not complete, in one line."""
        if self.items and {(item.passed, item.reason) for item in self.items} == {(False, self.items[0].reason)}:
            return self.items[0].reason  # once is enough
        wrong = "; ".join(f"{item.name}: {item.reason}" for item in self.items if not item.passed)
        return wrong or f"complete: {len(self.seatings)} parts seated"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {**asdict(self), "done": self.done, "reason": self.reason}


def judge_kit(world: World, tray_name: str, design: KitDesign) -> KitVerdict:
    """Returns the verdict on the kit on a tray. A tray that has been taken away is an empty kit, not an error.

    In a cell with boxes for finished kits the tray must also stand in one.

    Raises:
        BadInput: for something that is no tray.
    """
    if tray_name not in world.objects:
        gone = "the tray is not there"
        slots = tuple(KitItem(slot.name, False, gone) for slot in design.slots)
        boxed = [KitItem(IN_BOX, False, gone)] if boxes_of(world).outlets else []
        return KitVerdict(tray_name, design.name, (KitItem("tray", False, gone), *slots, *boxed))
    tray = world.objects[tray_name].figures
    if not isinstance(tray, TrayFigures):
        raise BadInput(f"'{tray_name}' is not a tray")
    right = tray.sku == design.tray_sku
    reason = f"a {tray.sku}" if right else f"it is a {tray.sku}, the kit needs a {design.tray_sku}"
    items = [KitItem("tray", right, reason)]
    by_name = {seating.slot.partition("/")[2]: seating for seating in judge_slots(world, tray_name)}
    seatings = []
    for slot in design.slots:
        seating = by_name.get(slot.name)
        if seating is None:
            items.append(KitItem(slot.name, False, f"{tray_name} has no {slot.name}"))
            continue
        seatings.append(seating)
        items.append(_slot_item(world, slot.name, slot.sku, seating))
    ours = {seating.part for seating in seatings}
    extras = sorted(part for part in parts_on(world, tray_name, tray) if part not in ours)
    items.append(KitItem("extras", not extras, f"{', '.join(extras)} on the tray" if extras else "nothing extra"))
    items.append(_tool_item(world, tray_name, ours))
    if (boxes := boxes_of(world)).outlets:
        placement = boxes.placement(world, tray_name)
        items.append(KitItem(IN_BOX, placement.stands, placement.reason))
    return KitVerdict(tray_name, design.name, tuple(items), tuple(seatings))


def _slot_item(world: World, name: str, sku: str, seating: Seating) -> KitItem:
    if seating.part and world.objects[seating.part].sku != sku:
        return KitItem(name, False, f"{seating.part} is a {world.objects[seating.part].sku}, wanted is a {sku}")
    if not seating.part:
        return KitItem(name, False, seating.reason)
    return KitItem(name, seating.seated, f"{seating.part}: {seating.reason}", right_part=True)


def parts_on(world: World, tray_name: str, tray: TrayFigures) -> Iterator[str]:
    """Returns parts whose middle is over the tray, or that touch it from above; not those that a hand carries."""
    world_in_tray = world.pose_of(tray_name).inverse()
    half = np.array(tray.size_m) / 2
    tray_geoms = _geoms(world, [world.objects[tray_name].body])
    for name, item in world.objects.items():
        if item.is_tray:
            continue
        x, y, z = world_in_tray.apply(world.data.xipos[item.body])
        if not (np.hypot(*half) + 0.1 > np.hypot(x, y) and -tray.thickness_m < z < ABOVE_M):
            continue
        over = abs(x) <= half[0] and abs(y) <= half[1]
        if over or z > tray.thickness_m:
            others = [world.objects[n].body for n, o in world.objects.items() if n != name and not o.is_tray]
            touched = tray_geoms if not over else [*tray_geoms, *_geoms(world, others)]
            if _nearest_m(world, _geoms(world, [item.body]), touched, ON_TRAY_M) <= ON_TRAY_M:
                yield name


def _tool_item(world: World, tray_name: str, parts: set[str]) -> KitItem:
    bodies = [world.objects[name].body for name in (tray_name, *sorted(parts)) if name]
    around = _geoms(world, bodies)
    for name, robot in world.robots.items():
        if robot.hand is None:
            continue
        distance_m = _nearest_m(world, _geoms(world, list(robot.hand.bodies)), around, CLEAR_M)
        if distance_m < CLEAR_M:
            where = f"{max(distance_m, 0.0) * 1000:.1f} mm from the kit (limit {CLEAR_M * 1000:g} mm)"
            return KitItem(TOOL_CLEAR, False, f"{name}'s tool is {where}")
    return KitItem(TOOL_CLEAR, True, "no tool is near")


def _geoms(world: World, bodies: list[int]) -> list[int]:
    return np.flatnonzero(np.isin(world.model.geom_bodyid, bodies)).tolist()


def _nearest_m(world: World, first: list[int], second: list[int], limit_m: float) -> float:
    """Returns the distance between two groups of geoms, or the limit. Sleeping bodies have no contacts."""
    model, data = world.model, world.data
    nearest_m = limit_m + 1e-9
    for one in first:
        reach_m = model.geom_rbound[one] + model.geom_rbound[second] + limit_m
        far_m = np.linalg.norm(data.geom_xpos[second] - data.geom_xpos[one], axis=1)
        for other in np.array(second)[(far_m < reach_m) | (model.geom_rbound[second] == 0)]:
            nearest_m = min(nearest_m, mujoco.mj_geomDistance(model, data, one, int(other), nearest_m, None))
    return nearest_m
