"""Assignment of trays to ordered kits, by the truth: the best match where no tray is named."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count

import numpy as np

from cellwright.catalogue import TrayFigures, TrayKind
from cellwright.core.assignment import assign
from cellwright.judge import Judge, ReachTest
from cellwright.judge.boxes import boxes_of
from cellwright.lab.lab import Lab
from cellwright.orders import KitDesign, Order
from cellwright.sim import World

__all__ = ["wanted_trays"]

NEVER = 100.0
OUT_OF_REACH = 1.0  # worse than any tray within reach, unless it is done
IN_STACK, COVERED = 1e-2, 1e-3  # of equal trays, one that was taken out of its stack comes first, then the uppermost


def wanted_trays(
    judge: Judge, lab: Lab, orders: Sequence[Order], reaches: ReachTest, robots: Collection[str]
) -> dict[str, KitDesign]:
    """Returns tray -> the kit that it is, or comes nearest to being; the controller is not asked.

    Of trays that are equally far, one that stands in no box of empty trays comes before those that do, and of these the
    uppermost. A wanted kit for which there is no tray at all is listed under a name that no tray has, as planners
    name it, so that it is missed.
    """
    designs = [line.design for order in orders for line in order.lines for _ in range(line.quantity)]
    world = lab.world
    trays = [
        n for n, i in world.objects.items() if isinstance(i.figures, TrayFigures) and i.figures.kind is TrayKind.KIT
    ]
    costs = np.full((len(designs), len(trays)), NEVER)
    tools = ("", *lab.cell.tools)
    stacked = [_depth(lab.world, tray, trays) for tray in trays]
    for row, design in enumerate(designs):
        for column, tray in enumerate(trays):
            if world.objects[tray].sku != design.tray_sku:
                continue
            verdict = judge.kits({tray: design})[0]
            filled = sum(item.right_part + item.passed for item in verdict.items) / (2 * len(verdict.items))
            point = world.pose_of(tray).position
            reached = any(reaches(robot, point + [0.0, 0.0, 0.05], tool) for robot in robots for tool in tools)
            costs[row, column] = 1.0 - verdict.done + (1.0 - filled) + (not reached) * OUT_OF_REACH
            costs[row, column] += stacked[column] + 1e-6 * column
    found = {row: trays[column] for row, column in assign(costs, NEVER / 2)}
    missed: dict[str, Iterator[int]] = {}

    def missing(design: KitDesign) -> str:
        numbers = missed.setdefault(design.name, count(1))
        return next(name for number in numbers if (name := f"{design.name}_{number}") not in world.objects)

    return {found.get(row) or missing(design): design for row, design in enumerate(designs)}


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
