"""Decoding of an external planner's plan to steps of the vocabulary, each checked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from cellwright.planning.actions import Action
from cellwright.planning.booking import Booking
from cellwright.planning.external.errors import PlannerFailed
from cellwright.planning.external.pddl import Encoding
from cellwright.planning.external.plan_text import PlanLine
from cellwright.planning.external.steps import DISCARD, LAY, MOVE, PLACE_TRAY, SHIFT
from cellwright.planning.planner import KitJob, PlanResult, PlanStatus
from cellwright.planning.resources import OpenKit, Supply
from cellwright.planning.state import HeldItem
from cellwright.planning.validator import validate_sequence

__all__ = ["decode"]


def decode(encoding: Encoding, lines: Sequence[PlanLine], planner: str) -> PlanResult:
    """Returns the plan as a result of status `solved`.

    Composite steps are written out; kits get their names in the order of appearance, parts and trays their places,
    tools their holders.

    Raises:
        PlannerFailed: A line that is no step of the domain, or a step that cannot be done; says which line.
    """
    work = encoding.task.work
    hands = _StepWriter(encoding)
    line_of: list[PlanLine] = []
    made = hands.booking.actions = list[Action]()
    for line in lines:
        try:
            hands.carry_out(line)
        except _Impossible as why:
            raise PlannerFailed(planner, f"{line}: {why}") from None
        line_of += [line] * (len(made) - len(line_of))
    actions = tuple(made)
    cost = sum(action.duration_s for action in actions)
    makespan_s = actions[-1].end_s if actions else 0.0
    result = PlanResult(
        status=PlanStatus.SOLVED,
        planner=planner,
        actions=actions,
        cost=cost,
        makespan_s=makespan_s,
        unfinished=tuple(work.unfinished),
    )
    verdict = validate_sequence(work.request, result)
    if not verdict.valid:
        where = f"{line_of[verdict.step]}: " if verdict.step is not None else ""
        raise PlannerFailed(planner, f"{where}its plan cannot be carried out: {verdict.reason}")
    return result


class _Impossible(Exception):
    """A step that cannot be written out, and why."""


class _StepWriter:
    """Writes composite steps out. It checks only what it needs for that: the validator checks everything afterwards."""

    def __init__(self, encoding: Encoding) -> None:
        self.booking = Booking(encoding.task.work)
        self._arm = self.booking.arms[0]
        self._symbols = encoding.symbols
        self._mistakes = {mistake.name: mistake for mistake in encoding.task.mistakes}
        self._waiting: dict[str, deque[KitJob]] = {kits.name: deque(kits.jobs) for kits in encoding.task.classes}
        self._steps: dict[str, Callable[[str, deque[str]], None]] = {
            "attach-endeffector": self._attach,
            "detach-endeffector": self._detach,
            LAY: self._lay,
            "create-kit": self._create,
            "move-part": self._move,
            MOVE: self._move,
            "clear-kit": self._clear,
            DISCARD: self._discard,
            SHIFT: self._shift,
            PLACE_TRAY: self._place_tray,
            "return-kittray": self._return_tray,
            "place-part": self._place_part,
            "return-part": self._return_part,
            "place-kit": self._place_kit,
        }

    def carry_out(self, line: PlanLine) -> None:
        """Does one step; of a name that begins like a kind of steps, the rest says which class, SKU or mistake."""
        if line.name in self._steps:
            self._steps[line.name]("", deque(line.arguments))
            return
        for prefix, step in self._steps.items():
            if prefix.endswith("-") and line.name.startswith(prefix):
                step(line.name.removeprefix(prefix), deque(line.arguments))
                return
        raise _Impossible("there is no such step")

    def _thing(self, kind: str, arguments: deque[str]) -> str:
        if not arguments:
            raise _Impossible(f"a {kind} is missing")
        symbol = arguments.popleft()
        name = self._symbols.name(kind, symbol)
        if name is None:
            raise _Impossible(f"there is no {kind} '{symbol}'")
        return name

    def _kit(self, spot: str, sku: str | None = None) -> OpenKit:
        kit = self.booking.kits.get(spot)
        if kit is None:
            raise _Impossible(f"there is no kit on {spot}")
        _need(sku is None or sku in kit.missing, f"kit {kit.job.name} needs no {sku} now")
        return kit

    def _next_job(self, symbol: str, spot: str) -> KitJob:
        kits = self._symbols.name("class", symbol)
        _need(spot not in self.booking.taken, f"{spot} is not free")
        if kits is None or not self._waiting[kits]:
            raise _Impossible(f"no kit of that class is waiting for a tray ({symbol})")
        return self._waiting[kits].popleft()

    def _use_tool(self, arguments: deque[str]) -> None:
        tool = self._thing("tool", arguments)
        _need(self._arm.tool == tool, f"{self._arm.name} has {self._arm.tool or 'no tool'}, not {tool}")

    def _held(self) -> HeldItem:
        if self._arm.hand is None:
            raise _Impossible(f"{self._arm.name} holds nothing")
        return self._arm.hand

    def _attach(self, _: str, arguments: deque[str]) -> None:
        tool = self._thing("tool", arguments)
        done = self._arm.tool is None and self.booking.change_tool(self._arm, tool)
        _need(done, f"{tool} cannot be attached now")

    def _detach(self, _: str, arguments: deque[str]) -> None:
        self._use_tool(arguments)
        _need(self.booking.drop_tool(self._arm), f"no holder in reach is empty for {self._arm.tool}")

    def _lay(self, kits: str, arguments: deque[str]) -> None:
        self._use_tool(arguments)
        spot = self._thing("spot", arguments)
        job = self._next_job(kits, spot)
        stack = self.booking.stack(self._arm, job.design.tray_sku)
        if stack is None:
            raise _Impossible(f"no kit tray {job.design.tray_sku} left in reach")
        self.booking.lay(self._arm, job, spot, stack)

    def _place_tray(self, kits: str, arguments: deque[str]) -> None:
        spot = self._thing("spot", arguments)
        self.booking.lay_held(self._arm, self._next_job(kits, spot), spot)

    def _return_tray(self, _: str, arguments: deque[str]) -> None:
        sku = self._held().sku
        _need(self.booking.return_tray(self._arm, sku), f"no stack of {sku} in reach")

    def _create(self, _: str, arguments: deque[str]) -> None:
        self.booking.create(self._arm, self._kit(self._thing("spot", arguments)))

    def _move(self, short: str, arguments: deque[str]) -> None:
        self._use_tool(arguments)
        sku = self._thing("sku", deque([short]) if short else arguments)
        kit = self._kit(self._thing("spot", arguments), sku)
        tray = self.booking.source(self._arm, sku, kit.place)
        if tray is None:
            raise _Impossible(f"no {sku} left in reach")
        self.booking.move_part(self._arm, kit, sku, tray)

    def _discard(self, mistake: str, arguments: deque[str]) -> None:
        self._use_tool(arguments)
        self._take_out(mistake)
        self._return_part("", arguments)

    def _shift(self, mistake: str, arguments: deque[str]) -> None:
        self._use_tool(arguments)
        self._take_out(mistake)
        self._place_part("", arguments)

    def _take_out(self, symbol: str) -> None:
        mistake = self._mistakes.get(self._symbols.name("mistake", symbol) or "")
        if mistake is None:
            raise _Impossible(f"there is no mistake '{symbol}'")
        kit = self._kit(mistake.spot)
        _need((mistake.sku, mistake.belongs) in kit.wrong, f"kit {kit.job.name} holds no wrong {mistake.sku} now")
        self.booking.remove_part(self._arm, kit, mistake.sku)

    def _place_part(self, _: str, arguments: deque[str]) -> None:
        sku = self._held().sku
        self.booking.put_part(self._arm, self._kit(self._thing("spot", arguments), sku), sku)

    def _return_part(self, _: str, arguments: deque[str]) -> None:
        sku = self._held().sku
        _need(self.booking.return_part(self._arm, sku), f"no parts tray in reach has room for {sku}")

    def _outlet(self) -> Supply:
        outlet = self.booking.outlet(self._arm)
        if outlet is None:
            raise _Impossible("no outlet in reach has room")
        return outlet

    def _clear(self, _: str, arguments: deque[str]) -> None:
        self._use_tool(arguments)
        self._thing("sku", arguments)
        self.booking.clear(self._arm, self._kit(self._thing("spot", arguments)), self._outlet())

    def _place_kit(self, _: str, arguments: deque[str]) -> None:
        hand = self._held()
        self.booking.put_kit(self._arm, hand.kit, hand.sku, self._outlet())


def _need(holds: bool, why: str) -> None:
    if not holds:
        raise _Impossible(why)
