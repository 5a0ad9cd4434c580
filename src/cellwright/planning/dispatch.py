"""One schedule: whoever is free first gets the work that can start first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import NamedTuple

from cellwright.planning.bench import Arm, Bench, OpenKit
from cellwright.planning.hands import settle
from cellwright.planning.planner import KitJob, Unfinished
from cellwright.planning.work import Work

__all__ = ["Dispatch", "Roles"]

Roles = Mapping[str, frozenset[str]]
"""Robot -> tools that it may use."""


_MOST_CHANGES = 5  # by each robot before somebody does something; more means that nobody can


class _Task(NamedTuple):
    """Something a robot can do, ordered by when it can start and how much others wait for it."""

    start_s: float
    rank: int
    number: int
    kit: OpenKit | None = None
    sku: str = ""
    job: KitJob | None = None
    table: str = ""


class Dispatch:
    """Carries out one list schedule under given roles.

    Args:
        work: What is to be done.
        roles: Who may use which tool.
        kits: Only so many kits are scheduled; all when None.
    """

    def __init__(self, work: Work, roles: Roles, kits: int | None) -> None:
        self.bench = Bench(work)
        started = sum(job.started is not None for job in work.jobs)
        waiting = [job for job in work.jobs if job.started is None]
        self._waiting = waiting if kits is None else waiting[: max(kits - started, 0)]
        self._work, self._roles = work, roles
        self._stuck = settle(self.bench, work, self._waiting)
        d = work.request.durations
        self._to_place_s = d.part_s - d.place_part_s
        self._tables = work.request.state.tables
        self._restless = 0  # tool changes since something was done

    def run(self) -> list[Unfinished]:
        """Schedules everything; gives the kits that nobody could complete."""
        arms = [arm for arm in self.bench.arms if arm.name not in self._stuck]
        queue = [(arm.time_s, index) for index, arm in enumerate(arms)]
        heapq.heapify(queue)
        idle: list[int] = []
        while (self.bench.kits or self._waiting) and self._restless <= _MOST_CHANGES * len(arms):
            if not queue:
                if not self._release(arms):
                    break
                self._restless += 1
                queue, idle = [(arm.time_s, index) for index, arm in enumerate(arms)], []
                heapq.heapify(queue)
                continue
            now_s, index = heapq.heappop(queue)
            arm = arms[index]
            arm.time_s = max(arm.time_s, now_s)
            if not self._step(arm):
                idle.append(index)
                continue
            heapq.heappush(queue, (arm.time_s, index))
            for other in idle:
                heapq.heappush(queue, (max(now_s, arms[other].time_s), other))
            idle = []
        why = "; ".join(self._stuck.values()) or "the robots that reach it cannot get the tools for it"
        names = [kit.job.name for kit in self.bench.kits.values()] + [job.name for job in self._waiting]
        return [Unfinished(name, why) for name in names]

    def _step(self, arm: Arm) -> bool:
        """Does the next thing with the tool on the robot, or changes it; False when there is nothing to do."""
        now_s = arm.time_s
        own = self._task(arm, arm.tool, now_s) if arm.tool else None
        if own and own.start_s <= now_s:
            return self._do(arm, own)
        best, best_tool = own, arm.tool
        others = self._changes(arm)
        for tool, ready_s in others:
            task = self._task(arm, tool, ready_s)
            if task and (best is None or task.start_s < best.start_s):
                best, best_tool = task, tool
        if best is None:
            return self._prepare(arm, others)
        if best_tool is not None and best_tool != arm.tool:
            self._restless += 1
            return self.bench.change_tool(arm, best_tool)
        return self._do(arm, best)

    def _changes(self, arm: Arm) -> list[tuple[str, float]]:
        """Tools that the robot could have on, and when."""
        bench, d = self.bench, self.bench.durations
        if arm.tool is not None and bench.empty_holder(arm) is None:
            return []
        ready_s = arm.time_s + (d.detach_s if arm.tool else 0.0)
        found = []
        for holder, tool in bench.holders.items():
            if tool is not None and holder in arm.reach and tool in self._roles[arm.name]:
                found.append((tool, max(ready_s, bench.free_s.get(tool, 0.0)) + d.attach_s))
        return found

    def _task(self, arm: Arm, tool: str | None, from_s: float) -> _Task | None:
        """The first thing that the robot can do with a tool; steps of others that are not planned yet do not count."""
        bench, handles = self.bench, self.bench.handles[tool or ""]
        best: _Task | None = None
        for number, kit in enumerate(bench.kits.values()):
            if kit.place not in arm.reach:
                continue
            if not kit.missing:
                if not kit.fixed and kit.job.design.tray_sku in handles and bench.outlet(arm):
                    task = _Task(max(from_s, kit.full_s, bench.zone_free_s(kit.place)), 0, number, kit)
                    best = task if best is None or task[:3] < best[:3] else best
                continue
            start_s = max(from_s, kit.ready_s, bench.zone_free_s(kit.place) - self._to_place_s)
            if best is not None and (start_s, 2, number) >= best[:3]:
                continue
            for sku in kit.missing:
                if sku in handles and bench.source(arm, sku):
                    best = _Task(start_s, 2, number, kit, sku)
                    break
        if self._waiting and (best is None or best.start_s > from_s or best.rank > 0):
            lay = self._lay_task(arm, handles, from_s)
            best = lay if lay and (best is None or lay[:3] < best[:3]) else best
        return best

    def _lay_task(self, arm: Arm, handles: frozenset[str], from_s: float) -> _Task | None:
        bench, best = self.bench, None
        tried: set[str] = set()
        for job in self._waiting:
            if job.design.name in tried:
                continue
            tried.add(job.design.name)
            if job.design.tray_sku not in handles or not bench.stack(arm, job.design.tray_sku):
                continue
            for table in self._work.tables_of[job.design.name]:
                if table not in bench.taken and table in arm.reach:
                    task = _Task(max(from_s, bench.free_s.get(table, 0.0)), 1, 0, None, "", job, table)
                    best = task if best is None or task.start_s < best.start_s else best
            if best:
                return best
        return best

    def _do(self, arm: Arm, task: _Task) -> bool:
        bench, self._restless = self.bench, 0
        if task.job is not None:
            stack = bench.stack(arm, task.job.design.tray_sku)
            if stack is None:
                return False
            self._waiting.remove(task.job)
            bench.lay(arm, task.job, task.table, stack)
        elif task.kit is not None and task.sku:
            tray = bench.source(arm, task.sku)
            if tray is None:
                return False
            bench.move_part(arm, task.kit, task.sku, tray)
            if task.kit.fixed and not task.kit.missing:
                del bench.kits[task.kit.place]
        elif task.kit is not None:
            outlet = bench.outlet(arm)
            if outlet is None:
                return False
            bench.clear(arm, task.kit, outlet)
        return True

    def _prepare(self, arm: Arm, others: list[tuple[str, float]]) -> bool:
        """With nothing to do now, gets the tool that will be wanted first, so that nobody waits for the change."""
        own_s, own_work = self._expected(arm, arm.tool)
        best, tool_best = (own_s, -own_work), None
        for tool, _ in others:
            wanted_s, amount = self._expected(arm, tool)
            if wanted_s < float("inf") and (wanted_s, -amount) < best:
                best, tool_best = (wanted_s, -amount), tool
        self._restless += tool_best is not None
        return tool_best is not None and self.bench.change_tool(arm, tool_best)

    def _expected(self, arm: Arm, tool: str | None) -> tuple[float, int]:
        """When a tool is likely to be wanted here, from now, and for how many parts."""
        if tool is None:
            return float("inf"), 0
        bench, d, handles = self.bench, self.bench.durations, self.bench.handles[tool]
        soonest_s, amount = float("inf"), 0
        clear_s = float("inf")
        for kit in bench.kits.values():
            if not kit.fixed and kit.place in arm.reach:
                full_s = sum(kit.missing.values()) * d.part_s
                clear_s = min(clear_s, full_s)
                if kit.job.design.tray_sku in handles and bench.outlet(arm):
                    soonest_s = min(soonest_s, full_s)
        free = any(table not in bench.taken for table in self._tables)
        lay_s = d.lay_s + (0.0 if free else clear_s + d.clear_s)
        for job in self._waiting[:4]:
            number = sum(count for sku, count in job.design.parts.items() if sku in handles and bench.source(arm, sku))
            if number:
                soonest_s, amount = min(soonest_s, lay_s), amount + number
        return soonest_s, amount

    def _release(self, arms: list[Arm]) -> bool:
        """Nobody can go on: a tool that its robot does not need is put down for the others."""
        for arm in arms:
            wanted = any(arm.tool in self._roles[other.name] for other in arms if other is not arm)
            if arm.tool is not None and arm.hand is None and wanted and self.bench.drop_tool(arm):
                return True
        return False
