"""A list schedule: the robot that is free first gets the task that can start first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from cellwright.planning.hands import empty_hand
from cellwright.planning.partial_schedule import PartialSchedule, Task
from cellwright.planning.planner import Unfinished
from cellwright.planning.resources import RobotSchedule

__all__ = ["Dispatch", "Roles"]

Roles = Mapping[str, frozenset[str]]
"""Robot -> tools that it may use."""


_MOST_CHANGES = 5  # by each robot before a task is done; more means that no robot can do one


class Dispatch:
    """Carries out one list schedule under given roles.

    Args:
        schedule: The schedule so far; it is continued.
        roles: The tools that each robot may use.
    """

    def __init__(self, schedule: PartialSchedule, roles: Roles) -> None:
        self._schedule = schedule
        self._roles = roles
        self.booking = schedule.booking
        self._waiting = schedule.waiting
        self._tables = schedule.work.request.state.tables
        self._restless = 0  # tool changes since something was done

    def run(self) -> list[Unfinished]:
        """Schedules everything; returns the kits that no robot could complete."""
        arms = self.booking.arms
        queue = [(arm.time_s, index) for index, arm in enumerate(arms)]
        heapq.heapify(queue)
        idle: list[int] = []
        while not self._finished() and self._restless <= _MOST_CHANGES * len(arms):
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
            if (queue and self._schedule.perturbation.skips()) or not self._step(arm):
                idle.append(index)
                continue
            heapq.heappush(queue, (arm.time_s, index))
            for other in idle:
                heapq.heappush(queue, (max(now_s, arms[other].time_s), other))
            idle = []
        why = "; ".join(self._full_hands()) or "the robots that reach it cannot get the tools for it"
        names = [kit.job.name for kit in self.booking.kits.values()] + [job.name for job in self._waiting]
        return [Unfinished(name, why) for name in names]

    def _finished(self) -> bool:
        return self._schedule.done and not any(arm.hand for arm in self.booking.arms)

    def _step(self, arm: RobotSchedule) -> bool:
        """Does the next thing with the tool on the robot, or changes it; False when there is nothing to do."""
        now_s = arm.time_s
        if arm.hand is not None:
            return self._empty(arm)
        own = self._schedule.first(arm, arm.tool, now_s) if arm.tool else None
        if own and own[0] <= now_s:
            return self._do(arm, own[1])
        best, best_tool = own, arm.tool
        others = self._schedule.changes(arm, self._roles[arm.name])
        for tool, ready_s in others:
            task = self._schedule.first(arm, tool, ready_s)
            if task and (best is None or task[0] < best[0]):
                best, best_tool = task, tool
        if best is None:
            return self._prepare(arm, others)
        if best_tool is not None and best_tool != arm.tool:
            self._restless += 1
            return self.booking.change_tool(arm, best_tool)
        return self._do(arm, best[1])

    def _empty(self, arm: RobotSchedule) -> bool:
        """Puts what the robot holds where it is wanted, or back; False as long as nothing takes it."""
        emptied = empty_hand(self.booking, self._schedule.work, arm, self._waiting)
        self._schedule.close_full()
        return emptied

    def _full_hands(self) -> list[str]:
        held = [(arm.name, arm.hand) for arm in self.booking.arms if arm.hand is not None]
        return [f"{name} holds {hand.kit or hand.sku} and no place in its reach takes it" for name, hand in held]

    def _do(self, arm: RobotSchedule, task: Task) -> bool:
        self._restless = 0
        return self._schedule.do(arm, task)

    def _prepare(self, arm: RobotSchedule, others: list[tuple[str, float]]) -> bool:
        """Gets the tool that will be wanted first, when there is nothing to do now; False when the robot has it."""
        own_s, own_work = self._expected(arm, arm.tool)
        best, tool_best = (own_s, -own_work), None
        for tool, _ in others:
            wanted_s, amount = self._expected(arm, tool)
            if wanted_s < float("inf") and (wanted_s, -amount) < best:
                best, tool_best = (wanted_s, -amount), tool
        self._restless += tool_best is not None
        return tool_best is not None and self.booking.change_tool(arm, tool_best)

    def _expected(self, arm: RobotSchedule, tool: str | None) -> tuple[float, int]:
        """Returns the time from now until a tool is likely to be wanted here, and the number of parts it is for."""
        if tool is None:
            return float("inf"), 0
        booking, d, handles = self.booking, self.booking.durations, self.booking.handles[tool]
        soonest_s, amount = float("inf"), 0
        clear_s = float("inf")
        for kit in booking.kits.values():
            if not kit.fixed and kit.place in arm.reach:
                full_s = sum(kit.missing.values()) * d.part_s
                clear_s = min(clear_s, full_s)
                if kit.job.design.tray_sku in handles and booking.outlet(arm):
                    soonest_s = min(soonest_s, full_s)
        free = any(table not in booking.taken for table in self._tables)
        lay_s = d.lay_s + (0.0 if free else clear_s + d.clear_s)
        for job in self._waiting[:4]:
            number = sum(
                count
                for sku, count in job.design.parts.items()
                if sku in handles and booking.source_s(arm, sku) is not None
            )
            if number:
                soonest_s, amount = min(soonest_s, lay_s), amount + number
        return soonest_s, amount

    def _release(self, arms: list[RobotSchedule]) -> bool:
        """Puts down a tool that its robot does not need, for the others, when no robot can go on; False for none."""
        for arm in arms:
            wanted = any(arm.tool in self._roles[other.name] for other in arms if other is not arm)
            if arm.tool is not None and arm.hand is None and wanted and self.booking.drop_tool(arm):
                return True
        return False
