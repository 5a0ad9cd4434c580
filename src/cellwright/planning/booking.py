"""The cell as the planners change it: they choose the next task of a robot, which becomes steps with times here."""

from __future__ import annotations

from bisect import insort
from collections import Counter

from cellwright.planning.actions import Action, Verb
from cellwright.planning.planner import KitJob
from cellwright.planning.resources import OpenKit, RobotSchedule, Supply
from cellwright.planning.state import HeldItem, HeldKind
from cellwright.planning.work import Work
from cellwright.planning.zone_times import ZoneTimes

__all__ = ["Booking"]

_PART_STEPS = (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART, Verb.LOOK_SLOT, Verb.PLACE_PART)
_LOOK_PART, _SET_GRASP, _TAKE_PART, _LOOK_SLOT, _PLACE_PART = _PART_STEPS
_make = tuple.__new__  # what Action._make does in the end


class Booking:
    """Books robots, tools, tables, stock and zones, and collects the steps."""

    def __init__(self, work: Work) -> None:
        state = work.request.state
        self.durations = work.request.durations
        self._seconds = {verb: self.durations.of(verb) for verb in Verb}
        self.actions: list[Action] = []
        self.handles = {tool.name: tool.handles for tool in state.tools}
        self.arms = [
            RobotSchedule(r.name, r.reach, work.tools_of[r.name], r.tool, r.hand, pace=r.pace) for r in work.robots
        ]
        paces = {arm.pace for arm in self.arms}
        self._part_seconds = {pace: [self._seconds[verb] * pace for verb in _PART_STEPS] for pace in paces}
        self.holders: dict[str, str | None] = {holder.name: holder.tool for holder in state.holders}
        self.free_s: dict[str, float] = {}  # tool, holder or table -> since when it can be used
        self.parts: dict[str, list[Supply]] = {}
        for tray in state.parts_trays:
            self.parts.setdefault(tray.sku, []).append(Supply(tray.name, tray.count, tray.capacity))
        for donor in work.donors:
            for sku, number in Counter(there for there, _ in donor.wrong).items():
                supplies = self.parts.setdefault(sku, [])
                sooner = donor.apart and self.durations.remove_part_s < self.durations.fetch_part_s
                supplies.insert(0 if sooner else len(supplies), Supply(donor.place, number, 0, kit=donor.name))
        self.stacks: dict[str, list[Supply]] = {}
        for stack in state.tray_stacks:
            self.stacks.setdefault(stack.sku, []).append(Supply(stack.name, stack.count, float("inf")))
        self.outlets = [Supply(outlet.name, outlet.count, outlet.capacity) for outlet in state.outlets]
        self.kits: dict[str, OpenKit] = {}  # table -> kit to work on
        self.taken = {kit.place for kit in state.kits}
        for job in work.jobs:
            kit = job.started
            if kit and kit.place:
                self.kits[kit.place] = OpenKit(job, kit.place, kit.open_slots, kit.fixed, wrong=kit.wrong)
        self._zones = ZoneTimes(state.zones, alone=len(self.arms) < 2)

    def zone_free_s(self, place: str, from_s: float, duration_s: float) -> float:
        """Returns the time at which the robot can go to a place for so long."""
        return self._zones.start_s(place, from_s, duration_s)

    def source(self, arm: RobotSchedule, sku: str, place: str) -> Supply | None:
        """Returns the supply of a part for a kit: free soonest, then in the kit's own zone, then the first one."""
        reach, zones = arm.reach, self._zones.zone_of
        look_s, grasp_s, take_s, _, _ = self._part_seconds[arm.pace]
        there_s = arm.time_s + look_s + grasp_s
        zone, best, least = zones.get(place), None, (0.0, False)
        for tray in self.parts.get(sku, ()):
            name = tray.name
            if tray.count > 0 and name in reach:
                elsewhere = zones.get(name) != zone
                free_s = self._zones.start_s(name, max(there_s, tray.next_s() + look_s + grasp_s), take_s)
                if free_s <= there_s and not elsewhere:
                    return tray
                found = (free_s, elsewhere)
                if best is None or found < least:
                    best, least = tray, found
        return best

    def source_s(self, arm: RobotSchedule, sku: str) -> float | None:
        """Returns the time from which the robot gets such a part anywhere; None when it does not."""
        trays = [tray for tray in self.parts.get(sku, ()) if tray.count > 0 and tray.name in arm.reach]
        return min((tray.next_s() for tray in trays), default=None)

    def can_handle(self, arm: RobotSchedule, sku: str) -> bool:
        """Returns whether the robot has or can get a tool for a SKU."""
        return any(sku in self.handles[tool] for tool in arm.tools)

    def stack(self, arm: RobotSchedule, sku: str) -> Supply | None:
        """Returns the stack from which the robot gets a kit tray; None when there is none."""
        return next((s for s in self.stacks.get(sku, ()) if s.count > 0 and s.name in arm.reach), None)

    def outlet(self, arm: RobotSchedule) -> Supply | None:
        """Returns the outlet into which the robot can put a finished kit; None when there is none."""
        return next((o for o in self.outlets if o.count < o.capacity and o.name in arm.reach), None)

    def holder_of(self, tool: str) -> str | None:
        """Returns the holder that a tool is on."""
        return next((holder for holder, held in self.holders.items() if held == tool), None)

    def empty_holder(self, arm: RobotSchedule) -> str | None:
        """Returns the empty holder in reach that is free first."""
        empty = [holder for holder, held in self.holders.items() if held is None and holder in arm.reach]
        others = [other for other in self.arms if other is not arm and arm.tool in other.tools]

        def badness(holder: str) -> tuple[int, float]:
            return -sum(holder in other.reach for other in others), self.free_s.get(holder, 0.0)

        return min(empty, key=badness, default=None)

    def drop_tool(self, arm: RobotSchedule) -> bool:
        """Puts the robot's tool onto a holder; False when there is none."""
        holder = self.empty_holder(arm)
        if holder is None or arm.tool is None:
            return False
        self._go(arm, Verb.DETACH, holder, not_before_s=self.free_s.get(holder, 0.0), tool=arm.tool)
        self.holders[holder] = arm.tool
        self.free_s[arm.tool] = arm.time_s
        arm.tool = None
        return True

    def change_tool(self, arm: RobotSchedule, tool: str) -> bool:
        """Puts another tool on the robot; False when it is on no holder in reach."""
        holder = self.holder_of(tool)
        if holder is None or holder not in arm.reach or (arm.tool is not None and not self.drop_tool(arm)):
            return False
        self._go(arm, Verb.ATTACH, holder, not_before_s=self.free_s.get(tool, 0.0), tool=tool)
        self.holders[holder] = None
        self.free_s[holder] = arm.time_s
        arm.tool = tool
        return True

    def lay(self, arm: RobotSchedule, job: KitJob, table: str, stack: Supply) -> None:
        """Lays a kit tray from its stack onto a table, where it becomes a kit."""
        sku, free_s = job.design.tray_sku, max(self.free_s.get(table, 0.0), stack.next_s())
        self._go(arm, Verb.TAKE_TRAY, stack.name, sku, job.name, not_before_s=free_s, table=table)
        stack.take()
        self.lay_held(arm, job, table)

    def lay_held(self, arm: RobotSchedule, job: KitJob, table: str) -> None:
        """Lays the kit tray that the robot holds onto a table."""
        self._go(arm, Verb.PLACE_TRAY, table, job.design.tray_sku, job.name, not_before_s=self.free_s.get(table, 0.0))
        self.taken.add(table)
        arm.hand = None
        self.kits[table] = OpenKit(job, table, dict(job.design.parts), fixed=False)
        self.create(arm, self.kits[table])

    def create(self, arm: RobotSchedule, kit: OpenKit) -> None:
        """Makes a kit of the tray on its table."""
        self._do(arm, Verb.CREATE_KIT, kit.place, "", kit.job.name, self.durations.create_kit_s)
        kit.ready_s = kit.full_s = arm.time_s

    def move_part(self, arm: RobotSchedule, kit: OpenKit, sku: str, tray: Supply, number: int = 1) -> None:
        """Moves so many parts from their tray into a kit."""
        # Most of every plan is made here, so the steps are written out rather than booked one by one.
        look_s, grasp_s, take_s, slot_s, place_s = self._part_seconds[arm.pace]
        if tray.kit:
            for _ in range(number):
                self.fetch_part(arm, kit, sku, tray)
                self.put_part(arm, kit, sku)
            return
        alone, actions, make = self._zones.alone, self.actions, _make
        name, table, start_of = tray.name, kit.place, self._zones.start_s
        robot, tool, kit_name = arm.name, arm.tool or "", kit.job.name
        end_s = max(arm.time_s, kit.ready_s)
        for _ in range(number):
            first_s = max(end_s, tray.next_s()) if tray.late_s else end_s
            second_s = first_s + look_s
            third_s = second_s + grasp_s if alone else start_of(name, second_s + grasp_s, take_s)
            fourth_s = third_s + take_s
            fifth_s = fourth_s + slot_s if alone else start_of(table, fourth_s + slot_s, place_s)
            end_s = fifth_s + place_s
            actions += (
                make(Action, (_LOOK_PART, robot, tool, sku, name, kit_name, "", first_s, look_s)),
                make(Action, (_SET_GRASP, robot, tool, sku, "", kit_name, "", second_s, grasp_s)),
                make(Action, (_TAKE_PART, robot, tool, sku, name, kit_name, "", third_s, take_s)),
                make(Action, (_LOOK_SLOT, robot, tool, sku, table, kit_name, "", fourth_s, slot_s)),
                make(Action, (_PLACE_PART, robot, tool, sku, table, kit_name, "", fifth_s, place_s)),
            )
            if alone:
                continue
            self._zones.take(name, third_s, take_s)
            self._zones.take(table, fifth_s, place_s)
            tray.leaves_s.append(third_s)
            tray.take()
        if alone:
            tray.late_s.clear()  # one robot has brought it before it takes it
            tray.count -= number
        arm.time_s = end_s
        self._filled(kit, sku, end_s, number)

    def fetch_part(self, arm: RobotSchedule, kit: OpenKit, sku: str, tray: Supply) -> None:
        """Takes a part into the hand, for a kit."""
        arm.time_s = max(arm.time_s, kit.ready_s, tray.next_s())
        if tray.kit:
            self._go(arm, Verb.REMOVE_PART, tray.name, sku, tray.kit)
        else:
            self._do(arm, Verb.LOOK_PART, tray.name, sku, kit.job.name, self.durations.look_part_s)
            self._do(arm, Verb.SET_GRASP, "", sku, kit.job.name, self.durations.set_grasp_s)
            self._go(arm, Verb.TAKE_PART, tray.name, sku, kit.job.name)
            tray.leaves_s.append(self.actions[-1].start_s)
        tray.take()
        arm.hand = HeldItem(HeldKind.PART, sku)

    def remove_part(self, arm: RobotSchedule, kit: OpenKit, sku: str) -> None:
        """Takes a part out of a slot where it does not belong."""
        self._go(arm, Verb.REMOVE_PART, kit.place, sku, kit.job.name, not_before_s=kit.ready_s)
        found = next(pair for pair in kit.wrong if pair[0] == sku)
        kit.wrong.remove(found)
        kit.missing[found[1]] = kit.missing.get(found[1], 0) + 1
        kit.ready_s = max(kit.ready_s, arm.time_s)  # a slot is looked for when it is empty
        arm.hand = HeldItem(HeldKind.PART, sku)

    def put_part(self, arm: RobotSchedule, kit: OpenKit, sku: str) -> None:
        """Puts the part that the robot holds into a kit."""
        arm.time_s = max(arm.time_s, kit.ready_s)
        self._do(arm, Verb.LOOK_SLOT, kit.place, sku, kit.job.name, self.durations.look_slot_s)
        self._go(arm, Verb.PLACE_PART, kit.place, sku, kit.job.name)
        arm.hand = None
        self._filled(kit, sku, arm.time_s)

    @staticmethod
    def _filled(kit: OpenKit, sku: str, time_s: float, number: int = 1) -> None:
        kit.missing[sku] -= number
        if not kit.missing[sku]:
            del kit.missing[sku]
        kit.full_s = max(kit.full_s, time_s)

    def takes_part(self, arm: RobotSchedule, sku: str) -> bool:
        """Returns whether the robot could put a part down: a kit lacks it or a parts tray has room."""
        if any(sku in kit.missing and kit.place in arm.reach for kit in self.kits.values()):
            return True
        return any(tray.name in arm.reach and tray.count < tray.capacity for tray in self.parts.get(sku, ()))

    def relay(self, arm: RobotSchedule, sku: str) -> Supply | None:
        """Returns a parts tray with room, preferably one from which another robot fills a kit out of reach."""
        roomy = [t for t in self.parts.get(sku, ()) if t.name in arm.reach and t.count < t.capacity]
        lacking = [kit.place for kit in self.kits.values() if sku in kit.missing and kit.place not in arm.reach]
        needy = [one.reach for one in self.arms if not one.reach.isdisjoint(lacking)]
        return min(roomy, key=lambda tray: not any(tray.name in reach for reach in needy), default=None)

    def return_part(self, arm: RobotSchedule, sku: str) -> bool:
        """Puts the part that the robot holds back into a parts tray; False when none has room."""
        tray = self.relay(arm, sku)
        if tray is not None:
            self.put_back(arm, sku, tray)
        return tray is not None

    def put_back(self, arm: RobotSchedule, sku: str, tray: Supply) -> None:
        """Puts the part that the robot holds into a parts tray."""
        self._go(arm, Verb.RETURN_PART, tray.name, sku, not_before_s=tray.room_s())
        insort(tray.late_s, arm.time_s)
        tray.count += 1
        arm.hand = None

    def return_tray(self, arm: RobotSchedule, sku: str) -> bool:
        """Puts the kit tray that the robot holds back onto a stack; False when there is none."""
        for stack in self.stacks.get(sku, ()):
            if stack.name in arm.reach:
                self._go(arm, Verb.RETURN_TRAY, stack.name, sku)
                insort(stack.late_s, arm.time_s)
                stack.count += 1
                arm.hand = None
                return True
        return False

    def clear(self, arm: RobotSchedule, kit: OpenKit, outlet: Supply) -> None:
        """Moves a full kit from its table to an outlet."""
        sku = kit.job.design.tray_sku
        self._go(arm, Verb.TAKE_KIT, kit.place, sku, kit.job.name, not_before_s=kit.full_s)
        self.taken.discard(kit.place)
        self.free_s[kit.place] = arm.time_s
        del self.kits[kit.place]
        self.put_kit(arm, kit.job.name, sku, outlet)

    def put_kit(self, arm: RobotSchedule, name: str, sku: str, outlet: Supply) -> None:
        """Puts the kit that the robot holds into an outlet."""
        self._go(arm, Verb.PLACE_KIT, outlet.name, sku, name)
        outlet.count += 1
        arm.hand = None

    def _do(self, arm: RobotSchedule, verb: Verb, place: str, sku: str, kit: str, duration_s: float) -> None:
        duration_s *= arm.pace
        what = Action(verb, arm.name, arm.tool or "", sku, place, kit, start_s=arm.time_s, duration_s=duration_s)
        self.actions.append(what)
        arm.time_s += duration_s

    def _go(
        self,
        arm: RobotSchedule,
        verb: Verb,
        place: str,
        sku: str = "",
        kit: str = "",
        *,
        not_before_s: float = 0.0,
        tool: str = "",
        table: str = "",
    ) -> None:
        duration_s = self._seconds[verb] * arm.pace
        start_s = self._zones.start_s(place, max(arm.time_s, not_before_s), duration_s)
        step = (verb, arm.name, tool or arm.tool or "", sku, place, kit, table, start_s, duration_s)
        self.actions.append(_make(Action, step))
        self._zones.take(place, start_s, duration_s)
        arm.time_s = start_s + duration_s
