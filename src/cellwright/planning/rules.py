"""The cell as the rules of the vocabulary see it: what a step needs when it begins, what is true when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cellwright.planning.actions import Action, Verb
from cellwright.planning.planner import PlanRequest
from cellwright.planning.state import Hand, HandKind

__all__ = ["BrokenRule", "World"]


class BrokenRule(Exception):
    """A step's condition that does not hold, in words."""


@dataclass
class _Robot:
    reach: frozenset[str]
    available: bool
    tool: str | None
    hand: Hand | None
    found: tuple[str, str] | None = None  # SKU and parts tray
    grasp: str | None = None
    slot_of: str | None = None
    closed: bool = False  # the hand is closing or opening in a step that has not ended


@dataclass
class _Kit:
    tray_sku: str
    place: str
    exists: bool
    fixed: bool
    missing: dict[str, int]
    coming: int = 0  # parts being placed right now
    wrong: bool = False
    finished: bool = False


@dataclass
class _Table:
    kit: str | None = None
    kept_for: str | None = None


@dataclass
class _Count:
    sku: str
    number: int
    capacity: float
    promised: int = field(default=0)


def _need(holds: bool, why: str) -> None:
    if not holds:
        raise BrokenRule(why)


class World:
    """A cell that changes as steps begin and end. What a step takes is gone at its start, what it gives comes at its
    end, so that steps of two robots cannot both use one thing."""  # noqa: D205, D209

    def __init__(self, request: PlanRequest) -> None:
        state = request.state
        self._robots = {r.name: _Robot(r.reach, r.available, r.tool, r.hand) for r in state.robots}
        self._handles = {tool.name: tool.handles for tool in state.tools}
        self._holders: dict[str, str | None] = {holder.name: holder.tool for holder in state.holders}
        self._parts = {t.name: _Count(t.sku, t.count, t.capacity) for t in state.parts_trays}
        self._stacks = {s.name: _Count(s.sku, s.count, float("inf")) for s in state.tray_stacks}
        self._outlets = {o.name: _Count("", o.count, o.capacity) for o in state.outlets}
        self._tables = {name: _Table() for name in state.tables}
        self._kits: dict[str, _Kit] = {}
        for kit in state.kits:
            done = kit.place in self._outlets
            made = _Kit(kit.design.tray_sku, kit.place, kit.created and not done, kit.fixed, dict(kit.open_slots))
            made.wrong, made.finished = bool(kit.misplaced), done
            self._kits[kit.name] = made
            if kit.place in self._tables:
                self._tables[kit.place].kit = kit.name
        for job in request.jobs:
            if job.name not in self._kits:
                self._kits[job.name] = _Kit(job.design.tray_sku, "", False, False, dict(job.design.parts))
        self._wanted = [job.name for job in request.jobs]
        self._begin: dict[Verb, Callable[[Action, _Robot], None]] = {
            Verb.ATTACH: self._attach,
            Verb.DETACH: self._detach,
            Verb.TAKE_TRAY: self._take_tray,
            Verb.PLACE_TRAY: self._place_tray,
            Verb.RETURN_TRAY: self._return_tray,
            Verb.CREATE_KIT: self._create_kit,
            Verb.LOOK_PART: self._look_part,
            Verb.SET_GRASP: self._set_grasp,
            Verb.TAKE_PART: self._take_part,
            Verb.RETURN_PART: self._return_part,
            Verb.LOOK_SLOT: self._look_slot,
            Verb.PLACE_PART: self._place_part,
            Verb.TAKE_KIT: self._take_kit,
            Verb.PLACE_KIT: self._place_kit,
        }

    def open_kits(self) -> dict[str, str]:
        """The wanted kits that are not finished, and what they lack."""
        result = {}
        for name in self._wanted:
            kit = self._kits[name]
            if kit.finished or (kit.fixed and kit.exists and not kit.missing and not kit.coming and not kit.wrong):
                continue
            lacks = ", ".join(f"{number} of {sku}" for sku, number in kit.missing.items())
            result[name] = f"lacks {lacks}" if lacks else "holds a wrong part" if kit.wrong else "is not in an outlet"
        return result

    def begin(self, action: Action) -> None:
        """Checks everything the step needs and takes what it uses up."""
        robot = self._robots.get(action.robot)
        if robot is None:
            raise BrokenRule(f"there is no robot {action.robot}")
        _need(robot.available, f"{action.robot} is out of service")
        _need(
            action.place in robot.reach or action.verb is Verb.SET_GRASP,
            f"{action.robot} does not reach {action.place or 'a place that is not named'}",
        )
        self._begin[action.verb](action, robot)

    def finish(self, action: Action) -> None:
        """Makes the step's effects true."""
        robot = self._robots[action.robot]
        robot.closed = False
        verb, kit = action.verb, self._kits.get(action.kit)
        if verb is Verb.ATTACH:
            robot.tool = action.tool
        elif verb is Verb.DETACH:
            self._holders[action.place] = action.tool
        elif verb is Verb.TAKE_TRAY:
            robot.hand = Hand(HandKind.KIT_TRAY, action.sku, action.kit)
        elif verb is Verb.RETURN_TRAY:
            self._stacks[action.place].number += 1
        elif verb is Verb.PLACE_TRAY and kit is not None:
            kit.place = action.place
            self._tables[action.place] = _Table(kit=action.kit)
        elif verb is Verb.CREATE_KIT and kit is not None:
            kit.exists = True
        elif verb is Verb.LOOK_PART:
            robot.found = (action.sku, action.place)
        elif verb is Verb.SET_GRASP:
            robot.grasp = action.sku
        elif verb is Verb.TAKE_PART:
            robot.hand = Hand(HandKind.PART, action.sku)
        elif verb is Verb.RETURN_PART:
            self._parts[action.place].number += 1
            self._parts[action.place].promised -= 1
        elif verb is Verb.LOOK_SLOT:
            robot.slot_of = action.kit
        elif verb is Verb.PLACE_PART and kit is not None:
            kit.coming -= 1
        elif verb is Verb.TAKE_KIT and kit is not None:
            robot.hand = Hand(HandKind.KIT, action.sku, action.kit)
            self._tables[kit.place] = _Table()
            kit.place = ""
        elif verb is Verb.PLACE_KIT and kit is not None:
            kit.place, kit.finished = action.place, True

    # What each verb needs; `_need` words follow `NEEDS`.

    def _empty(self, action: Action, robot: _Robot) -> None:
        _need(robot.tool == action.tool, f"{action.robot} has {robot.tool or 'no tool'}, not {action.tool or 'that'}")
        held = robot.hand.sku if robot.hand else "something"
        _need(robot.hand is None and not robot.closed, f"the hand of {action.robot} is not empty, it holds {held}")

    def _handling(self, action: Action, robot: _Robot) -> None:
        self._empty(action, robot)
        _need(action.sku in self._handles.get(action.tool, ()), f"{action.tool} does not handle {action.sku}")

    def _holding(self, action: Action, robot: _Robot, kind: HandKind) -> None:
        hand = robot.hand
        right = hand is not None and hand.kind is kind and hand.sku == action.sku
        shown = f"{hand.kind} {hand.sku}" if hand else "nothing"
        _need(right, f"{action.robot} holds {shown}, not {kind} {action.sku}")

    def _kit(self, action: Action) -> _Kit:
        kit = self._kits.get(action.kit)
        if kit is None:
            raise BrokenRule(f"there is no kit {action.kit or 'without a name'}")
        return kit

    def _existing(self, action: Action) -> _Kit:
        kit = self._kit(action)
        _need(kit.exists, f"kit {action.kit} does not exist yet, or no more")
        return kit

    def _attach(self, action: Action, robot: _Robot) -> None:
        _need(robot.tool is None and not robot.closed, f"{action.robot} already has {robot.tool}")
        _need(action.place in self._holders, f"{action.place} is no tool holder")
        there = self._holders[action.place]
        _need(there == action.tool and there is not None, f"{action.place} holds {there or 'no tool'}")
        self._holders[action.place] = None
        robot.closed = True

    def _detach(self, action: Action, robot: _Robot) -> None:
        self._empty(action, robot)
        _need(robot.tool is not None, f"{action.robot} has no tool")
        _need(action.place in self._holders, f"{action.place} is no tool holder")
        there = self._holders[action.place]
        _need(there is None, f"{action.place} is not empty, it holds {there}")
        robot.tool, self._holders[action.place] = None, "a tool on its way"
        robot.found = robot.grasp = None

    def _take_tray(self, action: Action, robot: _Robot) -> None:
        self._handling(action, robot)
        stack = self._stacks.get(action.place)
        if stack is None or stack.sku != action.sku:
            raise BrokenRule(f"{action.place} is no stack of {action.sku}")
        _need(stack.number > 0, f"{action.place} has no kit tray left")
        kit, table = self._kit(action), self._tables.get(action.table)
        _need(kit.tray_sku == action.sku, f"kit {action.kit} is built on {kit.tray_sku}, not {action.sku}")
        _need(not kit.place and not kit.exists and not kit.finished, f"kit {action.kit} has a tray already")
        if table is None:
            raise BrokenRule(f"{action.table or 'a place without a name'} is no table")
        _need(table.kit is None and table.kept_for is None, f"{action.table} is not free")
        stack.number -= 1
        table.kept_for = action.kit
        robot.closed = True

    def _place_tray(self, action: Action, robot: _Robot) -> None:
        self._holding(action, robot, HandKind.KIT_TRAY)
        table, kit = self._tables.get(action.place), self._kit(action)
        if table is None:
            raise BrokenRule(f"{action.place} is no table")
        _need(kit.tray_sku == action.sku, f"kit {action.kit} is built on {kit.tray_sku}, not {action.sku}")
        _need(not kit.place and not kit.exists and not kit.finished, f"kit {action.kit} has a tray already")
        _need(table.kit is None and table.kept_for in (None, action.kit), f"{action.place} is not free")
        table.kept_for = action.kit
        robot.hand, robot.closed = None, True

    def _return_tray(self, action: Action, robot: _Robot) -> None:
        self._holding(action, robot, HandKind.KIT_TRAY)
        stack = self._stacks.get(action.place)
        _need(stack is not None and stack.sku == action.sku, f"{action.place} is no stack of {action.sku}")
        robot.hand, robot.closed = None, True

    def _create_kit(self, action: Action, robot: _Robot) -> None:
        table = self._tables.get(action.place)
        _need(table is not None and table.kit == action.kit, f"the tray of {action.kit} is not on {action.place}")
        _need(not self._kit(action).exists, f"kit {action.kit} exists already")

    def _look_part(self, action: Action, robot: _Robot) -> None:
        self._handling(action, robot)
        self._existing(action)
        self._stock(action)

    def _stock(self, action: Action) -> _Count:
        tray = self._parts.get(action.place)
        if tray is None or tray.sku != action.sku:
            raise BrokenRule(f"{action.place} is no parts tray of {action.sku}")
        _need(tray.number > 0, f"{action.place} has no part left")
        return tray

    def _set_grasp(self, action: Action, robot: _Robot) -> None:
        found = robot.found[0] if robot.found else "nothing"
        _need(found == action.sku, f"{action.robot} has found {found}, not {action.sku}")

    def _take_part(self, action: Action, robot: _Robot) -> None:
        self._handling(action, robot)
        self._existing(action)
        _need(robot.found == (action.sku, action.place), f"{action.robot} has not found {action.sku} in {action.place}")
        _need(robot.grasp == action.sku, f"no grasp is set for {action.sku}")
        self._stock(action).number -= 1
        robot.found = robot.grasp = None
        robot.closed = True

    def _return_part(self, action: Action, robot: _Robot) -> None:
        self._holding(action, robot, HandKind.PART)
        tray = self._parts.get(action.place)
        if tray is None or tray.sku != action.sku:
            raise BrokenRule(f"{action.place} is no parts tray of {action.sku}")
        _need(tray.number + tray.promised < tray.capacity, f"{action.place} is full")
        tray.promised += 1
        robot.hand, robot.slot_of, robot.closed = None, None, True

    def _look_slot(self, action: Action, robot: _Robot) -> None:
        self._holding(action, robot, HandKind.PART)
        self._open_slot(action)

    def _open_slot(self, action: Action) -> _Kit:
        kit = self._existing(action)
        _need(kit.place == action.place, f"kit {action.kit} is not on {action.place}")
        _need(kit.missing.get(action.sku, 0) > 0, f"kit {action.kit} has no open slot for {action.sku}")
        return kit

    def _place_part(self, action: Action, robot: _Robot) -> None:
        self._holding(action, robot, HandKind.PART)
        _need(robot.slot_of == action.kit, f"{action.robot} has not found a slot in {action.kit}")
        kit = self._open_slot(action)
        kit.missing[action.sku] -= 1
        if not kit.missing[action.sku]:
            del kit.missing[action.sku]
        kit.coming += 1
        robot.hand, robot.slot_of, robot.closed = None, None, True

    def _take_kit(self, action: Action, robot: _Robot) -> None:
        self._handling(action, robot)
        kit = self._existing(action)
        _need(kit.tray_sku == action.sku, f"kit {action.kit} is built on {kit.tray_sku}, not {action.sku}")
        _need(kit.place == action.place and not kit.fixed, f"kit {action.kit} cannot be taken from {action.place}")
        lacks = ", ".join(f"{number} of {sku}" for sku, number in kit.missing.items())
        _need(not kit.missing, f"kit {action.kit} is not full, it lacks {lacks}")
        _need(not kit.coming and not kit.wrong, f"kit {action.kit} is not ready")
        kit.exists = False
        robot.closed = True

    def _place_kit(self, action: Action, robot: _Robot) -> None:
        self._holding(action, robot, HandKind.KIT)
        held = robot.hand.kit if robot.hand else ""
        _need(held == action.kit, f"{action.robot} holds kit {held}, not {action.kit}")
        outlet = self._outlets.get(action.place)
        if outlet is None:
            raise BrokenRule(f"{action.place} is no outlet")
        _need(outlet.number < outlet.capacity, f"{action.place} is full")
        outlet.number += 1
        robot.hand, robot.closed = None, True
