"""The steps of a task's domain, as PDDL actions.

Once a robot has taken a part, a kit tray or a kit, all it can do is to put it down. So taking and putting down, with
the looks between them, are one step here: no better plan is lost, and there are three to five times fewer steps to
search. `decode` writes them out again.
"""

from __future__ import annotations

from collections.abc import Iterator

from cellwright.planning.external.counters import CounterWriter
from cellwright.planning.external.symbols import Symbols
from cellwright.planning.external.task import CountedTask, KitClass, Mistake
from cellwright.planning.state import HeldKind

__all__ = ["DISCARD", "LAY", "MOVE", "PLACE_TRAY", "SHIFT", "ActionWriter"]

LAY, PLACE_TRAY = "lay-kittray-", "place-kittray-"
"""How the names of the steps begin that exist once for each class of kits."""

MOVE, DISCARD, SHIFT = "move-part-", "discard-part-", "shift-part-"
"""The same for SKUs that are short, and for wrong parts, which go back into a tray or into a kit that lacks them."""

_TICKS_PER_S = 1000  # costs are whole numbers, as classical planners want them: milliseconds
_TOOL, _TOOL_SPOT = "?tool - tool", "?tool - tool ?spot - spot"

_Change = tuple[str, str, int]  # counter, tag, by one more or less


class ActionWriter:
    """Writes the actions of one task."""

    def __init__(self, task: CountedTask, counters: CounterWriter, symbols: Symbols) -> None:
        self._task = task
        self._counters = counters
        self._symbols = symbols
        self._d = task.work.request.durations

    def write(self) -> list[str]:
        """Returns all actions."""
        return [*self._tools(), *self._kits(), *self._shortages(), *self._corrections(), *self._hand()]

    def _sku(self, sku: str) -> str:
        return self._symbols.of("sku", sku)

    def _able(self, thing: str) -> str:
        return f"(mounted ?tool) (handles ?tool {thing}) (hand-empty)"

    def _tools(self) -> Iterator[str]:
        d, mounted, stored = self._d, "(mounted ?tool)", "(stored ?tool)"
        on, off = f"(not (bare)) (not {stored}) {mounted}", f"(not {mounted}) (bare) {stored}"
        yield self._step("attach-endeffector", _TOOL, f"(bare) {stored}", on, d.attach_s)
        yield self._step("detach-endeffector", _TOOL, f"(changeable) (hand-empty) {mounted}", off, d.detach_s)

    def _kits(self) -> Iterator[str]:
        d, zero = self._d, self._counters.zero
        for kits in self._task.classes:
            able = self._able(self._sku(kits.tray_sku))
            yield self._lay(LAY, kits, _TOOL_SPOT, able, "", d.lay_s)
        created = "(not (tray-on ?spot)) (kit-on ?spot)"
        yield self._step("create-kit", "?spot - spot", "(tray-on ?spot)", created, d.create_kit_s)
        one_less = [("missing ?spot ?sku", "", -1)]
        able = f"{self._able('?sku')} (plenty ?sku) (kit-on ?spot)"
        yield self._step("move-part", "?tool - tool ?sku - thing ?spot - spot", able, "", d.part_s, one_less)
        full = " ".join(zero(f"missing ?spot {self._sku(sku)}") for sku in self._task.part_skus)
        full += f" {zero('faults ?spot')}" if self._task.mistakes else ""
        able = f"{self._able('?tray')} (kit-on ?spot) (built-on ?spot ?tray) {full}"
        cleared = "(not (kit-on ?spot)) (not (built-on ?spot ?tray)) (free ?spot)"
        yield self._step("clear-kit", "?tool - tool ?tray - thing ?spot - spot", able, cleared, d.clear_s)

    def _lay(self, prefix: str, kits: KitClass, parameters: str, condition: str, effect: str, duration_s: float) -> str:
        """Returns the action that lays a tray of a class on a table; more urgent classes are laid before."""
        of, counters = self._symbols.of, self._counters
        kind = of("class", kits.name)
        urgent = (of("class", other.name) for other in self._task.classes if other.rank == kits.rank - 1)
        before = " ".join(counters.zero(f"waiting {other}") for other in urgent)
        filled = " ".join(counters.fill(f"missing ?spot {self._sku(sku)}", n) for sku, n in kits.parts.items())
        on_spot = f"(not (free ?spot)) (kit-on ?spot) (built-on ?spot {self._sku(kits.tray_sku)})"
        needed = f"{condition} (table ?spot) (free ?spot) {before}".rstrip()
        effect = f"{effect} {on_spot} {filled}".lstrip()
        return self._step(prefix + kind, parameters, needed, effect, duration_s, [(f"waiting {kind}", "", -1)])

    def _shortages(self) -> Iterator[str]:
        """Yields actions for parts of which the stock, or the room for wrong ones in their trays, is short."""
        for sku in sorted({*self._task.stock, *self._task.room}):
            symbol = self._sku(sku)
            changes = [(f"missing ?spot {symbol}", "", -1), *self._tray_changes(sku, -1)]
            able = f"{self._able(symbol)} (kit-on ?spot)"
            yield self._step(MOVE + symbol, _TOOL_SPOT, able, "", self._d.part_s, changes)

    def _tray_changes(self, sku: str, parts: int) -> list[_Change]:
        """Returns the changes of counters when a tray gets a part or loses one, where it matters."""
        stock = [(f"stock {self._sku(sku)}", "s", parts)] if sku in self._task.stock else []
        return stock + ([(f"room {self._sku(sku)}", "r", -parts)] if sku in self._task.room else [])

    def _corrections(self) -> Iterator[str]:
        followers = {mistake.after: mistake for mistake in self._task.mistakes if mistake.after}
        for mistake in self._task.mistakes:
            yield from self._correct(mistake, followers.get(mistake.name))

    def _correct(self, mistake: Mistake, follower: Mistake | None) -> Iterator[str]:
        d, of, sku = self._d, self._symbols.of, self._sku(mistake.sku)
        symbol, spot = of("mistake", mistake.name), of("spot", mistake.spot)
        able = f"{self._able(sku)} (kit-on {spot}) (wrong {symbol})"
        gone = f"(not (wrong {symbol}))" + (f" (wrong {of('mistake', follower.name)})" if follower else "")
        out = [(f"faults {spot}", "f", -1), (f"missing {spot} {self._sku(mistake.belongs)}", "b", 1)]
        back, back_s = [*out, *self._tray_changes(mistake.sku, 1)], d.remove_part_s + d.return_part_s
        yield self._step(DISCARD + symbol, _TOOL, able, gone, back_s, back)
        over, over_s = [*out, (f"missing ?spot {sku}", "", -1)], d.remove_part_s + d.held_part_s
        yield self._step(SHIFT + symbol, _TOOL_SPOT, f"{able} (kit-on ?spot)", gone, over_s, over)

    def _hand(self) -> Iterator[str]:
        """Yields actions for what the robot holds at the start: nothing else is in its hand between two steps."""
        d, hand = self._d, self._task.hand
        if hand is None:
            return
        if hand.kind is HeldKind.KIT:
            put = "(not (holding-kit)) (hand-empty)"
            yield self._step("place-kit", "", "(holding-kit) (returnable)", put, d.place_kit_s)
            return
        held = f"(holding {self._sku(hand.sku)})"
        emptied, back = f"(not {held}) (hand-empty)", f"{held} (returnable)"
        if hand.kind is HeldKind.PART:
            changes = self._tray_changes(hand.sku, 1)
            yield self._step("return-part", "", back, emptied, d.return_part_s, changes)
            changes = [(f"missing ?spot {self._sku(hand.sku)}", "", -1)]
            yield self._step("place-part", "?spot - spot", f"{held} (kit-on ?spot)", emptied, d.held_part_s, changes)
            return
        yield self._step("return-kittray", "", back, emptied, d.place_tray_s)
        for kits in self._task.classes:
            if kits.tray_sku == hand.sku:
                yield self._lay(PLACE_TRAY, kits, "?spot - spot", held, emptied, d.place_tray_s + d.create_kit_s)

    def _step(
        self,
        name: str,
        parameters: str,
        condition: str,
        effect: str,
        duration_s: float,
        changes: list[_Change] | None = None,
    ) -> str:
        """Returns an action that changes counters by one."""
        for counter, tag, by in changes or ():
            needed, done = (self._counters.increase if by > 0 else self._counters.decrease)(counter, tag)
            parameters += self._counters.parameters(tag)
            condition, effect = f"{condition} {needed}".rstrip(), f"{effect} {done}".lstrip()
        cost = f"(increase (total-cost) {round(duration_s * _TICKS_PER_S)})"
        return (
            f"  (:action {name}\n    :parameters ({parameters.lstrip()})\n"
            f"    :precondition (and {condition})\n    :effect (and {effect} {cost}))"
        )
