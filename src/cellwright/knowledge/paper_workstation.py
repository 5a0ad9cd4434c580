"""The workstation of the kitting papers: orders of parts A to E, and gear kits that are built from empty trays.

The papers name what stands there and say how it works together, not where: all poses here are estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cellwright.catalogue import TRAYS, TrayKind
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.pose import Pose
from cellwright.knowledge.tray_layout import PAPER_PARTS_TRAY_SKUS, tray_layout
from cellwright.knowledge.workstation import (
    BoxOfKits,
    PartInTray,
    Place,
    ReachBox,
    RobotDescription,
    Spread,
    StackOfTrays,
    SupplyTray,
    ToolChangingStation,
    ToolHolder,
    ToolKind,
    Workstation,
    WorkstationTool,
    WorkTable,
)
from cellwright.orders import Order
from cellwright.orders.design import PAPER_PART_SKUS

__all__ = ["paper_workstation"]

GUESS = Spread((0.003, 0.003, 0.001), (0.005, 0.005, 0.02))
IN_SLOT = Spread((0.001, 0.001, 0.0005), (0.01, 0.01, 1.8))  # a round part may be turned by any angle
TABLE_SIZE_M = (0.5, 0.4, 0.02)
SPACING_M = 0.6
COLUMNS = 6
ESTIMATED = "Of the kitting papers; pose estimated"


def paper_workstation(
    orders: Sequence[Order],
    *,
    robots: Sequence[str] = ("robot_1",),
    tables: int = 1,
    spare: int = 2,
    name: str = "kitting_workstation",
) -> Workstation:
    """Returns the workstation, with enough of everything for the orders.

    Args:
        orders: They say which parts and trays are there, and how many.
        robots: One or two names; both reach everything.
        tables: The number of work tables, each for one kit at a time.
        spare: The number of parts of each kind, and of empty trays, that are left over.
        name: The name of the workstation.

    Raises:
        OutOfRange: Not one or two robots, not 1 to 100 tables, nothing left over but less than nothing.
    """
    for what, number, least, most in (
        ("number of robots", len(robots), 1, 2),
        ("number of work tables", tables, 1, 100),
        ("number of spare parts", spare, 0, 10_000),
    ):
        if not least <= number <= most:
            raise OutOfRange(what, number, least, most)
    if not orders:
        raise BadInput("the kitting papers' workstation is laid out for orders: give at least one")
    lines = [line for order in orders for line in order.lines]
    trays: Counter[str] = Counter()
    parts: Counter[str] = Counter()
    for line in lines:
        trays[line.design.tray_sku] += line.quantity
        parts.update({sku: number * line.quantity for sku, number in line.design.parts.items()})
    floor = _Floor()
    tools = _tools(parts, trays)
    changer = ToolChangingStation(
        "changing_station",
        floor.next_place(),
        tuple(
            ToolHolder(f"{tool.name}_holder", _beside("changing_station", number), tool.name)
            for number, tool in enumerate(tools)
        ),
    )
    made = Workstation(
        name,
        tables=tuple(WorkTable(f"work_table_{n + 1}", floor.next_place(), TABLE_SIZE_M) for n in range(tables)),
        tools=tools,
        changers=(changer,),
        supplies=tuple(tray for sku in sorted(parts) for tray in _supply(sku, parts[sku] + spare, floor)),
        stacks=tuple(
            StackOfTrays(f"empty_{sku.removeprefix('sku_')}_supply", sku, floor.next_place(), trays[sku] + spare)
            for sku in sorted(trays)
        ),
        boxes=(BoxOfKits("finished_kit_receiver", floor.next_place(), max(10, sum(trays.values()))),),
        robots=tuple(
            RobotDescription(robot, _at(-SPACING_M, n * SPACING_M), reach=(floor.reach(robot),), description=ESTIMATED)
            for n, robot in enumerate(robots)
        ),
    )
    return made


class _Floor:
    """Places side by side, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._count = 0

    def next_place(self) -> Place:
        row, column = divmod(self._count, COLUMNS)
        self._count += 1
        return _at(column * SPACING_M, row * SPACING_M)

    def reach(self, robot: str) -> ReachBox:
        """Returns a box around all of them."""
        rows, half_m = 1 + (self._count - 1) // COLUMNS, SPACING_M / 2
        high_m = (COLUMNS * SPACING_M - half_m, rows * SPACING_M - half_m, 1.0)
        return ReachBox(f"{robot}_reach", (-half_m, -half_m, -0.1), high_m)


def _at(x_m: float, y_m: float) -> Place:
    return Place(Pose.from_xyz_rpy([x_m, y_m, 0.0]), spread=GUESS)


def _beside(station: str, number: int) -> Place:
    return Place(Pose.from_xyz_rpy([0.15 * number - 0.15, 0.0, 0.1]), station, GUESS)


def _tools(parts: Counter[str], trays: Counter[str]) -> tuple[WorkstationTool, ...]:
    """Returns a gripper for trays, one for parts A to C and gears, a suction cup for D and E; only what is needed."""
    sucked = [PAPER_PART_SKUS[letter] for letter in "de"]
    found: list[tuple[str, ToolKind, list[str]]] = [
        ("tray_gripper", "OtherGripper", sorted(trays)),
        ("part_gripper", "ParallelGripper", sorted(sku for sku in parts if sku not in sucked)),
        ("vacuum_gripper", "SingleCupEffector", sorted(sku for sku in parts if sku in sucked)),
    ]
    return tuple(WorkstationTool(name, kind, tuple(skus), ESTIMATED) for name, kind, skus in found if skus)


def _supply(sku: str, number: int, floor: _Floor) -> list[SupplyTray]:
    """Returns as many trays as the parts need; the last one may have room left."""
    layout = tray_layout(_parts_tray_sku(sku))
    trays: list[SupplyTray] = []
    kind, stem = layout.sku.removeprefix("sku_").removesuffix("_vessel").removesuffix("_tray"), sku.removeprefix("sku_")
    for first in range(0, number, len(layout.slots)):
        name = f"{kind}_tray_{len(trays) + 1}"
        slots = layout.slots[: number - first]
        parts = tuple(
            PartInTray(f"{stem}_{first + n}", sku, Place(slot.pose_part_in_tray, name, IN_SLOT), slot.name)
            for n, slot in enumerate(slots, start=1)
        )
        trays.append(SupplyTray(name, layout.sku, floor.next_place(), parts))
    return trays


def _parts_tray_sku(sku: str) -> str:
    if sku in PAPER_PARTS_TRAY_SKUS:
        return PAPER_PARTS_TRAY_SKUS[sku]
    for name in TRAYS:
        tray = TRAYS.get(name)
        if tray.kind is TrayKind.PARTS and {slot.accepts for slot in tray.slots} == {sku}:
            return tray.sku
    raise BadInput(f"no parts tray of the catalogue supplies {sku}")
