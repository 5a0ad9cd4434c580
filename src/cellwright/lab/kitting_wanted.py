"""Which trays an order is about, by the truth: nobody names one, so the judge looks for the best."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cellwright.catalogue import TrayFigures, TrayKind
from cellwright.core.assignment import assign
from cellwright.judge import Judge, Reaches
from cellwright.lab.lab import Lab
from cellwright.orders import KitDesign, Order

__all__ = ["wanted_trays"]

NEVER = 100.0
OUT_OF_REACH = 1.0  # worse than any tray that somebody can get to, unless it is done


def wanted_trays(
    judge: Judge, lab: Lab, orders: Sequence[Order], reaches: Reaches, robots: Collection[str]
) -> dict[str, KitDesign]:
    """Tray -> the kit that it is, or comes nearest to being; the controller is not asked.

    A wanted kit for which there is no tray at all is listed under a name that no tray has, so that it is missed.
    """
    designs = [line.design for order in orders for line in order.lines for _ in range(line.quantity)]
    world = lab.world
    trays = [
        n for n, i in world.objects.items() if isinstance(i.figures, TrayFigures) and i.figures.kind is TrayKind.KIT
    ]
    costs = np.full((len(designs), len(trays)), NEVER)
    for row, design in enumerate(designs):
        for column, tray in enumerate(trays):
            if world.objects[tray].sku != design.tray_sku:
                continue
            verdict = judge.kits({tray: design})[0]
            filled = sum(item.right_part + item.passed for item in verdict.items) / (2 * len(verdict.items))
            point = world.pose_of(tray).position
            reached = any(reaches(robot, point + [0.0, 0.0, 0.05]) for robot in robots)
            costs[row, column] = 1.0 - verdict.done + (1.0 - filled) + (not reached) * OUT_OF_REACH + 1e-6 * column
    found = {row: trays[column] for row, column in assign(costs, NEVER / 2)}
    return {found.get(row, f"no tray for {design.name} {row + 1}"): design for row, design in enumerate(designs)}
