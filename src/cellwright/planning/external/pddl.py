"""Domain and problem files of a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cellwright.planning.external.counters import Classical, CounterWriter, Numeric, PlannerDialect
from cellwright.planning.external.steps import ActionWriter
from cellwright.planning.external.symbols import Symbols
from cellwright.planning.external.task import CountedTask
from cellwright.planning.state import HeldKind

__all__ = ["Encoding", "encode"]


@dataclass(frozen=True)
class Encoding:
    """A task as PDDL, with the objects of its symbols."""

    task: CountedTask
    domain: str
    problem: str
    symbols: Symbols


def encode(task: CountedTask, form: PlannerDialect = PlannerDialect.CLASSICAL) -> Encoding:
    """Writes a task in the form that a planner reads."""
    writer = _Writer(task, Classical() if form is PlannerDialect.CLASSICAL else Numeric())
    return Encoding(task, writer.domain(), writer.problem(), writer.symbols)


class _Writer:
    def __init__(self, task: CountedTask, counters: CounterWriter) -> None:
        self._task = task
        self._counters = counters
        self.symbols = Symbols()
        levels, self._level_facts = counters.levels(task.largest)
        self._levels = [self.symbols.of("level", level) for level in levels]
        self._held = task.hand.sku if task.hand and task.hand.kind is not HeldKind.KIT else None

    def _all(self, kind: str, names: Iterable[str]) -> list[str]:
        return [self.symbols.of(kind, name) for name in names]

    def _trays(self) -> set[str]:
        on_spots = {spot.job.design.tray_sku for spot in self._task.spots if spot.job}
        return on_spots | {kits.tray_sku for kits in self._task.classes}

    def domain(self) -> str:
        task = self._task
        counted = ["missing ?spot - spot ?sku - thing", "waiting ?kits - class"]
        if task.mistakes:
            counted += ["faults ?spot - spot", "stock ?sku - thing", "room ?sku - thing"]
        predicates, functions = self._counters.declare(counted)
        things = sorted({*task.part_skus, *self._trays(), *([self._held] if self._held else [])})
        lines = [
            "(define (domain cellwright-kitting)",
            f"  (:requirements {self._counters.requirements})",
            f"  (:types tool thing spot class mistake{' level' if self._levels else ''})",
            "  (:constants",
            *_typed(self._all("sku", things), "thing"),
            *_typed(self._all("class", (kits.name for kits in task.classes)), "class"),
            *_typed(self._all("spot", (spot.name for spot in task.spots)), "spot"),
            *_typed(self._all("mistake", (mistake.name for mistake in task.mistakes)), "mistake"),
            *_typed(self._levels, "level"),
            "  )",
            "  (:predicates",
            "    (bare) (changeable) (mounted ?tool - tool) (stored ?tool - tool)",
            "    (handles ?tool - tool ?thing - thing)",
            "    (hand-empty) (holding ?thing - thing) (holding-kit) (returnable)",
            "    (table ?spot - spot) (free ?spot - spot) (tray-on ?spot - spot) (kit-on ?spot - spot)",
            "    (built-on ?spot - spot ?tray - thing) (plenty ?sku - thing) (wrong ?mistake - mistake)",
            *(f"    {predicate}" for predicate in predicates),
            "  )",
            f"  (:functions {' '.join((*functions, '(total-cost)'))}{' - number' if not functions else ''})",
            *ActionWriter(task, self._counters, self.symbols).write(),
        ]
        return "\n".join(lines) + "\n)\n"

    def problem(self) -> str:
        lines = [
            "(define (problem kits)",
            "  (:domain cellwright-kitting)",
            "  (:objects",
            *_typed(self._all("tool", self._task.handles), "tool"),
            "  )",
            "  (:init",
            *(f"    {fact}" for fact in (*self._level_facts, *self._robot_facts(), *self._kit_facts())),
            "  )",
            "  (:goal (and",
            *(f"    {fact}" for fact in self._goal()),
            "  ))",
            "  (:metric minimize (total-cost))",
        ]
        return "\n".join(lines) + "\n)\n"

    def _robot_facts(self) -> list[str]:
        task, of = self._task, self.symbols.of
        facts = ["(= (total-cost) 0)"]
        facts += ["(bare)"] if task.mounted is None else [f"(mounted {of('tool', task.mounted)})"]
        facts += [f"(stored {of('tool', tool)})" for tool in task.handles if tool != task.mounted]
        for tool, skus in task.handles.items():
            facts += [f"(handles {of('tool', tool)} {of('sku', sku)})" for sku in skus]
        facts += ["(changeable)"] * task.changeable + ["(returnable)"] * task.returnable
        if task.hand is None:
            return [*facts, "(hand-empty)"]
        return [*facts, f"(holding {of('sku', self._held)})" if self._held else "(holding-kit)"]

    def _kit_facts(self) -> list[str]:
        task, of, start = self._task, self.symbols.of, self._counters.start
        facts: list[str] = []
        for spot in task.spots:
            symbol = of("spot", spot.name)
            facts += [f"(table {symbol})"] * spot.layable
            if spot.job is None:
                facts.append(f"(free {symbol})")
            else:
                facts.append(f"({'kit' if spot.created else 'tray'}-on {symbol})")
                facts += [f"(built-on {symbol} {of('sku', spot.job.design.tray_sku)})"] * (not spot.fixed)
            facts += [start(f"missing {symbol} {of('sku', s)}", spot.missing.get(s, 0)) for s in task.part_skus]
            facts += [start(f"faults {symbol}", len(spot.wrong))] * bool(task.mistakes)
        facts += [start(f"waiting {of('class', kits.name)}", len(kits.jobs)) for kits in task.classes]
        facts += [f"(plenty {of('sku', sku)})" for sku in task.part_skus if sku not in task.stock]
        facts += [start(f"stock {of('sku', sku)}", number) for sku, number in task.stock.items()]
        facts += [start(f"room {of('sku', sku)}", number) for sku, number in task.room.items()]
        return facts + [f"(wrong {of('mistake', m.name)})" for m in task.mistakes if m.after is None]

    def _goal(self) -> list[str]:
        of, zero = self.symbols.of, self._counters.zero
        goal = ["(hand-empty)", *(zero(f"waiting {of('class', kits.name)}") for kits in self._task.classes)]
        for spot in self._task.spots:
            symbol = of("spot", spot.name)
            if not spot.fixed:
                goal.append(f"(free {symbol})")
                continue
            needed = sorted({*spot.missing, *(belongs for _, belongs in spot.wrong)})
            goal += [f"(kit-on {symbol})", *(zero(f"missing {symbol} {of('sku', sku)}") for sku in needed)]
            goal += [zero(f"faults {symbol}")] * bool(spot.wrong)
        return goal


def _typed(symbols: Iterable[str], kind: str) -> list[str]:
    named = " ".join(symbols)
    return [f"    {named} - {kind}"] if named else []
