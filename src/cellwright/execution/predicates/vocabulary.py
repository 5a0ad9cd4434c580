"""Relations, predicates, conditions and actions as the ontology defines them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from cellwright.core.errors import UnknownName
from cellwright.execution.predicates.rcc8 import Rcc8
from cellwright.knowledge.pddl import MAIN_VOCABULARY, planning_ontology

__all__ = ["ActionDefinition", "Condition", "Predicate", "StateRelation", "Vocabulary", "vocabulary"]


@dataclass(frozen=True, kw_only=True)
class StateRelation:
    """A spatial relation of a first object to a second one; all that is named must hold.

    Attributes:
        name: What it is called.
        axes: x, y, z -> the relations that are allowed along it; None where none is named.
        z_centre: `plus` when the first centre must be the higher one, `minus` the lower one.
        first_region: Which of the first object's volumes is meant: body, inside or handle.
        second_region: Likewise of the second.
        any_of: Relations of which one must hold, too.
        all_of: Relations that must hold, too.
    """

    name: str
    axes: tuple[frozenset[Rcc8] | None, ...]
    z_centre: str | None
    first_region: str
    second_region: str
    any_of: tuple[str, ...]
    all_of: tuple[str, ...]

    @cached_property
    def is_near(self) -> bool:
        """True if objects that are horizontally apart never stand in it."""
        return any(axis is not None and Rcc8.DC not in axis for axis in self.axes[:2])


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """A statement about one or two objects.

    Attributes:
        name: What it is called.
        parameters: Types of its objects.
        spatial: Whether poses decide; else the database or the executor's flags.
        holds_when: Relations of which one must hold from the subject to the other object.
        subject: Which object they start from, 0 or 1.
        unless_any: Relation in which no further object may stand to the subject.
        unless_class: The class of further object that counts; every class when None.
        path: How the database says it; None for a flag.
    """

    name: str
    parameters: tuple[str, ...]
    spatial: bool
    holds_when: tuple[str, ...]
    subject: int
    unless_any: str | None
    unless_class: str | None
    path: str | None

    @property
    def is_flag(self) -> bool:
        """True if only the executor knows it: what was looked for and found."""
        return not self.spatial and self.path in (None, ".")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A comparison of a count with a number or another count; measures with the types that they are of."""

    name: str
    measure: str
    parameters: tuple[str, ...]
    comparison: str
    bound: float
    bound_measure: str | None
    bound_parameters: tuple[str, ...]


@dataclass(frozen=True)
class ActionDefinition:
    """An action by its preconditions and effects."""

    name: str
    parameters: tuple[str, ...]
    preconditions: tuple[str, ...]
    numeric_preconditions: tuple[str, ...]
    positive_effects: tuple[str, ...]
    negative_effects: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """Relations, predicates, conditions and actions by name, and the subclasses of each class of the ontology."""

    relations: Mapping[str, StateRelation]
    predicates: Mapping[str, Predicate]
    conditions: Mapping[str, Condition]
    actions: Mapping[str, ActionDefinition]
    below: Mapping[str, frozenset[str]]

    def predicate(self, name: str) -> Predicate:
        """Returns a predicate by name."""
        if name not in self.predicates:
            raise UnknownName("predicate", name, self.predicates)
        return self.predicates[name]

    def relation(self, name: str) -> StateRelation:
        """Returns a relation by name."""
        if name not in self.relations:
            raise UnknownName("state relation", name, self.relations)
        return self.relations[name]

    def action(self, name: str) -> ActionDefinition:
        """Returns an action by name."""
        if name not in self.actions:
            raise UnknownName("action", name, self.actions)
        return self.actions[name]


@lru_cache
def vocabulary() -> Vocabulary:
    """Reads what was generated from the ontology; the actions are those of the main vocabulary."""
    ontology = planning_ontology()
    entries = ontology.individuals

    def of_class(name: str) -> list[dict[str, Any]]:
        return [entry for entry in entries.values() if entry["class"] == name]

    classes = {entry["name"]: entry["class_name"] for entry in of_class("ParameterType")}
    return Vocabulary(
        {entry["name"]: _relation(entry) for entry in of_class("StateRelation")},
        {entry["name"]: _predicate(entry, classes) for entry in of_class("Predicate")},
        {entry["name"]: _condition(entry, entries) for entry in of_class("FunctionCondition")},
        {
            entry["name"]: _action(entry)
            for entry in of_class("Action")
            if entry.get("vocabulary", MAIN_VOCABULARY) == MAIN_VOCABULARY
        },
        ontology.below,
    )


def _relation(entry: dict[str, Any]) -> StateRelation:
    axes = tuple(
        frozenset(Rcc8(word) for word in entry[key]) if key in entry else None
        for key in ("x_relation", "y_relation", "z_relation")
    )
    return StateRelation(
        name=entry["name"],
        axes=axes,
        z_centre=entry.get("z_centre"),
        first_region=entry.get("first_region", "body"),
        second_region=entry.get("second_region", "body"),
        any_of=tuple(entry.get("any_of", ())),
        all_of=tuple(entry.get("all_of", ())),
    )


def _parameters(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(entry[key] for key in ("reference_parameter", "target_parameter") if key in entry)


def _predicate(entry: dict[str, Any], classes: Mapping[str, str]) -> Predicate:
    counted = entry.get("unless_any_of_type")
    return Predicate(
        name=entry["name"],
        parameters=_parameters(entry),
        spatial=entry["evaluation"] == "spatial",
        holds_when=tuple(entry.get("holds_when", ())),
        subject=1 if entry.get("subject") == "target" else 0,
        unless_any=entry.get("unless_any"),
        unless_class=classes[counted] if counted else None,
        path=entry.get("path"),
    )


def _condition(entry: dict[str, Any], entries: Mapping[str, dict[str, Any]]) -> Condition:
    function, other = entries[entry["function"]], entries.get(entry.get("bound_function", ""))
    return Condition(
        name=entry["name"],
        measure=function["measure"],
        parameters=_parameters(function),
        comparison=entry["comparison"],
        bound=float(entry.get("bound", 0.0)),
        bound_measure=other["measure"] if other else None,
        bound_parameters=_parameters(other) if other else (),
    )


def _action(entry: dict[str, Any]) -> ActionDefinition:
    return ActionDefinition(
        entry["name"],
        tuple(entry["signature"].split()),
        *(
            tuple(entry.get(key, ()))
            for key in ("precondition", "numeric_precondition", "positive_effect", "negative_effect")
        ),
    )
