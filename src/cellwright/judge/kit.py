"""The definition of a complete kit, by the true state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cellwright.catalogue import TrayFigures
from cellwright.core.errors import BadInput
from cellwright.judge.boxes import boxes_of
from cellwright.judge.kit_place import judge_level, judge_place, judge_rest
from cellwright.judge.seating import Seating, judge_slots
from cellwright.judge.support import TOUCH_M, geoms_of, nearest_m, things_on
from cellwright.orders import KitDesign
from cellwright.sim import World

__all__ = [
    "AT_REST",
    "EXTRAS",
    "IN_BOX",
    "LEVEL",
    "ON_TABLE",
    "TOOL_CLEAR",
    "KitItem",
    "KitVerdict",
    "judge_kit",
    "parts_on",
]

EXTRAS, TOOL_CLEAR, LEVEL, AT_REST = "extras", "tool clear", "level", "at rest"
IN_BOX, ON_TABLE = "in its box", "on its table"
CLEAR_M = 0.010  # a tool or an arm is clear of a tray when it is at least so far from it and what is on it
ABOVE_M = 0.10  # what is higher above a tray is not on it


@dataclass(frozen=True)
class KitItem:
    """One thing that a complete kit needs: its tray, a part in a slot, nothing else on it, its place, rest.

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
        items: `tray`, the design's slots by name, `extras`, `tool clear`, `level`, `at rest` and, last, its place: in a
            cell with boxes for finished kits `in its box`, in any other `on its table`.
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

    In a cell with boxes for finished kits the tray must stand in one, in any other on the table that it is drawn on.

    Raises:
        BadInput: for something that is no tray.
    """
    boxes = boxes_of(world)
    where = IN_BOX if boxes.outlets else ON_TABLE
    if tray_name not in world.objects:
        gone = "the tray is not there"
        slots = tuple(KitItem(slot.name, False, gone) for slot in design.slots)
        return KitVerdict(tray_name, design.name, (KitItem("tray", False, gone), *slots, KitItem(where, False, gone)))
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
    ours = {seating.part for seating in seatings if seating.part}
    extras = things_on(world, tray_name, ours)
    items.append(KitItem(EXTRAS, not extras, f"{', '.join(extras)} on the tray" if extras else "nothing extra"))
    items.append(_tool_item(world, tray_name, ours))
    box = boxes.placement(world, tray_name) if boxes.outlets else None
    items.append(KitItem(LEVEL, *judge_level(world, tray_name, box)))
    items.append(KitItem(AT_REST, *judge_rest(world, tray_name)))
    items.append(KitItem(where, *((box.stands, box.reason) if box else judge_place(world, tray_name))))
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
    tray_geoms = geoms_of(world, [world.objects[tray_name].body])
    for name, item in world.objects.items():
        if item.is_tray:
            continue
        x, y, z = world_in_tray.apply(world.data.xipos[item.body])
        if not (np.hypot(*half) + 0.1 > np.hypot(x, y) and -tray.thickness_m < z < ABOVE_M):
            continue
        over = abs(x) <= half[0] and abs(y) <= half[1]
        if over or z > tray.thickness_m:
            others = [world.objects[n].body for n, o in world.objects.items() if n != name and not o.is_tray]
            touched = tray_geoms if not over else [*tray_geoms, *geoms_of(world, others)]
            if nearest_m(world, geoms_of(world, [item.body]), touched, TOUCH_M) <= TOUCH_M:
                yield name


def _tool_item(world: World, tray_name: str, parts: set[str]) -> KitItem:
    kit = geoms_of(world, [world.objects[name].body for name in (tray_name, *sorted(parts))])
    for name, robot in world.robots.items():
        hand = () if robot.hand is None else robot.hand.bodies
        arm = np.flatnonzero(world.model.body_rootid == world.model.body_rootid[robot.base_body])
        links = [body for body in arm.tolist() if body not in hand and world.model.body_weldid[body] != 0]
        for what, bodies in (("tool", hand), ("arm", links)):
            distance_m = nearest_m(world, geoms_of(world, bodies), kit, CLEAR_M)
            if distance_m < CLEAR_M:
                where = f"{max(distance_m, 0.0) * 1000:.1f} mm from the kit (limit {CLEAR_M * 1000:g} mm)"
                return KitItem(TOOL_CLEAR, False, f"{name}'s {what} is {where}")
    return KitItem(TOOL_CLEAR, True, "no tool is near")
