"""Random cells with two robots of different reach, in the middle of a job."""

from __future__ import annotations

import random
from collections import Counter

from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import (
    CellState,
    KitState,
    Outlet,
    PartSupply,
    PlannerRobot,
    PlanRequest,
    Tool,
    ToolHolderState,
    TrayStack,
)

__all__ = ["reach_request"]

_TRAY = "sku_kit_tray"
_SKUS = tuple(f"sku_part_{letter}" for letter in "abcde")
_TOOLS = (
    Tool("tray_gripper", frozenset([_TRAY])),
    Tool("part_gripper", frozenset(_SKUS[:3])),
    Tool("vacuum_gripper", frozenset(_SKUS[3:])),
)


def reach_request(seed: int, iterations: int = 400) -> PlanRequest:
    """Returns up to three designs of four to ten parts, one to three kits of each, on one to four tables.

    A fifth of all places is reached by the first robot alone, a fifth by the second alone, the rest by both; half of
    what both reach is one zone. Tools are on any holder or robot, every second table has a begun kit, every third of
    those a wrong part, every fifth stays where it is.
    """
    rng = random.Random(seed)
    tables = tuple(f"table_{number}" for number in range(1, rng.randint(1, 4) + 1))
    designs = [_design(rng, number) for number in range(1, rng.randint(1, 3) + 1)]
    mounted = rng.sample([None, *(tool.name for tool in _TOOLS)], 2)
    loose: list[str | None] = [tool.name for tool in _TOOLS if tool.name not in mounted]
    loose += [None] * (len(_TOOLS) - len(loose))
    rng.shuffle(loose)
    holders = tuple(ToolHolderState(f"holder_{number}", tool) for number, tool in enumerate(loose, start=1))
    trays = tuple(PartSupply(f"parts_{sku[-1]}", sku, 100, 200) for sku in _SKUS)
    places = [*tables, *(h.name for h in holders), *(tray.name for tray in trays), "stack", "outlet"]
    who = {place: rng.choice(("1", "2", "12", "12", "12")) for place in places}
    robots = tuple(
        PlannerRobot(f"robot_{name}", frozenset(place for place in places if name in who[place]), tool)
        for name, tool in zip("12", mounted, strict=True)
    )
    state = CellState(
        robots=robots,
        tools=_TOOLS,
        holders=holders,
        parts_trays=trays,
        tray_stacks=(TrayStack("stack", _TRAY, 100),),
        tables=tables,
        outlets=(Outlet("outlet", 0, 100),),
        kits=tuple(_started_kit(rng, designs, table) for table in tables if rng.random() < 0.5),
        zones=tuple((place, "zone") for place in places if who[place] == "12" and rng.random() < 0.5),
    )
    lines = [OrderLine(design, rng.randint(1, 3)) for design in designs]
    return PlanRequest(state, tuple(Order(line.design.name, (line,)) for line in lines), iterations=iterations)


def _design(rng: random.Random, number: int) -> KitDesign:
    counts = Counter(rng.choice(_SKUS) for _ in range(rng.randint(4, 10)))
    return KitDesign.of(f"design_{number}", _TRAY, counts)


def _started_kit(rng: random.Random, designs: list[KitDesign], table: str) -> KitState:
    design, share = rng.choice(designs), rng.random()
    filled = [slot.sku if rng.random() < share else None for slot in design.slots]
    if rng.random() < 1 / 3:
        filled[rng.randrange(len(filled))] = rng.choice(_SKUS)
    return KitState(f"begun_on_{table}", design, table, tuple(filled), fixed=rng.random() < 0.2)
