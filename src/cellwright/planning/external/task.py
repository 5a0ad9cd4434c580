"""The work of one robot as counters: the part of a request that external planners get.

Parts of one SKU, kits of one design, holders, parts trays, stacks and outlets are interchangeable, so they are counted
or left out: `find_work` has checked the stock, and which tray a part comes from is bound when a plan is read back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from cellwright.planning.planner import KitJob, PlanRequest
from cellwright.planning.state import HeldItem, HeldKind
from cellwright.planning.work import Work, find_work

__all__ = ["CountedTask", "KitClass", "Mistake", "Spot", "choose_work", "task_of"]


@dataclass(frozen=True)
class KitClass:
    """Kits that have no tray yet and differ in nothing.

    Attributes:
        name: The design's name, with the priority where the design is wanted with several.
        rank: Classes of a lower rank get all their trays first.
        parts: SKU -> how many.
        jobs: The kits.
    """

    name: str
    rank: int
    tray_sku: str
    parts: Mapping[str, int]
    jobs: tuple[KitJob, ...]


@dataclass(frozen=True)
class Spot:
    """A place for one kit.

    Attributes:
        job: The kit that is there now.
        missing: SKU -> how many that kit lacks now.
        wrong: The parts that it holds in slots of something else: the SKU, and the SKU that belongs there.
        layable: A tray can be laid here once it is free.
    """

    name: str
    job: KitJob | None
    missing: Mapping[str, int]
    wrong: tuple[tuple[str, str], ...]
    layable: bool

    @property
    def fixed(self) -> bool:
        """Whether the kit stays here when it is full."""
        return bool(self.job and self.job.started and self.job.started.fixed)

    @property
    def created(self) -> bool:
        """Whether what is here is a kit already and not only its tray."""
        return bool(self.job and self.job.started and self.job.started.created)


@dataclass(frozen=True)
class Mistake:
    """A part in a slot of something else.

    Attributes:
        name: To tell it from others.
        belongs: The SKU that the slot is for.
        after: The mistake that is corrected before: of parts of one SKU in one kit the first slot comes first.
    """

    name: str
    spot: str
    sku: str
    belongs: str
    after: str | None


@dataclass(frozen=True, kw_only=True)
class CountedTask:
    """The work of one robot and its tools, in counters.

    Attributes:
        mounted: The tool on the robot.
        hand: The item that it holds.
        changeable: There is an empty holder for the tool on the robot.
        returnable: What is held can go back to where such things come from, a held kit to an outlet.
        handles: Tool that the robot has or can get -> SKUs of this task that it handles.
        stock: SKU -> parts in reach, where these do not suffice without those that are in wrong slots.
        room: SKU -> room in reach for more of it, where that does not suffice for all that are in wrong slots.
    """

    work: Work
    mounted: str | None
    hand: HeldItem | None
    changeable: bool
    returnable: bool
    handles: Mapping[str, tuple[str, ...]]
    classes: tuple[KitClass, ...]
    spots: tuple[Spot, ...]
    stock: Mapping[str, int]
    room: Mapping[str, int]

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The wrong parts."""
        made: list[Mistake] = []
        for spot in self.spots:
            last: dict[str, str] = {}
            for sku, belongs in spot.wrong:
                made.append(Mistake(f"mistake_{len(made) + 1}", spot.name, sku, belongs, last.get(sku)))
                last[sku] = made[-1].name
        return tuple(made)

    @cached_property
    def part_skus(self) -> tuple[str, ...]:
        """SKUs of parts that may have to be moved."""
        needs = (*(kits.parts for kits in self.classes), *(spot.missing for spot in self.spots))
        wrong = {sku for spot in self.spots for pair in spot.wrong for sku in pair}
        return tuple(sorted({sku for need in needs for sku in need} | wrong))

    @cached_property
    def largest(self) -> int:
        """A number that no counter of the task exceeds."""
        needs = (*(kits.parts for kits in self.classes), *(spot.missing for spot in self.spots))
        counts = (number for need in needs for number in need.values())
        short = (self.stock.get(sku, 0) + self.room.get(sku, 0) for sku in (*self.stock, *self.room))
        counted = max([1, *counts, *short, *(len(kits.jobs) for kits in self.classes)])
        return counted + len(self.mistakes) + bool(self.mistakes)  # what comes out of a slot or a hand is added


def choose_work(request: PlanRequest) -> Work:
    """Returns the work of the robot that leaves out the fewest kits; external planners plan for one robot."""
    robots = [robot.name for robot in request.state.robots if robot.available]
    works = [find_work(request, name) for name in robots] or [find_work(request)]
    return min(works, key=lambda work: len(work.unfinished))


def task_of(work: Work) -> CountedTask:
    """Returns the counters of the work of the one robot in it."""
    state, robot = work.request.state, work.robots[0]
    classes = _classes(work)
    spots = _spots(work)
    relevant = {sku for kits in classes for sku in (*kits.parts, kits.tray_sku)}
    for spot in spots:
        relevant |= {*spot.missing, *(sku for pair in spot.wrong for sku in pair)}
        relevant |= {spot.job.design.tray_sku} if spot.job and not spot.fixed else set()
    tools = {tool.name: tool.handles for tool in state.tools if tool.name in work.tools_of[robot.name]}
    used = {name: tuple(sorted(skus & relevant)) for name, skus in sorted(tools.items())}
    stock, room = _supply(work)
    return CountedTask(
        work=work,
        mounted=robot.tool,
        hand=robot.hand,
        changeable=any(holder.tool is None and holder.name in robot.reach for holder in state.holders)
        or robot.tool is None,
        returnable=_returnable(work),
        handles={name: skus for name, skus in used.items() if skus or name == robot.tool},
        classes=classes,
        spots=spots,
        stock=stock,
        room=room,
    )


def _classes(work: Work) -> tuple[KitClass, ...]:
    jobs: dict[tuple[str, int], list[KitJob]] = {}
    for job in work.jobs:
        if job.started is None:
            jobs.setdefault((job.design.name, job.priority), []).append(job)
    names = [design for design, _ in jobs]
    ranks = sorted({priority for _, priority in jobs}, reverse=True)
    made = []
    for (design_name, priority), kits in jobs.items():
        name = design_name if names.count(design_name) == 1 else f"{design_name}_priority_{priority}"
        design = kits[0].design
        made.append(KitClass(name, ranks.index(priority), design.tray_sku, design.parts, tuple(kits)))
    return tuple(made)


def _spots(work: Work) -> tuple[Spot, ...]:
    reach = work.robots[0].reach
    layable = {table for tables in work.tables_of.values() for table in tables if table in reach}
    there = {job.started.place: job for job in work.jobs if job.started and job.started.place}
    order = [*(table for table in work.request.state.tables if table in layable), *there]
    spots = []
    for name in dict.fromkeys(order):
        job = there.get(name)
        kit = job.started if job else None
        spots.append(Spot(name, job, kit.open_slots if kit else {}, tuple(kit.wrong) if kit else (), name in layable))
    return tuple(spots)


def _supply(work: Work) -> tuple[dict[str, int], dict[str, int]]:
    """Returns stock and room where they are short, of SKUs in wrong slots; others need not be counted."""
    hand = work.robots[0].hand
    needed: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for job in work.jobs:
        needed.update(job.started.needed if job.started else job.design.parts)
        wrong.update(sku for sku, _ in (job.started.wrong if job.started else ()))
    stock: dict[str, int] = {}
    room: dict[str, int] = {}
    for sku, number in sorted(wrong.items()):
        trays = [t for t in work.request.state.parts_trays if t.sku == sku and t.name in work.robots[0].reach]
        held = bool(hand and hand.sku == sku)
        count, gaps = sum(tray.count for tray in trays), sum(tray.capacity - tray.count for tray in trays)
        if count + held < needed[sku]:
            stock[sku] = count
        if gaps < number + held:
            room[sku] = gaps
    return stock, room


def _returnable(work: Work) -> bool:
    state, robot = work.request.state, work.robots[0]
    hand = robot.hand
    if hand is None:
        return False
    if hand.kind is HeldKind.PART:
        trays = (tray for tray in state.parts_trays if tray.name in robot.reach and tray.sku == hand.sku)
        return any(tray.count < tray.capacity for tray in trays)
    if hand.kind is HeldKind.KIT_TRAY:
        return any(stack.sku == hand.sku for stack in state.tray_stacks if stack.name in robot.reach)
    leaving = {job.name for job in work.jobs if not (job.started and job.started.fixed)} | {hand.kit}
    room = sum(outlet.capacity - outlet.count for outlet in state.outlets if outlet.name in robot.reach)
    return room >= len(leaving)
