"""The oracle: whether a state can still become the wanted kits, planned from the truth.

It answers for a perfect controller: one that knows where everything is, and whose every grasp succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import (
    GearFigures,
    PartFigures,
    SlotFigures,
    TrayFigures,
    TrayKind,
    part_of_sku,
    seated_height_m,
)
from cellwright.core.pose import Pose
from cellwright.judge.hands import HandWatch
from cellwright.judge.kit import judge_kit, parts_on
from cellwright.judge.seating import judge_slots
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import (
    CellState,
    Hand,
    HandKind,
    KitState,
    PartsTray,
    PlanRequest,
    PlanResult,
    PlanStatus,
    RobotState,
    Tool,
    plan,
    validate_timed,
)
from cellwright.sim import World

__all__ = ["Reaches", "Recovery", "judge_recoverable"]

Reaches = Callable[[str, npt.NDArray[np.float64]], bool]
"""Whether a robot's tool gets to a point of the world from above."""

MAX_LEAN_RAD = float(np.radians(42.0))  # estimated: a gear on its cone leans by 38 deg, and its peg can still be taken
LEANING_RAD = float(np.radians(5.0))  # a part that leans less is taken from straight above
ALONG_M = 0.1  # from where a tool comes along a leaning part's peg
ROOM = 100  # so many parts can be set down on tables
FLOOR_M = 0.3  # what lies lower has fallen to the floor


@dataclass(frozen=True)
class Recovery:
    """What the oracle says.

    Attributes:
        recoverable: Whether the wanted kits can be completed with what is left.
        reason: Why not, or with how many steps.
        lost: Part -> why nobody can take it.
        state: The true state as a planner sees one: parts counted where a robot can take them. None when that is not
            even asked.
        plan: What the planner made of it.
    """

    recoverable: bool
    reason: str
    lost: Mapping[str, str] = field(default_factory=dict)
    state: CellState | None = None
    plan: PlanResult | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        steps = [str(action) for action in self.plan.actions] if self.plan else []
        return {"recoverable": self.recoverable, "reason": self.reason, "lost": dict(self.lost), "plan": steps}


def judge_recoverable(
    world: World,
    wanted: Mapping[str, KitDesign],
    reaches: Reaches,
    *,
    watch: HandWatch | None = None,
    robots: Collection[str] | None = None,
    max_lean_rad: float = MAX_LEAN_RAD,
) -> Recovery:
    """Whether the wanted kits can be completed from the true state.

    Args:
        world: What is really there.
        wanted: Kit tray -> what it shall become.
        reaches: Where each robot gets to.
        watch: What the hands hold; without one they are taken to be empty.
        robots: Those in service; all when not given.
        max_lean_rad: A part that leans more cannot be taken.
    """
    reading = _Reading(world, wanted, reaches, watch, robots, max_lean_rad)
    if reading.hopeless:
        return Recovery(False, "; ".join(reading.hopeless), reading.lost)
    counts: dict[str, int] = {}
    for design in wanted.values():
        counts[design.name] = counts.get(design.name, 0) + 1
    designs = {design.name: design for design in wanted.values()}
    order = Order("wanted", tuple(OrderLine(designs[name], count) for name, count in counts.items()))
    state = reading.state()
    request = PlanRequest(state, (order,))
    result = plan(request)
    if result.status not in (PlanStatus.SOLVED, PlanStatus.OPTIMAL) or result.unfinished:
        why = "; ".join(result.reasons) or f"the planner says {result.status}"
        lost = "".join(f"; {part}: {reason}" for part, reason in reading.lost.items())
        return Recovery(False, why + lost, reading.lost, state, result)
    verdict = validate_timed(request, result)
    if not verdict.valid:
        return Recovery(False, f"the plan does not hold: {verdict.reason}", reading.lost, state, result)
    return Recovery(True, f"a plan of {len(result.actions)} steps completes it", reading.lost, state, result)


class _Reading:
    """The world, read once."""

    def __init__(
        self,
        world: World,
        wanted: Mapping[str, KitDesign],
        reaches: Reaches,
        watch: HandWatch | None,
        robots: Collection[str] | None,
        max_lean_rad: float,
    ) -> None:
        self.world, self.reaches, self.max_lean_rad = world, reaches, max_lean_rad
        self.held = {robot: hold.part for robot, hold in (watch.held if watch else {}).items()}
        self.robots = [name for name, robot in world.robots.items() if robot.tool]
        self.in_service = {name for name in self.robots if robots is None or name in robots}
        self.lost: dict[str, str] = {}
        self.hopeless: list[str] = []
        self.in_kits: set[str] = set()  # parts that a plan sees as part of a wanted kit, right or wrong
        self.kits = [kit for tray, design in wanted.items() for kit in self._kit(tray, design)]
        self.supplies = self._supplies()

    def state(self) -> CellState:
        """As plain data."""
        tools = {name: f"{name}_gripper" for name in self.robots}
        places = {place: takers for place, (_, _, takers) in self.supplies.items()}
        places |= {kit.place: self._takers_of_kit(kit) for kit in self.kits}
        states = tuple(
            RobotState(
                name,
                frozenset(place for place, takers in places.items() if name in takers),
                tools[name],
                Hand(HandKind.PART, self.world.objects[self.held[name]].sku) if name in self.held else None,
                name in self.in_service,
            )
            for name in self.robots
        )
        return CellState(
            robots=states,
            tools=tuple(Tool(tools[name], self._handles(name)) for name in self.robots),
            parts_trays=tuple(
                PartsTray(place, sku, len(parts), max(self._capacity(place, sku), len(parts)))
                for place, (sku, parts, _) in self.supplies.items()
            ),
            tables=tuple(kit.place for kit in self.kits),
            kits=tuple(self.kits),
        )

    def _kit(self, tray: str, design: KitDesign) -> list[KitState]:
        verdict = judge_kit(self.world, tray, design)
        if tray not in self.world.objects or not verdict.items[0].passed:
            self.hopeless.append(f"{tray}: {verdict.items[0].reason}")
            return []
        filled: list[str | None] = []
        for slot, seating in zip(design.slots, verdict.seatings, strict=True):
            sku = self.world.objects[seating.part].sku if seating.part else None
            if seating.part and not seating.seated and not self._takers(seating.part):
                if seating.part not in self.held.values():
                    self.hopeless.append(f"{seating.slot} is blocked: {seating.part} {self.lost[seating.part]}")
                sku = None
            elif seating.part and (seating.seated or sku != slot.sku):
                self.in_kits.add(seating.part)
            else:
                sku = None  # empty, or askew: then it can be taken and used as any other that lies somewhere
            filled.append(sku)
        figures = self.world.objects[tray].figures
        assert isinstance(figures, TrayFigures)
        ours = {seating.part for seating in verdict.seatings}
        for extra in parts_on(self.world, tray, figures):
            if extra not in ours and extra not in self.held.values() and not self._takers(extra):
                self.hopeless.append(f"{tray} cannot be cleared: {extra} {self.lost[extra]}")
        return [KitState(tray, design, f"place of {tray}", tuple(filled), fixed=True)]

    def _supplies(self) -> dict[str, tuple[str, list[str], frozenset[str]]]:
        """Place -> SKU, parts, who can take them; parts of one tray that differ in that are in several places."""
        found: dict[str, tuple[str, list[str], frozenset[str]]] = {}
        for tray, sku in self._parts_trays():
            found[tray] = (sku, [], frozenset(self._takers_of_tray(tray)))
        trays = {s.part: t for t, _ in self._parts_trays() for s in judge_slots(self.world, t) if s.seated}
        for name, item in sorted(self.world.objects.items()):
            if item.is_tray or name in self.held.values():
                continue
            takers = self._takers(name)
            tray = trays.get(name, "")
            place = tray if tray and takers == found[tray][2] else f"loose {item.sku} of {' '.join(sorted(takers))}"
            if takers:  # what is in a kit is not to be had, but if it is wrong there, it can be set aside
                found.setdefault(place, (item.sku, [], takers))[1].extend([name] * (name not in self.in_kits))
        return found

    def _parts_trays(self) -> list[tuple[str, str]]:
        pairs = [(n, i.figures) for n, i in self.world.objects.items() if isinstance(i.figures, TrayFigures)]
        return [(name, tray.slots[0].accepts) for name, tray in pairs if tray.kind is TrayKind.PARTS]

    def _takers(self, part: str) -> frozenset[str]:
        """Robots in service that can take it; why none can is noted."""
        item, pose = self.world.objects[part], self.world.pose_of(part)
        assert isinstance(item.figures, PartFigures)
        tilt_rad = float(np.arccos(np.clip(pose.rotation_matrix[2, 2], -1, 1)))
        point = pose.apply(item.figures.grasp_xyz_m)
        points = [point]
        if tilt_rad > LEANING_RAD:
            points.append(pose.apply(np.array(item.figures.grasp_xyz_m) + [0.0, 0.0, ALONG_M]))
        near = [name for name in sorted(self.in_service) if all(self.reaches(name, point) for point in points)]
        takers = frozenset(name for name in near if item.sku in self._handles(name))
        if part in self.held.values():
            return frozenset()
        if tilt_rad > self.max_lean_rad:
            self.lost[part] = f"lies tilted by {np.degrees(tilt_rad):.0f} deg"
        elif point[2] < FLOOR_M:
            self.lost[part] = "lies on the floor"
        elif not takers:
            self.lost[part] = "no tool holds it" if near else "out of every robot's reach"
        return frozenset() if part in self.lost else takers

    def _handles(self, robot: str) -> frozenset[str]:
        """SKUs whose grasp feature fits between the pads."""
        tool = self.world.robots[robot].tool
        assert tool is not None
        low_m, high_m = 2 * tool.figures.closed_m, 2 * tool.figures.open_m
        parts = {i.sku: i.figures for i in self.world.objects.values() if isinstance(i.figures, PartFigures)}
        return frozenset(sku for sku, part in parts.items() if low_m < part.grasp_width_m < high_m)

    def _capacity(self, place: str, sku: str) -> int:
        item = self.world.objects.get(place)
        if item is None:
            return ROOM
        return sum(slot.accepts == sku for slot in item.figures.slots) if isinstance(item.figures, TrayFigures) else 0

    def _takers_of_kit(self, kit: KitState) -> frozenset[str]:
        """Robots that reach every slot that is still to be filled."""
        pairs = zip(kit.design.slots, kit.filled, strict=True)
        return self._takers_of_tray(kit.name, {slot.name for slot, sku in pairs if sku != slot.sku})

    def _takers_of_tray(self, tray: str, only: Collection[str] | None = None) -> frozenset[str]:
        figures = self.world.objects[tray].figures
        assert isinstance(figures, TrayFigures)
        slots = [slot for slot in figures.slots if only is None or slot.name in only]
        points = [self.world.pose_of(tray).apply(_grasp_in_tray(figures, slot)) for slot in slots]
        return frozenset(name for name in self.in_service if all(self.reaches(name, point) for point in points))


def _grasp_in_tray(tray: TrayFigures, slot: SlotFigures) -> npt.NDArray[np.float64]:
    """Where the tool holds a part that is seated in the slot."""
    part = part_of_sku(slot.accepts)
    height_m = seated_height_m(tray, slot, part) if isinstance(part, GearFigures) else slot.floor_m
    return Pose.from_xyz_rpy([*slot.xy_m, height_m]).apply(part.grasp_xyz_m)
