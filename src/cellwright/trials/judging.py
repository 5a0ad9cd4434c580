"""Verdicts on the kits and parts of a trial, by the truth; the best tray counts where none is named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from cellwright.catalogue import TrayFigures, TrayKind
from cellwright.core.assignment import assign
from cellwright.core.errors import UnknownName
from cellwright.judge import KitVerdict, ReachTest, judge_kit
from cellwright.judge.boxes import boxes_of
from cellwright.judge.faults.cfg import matches
from cellwright.judge.seating import judge_slots
from cellwright.orders import DESIGNS
from cellwright.sim import World
from cellwright.trials.orders import OrderBook, OrderedKit

if TYPE_CHECKING:
    from cellwright.trials.trial import Trial

__all__ = ["assign_trays", "find_kits", "find_part"]

NEVER = 100.0
KNOWN, SUBMITTED = 0.1, 0.1  # of orders for the same kit, what is there belongs to the one submitted, or known
OUT_OF_REACH = 1.0  # worse than any tray within reach, unless it is done
IN_STACK, COVERED = 1e-2, 1e-3  # of equal trays, one that was taken out of its stack comes first, then the uppermost


def assign_trays(
    book: OrderBook, world: World, reaches: ReachTest, robots: Collection[str]
) -> dict[OrderedKit, KitVerdict]:
    """Returns ordered kit -> the verdict on its tray: the named one, or the one that comes nearest to being the kit.

    The controller is not asked. Of trays that are equally far, one that stands in no box of empty trays comes before
    those that do, and of these the uppermost. A wanted kit for which there is no tray at all is judged under a name
    that no tray has, as planners name it, so that it is missed.
    """
    kits, named = book.kits, {kit.tray for kit in book.kits if kit.tray is not None}
    trays = [
        n for n, i in world.objects.items() if isinstance(i.figures, TrayFigures) and i.figures.kind is TrayKind.KIT
    ]
    weights = {
        name: 1.0 + KNOWN * (order.announced_s is not None) + SUBMITTED * (order.submitted_s is not None)
        for name, order in book.orders.items()
    }
    tools = ("", *world.cell.tools)
    farness = [
        (
            not any(
                reaches(robot, world.pose_of(tray).position + [0, 0, 0.05], tool) for robot in robots for tool in tools
            )
        )
        * OUT_OF_REACH
        + _depth(world, tray, trays)
        + 1e-6 * column
        for column, tray in enumerate(trays)
    ]
    costs, verdicts = np.full((len(kits), len(trays)), NEVER), {}
    for row, kit in enumerate(kits):
        for column, tray in enumerate(trays):
            is_other = kit.tray != tray if kit.tray else tray in named
            if is_other or world.objects[tray].sku != kit.design.tray_sku:
                continue
            verdict = verdicts[row, column] = judge_kit(world, tray, kit.design)
            filled = sum(item.right_part + item.passed for item in verdict.items) / (2 * len(verdict.items))
            costs[row, column] = weights[kit.order] * (2.0 - verdict.done - filled) + farness[column]
    found = defaultdict[tuple[str, str], list[KitVerdict]](list)  # the best first: it is the first of equal kits
    for row, column in sorted(assign(costs, NEVER / 2), key=lambda pair: float(costs[pair])):
        found[kits[row].order, kits[row].design.name].append(verdicts[row, column])
    missed: dict[str, Iterator[int]] = {}

    def missing(kit: OrderedKit) -> KitVerdict:
        if kit.tray is not None and kit.tray not in world.objects:
            return judge_kit(world, kit.tray, kit.design)
        numbers, design = missed.setdefault(kit.design.name, count(1)), kit.design
        name = next(name for number in numbers if (name := f"{design.name}_{number}") not in world.objects)
        return judge_kit(world, name, design)

    return {kit: alike.pop(0) if (alike := found[kit.order, kit.design.name]) else missing(kit) for kit in kits}


def _depth(world: World, tray: str, trays: Sequence[str]) -> float:
    """Returns the cost of a tray in a box of empty ones: that it is there, and the trays on top of it."""
    boxes = boxes_of(world)
    if not boxes.supplies or not (where := boxes.placement(world, tray, boxes.supplies)).inside:
        return 0.0
    x_m, y_m, z_m = world.pose_of(tray).position
    room_m = min(boxes.supplies[where.box].inner_size_m) / 2
    others = [world.pose_of(other).position for other in trays if other != tray]
    above = [bool(z > z_m and np.hypot(x - x_m, y - y_m) < room_m) for x, y, z in others]
    return IN_STACK + COVERED * sum(above)


def find_kits(trial: Trial, name: str) -> list[KitVerdict]:
    """Returns the verdicts on what a name means now: the kits of an order, the kit on a tray, or a kit of a design.

    Of a design that no order names, the tray that is nearest to it counts.

    Raises:
        UnknownName: with all names that mean something in this cell.
    """
    kits, trays = trial.kits(), trial.book.kit_trays
    if name in trial.book.orders:
        return [verdict for kit, verdict in kits.items() if kit.order == name]
    if name in trays:
        mine = [verdict for verdict in kits.values() if verdict.tray == name]
        fitting = [design for design in map(DESIGNS.get, DESIGNS) if design.tray_sku == trays[name]]
        return mine or list(trial.judge.kits({name: fitting[-1]}))
    designs = [design.name for design in map(DESIGNS.get, DESIGNS) if design.tray_sku in trays.values()]
    if name not in designs:
        raise UnknownName("kit", name, {*trial.book.orders, *trays, *designs})
    design = DESIGNS.get(name)
    found = trial.judge.kits({tray: design for tray, sku in trays.items() if sku == design.tray_sku})
    return [max(found, key=lambda verdict: sum(item.passed for item in verdict.items))]


def find_part(trial: Trial, pattern: str, slot: str, known: Sequence[str]) -> tuple[bool, str]:
    """Returns whether a part that matches is seated in the slot, `tray/slot`; and why not, or how well.

    Args:
        trial: The trial.
        pattern: A part's name, SKU or model, with `*` and `?`.
        slot: Which slot.
        known: Names of the parts that were there at the beginning.

    Raises:
        UnknownName: A part, a tray or a slot that does not exist.
    """
    objects = trial.lab.world.objects
    trays = [name for name, item in objects.items() if item.is_tray]
    tray = slot.partition("/")[0]
    if tray not in trays:
        raise UnknownName("tray", tray, trays)
    slots = {seating.slot: seating for seating in judge_slots(trial.lab.world, tray)}
    if slot not in slots:
        raise UnknownName("slot", slot, slots)
    parts = [name for name, item in objects.items() if not item.is_tray and matches(item, pattern)]
    if not parts and pattern in known:
        return False, f"{pattern} has been taken out of the cell"
    if not parts:
        raise UnknownName("part", pattern, known)
    seating = slots[slot]
    if seating.part in parts:
        return seating.seated, f"{seating.part}: {seating.reason}"
    if seating.part:
        return False, f"{seating.part} is there instead"
    return False, f"{seating.reason}; {_where(trial, parts)}"


def _where(trial: Trial, parts: Sequence[str]) -> str:
    if len(parts) > 1:
        return f"{len(parts)} such parts are elsewhere"
    held = {hold.part: robot for robot, hold in trial.judge.hands.held.items()}
    if parts[0] in held:
        return f"{held[parts[0]]} holds {parts[0]}"
    x, y, z = trial.lab.world.pose_of(parts[0]).position.tolist()
    return f"{parts[0]} is at {x:.3f} {y:.3f} {z:.3f} m"
