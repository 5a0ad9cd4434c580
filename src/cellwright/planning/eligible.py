"""Eligible robots: for every kit those that can lay it, bring its parts and take it away, and the places of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from cellwright.planning.planner import KitJob
from cellwright.planning.state import HeldKind
from cellwright.planning.work import Work, part_places

__all__ = ["Eligible"]

Robots = frozenset[int]


@dataclass
class Eligible:
    """Robots, by number, that may do each part of the work; more may be named than can, never fewer."""

    work: Work
    _places: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Looks up the SKUs for which each robot can get a tool."""
        handles = {tool.name: tool.handles for tool in self.work.request.state.tools}
        self._able = [
            frozenset().union(*(handles[tool] for tool in self.work.tools_of[robot.name])) for robot in self.work.robots
        ]

    @cached_property
    def jobs(self) -> list[KitJob]:
        """The kits on which there is work; one that is in a hand only has to be put down."""
        return [job for job in self.work.jobs if not (job.started and not job.started.place)]

    def tables(self, job: KitJob) -> tuple[str, ...]:
        """Returns the tables on which the kit is or can be laid."""
        return (job.started.place,) if job.started else self.work.tables_of[job.design.name]

    def places_of(self, sku: str) -> set[str]:
        """Returns the places at which such a part is, or may come to be."""
        if sku not in self._places:
            self._places[sku] = part_places(self.work, sku)
        return self._places[sku]

    def fills(self, job: KitJob, sku: str) -> Robots:
        """Returns the robots that can put such a part into the kit."""
        there = self.places_of(sku)
        return self._or_all(
            number
            for number in self._at(self.tables(job), sku)
            if there & self.work.robots[number].reach or self._holds(number, HeldKind.PART, sku)
        )

    def removes(self, job: KitJob, sku: str) -> Robots:
        """Returns the robots that can take such a part out of the kit."""
        return self._or_all(self._at(self.tables(job), sku))

    def lays(self, job: KitJob) -> Robots:
        """Returns the robots that can lay the kit's tray."""
        sku = job.design.tray_sku
        stacks = {stack.name for stack in self.work.request.state.tray_stacks if stack.sku == sku}
        return self._or_all(
            number
            for number in self._at(self.tables(job), sku)
            if stacks & self.work.robots[number].reach or self._holds(number, HeldKind.KIT_TRAY, sku)
        )

    def clears(self, job: KitJob) -> Robots:
        """Returns the robots that can take the kit away."""
        outlets = {outlet.name for outlet in self.work.request.state.outlets}
        able = self._at(self.tables(job), job.design.tray_sku)
        return self._or_all(number for number in able if outlets & self.work.robots[number].reach)

    def spared(self) -> Counter[str]:
        """Returns SKU -> parts that need not be fetched from a tray: those in hands and in wrong slots."""
        found = Counter(r.hand.sku for r in self.work.robots if r.hand and r.hand.kind is HeldKind.PART)
        found.update(sku for job in self.jobs if job.started for sku, _ in job.started.wrong)
        return found

    def _or_all(self, numbers: Iterable[int]) -> Robots:
        """Returns the robots, or all of them where none seems able: then nothing is concluded."""
        return frozenset(numbers) or frozenset(range(len(self.work.robots)))

    def _at(self, tables: Iterable[str], sku: str) -> Robots:
        places = set(tables)
        return frozenset(n for n, robot in enumerate(self.work.robots) if sku in self._able[n] and places & robot.reach)

    def _holds(self, number: int, kind: HeldKind, sku: str) -> bool:
        hand = self.work.robots[number].hand
        return hand is not None and (hand.kind, hand.sku) == (kind, sku)
