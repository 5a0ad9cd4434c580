"""Reads any domain and problem in PDDL, ours or others, as a task that plans can be checked against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite

from cellwright.knowledge.pddl.effects import Effect
from cellwright.knowledge.pddl.expressions import Node, read_expressions
from cellwright.knowledge.pddl.formulas import Fluent, Formula, State
from cellwright.knowledge.pddl.model import PddlError
from cellwright.knowledge.pddl.symbol_table import SymbolTable, VariableScope, number_of

__all__ = ["Operator", "PddlTask", "read_task"]

READ = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action", ":durative-action")
PROBLEM = (":domain", ":objects", ":init", ":goal", ":metric", ":requirements")
WHENS = {("at", "start"): "start", ("at", "end"): "end", ("over", "all"): "all"}


@dataclass(frozen=True)
class Operator:
    """An action of a domain.

    Attributes:
        parameters: Variable -> the types that its object may have.
        conditions: Time (`start`, `all`, `end`) -> conditions; an action at one instant has only `start`.
        effects: Time -> effects.
        durations: The conditions on `?duration`; None for an action at one instant.
    """

    name: str
    parameters: Mapping[str, tuple[str, ...]]
    conditions: Mapping[str, tuple[Formula, ...]]
    effects: Mapping[str, tuple[Effect, ...]]
    durations: tuple[Formula, ...] | None = None


@dataclass
class PddlTask:
    """A domain and a problem as read."""

    domain: str
    problem: str
    symbols: SymbolTable
    operators: dict[str, Operator] = field(default_factory=dict)
    state: State = field(default_factory=State)
    goal: tuple[Formula, ...] = ()


def read_task(
    domain_text: str, problem_text: str, domain_where: str = "domain", problem_where: str = "problem"
) -> PddlTask:
    """Reads both files.

    Raises:
        PddlError: Something that is no PDDL, contradicts itself, or is not known to this reader; names the line.
    """
    domain, problem = _defined(domain_text, domain_where, "domain"), _defined(problem_text, problem_where, "problem")
    symbols = SymbolTable()
    task = PddlTask(_name(domain), _name(problem), symbols)
    sections = {
        name: list(_sections(node, known))
        for name, node, known in (("domain", domain, READ), ("problem", problem, PROBLEM))
    }
    for node in _of(sections["domain"], ":types"):
        symbols.add_types(node.items[1:])
    for node in _of(sections["domain"], ":constants"):
        symbols.add_objects(node.items[1:])
    for node in _of(sections["problem"], ":objects"):
        symbols.add_objects(node.items[1:])
    for node in _of(sections["domain"], ":predicates"):
        symbols.add_symbols(node.items[1:], symbols.predicates)
    for node in _of(sections["domain"], ":functions"):
        symbols.add_symbols(node.items[1:], symbols.functions)
    for node in (*_of(sections["domain"], ":action"), *_of(sections["domain"], ":durative-action")):
        operator = _operator(node, symbols)
        if operator.name in task.operators:
            raise node.error(f"a second action '{operator.name}'")
        task.operators[operator.name] = operator
    named = next(iter(_of(sections["problem"], ":domain")), None)
    if named is not None and (len(named.items) < 2 or named.items[1].word != task.domain):
        raise named.error(f"is for the domain '{named.items[1] if named.items[1:] else ''}', not '{task.domain}'")
    for node in _of(sections["problem"], ":init"):
        _read_init(node, task)
    goals = list(_of(sections["problem"], ":goal"))
    if len(goals) != 1 or len(goals[0].items) != 2:
        raise problem.error("needs one (:goal ...)")
    task.goal = tuple(_parts(goals[0].items[1], symbols, VariableScope()))
    return task


def _defined(text: str, where: str, what: str) -> Node:
    found = read_expressions(text, where)
    if len(found) != 1 or found[0].head != "define" or len(found[0].items) < 2 or found[0].items[1].head != what:
        raise PddlError(f"{where}: no (define ({what} ...) ...)")
    return found[0]


def _name(node: Node) -> str:
    named = node.items[1]
    if len(named.items) != 2 or named.items[1].is_list:
        raise named.error("needs one name")
    return named.items[1].word


def _sections(node: Node, known: Iterable[str]) -> Iterator[Node]:
    for section in node.items[2:]:
        if section.head not in known:
            raise section.error(f"{section.head or section} is not read; allowed: {', '.join(known)}")
        yield section


def _of(sections: Iterable[Node], head: str) -> Iterator[Node]:
    return (section for section in sections if section.head == head)


def _operator(node: Node, symbols: SymbolTable) -> Operator:
    if len(node.items) < 2 or node.items[1].is_list or len(node.items) % 2:
        raise node.error("an action is a name, then :parameters, :precondition, :effect with what belongs to each")
    words = {key.word: value for key, value in zip(node.items[2::2], node.items[3::2], strict=True)}
    lasting = node.head == ":durative-action"
    allowed = [":parameters", *((":duration", ":condition") if lasting else (":precondition",)), ":effect"]
    for key in node.items[2::2]:
        if key.word not in allowed:
            raise key.error(f"{key} is not part of {node.head} {node.items[1]}; allowed: {', '.join(allowed)}")
    parameters = dict[str, tuple[str, ...]]()
    given = words.get(":parameters")
    for variable, types in symbols.typed(given.items if given is not None else [], variables=True):
        parameters[variable.word] = types
    scope = VariableScope(dict(parameters), lasting)
    condition, effect = words.get(":condition" if lasting else ":precondition"), words.get(":effect")
    empty = Node(node.line, "", [], node.where)
    conditions, effects = dict[str, tuple[Formula, ...]](), dict[str, tuple[Effect, ...]]()
    for when, parts in _by_time(condition or empty, lasting):
        made = [formula for part in parts for formula in _parts(part, symbols, scope)]
        conditions[when] = conditions.get(when, ()) + tuple(made)
    for when, parts in _by_time(effect or empty, lasting):
        done = [one for part in parts for one in symbols.effects(part, scope)]
        effects[when] = effects.get(when, ()) + tuple(done)
    durations = None
    if lasting:
        if ":duration" not in words:
            raise node.error(f"durative action {node.items[1]} without :duration")
        durations = tuple(_parts(words[":duration"], symbols, scope))
    return Operator(node.items[1].word, parameters, conditions, effects, durations)


def _by_time(node: Node, lasting: bool) -> Iterator[tuple[str, list[Node]]]:
    """Yields the parts of a condition or effect by their time; of an action at one instant all at its start."""
    if not lasting:
        yield "start", [node]
        return
    for part in node.items[1:] if node.head == "and" else [node] if node.items else []:
        if part.head == "forall" and len(part.items) == 3:
            for when, inner in _by_time(part.items[2], lasting):
                yield when, [replace(part, items=[*part.items[:2], one]) for one in inner]
            continue
        timing = WHENS.get((part.head, part.items[1].word if part.items[1:] else ""))
        if timing is None or len(part.items) != 3:
            raise part.error(f"{part} says not when; allowed: (at start ...), (over all ...), (at end ...)")
        yield timing, [part.items[2]]


def _parts(node: Node, symbols: SymbolTable, scope: VariableScope) -> Iterator[Formula]:
    """Yields a condition in parts, so that the one that fails can be named; an empty one has none."""
    if node.head == "and":
        for part in node.items[1:]:
            yield from _parts(part, symbols, scope)
    elif node.items:
        yield symbols.formula(node, scope)
    elif node.word:
        raise node.error(f"'{node}' is no condition")


def _read_init(node: Node, task: PddlTask) -> None:
    for entry in node.items[1:]:
        if entry.head == "=" and len(entry.items) == 3 and entry.items[1].is_list:
            number = number_of(entry.items[2])
            if number is None or not isfinite(number):
                raise entry.error(f"{entry.items[2]} is no number")
            target = task.symbols.number(entry.items[1], VariableScope())
            if not isinstance(target, Fluent):
                raise entry.error(f"{entry.items[1]} is no function of objects")
            task.state.values[(target.name, *target.arguments)] = number
        elif entry.head == "at" and len(entry.items) == 3 and number_of(entry.items[1]) is not None:
            raise entry.error("facts at a time are not read")
        elif entry.head != "not":  # a closed world: what is not stated is false
            fact = task.symbols.fact(entry, VariableScope())
            task.state.facts.add((fact.name, *fact.arguments))
    if "total-cost" in task.symbols.functions:
        task.state.values.setdefault(("total-cost",), 0.0)
