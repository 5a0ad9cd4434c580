"""The cell as the planners change it: they say who does what next, here it becomes steps with times."""

from __future__ import annotations

from cellwright.planning.actions import Action, Verb
from cellwright.planning.arms import Arm, OpenKit, Supply
from cellwright.planning.planner import KitJob
from cellwright.planning.state import Hand, HandKind
from cellwright.planning.work import Work

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
        self._part_seconds = [self._seconds[verb] for verb in _PART_STEPS]
        self.actions: list[Action] = []
        self.handles = {tool.name: tool.handles for tool in state.tools}
        self.arms = [Arm(r.name, r.reach, work.tools_of[r.name], r.tool, r.hand) for r in work.robots]
        self.holders: dict[str, str | None] = {holder.name: holder.tool for holder in state.holders}
        self.free_s: dict[str, float] = {}  # tool, holder or table -> since when it can be used
        self.parts: dict[str, list[Supply]] = {}
        for tray in state.parts_trays:
            self.parts.setdefault(tray.sku, []).append(Supply(tray.name, tray.count, tray.capacity))
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
        self._zones = dict(state.zones)
        self._zone_free_s: dict[str, float] = {}

    def zone_free_s(self, place: str) -> float:
        """When the last robot leaves the place's zone."""
        return self._zone_free_s.get(self._zones.get(place, place), 0.0)

    def source(self, arm: Arm, sku: str, place: str) -> Supply | None:
        """Where the robot gets a part for a kit: a tray that is free soon, one that disturbs nobody, the first one."""
        reach, zones, zone_free_s = arm.reach, self._zones, self._zone_free_s
        there_s = arm.time_s + self._part_seconds[0] + self._part_seconds[1]
        zone, best, least = zones.get(place), None, (0.0, False)
        for tray in self.parts.get(sku, ()):
            name = tray.name
            if tray.count > 0 and name in reach:
                own = zones.get(name)
                free_s, elsewhere = zone_free_s.get(own or name, 0.0), own != zone
                if free_s <= there_s and not elsewhere:
                    return tray
                found = (max(free_s, there_s), elsewhere)
                if best is None or found < least:
                    best, least = tray, found
        return best

    def has_source(self, arm: Arm, sku: str) -> bool:
        """Whether the robot gets such a part anywhere."""
        return any(tray.count > 0 and tray.name in arm.reach for tray in self.parts.get(sku, ()))

    def stack(self, arm: Arm, sku: str) -> Supply | None:
        """Where the robot gets a kit tray."""
        return next((s for s in self.stacks.get(sku, ()) if s.count > 0 and s.name in arm.reach), None)

    def outlet(self, arm: Arm) -> Supply | None:
        """Where the robot can put a finished kit."""
        for outlet in self.outlets:
            if outlet.count < outlet.capacity and outlet.name in arm.reach:
                return outlet
        return None

    def holder_of(self, tool: str) -> str | None:
        """The holder that a tool is on."""
        for holder, held in self.holders.items():
            if held == tool:
                return holder
        return None

    def empty_holder(self, arm: Arm) -> str | None:
        """The empty holder in reach that is free first."""
        empty = [holder for holder, held in self.holders.items() if held is None and holder in arm.reach]
        if len(empty) < 2:
            return empty[0] if empty else None
        others = [other for other in self.arms if other is not arm and arm.tool in other.tools]

        def badness(holder: str) -> tuple[int, float]:
            return -sum(holder in other.reach for other in others), self.free_s.get(holder, 0.0)

        return min(empty, key=badness)

    def drop_tool(self, arm: Arm) -> bool:
        """Puts the robot's tool onto a holder; False when there is none."""
        holder = self.empty_holder(arm)
        if holder is None or arm.tool is None:
            return False
        self._go(arm, Verb.DETACH, holder, not_before_s=self.free_s.get(holder, 0.0), tool=arm.tool)
        self.holders[holder] = arm.tool
        self.free_s[arm.tool] = arm.time_s
        arm.tool = None
        return True

    def change_tool(self, arm: Arm, tool: str) -> bool:
        """Puts another tool on the robot; False when it is on no holder in reach."""
        holder = self.holder_of(tool)
        if holder is None or holder not in arm.reach or (arm.tool is not None and not self.drop_tool(arm)):
            return False
        self._go(arm, Verb.ATTACH, holder, not_before_s=self.free_s.get(tool, 0.0), tool=tool)
        self.holders[holder] = None
        self.free_s[holder] = arm.time_s
        arm.tool = tool
        return True

    def lay(self, arm: Arm, job: KitJob, table: str, stack: Supply) -> None:
        """A kit tray from its stack onto a table, where it becomes a kit."""
        sku, free_s = job.design.tray_sku, self.free_s.get(table, 0.0)
        self._go(arm, Verb.TAKE_TRAY, stack.name, sku, job.name, not_before_s=free_s, table=table)
        stack.count -= 1
        self.lay_held(arm, job, table)

    def lay_held(self, arm: Arm, job: KitJob, table: str) -> None:
        """The kit tray that the robot holds onto a table."""
        self._go(arm, Verb.PLACE_TRAY, table, job.design.tray_sku, job.name, not_before_s=self.free_s.get(table, 0.0))
        self.taken.add(table)
        arm.hand = None
        self.kits[table] = OpenKit(job, table, dict(job.design.parts), fixed=False)
        self.create(arm, self.kits[table])

    def create(self, arm: Arm, kit: OpenKit) -> None:
        """Makes a kit of the tray on its table."""
        self._do(arm, Verb.CREATE_KIT, kit.place, "", kit.job.name, self.durations.create_kit_s)
        kit.ready_s = kit.full_s = arm.time_s

    def move_part(self, arm: Arm, kit: OpenKit, sku: str, tray: Supply, number: int = 1) -> None:
        """So many parts from their tray into a kit."""
        # Most of every plan is made here, so the steps are written out rather than booked one by one.
        look_s, grasp_s, take_s, slot_s, place_s = self._part_seconds
        zones, zone_free_s, actions, make = self._zones, self._zone_free_s, self.actions, _make
        name, table = tray.name, kit.place
        zone, table_zone = zones.get(name, name), zones.get(table, table)
        robot, tool, kit_name = arm.name, arm.tool or "", kit.job.name
        end_s = max(arm.time_s, kit.ready_s, tray.ready_s)
        for _ in range(number):
            first_s = end_s
            second_s = first_s + look_s
            third_s = max(second_s + grasp_s, zone_free_s.get(zone, 0.0))
            fourth_s = zone_free_s[zone] = third_s + take_s
            fifth_s = max(fourth_s + slot_s, zone_free_s.get(table_zone, 0.0))
            zone_free_s[table_zone] = end_s = fifth_s + place_s
            actions += (
                make(Action, (_LOOK_PART, robot, tool, sku, name, kit_name, "", first_s, look_s)),
                make(Action, (_SET_GRASP, robot, tool, sku, "", kit_name, "", second_s, grasp_s)),
                make(Action, (_TAKE_PART, robot, tool, sku, name, kit_name, "", third_s, take_s)),
                make(Action, (_LOOK_SLOT, robot, tool, sku, table, kit_name, "", fourth_s, slot_s)),
                make(Action, (_PLACE_PART, robot, tool, sku, table, kit_name, "", fifth_s, place_s)),
            )
        arm.time_s = end_s
        tray.count -= number
        self._filled(kit, sku, end_s, number)

    def remove_part(self, arm: Arm, kit: OpenKit, sku: str) -> None:
        """A part out of a slot where it does not belong, into the hand."""
        self._go(arm, Verb.REMOVE_PART, kit.place, sku, kit.job.name, not_before_s=kit.ready_s)
        found = next(pair for pair in kit.wrong if pair[0] == sku)
        kit.wrong.remove(found)
        kit.missing[found[1]] = kit.missing.get(found[1], 0) + 1
        kit.ready_s = max(kit.ready_s, arm.time_s)  # a slot is looked for when it is empty
        arm.hand = Hand(HandKind.PART, sku)

    def put_part(self, arm: Arm, kit: OpenKit, sku: str) -> None:
        """The part that the robot holds into a kit."""
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

    def takes_part(self, arm: Arm, sku: str) -> bool:
        """Whether the robot could get rid of a part: a kit lacks it or a parts tray has room."""
        if any(sku in kit.missing and kit.place in arm.reach for kit in self.kits.values()):
            return True
        return any(tray.name in arm.reach and tray.count < tray.capacity for tray in self.parts.get(sku, ()))

    def return_part(self, arm: Arm, sku: str) -> bool:
        """The part that the robot holds back into a parts tray; False when none has room."""
        for tray in self.parts.get(sku, ()):
            if tray.name in arm.reach and tray.count < tray.capacity:
                self._go(arm, Verb.RETURN_PART, tray.name, sku)
                tray.ready_s = 0.0 if tray.count else arm.time_s
                tray.count += 1
                arm.hand = None
                return True
        return False

    def return_tray(self, arm: Arm, sku: str) -> bool:
        """The kit tray that the robot holds back onto a stack; False when there is none."""
        for stack in self.stacks.get(sku, ()):
            if stack.name in arm.reach:
                self._go(arm, Verb.RETURN_TRAY, stack.name, sku)
                stack.count += 1
                arm.hand = None
                return True
        return False

    def clear(self, arm: Arm, kit: OpenKit, outlet: Supply) -> None:
        """A full kit from its table to an outlet."""
        sku = kit.job.design.tray_sku
        self._go(arm, Verb.TAKE_KIT, kit.place, sku, kit.job.name, not_before_s=kit.full_s)
        self.taken.discard(kit.place)
        self.free_s[kit.place] = arm.time_s
        del self.kits[kit.place]
        self.put_kit(arm, kit.job.name, sku, outlet)

    def put_kit(self, arm: Arm, name: str, sku: str, outlet: Supply) -> None:
        """The kit that the robot holds into an outlet."""
        self._go(arm, Verb.PLACE_KIT, outlet.name, sku, name)
        outlet.count += 1
        arm.hand = None

    def _do(self, arm: Arm, verb: Verb, place: str, sku: str, kit: str, duration_s: float) -> None:
        self.actions.append(Action(verb, arm.name, arm.tool or "", sku, place, kit, "", arm.time_s, duration_s))
        arm.time_s += duration_s

    def _go(
        self,
        arm: Arm,
        verb: Verb,
        place: str,
        sku: str = "",
        kit: str = "",
        *,
        not_before_s: float = 0.0,
        tool: str = "",
        table: str = "",
    ) -> None:
        zone = self._zones.get(place, place)
        start_s = max(arm.time_s, self._zone_free_s.get(zone, 0.0), not_before_s)
        duration_s = self._seconds[verb]
        step = (verb, arm.name, tool or arm.tool or "", sku, place, kit, table, start_s, duration_s)
        self.actions.append(_make(Action, step))
        arm.time_s = self._zone_free_s[zone] = start_s + duration_s
