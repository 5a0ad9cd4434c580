"""Checks a plan against a domain and a problem: step by step, with the condition that fails and its values.

Nothing here knows of kitting, or of how our files are written, so it checks any PDDL files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cellwright.knowledge.pddl.effects import StateChanges
from cellwright.knowledge.pddl.formulas import Comparison, Formula, Ground, UndefinedValue
from cellwright.knowledge.pddl.model import PddlStep
from cellwright.knowledge.pddl.reading import Operator, PddlTask

__all__ = ["PlanCheck", "check_plan"]

INSTANT_S = 1e-6
"""Events that are less apart happen at one instant."""
TOLERANCE_S = 1e-3
"""The tolerance of durations: plan files are rounded."""


@dataclass(frozen=True)
class PlanCheck:
    """The result of checking a plan.

    Attributes:
        valid: Whether every step can be done and the goal is reached.
        reason: The reason why not, in one line; empty for a valid plan.
        step: The number of the step that fails, from 1; None when it is the goal, or nothing.
        line: The line of that step in its file.
        action: That step.
        steps: The number of steps of the plan.
        cost: `(total-cost)` at the end, of a valid plan whose domain counts it.
        makespan_s: The end of the last step, of a valid plan with times.
    """

    valid: bool
    reason: str = ""
    step: int | None = None
    line: int | None = None
    action: str = ""
    steps: int = 0
    cost: float | None = None
    makespan_s: float | None = None


class _Fails(Exception):
    """A step that cannot be done."""

    def __init__(self, step: _Step, problem: str) -> None:
        super().__init__(problem)
        self.step = step


class _Step(NamedTuple):
    number: int
    line: int
    step: PddlStep
    operator: Operator
    binding: Mapping[str, str]

    def __str__(self) -> str:
        return f"({' '.join([self.step.name, *self.step.arguments])})"


class _Event(NamedTuple):
    """The beginning or end of a step; an action at one instant has only a beginning."""

    time_s: float
    when: str
    of: _Step


def check_plan(task: PddlTask, steps: Sequence[tuple[int, PddlStep]]) -> PlanCheck:
    """Carries out the steps one after the other, or at their times, in the state of the problem.

    Args:
        task: Domain and problem; its state is used up.
        steps: Line and step.
    """
    try:
        bound = [_bound(task, number, line, step) for number, (line, step) in enumerate(steps, start=1)]
        is_timed = any(step.operator.durations is not None for step in bound)
        makespan_s = _timed(task, bound) if is_timed else _sequence(task, bound)
    except _Fails as failure:
        at = failure.step
        what = f"step {at.number}, line {at.line}: {at}: {failure}"
        return PlanCheck(False, what, at.number, at.line, str(at), len(steps))
    try:
        wrong = _false(task, task.goal, {})
    except UndefinedValue as error:
        wrong = str(error)
    if wrong:
        return PlanCheck(False, f"after {len(steps)} steps the goal is not reached: {wrong}", steps=len(steps))
    return PlanCheck(True, steps=len(steps), cost=task.state.values.get(("total-cost",)), makespan_s=makespan_s)


def _bound(task: PddlTask, number: int, line: int, step: PddlStep) -> _Step:
    operator = task.operators.get(step.name.lower())
    made = _Step(number, line, step, operator or Operator(step.name, {}, {}, {}), {})
    if operator is None:
        raise _Fails(made, f"unknown action; the domain has {', '.join(sorted(task.operators)) or 'none'}")
    names = [word.lower() for word in step.arguments]
    if len(names) != len(operator.parameters):
        wanted = " ".join(operator.parameters)
        raise _Fails(made, f"has {len(names)} arguments; {operator.name} takes ({wanted})")
    for name, (variable, types) in zip(names, operator.parameters.items(), strict=True):
        if name not in task.symbols.objects:
            raise _Fails(made, f"the problem has no object '{name}'")
        if not task.symbols.is_a(task.symbols.objects[name], types):
            kinds = " or ".join(task.symbols.objects[name])
            raise _Fails(made, f"{name} is of type {kinds}, {variable} takes {' or '.join(types)}")
    return made._replace(binding=dict(zip(operator.parameters, names, strict=True)))


def _false(task: PddlTask, formulas: Iterable[Formula], binding: Mapping[str, str]) -> str:
    """Returns the first condition that is false, with its values; empty when all are. Raises UndefinedValue."""
    for formula in formulas:
        if not formula.holds(task.state, binding):
            return formula.why(task.state, binding)
    return ""


def _changes(task: PddlTask, step: _Step, when: str) -> StateChanges:
    changes = StateChanges()
    for effect in step.operator.effects.get(when, ()):
        effect.collect(task.state, step.binding, changes)
    return changes


def _sequence(task: PddlTask, steps: Sequence[_Step]) -> float | None:
    """Carries out the steps one after the other; where there are times, in their order."""
    timed = all(step.step.start_s is not None for step in steps)
    ordered = sorted(steps, key=lambda step: step.step.start_s or 0.0) if timed else steps
    for step in ordered:
        try:
            wrong = _false(task, step.operator.conditions.get("start", ()), step.binding)
            if wrong:
                raise _Fails(step, wrong)
            _changes(task, step, "start").apply(task.state)
        except UndefinedValue as error:
            raise _Fails(step, str(error)) from None
    return None


def _timed(task: PddlTask, steps: Sequence[_Step]) -> float:
    """Carries out the steps at their times; events at one instant must be independent, invariants hold in between."""
    events = []
    for step in steps:
        start_s, duration_s = step.step.start_s, step.step.duration_s
        if start_s is None:
            raise _Fails(step, "has no time, but the plan has actions that last")
        if step.operator.durations is None:
            events.append(_Event(start_s, "start", step))
            continue
        end_s = start_s + _duration(task, step, duration_s)
        events += [_Event(start_s, "start", step), _Event(end_s, "end", step)]
    events.sort(key=lambda event: event.time_s)
    going = dict[int, _Step]()
    while events:
        now_s = events[0].time_s
        instant = [event for event in events if event.time_s - now_s < INSTANT_S]
        del events[: len(instant)]
        _happen(task, instant, now_s)
        for event in instant:
            if event.when == "end":
                going.pop(event.of.number, None)
            elif event.of.operator.durations is not None:
                going[event.of.number] = event.of
        for step in going.values():
            _must(task, step, "all", f"while it lasts, at {now_s:g} s")
    return max((s.step.start_s or 0.0) + (s.step.duration_s or 0.0) for s in steps)


def _duration(task: PddlTask, step: _Step, duration_s: float | None) -> float:
    """Returns the duration of a step; the domain may leave a choice, and files are rounded."""
    if duration_s is None:
        raise _Fails(step, "has no [duration]")
    for formula in step.operator.durations or ():
        fits = False
        wrong = ""
        for near_s in (duration_s, duration_s - TOLERANCE_S, duration_s + TOLERANCE_S):
            task.state.values["?duration",] = near_s
            try:
                gap = _gap(task, formula, step)
                fits = fits or (formula.holds(task.state, step.binding) if gap is None else gap <= TOLERANCE_S)
                wrong = wrong or formula.why(task.state, step.binding)
            except UndefinedValue as error:
                raise _Fails(step, str(error)) from None
        if not fits:
            raise _Fails(step, wrong)
    return duration_s


def _gap(task: PddlTask, formula: Formula, step: _Step) -> float | None:
    """Returns the amount by which an equality is missed; None for anything else."""
    if not isinstance(formula, Comparison) or formula.sign != "=":
        return None
    return abs(formula.left.value(task.state, step.binding) - formula.right.value(task.state, step.binding))


def _must(task: PddlTask, step: _Step, when: str, words: str) -> None:
    task.state.values["?duration",] = step.step.duration_s or 0.0
    try:
        wrong = _false(task, step.operator.conditions.get(when, ()), step.binding)
    except UndefinedValue as error:
        wrong = str(error)
    if wrong:
        raise _Fails(step, f"{words}: {wrong}")


def _happen(task: PddlTask, instant: Sequence[_Event], now_s: float) -> None:
    reads, changed = list[set[Ground]](), list[StateChanges]()
    for event in instant:
        task.state.read.clear()
        words = f"at its {event.when}, {now_s:g} s" if event.of.operator.durations is not None else f"at {now_s:g} s"
        _must(task, event.of, event.when, words)
        try:
            changed.append(_changes(task, event.of, event.when))
        except UndefinedValue as error:
            raise _Fails(event.of, f"{words}: {error}") from None
        reads.append(set(task.state.read))
    for index, event in enumerate(instant):
        for other, changes in enumerate(changed):
            clash = _clash(reads[index], changed[index], changes) if other != index else None
            if clash:
                words = f"at {now_s:g} s needs or changes ({' '.join(clash)})"
                raise _Fails(event.of, f"{words}, which step {instant[other].of.number} changes at the same instant")
    for event, changes in zip(instant, changed, strict=True):
        try:
            changes.apply(task.state)
        except UndefinedValue as error:
            raise _Fails(event.of, str(error)) from None


def _clash(read: set[Ground], own: StateChanges, other: StateChanges) -> Ground | None:
    """Returns a fact or value that one event uses and another changes; several may increase one number."""
    numbers = {key for kind, key, _ in other.numbers}
    absolute = {key for kind, key, _ in own.numbers if kind == "assign"}
    found = read & (other.adds | other.deletes | numbers)
    found |= (own.adds & other.deletes) | (own.deletes & other.adds) | (absolute & numbers)
    return min(found, default=None)
