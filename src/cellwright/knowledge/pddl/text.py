"""Planning files as text: one thing on each line, the same bytes for the same content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cellwright.knowledge.pddl.model import (
    Atom,
    Compare,
    NumericChange,
    PddlAction,
    PddlDomain,
    PddlForm,
    PddlProblem,
    Symbol,
)
from cellwright.knowledge.pddl.names import Names

__all__ = ["write_domain", "write_problem"]


def write_domain(domain: PddlDomain) -> str:
    """Returns the text of the domain's file."""
    costed = any(action.cost is not None for action in domain.actions)
    blocks = [
        f"  (:requirements {' '.join(requirements(domain, costed))})",
        section("types", [f"{name} - {parent}" for name, parent in domain.types]),
    ]
    if domain.constants:
        blocks.append(section("constants", [f"{name} - {kind}" for name, kind in domain.constants]))
    used = [signature(symbol) for symbol in domain.predicates]
    more = [signature(symbol) for symbol in domain.relations]
    blocks.append(section("predicates", [*used, "; further relations of the ontology, which no action uses", *more]))
    functions = [signature(symbol) for symbol in domain.functions] + (["(total-cost)"] if costed else [])
    if functions:
        blocks.append(section("functions", functions))
    blocks += [durative(a) if a.duration_s is not None else instant(a) for a in domain.actions]
    head = f"; Kitting, vocabulary of {domain.vocabulary}, {domain.form} form, parts {domain.parts}."
    return f"{head}\n; Generated from the ontology.\n(define (domain {domain.name})\n" + "\n\n".join(blocks) + "\n)\n"


def write_problem(problem: PddlProblem, names: Names | None = None) -> str:
    """Returns the text of the problem's file; `names` learns every name that is written."""
    known = names if names is not None else Names()
    write = known.write
    domain = problem.domain
    fixed = {name for name, _ in domain.constants}
    for name in fixed:
        write(name)
    objects = [f"{write(name)} - {kind}" for name, kind in problem.objects.items() if name not in fixed]
    costed = any(action.cost is not None for action in domain.actions)

    def fact(atom: Atom) -> str:
        return f"({' '.join([atom.name, *map(write, atom.arguments)])})"

    init = [fact(atom) for atom in problem.facts]
    if problem.values or costed:
        init.append("; numbers")
        init += [f"(= {fact(atom)} {number(value)})" for atom, value in problem.values.items()]
    if costed:
        init.append("(= (total-cost) 0)")
    if problem.relations:
        init.append("; further relations of the ontology, which no action uses")
        init += [fact(atom) for atom in problem.relations]
    goal = [fact(g) if isinstance(g, Atom) else comparison(g, fact) for g in problem.goal]
    blocks = [
        f"  (:domain {domain.name})",
        section("objects", objects),
        section("init", init),
        "  (:goal (and\n" + "".join(f"    {line}\n" for line in goal) + "  ))",
    ]
    if domain.form is PddlForm.TEMPORAL:
        blocks.append("  (:metric minimize (total-time))")
    elif costed:
        blocks.append("  (:metric minimize (total-cost))")
    return f"(define (problem {problem.name})\n" + "\n".join(blocks) + "\n)\n"


def requirements(domain: PddlDomain, costed: bool) -> list[str]:
    words = [":strips", ":typing"]
    if domain.functions:
        words.append(":numeric-fluents")
    if domain.form is PddlForm.TEMPORAL:
        words.append(":durative-actions")
    return words + ([":action-costs"] if costed else [])


def section(name: str, lines: Iterable[str]) -> str:
    return f"  (:{name}\n" + "".join(f"    {line}\n" for line in lines) + "  )"


def parameters(entries: Mapping[str, str]) -> str:
    return " ".join(f"?{name} - {kind}" for name, kind in entries.items())


def signature(symbol: Symbol) -> str:
    names = [f"?{name}" for name, _ in symbol.parameters]
    if len(set(names)) < len(names):
        names = [f"{name}_{number}" for number, name in enumerate(names, start=1)]
    pairs = (f"{name} - {kind}" for name, (_, kind) in zip(names, symbol.parameters, strict=True))
    return f"({' '.join([symbol.name, *pairs])})"


def number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.9g}"


def atom_text(atom: Atom) -> str:
    return f"({' '.join([atom.name, *atom.arguments])})"


def comparison(entry: Compare, write: Callable[[Atom], str] = atom_text) -> str:
    right = write(entry.right) if isinstance(entry.right, Atom) else number(entry.right)
    return f"({entry.sign} {write(entry.left)} {right})"


def condition_text(entry: Atom | Compare) -> str:
    return atom_text(entry) if isinstance(entry, Atom) else comparison(entry)


def change_text(change: NumericChange) -> str:
    return f"({'increase' if change.increase else 'decrease'} {atom_text(change.function)} {number(change.amount)})"


def conjunction(lines: Iterable[str]) -> str:
    return "(and\n" + "".join(f"      {line}\n" for line in lines) + "    )"


def instant(action: PddlAction) -> str:
    effects = [
        *(f"(not {atom_text(a)})" for a in action.deletes),
        *(atom_text(a) for a in action.adds),
        *(change_text(c) for c in action.changes),
    ]
    if action.cost is not None:
        effects.append(f"(increase (total-cost) {action.cost})")
    return (
        f"  ; {action.comment}\n  (:action {action.name}\n    :parameters ({parameters(action.parameters)})\n"
        f"    :precondition {conjunction(condition_text(c) for c in action.conditions)}\n"
        f"    :effect {conjunction(effects)}\n  )"
    )


def durative(action: PddlAction) -> str:
    assert action.duration_s is not None
    effects = [
        *(f"(at start (not {atom_text(a)}))" for a in action.deletes),
        *(f"(at start {change_text(c)})" for c in action.changes if not c.increase),
        *(f"(at end {atom_text(a)})" for a in action.adds),
        *(f"(at end {change_text(c)})" for c in action.changes if c.increase),
    ]
    return (
        f"  ; {action.comment}\n  (:durative-action {action.name}\n    :parameters ({parameters(action.parameters)})\n"
        f"    :duration (= ?duration {number(action.duration_s)})\n"
        f"    :condition {conjunction(f'(at start {condition_text(c)})' for c in action.conditions)}\n"
        f"    :effect {conjunction(effects)}\n  )"
    )
