"""The physics of a seal: a pump draws on a part only while the lip of its cup seals.

MuJoCo's adhesion pulls on whatever the cup touches, also when it touches with one edge only. A real cup that peels
off lets air in and holds nothing. So the adhesion gets the pump's power while the lip is closed all round, and
nothing otherwise; what holds is that force and the friction of the lip, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import Any

from cellwright.catalogue import VacuumFigures
from cellwright.sim.stepper import Stepper, TickOrder
from cellwright.sim.tool_index import CupIndex, VacuumIndex
from cellwright.sim.world import World

__all__ = ["Suction", "draw", "seals"]

RATE_HZ = 250.0
LEAST_POINTS = 3


class Suction:
    """Checks every cup whose pump runs, and sets its vacuum by whether it seals."""

    def __init__(self, world: World, stepper: Stepper) -> None:
        self._world = world
        stepper.every(world.clock.period_ticks(RATE_HZ), self.tick, order=TickOrder.WORLD, name="suction")

    def tick(self) -> None:
        """Checks all cups once."""
        for tool in self._world.vacuums.values():
            draw(self._world.model, self._world.data, tool)


def draw(model: Any, data: Any, tool: VacuumIndex) -> None:
    """Gives each cup that seals the pump's vacuum, and vents the others: each has a valve."""
    power = float(data.ctrl[tool.power])
    for cup in tool.cups:
        if power > 0.0 and seals(model, data, cup, tool.figures):
            data.ctrl[cup.suck] = power
        else:
            data.ctrl[cup.suck] = data.act[cup.activation] = 0.0


def seals(model: Any, data: Any, cup: CupIndex, figures: VacuumFigures) -> bool:
    """Returns whether the lip lies on one body all round: at least three points, and no leak between neighbours."""
    touched: dict[int, set[int]] = {}
    for first, second in data.contact.geom.tolist() if data.ncon else ():
        for lip, other in ((first, second), (second, first)):
            if lip in cup.lip:
                touched.setdefault(int(model.body_rootid[model.geom_bodyid[other]]), set()).add(cup.lip[lip])
    return any(closed(points, figures.lip_points, figures.leak_rad) for points in touched.values())


def closed(points: Iterable[int], count: int, leak_rad: float) -> bool:
    """Returns whether points, out of so many round a circle, leave no gap wider than the leak."""
    ordered = sorted(points)
    if len(ordered) < LEAST_POINTS:
        return False
    gaps = [after - before for before, after in zip(ordered, [*ordered[1:], ordered[0] + count], strict=True)]
    return max(gaps) * 2 * pi / count <= leak_rad + 1e-9
