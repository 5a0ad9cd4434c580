"""A cell like the papers' one, as large and as disturbed as a test wants it."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import (
    CellState,
    HeldItem,
    HeldKind,
    KitState,
    Outlet,
    PartSupply,
    PlannerRobot,
    PlanRequest,
    PlanResult,
    Tool,
    ToolHolderState,
    TrayStack,
    plan,
    validate_sequence,
    validate_timed,
)

SKUS = [f"sku_part_{letter}" for letter in "abcde"]
GEARS = [f"sku_part_{size}_gear" for size in ("small", "medium", "large")]
TRAYS = ["sku_kit_tray", "sku_kit_s2l2_vessel", "sku_kit_m2l1_vessel"]
TOOLS = (
    Tool("tray_gripper", frozenset(TRAYS)),
    Tool("part_gripper", frozenset([*SKUS[:3], *GEARS])),
    Tool("vacuum_gripper", frozenset(SKUS[3:])),
)


def build_cell(robots: int = 1, tables: int = 1, stock: int = 2000) -> CellState:
    """Three tools on three holders; every robot reaches everything."""
    names = tuple(f"table_{number}" for number in range(1, tables + 1))
    holders = tuple(ToolHolderState(f"holder_{n}", tool.name) for n, tool in enumerate(TOOLS, start=1))
    parts = tuple(PartSupply(f"parts_{sku[9:]}", sku, stock, stock) for sku in SKUS + GEARS)
    stacks = tuple(TrayStack(f"stack_{sku[4:]}", sku, stock) for sku in TRAYS)
    places = [*names, "outlet", *(thing.name for group in (holders, parts, stacks) for thing in group)]
    return CellState(
        robots=tuple(PlannerRobot(f"robot_{n}", frozenset(places)) for n in range(1, robots + 1)),
        tools=TOOLS,
        holders=holders,
        parts_trays=parts,
        tray_stacks=stacks,
        tables=names,
        outlets=(Outlet("outlet", 0, stock),),
    )


def random_design(rng: random.Random, name: str, parts: int) -> KitDesign:
    counts: dict[str, int] = {}
    for _ in range(parts):
        sku = rng.choice(SKUS)
        counts[sku] = counts.get(sku, 0) + 1
    return KitDesign.of(name, "sku_kit_tray", counts)


def _mount(rng: random.Random, state: CellState) -> CellState:
    """Tools anywhere: on wrong holders, some on robots."""
    tools = [tool.name for tool in state.tools]
    rng.shuffle(tools)
    robots = [replace(robot, tool=tools.pop() if tools and rng.random() < 0.5 else None) for robot in state.robots]
    holders = list(state.holders)
    rng.shuffle(holders)
    put = {holder.name: tool for holder, tool in zip(holders, tools, strict=False)}
    holders = [replace(holder, tool=put.get(holder.name)) for holder in state.holders]
    return replace(state, robots=tuple(robots), holders=tuple(holders))


def _start_kits(rng: random.Random, state: CellState, designs: list[KitDesign], wrong: float) -> CellState:
    """Half-filled kits, trays that are no kits yet, kits that stay where they are, a few with a wrong part."""
    kits = []
    for number, table in enumerate(state.tables):
        if rng.random() < 0.5:
            design = rng.choice(designs)
            created = rng.random() < 0.8
            share = rng.random() if created else 0.0
            filled = tuple(slot.sku if rng.random() < share else None for slot in design.slots)
            if created and rng.random() < wrong:
                at = rng.randrange(len(filled))
                filled = (*filled[:at], rng.choice(SKUS), *filled[at + 1 :])
            kits.append(KitState(f"old_{number}", design, table, filled, created, rng.random() < 0.2))
    return replace(state, kits=tuple(kits))


def _fill_hands(rng: random.Random, state: CellState, designs: list[KitDesign]) -> CellState:
    handles = {tool.name: tool.handles for tool in state.tools}
    robots, kits = [], list(state.kits)
    for robot in state.robots:
        hand = None
        if robot.tool and rng.random() < 0.5:
            sku = rng.choice(sorted(handles[robot.tool] & {*SKUS, "sku_kit_tray"}))
            if sku in SKUS:
                hand = HeldItem(HeldKind.PART, sku)
            elif rng.random() < 0.5:
                hand = HeldItem(HeldKind.KIT_TRAY, sku)
            else:
                design = rng.choice(designs)
                name = f"held_by_{robot.name}"
                kits.append(KitState(name, design, "", tuple(slot.sku for slot in design.slots)))
                hand = HeldItem(HeldKind.KIT, sku, name)
        robots.append(replace(robot, hand=hand))
    return replace(state, robots=tuple(robots), kits=tuple(kits))


def draw_request(
    seed: int, robots: int = 1, equal: bool = False, harsh: bool = True, largest: int = 8, wrong: float = 0.1
) -> PlanRequest:
    """A random order from a random state; harsh ones lack parts, reach or robots."""
    rng = random.Random(seed)
    state = build_cell(robots, rng.randint(2 if equal else 1, 4))
    designs = [random_design(rng, f"design_{n}", rng.randint(4, 10)) for n in range(1 if equal else rng.randint(1, 3))]
    state = _fill_hands(rng, _start_kits(rng, _mount(rng, state), designs, wrong), designs)
    state = replace(state, parts_trays=tuple(replace(t, count=t.capacity - 100) for t in state.parts_trays))
    if harsh:
        stock = tuple(replace(tray, count=rng.choice([0, 3, 10, 2000])) for tray in state.parts_trays)
        gone = [robot for robot in state.robots if robots == 1 or rng.random() < 0.9]
        lame = tuple(
            replace(
                robot,
                available=robot in gone,
                reach=frozenset(place for place in sorted(robot.reach) if rng.random() < 0.95),
            )
            for robot in state.robots
        )
        zones = tuple((place, rng.choice("xy")) for place in sorted(state.places) if rng.random() < 0.3)
        state = replace(state, parts_trays=stock, robots=lame, zones=zones)
    lines = tuple(OrderLine(design, rng.randint(1, largest)) for design in designs)
    orders = tuple(Order(f"order_{n}", (line,), rng.choice([0, 0, 1])) for n, line in enumerate(lines))
    return PlanRequest(state, orders)


def draw_order(seed: int) -> PlanRequest:
    """So many equal kits of a random design for two robots in a tidy cell."""
    rng = random.Random(seed)
    state = build_cell(2, rng.randint(1, 4))
    design = random_design(rng, "design", rng.randint(4, 10))
    return PlanRequest(state, (Order("order", (OrderLine(design, rng.randint(1, 8)),)),))


@pytest.fixture(scope="session")
def cell() -> Callable[..., CellState]:
    return build_cell


@pytest.fixture(scope="session")
def request_from() -> Callable[..., PlanRequest]:
    return draw_request


@pytest.fixture(scope="session")
def order_from() -> Callable[[int], PlanRequest]:
    return draw_order


def plan_and_check(request: PlanRequest, planner: str | None = None) -> PlanResult:
    """A plan that both validators accept."""
    result = plan(request, planner)
    for verdict in (validate_sequence(request, result), validate_timed(request, result)):
        assert verdict.valid, verdict.reason
    return result


@pytest.fixture(scope="session")
def checked() -> Callable[..., PlanResult]:
    return plan_and_check
