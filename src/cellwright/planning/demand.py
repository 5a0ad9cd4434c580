"""What is to be done, as bounds look at it: how much of everything, and by whom."""

from __future__ import annotations

from collections import Counter

from cellwright.planning.counter_problem import sole_tools
from cellwright.planning.eligible import Eligible, Robots
from cellwright.planning.state import HeldKind
from cellwright.planning.work import Work

__all__ = ["Demand"]


class Demand:
    """The kits of some work, what each needs, who can bring it, and what need not be brought."""

    def __init__(self, work: Work) -> None:
        self.work, self.d, self.state = work, work.request.durations, work.request.state
        self.who, self.sole = Eligible(work), sole_tools(work)
        self.jobs = self.who.jobs
        self.spared = self.who.spared()
        self.in_stores = Counter(sku for kit in work.stores for sku, _ in kit.wrong)
        hands = [robot.hand for robot in work.robots if robot.hand]
        self.held_trays = Counter(hand.sku for hand in hands if hand.kind is HeldKind.KIT_TRAY)
        self.mounted = {robot.tool for robot in work.robots}
        self.kits_there = any(kit.created and kit.place for kit in self.state.kits)  # a part can be fetched for them
        self.everybody = frozenset(range(len(work.robots)))
        self.moving = [job for job in self.jobs if not (job.started and job.started.fixed)]
        self.needs = {job.name: Counter(job.started.needed if job.started else job.design.parts) for job in self.jobs}
        self.fills = {(j.name, sku): self.who.fills(j, sku) for j in self.jobs for sku in self.needs[j.name]}
        self.lays = {job.name: self.who.lays(job) for job in self.jobs if job.started is None}
        self.clears = {job.name: self.who.clears(job) for job in self.moving}
        self.passed = self._passed()

    def _passed(self) -> dict[str, tuple[int, Robots]]:
        """Returns SKU -> how many have to be handed over at least, and who can do that."""
        found = {}
        for sku in {sku for needs in self.needs.values() for sku in needs}:
            able = frozenset().union(*(self.fills[j.name, sku] for j in self.jobs if sku in self.needs[j.name]))
            reach = frozenset().union(*(self.work.robots[number].reach for number in able))
            there = sum(t.count for t in self.state.parts_trays if t.sku == sku and t.name in reach)
            lacking = sum(needs[sku] for needs in self.needs.values()) - there
            lacking -= self.spared[sku] + self.in_stores[sku]
            if lacking > 0 and self.everybody - able:
                found[sku] = lacking, self.everybody - able
        return found
