"""Numbers as facts, for planners that know no numbers: a count is a level, and levels follow each other.

Where a count is only compared with another that never changes, the difference is kept instead: a kit that lacks three
parts is at level three, whatever its size, and a goal is level zero. Levels are never below zero, so an action for what
is too much (a wrong part in a kit) is left out: such a kit has no level and is never finished.
"""

from __future__ import annotations

from dataclasses import replace

from cellwright.knowledge.pddl.model import Atom, Compare, LevelPredicate, PddlAction, PddlDomain, Symbol

__all__ = ["LEVEL", "NEXT", "ZERO", "with_levels"]

LEVEL = "Level"
NEXT = "level-is-followed-by"
ZERO = "level_0"


def with_levels(domain: PddlDomain) -> PddlDomain:
    """Returns the same domain without functions."""
    functions = {function.name: function for function in domain.functions}
    actions = [a for a in domain.actions if not any(map(_is_surplus, a.conditions))]
    found: dict[str, LevelPredicate] = {}
    for action in actions:
        for condition in action.conditions:
            if isinstance(condition, Compare):
                bound = condition.right.name if isinstance(condition.right, Atom) else None
                made = _level(functions[condition.left.name], functions[bound] if bound else None)
                found.setdefault(made.symbol.name, made)
    levels = tuple(found[name] for name in sorted(found))
    steps = Symbol(NEXT, (("lower", LEVEL), ("higher", LEVEL)))
    return replace(
        domain,
        types=(*domain.types, (LEVEL, "object")),
        predicates=(*domain.predicates, *(level.symbol for level in levels), steps),
        functions=(),
        actions=tuple(_action(action, levels) for action in actions),
        levels=levels,
        constants=((ZERO, LEVEL),),
    )


def _is_surplus(condition: Atom | Compare) -> bool:
    return isinstance(condition, Compare) and condition.sign == ">" and isinstance(condition.right, Atom)


def _level(function: Symbol, bound: Symbol | None) -> LevelPredicate:
    name = function.name if bound is None else f"{function.name}-to-go"
    return LevelPredicate(Symbol(name, (*function.parameters, ("level", LEVEL))), function, bound)


def _action(action: PddlAction, levels: tuple[LevelPredicate, ...]) -> PddlAction:
    parameters = dict(action.parameters)
    conditions: list[Atom | Compare] = [c for c in action.conditions if isinstance(c, Atom)]
    adds, deletes = list(action.adds), list(action.deletes)
    lowered: set[str] = set()

    def pair() -> tuple[str, str]:
        number = sum(kind == LEVEL for kind in parameters.values()) // 2 + 1
        names = (f"lower_{number}", f"higher_{number}")
        parameters.update(dict.fromkeys(names, LEVEL))
        conditions.append(Atom(NEXT, (f"?{names[0]}", f"?{names[1]}")))
        return f"?{names[0]}", f"?{names[1]}"

    for change in action.changes:
        for level in levels:
            if level.function.name != change.function.name:
                continue
            lower, higher = pair()
            rises = change.increase == (level.bound is None)
            before, after = (lower, higher) if rises else (higher, lower)
            name, arguments = level.symbol.name, change.function.arguments
            conditions.append(Atom(name, (*arguments, before)))
            deletes.append(Atom(name, (*arguments, before)))
            adds.append(Atom(name, (*arguments, after)))
            if not rises:
                lowered.add(name)  # what sinks was above zero
    for condition in action.conditions:
        if isinstance(condition, Atom):
            continue
        bound = condition.right.name if isinstance(condition.right, Atom) else None
        level = next(
            v for v in levels if v.function.name == condition.left.name and (v.bound.name if v.bound else None) == bound
        )
        if condition.sign == "=":
            conditions.append(Atom(level.symbol.name, (*condition.left.arguments, ZERO)))
        elif level.symbol.name not in lowered:
            conditions.append(Atom(level.symbol.name, (*condition.left.arguments, pair()[1])))
    return replace(
        action,
        parameters=parameters,
        conditions=tuple(conditions),
        adds=tuple(adds),
        deletes=tuple(deletes),
        changes=(),
    )
