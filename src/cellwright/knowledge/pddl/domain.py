"""The domain from the ontology: its vocabulary's actions, and types and predicates for everything else it knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge.pddl.classical import with_levels
from cellwright.knowledge.pddl.counted_parts import with_counted_parts
from cellwright.knowledge.pddl.model import (
    Atom,
    Compare,
    NumericChange,
    Parts,
    PddlAction,
    PddlDomain,
    PddlForm,
    Symbol,
)
from cellwright.knowledge.pddl.temporal import with_durations
from cellwright.knowledge.planning_ontology import MAIN_VOCABULARY, PlanningOntology, planning_ontology

__all__ = ["WITHOUT_SLOTS", "build_domain"]

SIGNS = {"less": "<", "equal": "=", "greater": ">"}
REACH = "robot-reaches-place"
WITHOUT_SLOTS = "2014"
"""The vocabulary between the two: that of 2016 before grasps were set and slots were looked for."""
NOT_IN_2014 = ("set-grasp", "look-for-slot", "grasp-is-set", "slot-is-found")
COST_PER_S = 10
"""Costs are whole tenths of a second: classical planners know no fractions."""


def build_domain(
    vocabulary: str = MAIN_VOCABULARY,
    form: PddlForm | str = PddlForm.NUMERIC,
    parts: Parts | str = Parts.COUNTED,
    durations: Mapping[str, float] | None = None,
    ontology: PlanningOntology | None = None,
) -> PddlDomain:
    """Returns the domain.

    Args:
        vocabulary: Year of the published vocabulary whose names are used.
        form: The features that planners must support.
        parts: Counted by kind, or named.
        durations: Action of the vocabulary of 2016 -> seconds. The temporal form needs them; the others count them
            as costs, in tenths of a second, where they are given.
        ontology: Another one than the package's.

    Raises:
        UnknownName: No such vocabulary.
        BadInput: The temporal form without durations.
    """
    known = ontology or planning_ontology()
    form, parts = PddlForm(form), Parts(parts)
    if vocabulary not in (*known.vocabularies, WITHOUT_SLOTS):
        raise UnknownName("vocabulary", vocabulary, (*known.vocabularies, WITHOUT_SLOTS), "planning files")
    builder = _Builder(known)
    left_out = NOT_IN_2014 if vocabulary == WITHOUT_SLOTS else ()
    words = MAIN_VOCABULARY if left_out else vocabulary
    entries = [
        entry
        for entry in known.individuals.values()
        if entry["class"] == "Action"
        and entry.get("vocabulary", MAIN_VOCABULARY) == words
        and entry["name"] not in left_out
    ]
    actions = [_without(builder.action(entry), left_out) for entry in entries]
    if durations is not None:
        taken = {e.get("planning_name", e["name"]): durations.get(e.get("corresponds_to", e["name"])) for e in entries}
        if missing := [name for name, taken_s in taken.items() if taken_s is None]:
            raise BadInput(f"planning files: no duration of {', '.join(missing)} is given")
        actions = [replace(a, duration_s=taken[a.name]) for a in actions]
    elif form is PddlForm.TEMPORAL:
        raise BadInput("planning files: the temporal form needs durations: action -> seconds")
    domain = PddlDomain(
        name=f"kitting-{vocabulary}-{form}-{parts}",
        vocabulary=vocabulary,
        form=form,
        parts=parts,
        types=tuple((kind, parent or "object") for kind, parent in known.parents.items()),
        predicates=builder.symbols("Predicate"),
        relations=tuple(unexpressed(known, builder.symbols("Predicate"))),
        functions=builder.symbols("Function"),
        actions=tuple(actions),
    )
    if parts is Parts.COUNTED:
        domain = with_counted_parts(domain)
    if form is PddlForm.TEMPORAL:
        return with_durations(domain)
    costed = tuple(
        replace(a, duration_s=None, cost=None if a.duration_s is None else round(a.duration_s * COST_PER_S))
        for a in domain.actions
    )
    domain = replace(domain, actions=costed)
    return with_levels(domain) if form is PddlForm.CLASSICAL else domain


def _without(action: PddlAction, names: Collection[str]) -> PddlAction:
    """Returns the same action without some predicates."""
    conditions = tuple(c for c in action.conditions if isinstance(c, Compare) or c.name not in names)
    adds, deletes = (tuple(a for a in atoms if a.name not in names) for atoms in (action.adds, action.deletes))
    return replace(action, conditions=conditions, adds=adds, deletes=deletes) if names else action


class _Builder:
    """Makes actions from individuals, and collects the predicates and functions that they use."""

    def __init__(self, ontology: PlanningOntology) -> None:
        self._individuals = ontology.individuals
        self._used: dict[str, Symbol] = {}

    def symbols(self, kind: str) -> tuple[Symbol, ...]:
        """Returns the predicates or functions that the actions use, in order of their names."""
        return tuple(s for n, s in sorted(self._used.items()) if self._individuals[n]["class"] == kind)

    def action(self, entry: Mapping[str, Any]) -> PddlAction:
        roles = entry["signature"].split()
        place = entry.get("work_place", "")
        conditions: list[Atom | Compare] = [self._atom(name) for name in entry["precondition"]]
        if place and "robot" in roles:
            self._atom(REACH)
            conditions.append(Atom(REACH, ("?robot", f"?{place}")))
        for name in entry.get("numeric_precondition", []):
            conditions.append(self._comparison(self._individuals[name]))
        changes = []
        for name in entry.get("numeric_effect", []):
            effect = self._individuals[name]
            changes.append(
                NumericChange(effect["change"] == "increase", self._atom(effect["function"]), effect["amount"])
            )
        return PddlAction(
            entry.get("planning_name", entry["name"]),
            {role: self._individuals[role]["class_name"] for role in roles},
            tuple(conditions),
            tuple(self._atom(name) for name in entry["positive_effect"]),
            tuple(self._atom(name) for name in entry.get("negative_effect", [])),
            tuple(changes),
            place=place,
            comment=entry["activity_description"],
            verb=entry.get("corresponds_to", entry["name"]),
        )

    def _comparison(self, entry: Mapping[str, Any]) -> Compare:
        other = entry.get("bound_function")
        right = self._atom(other) if other else float(entry["bound"])
        return Compare(SIGNS[entry["comparison"]], self._atom(entry["function"]), right)

    def _atom(self, name: str) -> Atom:
        entry = self._individuals[name]
        roles = [entry[key] for key in ("reference_parameter", "target_parameter") if key in entry]
        types = tuple((role, self._individuals[role]["class_name"]) for role in roles)
        self._used.setdefault(name, Symbol(name, types, entry.get("measure", "")))
        return Atom(name, tuple(f"?{role}" for role in roles))


def unexpressed(ontology: PlanningOntology, predicates: Iterable[Symbol]) -> list[Symbol]:
    """Returns predicates for the relations and flags of the ontology that the vocabulary does not have."""
    expressed = {word for symbol in predicates for word in ontology.individuals[symbol.name].get("expresses", [])}
    found = [
        Symbol(f"{lower(r.owner)}-has-{r.property}", ((lower(r.owner), r.owner), (r.property, r.target)))
        for r in ontology.relations
        if f"{r.owner}-{r.property}" not in expressed
    ]
    found += [Symbol(f"{lower(f.owner)}-is-{f.property}", ((lower(f.owner), f.owner),)) for f in ontology.flags]
    return sorted(found)


def lower(name: str) -> str:
    """Returns `kitTray` for `KitTray`, as predicates begin."""
    return name[0].lower() + name[1:]
