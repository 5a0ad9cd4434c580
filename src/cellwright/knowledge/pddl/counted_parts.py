"""Parts without names: a planner that tells equal parts apart looks at every order of taking them.

A part is replaced by what kits count it by: its kind in the vocabulary of 2016, its tray in that of 2012. What says
in which tray or kit a part is becomes what may be there; how many are there is counted anyway.
"""

from __future__ import annotations

from dataclasses import replace

from cellwright.knowledge.pddl.model import Atom, Compare, NumericChange, PddlAction, PddlDomain, Symbol

__all__ = ["counted_by", "with_counted_parts"]

PART = "part"
COUNTS = frozenset({"partsInVessel", "partsInKit", "allPartsInKit"})


def counted_by(domain: PddlDomain) -> str:
    """Returns the parameter by which kits count their parts."""
    counter = next(function for function in domain.functions if function.measure == "partsInKit")
    return next(role for role, _ in counter.parameters if role != "kit")


def with_counted_parts(domain: PddlDomain) -> PddlDomain:
    """Returns the same domain without the type of parts in any action."""
    placeholder = counted_by(domain)
    kinds = {role: kind for function in domain.functions for role, kind in function.parameters}
    containers = {role for f in domain.functions if f.measure in COUNTS for role, _ in f.parameters} - {placeholder}
    about_parts = {s.name: [role for role, _ in s.parameters] for s in domain.predicates}
    contents = {n for n, roles in about_parts.items() if PART in roles and containers.intersection(roles)}

    def atom(old: Atom) -> Atom:
        return Atom(old.name, tuple(f"?{placeholder}" if a == f"?{PART}" else a for a in old.arguments))

    def kept(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        new = (atom(old) for old in atoms if old.name not in contents)
        return tuple(a for a in new if len(set(a.arguments)) == len(a.arguments))

    def action(old: PddlAction) -> PddlAction:
        conditions: list[Atom | Compare] = []
        for condition in old.conditions:
            new = atom(condition) if isinstance(condition, Atom) else condition
            if isinstance(new, Compare) or len(set(new.arguments)) == len(new.arguments):
                conditions.append(new)
        changes = tuple(NumericChange(c.increase, atom(c.function), c.amount) for c in old.changes)
        parameters = {role: kind for role, kind in old.parameters.items() if role != PART}
        return replace(
            old,
            parameters=parameters,
            conditions=tuple(conditions),
            adds=kept(old.adds),
            deletes=kept(old.deletes),
            changes=changes,
        )

    actions = tuple(action(old) for old in domain.actions)
    used = {a.name for act in actions for a in (*act.conditions, *act.adds, *act.deletes) if isinstance(a, Atom)}
    predicates = tuple(
        Symbol(
            s.name,
            tuple((placeholder, kinds[placeholder]) if role == PART else (role, kind) for role, kind in s.parameters),
        )
        for s in domain.predicates
        if s.name in used
    )
    return replace(domain, predicates=predicates, actions=actions)
