"""A planning domain and a problem as plain data, small enough to be written in any dialect.

Arguments are names: of parameters, with a question mark, in actions; of objects elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from cellwright.core.errors import BadInput, UnknownName

__all__ = [
    "Atom",
    "Compare",
    "LevelPredicate",
    "NumericChange",
    "Parts",
    "PddlAction",
    "PddlDomain",
    "PddlError",
    "PddlForm",
    "PddlProblem",
    "PddlStep",
    "Symbol",
]


class PddlForm(StrEnum):
    """The features that a planner must support: numbers, nothing but facts, or time."""

    NUMERIC = "numeric"
    CLASSICAL = "classical"
    TEMPORAL = "temporal"


class Parts(StrEnum):
    """The encoding of parts: counted by kind, or each an object with a name as in the published problems."""

    COUNTED = "counted"
    NAMED = "named"


class PddlError(BadInput):
    """A planning file or plan that cannot be used; names the line."""


class Atom(NamedTuple):
    """A predicate or function with its arguments."""

    name: str
    arguments: tuple[str, ...] = ()


class Compare(NamedTuple):
    """A function compared with a number or another function, by `<`, `=` or `>`."""

    sign: str
    left: Atom
    right: Atom | float


class NumericChange(NamedTuple):
    """A function that grows or shrinks."""

    increase: bool
    function: Atom
    amount: float = 1.0


class Symbol(NamedTuple):
    """The name of a predicate or function, and the names and types of its parameters."""

    name: str
    parameters: tuple[tuple[str, str], ...] = ()
    measure: str = ""


class LevelPredicate(NamedTuple):
    """A predicate that stands for a function: its last argument is a level.

    Attributes:
        symbol: The predicate.
        function: The function that it stands for.
        bound: The function from which `function` is subtracted; None where the number itself is meant.
    """

    symbol: Symbol
    function: Symbol
    bound: Symbol | None


@dataclass(frozen=True)
class PddlAction:
    """An action.

    Attributes:
        name: As in planning files.
        parameters: Name without question mark -> type, in order.
        conditions: True before.
        adds: True afterwards.
        deletes: False afterwards.
        changes: Functions that change.
        duration_s: Its duration; None for an action at one instant.
        cost: Added to the cost of a plan; None where costs are not counted.
        place: The parameter to which the robot goes; empty when it stays.
        comment: In words.
        verb: Its name in the vocabulary of 2016.
    """

    name: str
    parameters: Mapping[str, str]
    conditions: tuple[Atom | Compare, ...]
    adds: tuple[Atom, ...] = ()
    deletes: tuple[Atom, ...] = ()
    changes: tuple[NumericChange, ...] = ()
    duration_s: float | None = None
    cost: int | None = None
    place: str = ""
    comment: str = ""
    verb: str = ""


@dataclass(frozen=True, kw_only=True)
class PddlDomain:
    """A domain; `relations` are the predicates that no action uses, stated for readers of the files."""

    name: str
    vocabulary: str
    form: PddlForm
    parts: Parts
    types: tuple[tuple[str, str], ...]
    predicates: tuple[Symbol, ...]
    relations: tuple[Symbol, ...]
    functions: tuple[Symbol, ...]
    actions: tuple[PddlAction, ...]
    levels: tuple[LevelPredicate, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()

    def action(self, name: str) -> PddlAction:
        """Returns the action of a name, in whatever case a planner prints it."""
        for action in self.actions:
            if action.name.lower() == name.lower():
                return action
        raise UnknownName("action", name, [action.name for action in self.actions], f"domain {self.name}")

    def is_a(self, kind: str, ancestor: str) -> bool:
        """Returns whether a type is another, or stands below it."""
        parents = dict(self.types)
        step = kind
        while step != ancestor:
            if step not in parents:
                return False
            step = parents[step]
        return True


@dataclass
class PddlProblem:
    """A problem: objects, initial state, goal."""

    name: str
    domain: PddlDomain
    objects: dict[str, str] = field(default_factory=dict)
    facts: list[Atom] = field(default_factory=list)
    relations: list[Atom] = field(default_factory=list)
    values: dict[Atom, float] = field(default_factory=dict)
    goal: list[Atom | Compare] = field(default_factory=list)

    def pairs(self, predicate: str) -> dict[str, str]:
        """Returns first argument -> second argument, of the initial facts of one predicate."""
        return {a.arguments[0]: a.arguments[1] for a in self.facts if a.name == predicate and len(a.arguments) == 2}


class PddlStep(NamedTuple):
    """A step of a plan, as files have it; times only where the plan has times."""

    name: str
    arguments: tuple[str, ...] = ()
    start_s: float | None = None
    duration_s: float | None = None
