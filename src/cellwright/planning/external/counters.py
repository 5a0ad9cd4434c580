"""Counters in PDDL: with level objects and successor facts, or with numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from cellwright.core.errors import UnknownName

__all__ = ["Classical", "CounterWriter", "Numeric", "PlannerDialect"]


class PlannerDialect(StrEnum):
    """The kind of PDDL that a planner reads."""

    CLASSICAL = "classical"
    NUMERIC = "numeric"

    @classmethod
    def named(cls, name: str) -> PlannerDialect:
        """Returns the form of that name; the error lists those that exist."""
        if name not in list(cls):
            raise UnknownName("form", name, cls, "planner command")
        return cls(name)


class CounterWriter(Protocol):
    """Writes conditions and effects on counters such as `missing ?spot ?sku`; `tag` tells counters of a step apart."""

    requirements: str

    def declare(self, counters: list[str]) -> tuple[list[str], list[str]]:
        """Returns predicates and functions for counters given with typed parameters."""

    def parameters(self, tag: str) -> str:
        """Returns the further parameters of a step that changes a counter by one."""

    def decrease(self, counter: str, tag: str) -> tuple[str, str]:
        """Returns the condition that there is one left, and the effect that there is one less."""

    def increase(self, counter: str, tag: str) -> tuple[str, str]:
        """Returns the condition, if any, and the effect that there is one more."""

    def zero(self, counter: str) -> str:
        """Returns the condition that none is left."""

    def fill(self, counter: str, number: int) -> str:
        """Returns the effect that a counter at zero gets a number."""

    def start(self, counter: str, number: int) -> str:
        """Returns the counter's first value."""

    def levels(self, largest: int) -> tuple[list[str], list[str]]:
        """Returns level objects up to the largest number and the facts about them."""


class Classical:
    """Counters as facts about level objects; positive conditions only."""

    requirements = ":strips :typing :action-costs"

    def declare(self, counters: list[str]) -> tuple[list[str], list[str]]:
        """Returns a predicate for each counter."""
        return [f"({counter} ?n - level)" for counter in counters] + ["(next ?n ?m - level)"], []

    def parameters(self, tag: str) -> str:
        """Returns the higher level and the lower level."""
        return f" ?{tag}n ?{tag}m - level"

    def decrease(self, counter: str, tag: str) -> tuple[str, str]:
        """Returns the step from a level to the next lower one."""
        high, low = f"({counter} ?{tag}n)", f"({counter} ?{tag}m)"
        return f"{high} (next ?{tag}m ?{tag}n)", f"(not {high}) {low}"

    def increase(self, counter: str, tag: str) -> tuple[str, str]:
        """Returns the step from a level to the next higher one."""
        high, low = f"({counter} ?{tag}n)", f"({counter} ?{tag}m)"
        return f"{low} (next ?{tag}m ?{tag}n)", f"(not {low}) {high}"

    def zero(self, counter: str) -> str:
        """Returns the lowest level."""
        return f"({counter} n0)"

    def fill(self, counter: str, number: int) -> str:
        """Returns the step from the lowest level to another."""
        return f"(not ({counter} n0)) ({counter} n{number})"

    def start(self, counter: str, number: int) -> str:
        """Returns the level at the start."""
        return f"({counter} n{number})"

    def levels(self, largest: int) -> tuple[list[str], list[str]]:
        """Returns n0, n1 and so on, and what follows what."""
        facts = [f"(next n{number} n{number + 1})" for number in range(largest)]
        return [f"n{number}" for number in range(largest + 1)], facts


class Numeric:
    """Counters as functions."""

    requirements = ":typing :fluents"

    def declare(self, counters: list[str]) -> tuple[list[str], list[str]]:
        """Returns a function for each counter."""
        return [], [f"({counter})" for counter in counters]

    def parameters(self, tag: str) -> str:
        """Returns no parameters: none are needed."""
        return ""

    def decrease(self, counter: str, tag: str) -> tuple[str, str]:
        """Returns the step to one less where there is at least one."""
        return f"(>= ({counter}) 1)", f"(decrease ({counter}) 1)"

    def increase(self, counter: str, tag: str) -> tuple[str, str]:
        """Returns the step to one more."""
        return "", f"(increase ({counter}) 1)"

    def zero(self, counter: str) -> str:
        """Returns the condition as an inequality, since heuristics are better guided by it than by an equation."""
        return f"(<= ({counter}) 0)"

    def fill(self, counter: str, number: int) -> str:
        """Returns an increase by the number."""
        return f"(increase ({counter}) {number})"

    def start(self, counter: str, number: int) -> str:
        """Returns the number at the start."""
        return f"(= ({counter}) {number})"

    def levels(self, largest: int) -> tuple[list[str], list[str]]:
        """Returns nothing: no levels are needed."""
        return [], []
