"""Lower bounds on the makespan of several robots: the largest of several times that no schedule can beat.

Each of them looks at one thing that can do only one thing at a time, or a few: a robot and what only it can do, all
robots together, a tool, a table, a zone. What something else may spare is subtracted where it may be spared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from cellwright.planning.demand import Demand
from cellwright.planning.eligible import Robots
from cellwright.planning.phase_problem import KitKind, PhaseProblem
from cellwright.planning.phases import find_phases
from cellwright.planning.planner import KitJob
from cellwright.planning.state import HeldKind
from cellwright.planning.work import Work
from cellwright.planning.zone_bounds import zone_bounds_s

__all__ = ["makespan_bound_s"]

_SEARCHED = 60  # mixtures of kits that are looked at for the changes of one robot


@dataclass
class _Share:
    """Work that only some of the robots can do.

    Attributes:
        parts: SKU -> how many are put into kits.
        seconds: All else.
        lays: Kit tray -> how many are laid.
    """

    parts: Counter[str] = field(default_factory=Counter)
    lays: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


def makespan_bound_s(work: Work) -> float:
    """Returns a time before which the last step cannot end; never negative."""
    return max(0.0, *_Bounds(work).every()) if work.jobs else 0.0


class _Bounds(Demand):
    def every(self) -> Iterable[float]:
        """Yields all bounds."""
        changes = [self._changes(number) for number in self.all_robots]
        for size in range(1, min(len(self.all_robots), 3) + 1):
            for some in combinations(sorted(self.all_robots), size):
                change_s = sum(self._change_s(number, changes[number]) for number in some)
                if size == len(self.all_robots):
                    tools = {self.sole.get(sku) for needs in self.needs.values() for sku in needs}
                    tools |= {self.sole.get(job.design.tray_sku) for job in self.moving}
                    change_s = max(change_s, self.d.attach_s * len(tools - self.mounted - {None}))
                pace = min(self.work.robots[number].pace for number in some)
                yield (self._seconds(self._share(frozenset(some))) + change_s) * pace / size
                if size == 1 and changes[some[0]] is not None:
                    yield self._change_s(some[0], changes[some[0]]) + self._robot_s(some[0])
        total = sum((self.needs[job.name] for job in self.jobs), Counter[str]())
        most = -(-(total.total() - self.in_donors.total() - (self.spared & total).total()) // len(self.all_robots))
        yield most * self.d.part_s
        for number, _ in self.passed.values():
            yield (
                number * (self.d.fetch_part_s + self.d.return_part_s) / max(len(self.all_robots) - 1, 1) + self.d.part_s
            )
        for robot in self.work.robots:
            if robot.hand and robot.hand.kind is HeldKind.KIT and any(j.name == robot.hand.kit for j in self.work.jobs):
                yield self.d.place_kit_s
        yield from self._tools_s()
        yield from self._tables_s()
        yield from zone_bounds_s(self, [self._change_s(number, many) for number, many in enumerate(changes)])

    # ------------------------------------------------------------ robots

    def _share(self, some: Robots) -> _Share:
        """Returns the work that only some of the robots can do."""
        share, d = _Share(), self.d
        for number, robots in self.passed.values():
            share.seconds += number * (d.fetch_part_s + d.return_part_s) if robots <= some else 0.0
        for job in self.jobs:
            kit = job.started
            for sku, number in self.needs[job.name].items():
                share.parts[sku] += number if self.fills[job.name, sku] <= some else 0
            for sku, _ in kit.wrong if kit else ():
                share.seconds += d.remove_part_s if self.eligible.removes(job, sku) <= some else 0.0
            if kit is None and self.lays[job.name] <= some:
                share.lays[job.design.tray_sku] += 1
            if job.name in self.clears and self.clears[job.name] <= some:
                share.seconds += d.clear_s
        return share

    def _seconds(self, share: _Share) -> float:
        """Returns the least duration of such work; hands, wrong slots and donor kits may spare some of it."""
        d = self.d
        trays = share.lays & self.held_trays
        return share.seconds + self._parts_s(share.parts) + share.lays.total() * d.lay_s - trays.total() * d.take_tray_s

    def _parts_s(self, parts: Counter[str]) -> float:
        d = self.d
        spared = parts & self.spared
        stored = (parts - spared) & self.in_donors
        from_donor_s = min(d.remove_part_s, d.fetch_part_s)
        fetched = parts.total() - spared.total() - stored.total()
        return parts.total() * d.held_part_s + fetched * d.fetch_part_s + stored.total() * from_donor_s

    def _changes(self, number: int) -> int | None:
        """Returns the fewest tool changes of a robot for what only it can do; None when there is nothing."""
        robot, alone = self.work.robots[number], frozenset([number])
        handles = {tool.name: tool.handles for tool in self.state.tools}
        tools = tuple(sorted(self.work.tools_of[robot.name]))
        anything = ("", *tools)

        def able(sku: str) -> tuple[str, ...]:
            return tuple(tool for tool in tools if sku in handles[tool])

        here: list[KitKind] = []
        to_come: Counter[KitKind] = Counter()
        tables = {table for job in self.moving for table in self.eligible.tables(job) if table in robot.reach}
        for job in self.jobs:
            sku = job.design.tray_sku
            own = {sku for sku in self.needs[job.name] if self.fills[job.name, sku] == alone}
            needs = tuple(sorted({(able(sku),) for sku in own}))
            lays = job.started is None and self.lays[job.name] == alone and not self.held_trays[sku]
            clears = self.clears.get(job.name) == alone
            if not (needs or lays or clears):
                continue
            kind = KitKind(0, needs, able(sku) if lays else anything, able(sku) if clears else anything)
            if job.started is None:
                to_come[kind] += 1
            elif job.started.fixed:
                here.append(KitKind(0, needs, ()))
            else:
                here.append(kind)
        if not here and not to_come:
            return None
        problem = PhaseProblem(
            robot.tool or "", tuple(here), tuple(sorted(to_come.items())), len(tables), tuple(sorted(tools))
        )
        found = find_phases(problem, _SEARCHED)
        return found.bound if found else 0

    def _change_s(self, number: int, changes: int | None) -> float:
        d, bare = self.d, self.work.robots[number].tool is None
        return (changes or 0) * d.attach_s + max((changes or 0) - bare, 0) * d.detach_s

    def _robot_s(self, number: int) -> float:
        """Returns the work of one robot, with what must be done by others before its first and after its last step."""
        alone = frozenset([number])
        seconds = self._seconds(self._share(alone))
        mine = [j for j in self.jobs if any(self.fills[j.name, s] == alone for s in self.needs[j.name])]
        mine += [j for j in self.jobs if self.lays.get(j.name) == alone or self.clears.get(j.name) == alone]
        mine += [j for j in self.jobs if j.started and j.started.wrong]
        if not any(job.started or self.lays[job.name] == alone for job in mine) and not self.held_trays:
            before_s = self.d.attach_s if self.work.robots[number].tool is None else self.d.change_s
            before_s += self.d.fetch_part_s if self.kits_there else 0.0
            seconds += max(self.d.lay_s - before_s, 0.0)
        if all(job.name in self.clears and number not in self.clears[job.name] for job in mine):
            seconds += self.d.clear_s
        return seconds

    # ------------------------------------------------------------ tools

    def _tools_s(self) -> Iterable[float]:
        """Yields bounds of tools: one that nothing can replace does one thing at a time, for one robot at a time."""
        d = self.d
        for tool in sorted(set(self.sole.values())):
            busy, fresh, tail_s = _Share(), True, [0.0]
            givers: set[Robots] = set()
            tails = []
            for job in self.jobs:
                own = {sku: n for sku, n in self.needs[job.name].items() if self.sole.get(sku) == tool}
                trays = self.sole.get(job.design.tray_sku) == tool
                busy.parts.update(own)
                givers |= {self.fills[job.name, sku] for sku in own}
                fresh = fresh and (job.started is None or not own)
                if own:
                    tails.append(0.0 if trays or job.name not in self.clears else d.clear_s)
                for sku, _ in job.started.wrong if job.started else ():
                    if self.sole.get(sku) == tool:
                        busy.seconds, fresh = busy.seconds + d.remove_part_s, False
                if trays and job.name in self.lays:
                    busy.lays[job.design.tray_sku] += 1
                    givers.add(self.lays[job.name])
                    fresh = False
                if trays and job.name in self.clears:
                    busy.seconds += d.clear_s
                    givers.add(self.clears[job.name])
                    fresh, tails = fresh and job.started is None, [*tails, 0.0]
            seconds = self._seconds(busy)
            if seconds <= 0.0:
                continue
            head_s = self._ready_s(tool, frozenset().union(*givers))
            if fresh and not self.held_trays and not self.in_donors:
                head_s = max(head_s, self._lay_head_s() - (d.fetch_part_s if self.kits_there else 0.0))
            moved = self._moves_between(tool, givers)
            yield head_s + seconds + min(tails or tail_s) + moved * d.change_s

    def _ready_s(self, tool: str, robots: Robots) -> float:
        """Returns the least time until one of the robots has the tool."""
        d, owners = self.d, [number for number in self.all_robots if self.work.robots[number].tool == tool]
        if not robots or robots & set(owners):
            return 0.0
        bare = any(self.work.robots[number].tool is None for number in robots)
        return d.attach_s + (d.detach_s if owners or not bare else 0.0)

    def _moves_between(self, tool: str, givers: set[Robots]) -> int:
        """Returns the fewest handovers of a tool between the robots that lay and those that clear."""
        if not givers or frozenset.intersection(*givers):
            return 0
        new = [job for job in self.moving if job.started is None and self.sole.get(job.design.tray_sku) == tool]
        apart = [job for job in new if not self.lays[job.name] & self.clears[job.name]]
        tables = {table for job in self.moving for table in self.eligible.tables(job)}
        return max(2 * -(-len(apart) // max(len(tables), 1)) - 1, 1)

    def _lay_head_s(self) -> float:
        """Returns the least time until the first tray is a kit."""
        tools = {self.sole.get(job.design.tray_sku) for job in self.jobs if job.started is None}
        bare = tools and None not in tools and not tools & self.mounted
        return self.d.lay_s + (self.d.attach_s if bare else 0.0)

    # ------------------------------------------------------------ tables

    def _tables_s(self) -> Iterable[float]:
        """Yields bounds of tables: a kit keeps its table from when its tray is fetched until it is taken away."""
        d, passing = self.d, self.moving
        if not passing:
            return
        tables = {table for job in passing for table in self.eligible.tables(job)}
        chains = [self._chain_s(job) for job in passing]
        head_s = 0.0
        if all(job.started is None for job in passing) and not self.held_trays:
            head_s = self._lay_head_s() - d.lay_s
        between_s = 0.0
        if len(tables) == 1 and len({self.sole.get(job.design.tray_sku, job.name) for job in passing}) == 1:
            between_s = d.place_kit_s  # the only tray tool is away with the last kit
            new = [job for job in passing if job.started is None]
            if not any(self.lays[job.name] & self.clears[other.name] for job in new for other in passing):
                between_s += d.change_s  # and goes from one robot to the other
        yield head_s + sum(chains) / max(len(tables), 1) + (len(passing) - 1) * between_s + d.place_kit_s
        yield head_s + max(chains) + d.place_kit_s

    def _chain_s(self, job: KitJob) -> float:
        """Returns the least time for which a kit keeps its table: laying, filling, taking away."""
        d, needs, new = self.d, self.needs[job.name], job.started is None
        fill_s = [0.0]
        early = (needs & self.spared).total() + (needs & self.in_donors).total()
        number = max(needs.total() - early, 0)
        fill_s.append(needs.total() * d.place_part_s)
        if number:
            fill_s.append(-(-number // len(self.all_robots)) * d.part_s)
        by_tool: Counter[str] = Counter()
        for sku, many in needs.items():
            if sku in self.sole:
                by_tool[self.sole[sku]] += many
        fill_s += [(many - early) * d.part_s for many in by_tool.values()]
        prefetched_s = d.fetch_part_s if new and (len(self.jobs) > 1 or self.kits_there) else 0.0
        best_s = max(max(fill_s) - prefetched_s, 0.0)
        for robot in self.all_robots:
            best_s = max(best_s, self._own_chain_s(job, robot, early, prefetched_s))
        lay_s = d.lay_s - (d.take_tray_s if self.held_trays[job.design.tray_sku] else 0.0) if new else 0.0
        return lay_s + best_s + d.take_kit_s

    def _own_chain_s(self, job: KitJob, robot: int, early: int, prefetched_s: float) -> float:
        """Returns the time of one robot alone between laying and taking away, with the changes of its tool."""
        alone, d = frozenset([robot]), self.d
        own = {sku: n for sku, n in self.needs[job.name].items() if self.fills[job.name, sku] == alone}
        number = sum(own.values()) - early
        if number <= 0 or not own.keys() <= self.sole.keys() or early:
            return max(number, 0) * d.part_s - (prefetched_s if number > 0 else 0.0)
        tray_tool = self.sole.get(job.design.tray_sku)
        tools = {self.sole[sku] for sku in own}
        lays = self.lays.get(job.name) == alone and tray_tool is not None and tray_tool not in tools
        clears = self.clears.get(job.name) == alone and tray_tool is not None and tray_tool not in tools
        changes = len(tools) - 1 + lays + clears
        return number * d.part_s + changes * d.change_s - (0.0 if lays else prefetched_s)
