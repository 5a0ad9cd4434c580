"""Kits that no plan at all completes, by a delete relaxation: nothing that is used is ever used up.

Everything that a robot could ever have, hold, reach or bring is collected until nothing is added. That is more than is
possible at once, so what is missing then is missing in every plan. Besides, parts are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cellwright.planning.planner import KitJob, PlanRequest
from cellwright.planning.state import CellState, HeldKind, PlannerRobot

__all__ = ["RelaxedReachability"]


class RelaxedReachability:
    """The fixed point of a cell in which nothing is used up: what is not in it is in no plan.

    Args:
        request: The planning problem.
    """

    def __init__(self, request: PlanRequest) -> None:
        self._state: CellState = request.state
        self._jobs = request.jobs
        self._robots = [robot for robot in request.state.robots if robot.available]
        self._handles = {tool.name: tool.handles for tool in request.state.tools}
        self._tools = {r.name: {r.tool} if r.tool else set[str]() for r in self._robots}
        self._bare = {r.name for r in self._robots if r.tool is None}
        self._free = {r.name for r in self._robots if r.hand is None}  # robots whose hand can be empty
        self._on = {h.name: {h.tool} if h.tool else set[str]() for h in self._state.holders}
        self._empty = {h.name for h in self._state.holders if h.tool is None}
        self._parts = {(tray.sku, tray.name) for tray in self._state.parts_trays if tray.count > 0}
        self._parts |= {(sku, kit.place) for kit in self._state.kits for sku, _ in kit.wrong}
        self._trays = {(stack.sku, stack.name) for stack in self._state.tray_stacks if stack.count > 0}
        self._close()

    def may_complete(self, job: KitJob) -> bool:
        """Returns whether some plan may complete the kit; False is a proof that none does."""
        kit, outlets = job.started, {o.name for o in self._state.outlets if o.count < o.capacity}
        if kit and kit.place in {outlet.name for outlet in self._state.outlets}:
            return True
        if kit and not kit.place:
            return any(r.hand and r.hand.kit == kit.name and r.reach & outlets for r in self._robots)
        places = {kit.place} if kit else self._free_tables()
        needs = kit.needed if kit else job.design.parts
        if any(number > self._there(sku) for sku, number in needs.items()):
            return False
        return any(self._completed_on(job, needs, place, outlets) for place in places)

    def _completed_on(self, job: KitJob, needs: Mapping[str, int], table: str, outlets: set[str]) -> bool:
        kit, tray_sku = job.started, job.design.tray_sku
        if kit and not kit.created and not any(table in robot.reach for robot in self._robots):
            return False
        if not all(any(self._brings(r, sku, table) for r in self._robots) for sku in needs):
            return False
        out = {sku for sku, _ in kit.wrong} if kit else set[str]()
        if not all(any(table in r.reach and self._can_take(r, sku) for r in self._robots) for sku in out):
            return False
        if kit is None and not any(self._lays(r, tray_sku, table) for r in self._robots):
            return False
        if kit and kit.fixed:
            return True
        return any({table} <= r.reach and r.reach & outlets and self._can_take(r, tray_sku) for r in self._robots)

    def _there(self, sku: str) -> int:
        """Returns the number of parts of a SKU that the robots could place at all."""
        reached: frozenset[str] = frozenset().union(*(r.reach for r in self._robots if self._can_take(r, sku)))
        trays = sum(t.count for t in self._state.parts_trays if t.sku == sku and t.name in reached)
        wrong = Counter(there for kit in self._state.kits if kit.place in reached for there, _ in kit.wrong)
        held = sum(self._holds(robot, HeldKind.PART, sku) for robot in self._robots)
        return trays + wrong[sku] + held

    @staticmethod
    def _holds(robot: PlannerRobot, kind: HeldKind, sku: str) -> bool:
        return robot.hand is not None and (robot.hand.kind, robot.hand.sku) == (kind, sku)

    def _can_take(self, robot: PlannerRobot, sku: str) -> bool:
        return robot.name in self._free and any(sku in self._handles[tool] for tool in self._tools[robot.name])

    def _brings(self, robot: PlannerRobot, sku: str, table: str) -> bool:
        there = self._can_take(robot, sku) and any((sku, place) in self._parts for place in robot.reach)
        return table in robot.reach and (there or self._holds(robot, HeldKind.PART, sku))

    def _lays(self, robot: PlannerRobot, sku: str, table: str) -> bool:
        there = self._can_take(robot, sku) and any((sku, place) in self._trays for place in robot.reach)
        return table in robot.reach and (there or self._holds(robot, HeldKind.KIT_TRAY, sku))

    def _free_tables(self) -> set[str]:
        """Returns tables that are free or may become so."""
        stay = {kit.place for kit in self._state.kits if kit.fixed or kit.apart}
        return set(self._state.tables) - stay

    def _close(self) -> None:
        """Adds what follows until nothing does."""
        before = -1
        while (size := self._size()) != before:
            before = size
            for robot in self._robots:
                self._close_tools(robot)
                if robot.hand is not None and self._gets_rid(robot):
                    self._free.add(robot.name)
                for tray in self._state.parts_trays:
                    if tray.name in robot.reach and self._moves(robot, HeldKind.PART, tray.sku, self._parts):
                        self._parts |= {(tray.sku, tray.name)} if tray.capacity else set()
                for stack in self._state.tray_stacks:
                    if stack.name in robot.reach and self._moves(robot, HeldKind.KIT_TRAY, stack.sku, self._trays):
                        self._trays.add((stack.sku, stack.name))

    def _size(self) -> int:
        groups = (*self._tools.values(), *self._on.values(), self._bare, self._free, self._empty)
        return sum(map(len, groups)) + len(self._parts) + len(self._trays)

    def _close_tools(self, robot: PlannerRobot) -> None:
        for holder in robot.reach & self._on.keys():
            if holder in self._empty and robot.name in self._free and self._tools[robot.name]:
                self._on[holder] |= self._tools[robot.name]
                self._bare.add(robot.name)
            if robot.name in self._bare and self._on[holder]:
                self._tools[robot.name] |= self._on[holder]
                self._empty.add(holder)

    def _moves(self, robot: PlannerRobot, kind: HeldKind, sku: str, places: set[tuple[str, str]]) -> bool:
        """Returns whether a robot may come to hold such a thing."""
        takes = self._can_take(robot, sku) and any((sku, place) in places for place in robot.reach)
        return takes or self._holds(robot, kind, sku)

    def _gets_rid(self, robot: PlannerRobot) -> bool:
        """Returns whether there may be a place for what the robot holds at the beginning."""
        hand, state = robot.hand, self._state
        if hand is None:
            return True
        if hand.kind is HeldKind.KIT:
            return any(o.name in robot.reach and o.count < o.capacity for o in state.outlets)
        if hand.kind is HeldKind.KIT_TRAY:
            stacks = {stack.name for stack in state.tray_stacks if stack.sku == hand.sku}
            wanted = any(job.started is None and job.design.tray_sku == hand.sku for job in self._jobs)
            return bool(robot.reach & (stacks | (self._free_tables() if wanted else set())))
        trays = [tray for tray in state.parts_trays if tray.sku == hand.sku and tray.name in robot.reach]
        takers = [one for one in self._robots if self._can_take(one, hand.sku)]
        if any(t.count < t.capacity or any(t.name in one.reach for one in takers) for t in trays if t.capacity):
            return True
        begun = {kit.place for kit in state.kits if hand.sku in kit.needed}
        new = any(job.started is None and hand.sku in job.design.parts for job in self._jobs)
        return bool(robot.reach & (begun | (self._free_tables() if new else set())))
