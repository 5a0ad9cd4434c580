"""Preconditions and effects of steps: the rules of all verbs together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from cellwright.planning import rules_kits, rules_parts, rules_tools
from cellwright.planning.actions import Action, Verb
from cellwright.planning.cell_records import BrokenRule, CellRecords, RobotRecord
from cellwright.planning.planner import PlanRequest

__all__ = ["BrokenRule", "RuleState"]

_Rule = Callable[[CellRecords, Action, RobotRecord], None]


RULES: Mapping[Verb, tuple[_Rule, _Rule]] = MappingProxyType(
    {
        Verb.ATTACH: (rules_tools.attach, rules_tools.attached),
        Verb.DETACH: (rules_tools.detach, rules_tools.detached),
        Verb.TAKE_TRAY: (rules_kits.take_tray, rules_kits.tray_taken),
        Verb.PLACE_TRAY: (rules_kits.place_tray, rules_kits.tray_placed),
        Verb.RETURN_TRAY: (rules_kits.return_tray, rules_kits.tray_returned),
        Verb.CREATE_KIT: (rules_kits.create_kit, rules_kits.kit_created),
        Verb.LOOK_PART: (rules_parts.look_part, rules_parts.part_found),
        Verb.SET_GRASP: (rules_parts.set_grasp, rules_parts.grasp_set),
        Verb.TAKE_PART: (rules_parts.take_part, rules_parts.part_taken),
        Verb.RETURN_PART: (rules_parts.return_part, rules_parts.part_returned),
        Verb.REMOVE_PART: (rules_parts.remove_part, rules_parts.part_removed),
        Verb.LOOK_SLOT: (rules_parts.look_slot, rules_parts.slot_found),
        Verb.PLACE_PART: (rules_parts.place_part, rules_parts.part_placed),
        Verb.TAKE_KIT: (rules_kits.take_kit, rules_kits.kit_taken),
        Verb.PLACE_KIT: (rules_kits.place_kit, rules_kits.kit_placed),
    }
)
"""Verb -> what it needs and takes at its start, what it gives at its end."""

_PART_STEPS = (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART, Verb.LOOK_SLOT, Verb.PLACE_PART)
_SET_GRASP = Verb.SET_GRASP  # the one step without a place
_RULES = dict(RULES)  # faster to look up
_BEGIN = {verb: begin for verb, (begin, _) in RULES.items()}
_FINISH = {verb: finish for verb, (_, finish) in RULES.items()}


class RuleState:
    """A cell in which steps begin and end."""

    def __init__(self, request: PlanRequest) -> None:
        self.records = CellRecords(request)

    def begin(self, action: Action) -> None:
        """Checks everything the step needs and takes what it uses up."""
        _BEGIN[action[0]](self.records, action, self._robot(action))

    def do(self, action: Action) -> None:
        """Begins a step and ends it."""
        verb, records = action[0], self.records
        robot = records.robots.get(action[1])
        if robot is None or not robot.available or (action[4] not in robot.reach and verb is not _SET_GRASP):
            robot = self._robot(action)  # says why not
        begin, finish = _RULES[verb]
        begin(records, action, robot)
        robot.closed = False
        finish(records, action, robot)

    def do_part(self, five: Sequence[Action]) -> bool:
        """Does the five steps that bring one part into a kit, most of every plan, in one go; the rules are the same.

        False, and nothing is done, when they are other steps or when one of them might break a rule: then each step
        has to be done by itself.
        """
        if len(five) < len(_PART_STEPS):
            return False
        look, grasp, take, find, place = five
        _, name, tool, sku, tray_name, kit_name, _, _, _ = look
        _, _, _, _, table, _, _, _, _ = place
        held = (name, tool, sku)
        if (
            (look[0], grasp[0], take[0], find[0], place[0]) != _PART_STEPS
            or not held == grasp[1:4] == take[1:4] == find[1:4] == place[1:4]
            or not (kit_name == take[5] == find[5] == place[5] and tray_name == take[4] and table == find[4])
        ):
            return False
        records = self.records
        robot, kit, tray = records.robots.get(name), records.kits.get(kit_name), records.parts.get(tray_name)
        if robot is None or kit is None or tray is None or not robot.available or robot.tool != tool:
            return False
        if robot.hand is not None or robot.closed or sku not in records.handles[tool] or not kit.exists:
            return False
        if tray.sku != sku or tray.number < 1 or tray_name not in robot.reach or table not in robot.reach:
            return False
        left = kit.missing.get(sku, 0)
        if kit.place != table or left < 1:
            return False
        tray.number -= 1
        robot.found = robot.grasp = robot.slot_of = None
        if left > 1:
            kit.missing[sku] = left - 1
        else:
            del kit.missing[sku]
        return True

    def _robot(self, action: Action) -> RobotRecord:
        """Returns the step's robot, which is in service and reaches the place."""
        name, place = action[1], action[4]
        robot = self.records.robots.get(name)
        if robot is None:
            raise BrokenRule(f"there is no robot {name}")
        if not robot.available:
            raise BrokenRule(f"{name} is out of service")
        if place not in robot.reach and action[0] is not _SET_GRASP:
            raise BrokenRule(f"{name} does not reach {place or 'a place that is not named'}")
        return robot

    def finish(self, action: Action) -> None:
        """Makes the step's effects true."""
        records = self.records
        robot = records.robots[action[1]]
        robot.closed = False
        _FINISH[action[0]](records, action, robot)

    def open_kits(self) -> dict[str, str]:
        """Returns the wanted kits that are not finished, and what they lack."""
        return self.records.open_kits()
