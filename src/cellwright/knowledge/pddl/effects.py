"""Effects of actions on a state: facts that come and go, numbers that change."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

from cellwright.knowledge.pddl.formulas import (
    Binding,
    Fact,
    Fluent,
    Formula,
    Ground,
    Number,
    Quantified,
    State,
    UndefinedValue,
    as_pddl,
    ground,
)

__all__ = ["ConditionalEffect", "Effect", "FactEffect", "NumericEffect", "StateChanges", "UniversalEffect"]


@dataclass
class StateChanges:
    """The changes of several effects, evaluated before any of them is applied."""

    adds: set[Ground] = field(default_factory=set)
    deletes: set[Ground] = field(default_factory=set)
    numbers: list[tuple[str, Ground, float]] = field(default_factory=list)

    def apply(self, state: State) -> None:
        """Applies them to a state; what is both deleted and added is there afterwards."""
        state.facts -= self.deletes
        state.facts |= self.adds
        for kind, key, amount in self.numbers:
            old = state.values.get(key)
            if old is None and kind != "assign":
                raise UndefinedValue(f"{as_pddl(key)} has no value to {kind}")
            before = old or 0.0
            new = {
                "assign": amount, "increase": before + amount, "decrease": before - amount,
                "scale-up": before * amount, "scale-down": before / amount if amount else float("inf"),
            }[kind]  # fmt: skip
            if not isfinite(new):
                raise UndefinedValue(f"{as_pddl(key)} is no finite number after {kind} by {amount:g}")
            state.values[key] = new


class Effect(Protocol):
    """The interface of an effect."""

    def collect(self, state: State, binding: Binding, changes: StateChanges) -> None:
        """Adds its changes to the others; raises UndefinedValue."""


@dataclass(frozen=True)
class FactEffect:
    """A fact that comes or goes."""

    is_added: bool
    fact: Fact

    def collect(self, _state: State, binding: Binding, changes: StateChanges) -> None:
        """Adds the fact to those that come or go."""
        key = ground(self.fact.name, self.fact.arguments, binding)
        (changes.adds if self.is_added else changes.deletes).add(key)


@dataclass(frozen=True)
class NumericEffect:
    """A number that changes."""

    kind: str
    target: Fluent
    amount: Number

    def collect(self, state: State, binding: Binding, changes: StateChanges) -> None:
        """Adds the change of the number."""
        key = ground(self.target.name, self.target.arguments, binding)
        changes.numbers.append((self.kind, key, self.amount.value(state, binding)))


@dataclass(frozen=True)
class ConditionalEffect:
    """An effect that depends on the state."""

    condition: Formula
    effects: tuple[Effect, ...]

    def collect(self, state: State, binding: Binding, changes: StateChanges) -> None:
        """Adds the changes, if the condition holds."""
        if self.condition.holds(state, binding):
            for effect in self.effects:
                effect.collect(state, binding, changes)


@dataclass(frozen=True)
class UniversalEffect:
    """An effect on all objects of a kind."""

    over: Quantified
    effects: tuple[Effect, ...]

    def collect(self, state: State, binding: Binding, changes: StateChanges) -> None:
        """Adds the changes for each object."""
        for chosen in self.over.bindings(binding):
            for effect in self.effects:
                effect.collect(state, chosen, changes)
