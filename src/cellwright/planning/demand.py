"""The work to be done as bounds need it: the amount of everything, and the robots that can do it."""

from __future__ import annotations

from collections import Counter

from cellwright.planning.counter_problem import sole_tools
from cellwright.planning.eligible import Eligible, Robots
from cellwright.planning.state import HeldKind
from cellwright.planning.work import Work

__all__ = ["Demand"]


class Demand:
    """The kits of some work, their needs, the robots that can fill them, and what need not be brought."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.d = work.request.durations
        self.state = work.request.state
        self.eligible = Eligible(work)
        self.sole = sole_tools(work)
        self.jobs = self.eligible.jobs
        self.spared = self.eligible.spared()
        self.in_donors = Counter(sku for kit in work.donors for sku, _ in kit.wrong)
        hands = [robot.hand for robot in work.robots if robot.hand]
        self.held_trays = Counter(hand.sku for hand in hands if hand.kind is HeldKind.KIT_TRAY)
        self.mounted = {robot.tool for robot in work.robots}
        self.kits_there = any(kit.created and kit.place for kit in self.state.kits)  # a part can be fetched for them
        self.all_robots = frozenset(range(len(work.robots)))
        self.moving = [job for job in self.jobs if not (job.started and job.started.fixed)]
        self.needs = {job.name: Counter(job.started.needed if job.started else job.design.parts) for job in self.jobs}
        self.fills = {(j.name, sku): self.eligible.fills(j, sku) for j in self.jobs for sku in self.needs[j.name]}
        self.lays = {job.name: self.eligible.lays(job) for job in self.jobs if job.started is None}
        self.clears = {job.name: self.eligible.clears(job) for job in self.moving}
        self.passed = self._passed()

    def _passed(self) -> dict[str, tuple[int, Robots]]:
        """Returns SKU -> the fewest that have to be handed over, and the robots that can do that."""
        found = {}
        for sku in {sku for needs in self.needs.values() for sku in needs}:
            able = frozenset().union(*(self.fills[j.name, sku] for j in self.jobs if sku in self.needs[j.name]))
            reach = frozenset().union(*(self.work.robots[number].reach for number in able))
            there = sum(t.count for t in self.state.parts_trays if t.sku == sku and t.name in reach)
            lacking = sum(needs[sku] for needs in self.needs.values()) - there
            lacking -= self.spared[sku] + self.in_donors[sku]
            if lacking > 0 and self.all_robots - able:
                found[sku] = lacking, self.all_robots - able
        return found
