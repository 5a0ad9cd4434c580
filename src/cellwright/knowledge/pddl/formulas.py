"""Conditions and numeric expressions of planning files, evaluated in a state for given objects."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import isfinite
from typing import Protocol

__all__ = [
    "Binding",
    "Comparison",
    "Constant",
    "Fact",
    "Fluent",
    "Formula",
    "Ground",
    "Junction",
    "Not",
    "Number",
    "Operation",
    "Quantified",
    "SameObject",
    "State",
    "UndefinedValue",
    "as_pddl",
    "ground",
]

Ground = tuple[str, ...]
Binding = Mapping[str, str]
SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip
NEAR = 1e-6
"""Numbers that differ by less are equal: sums of fractions are never exact."""


class UndefinedValue(Exception):
    """A numeric expression that has no value, or no finite one."""


@dataclass
class State:
    """The facts and values at one moment.

    Attributes:
        facts: All that is true.
        values: Function and its objects -> value.
        read: The facts and values that were read, noted where it matters.
    """

    facts: set[Ground] = field(default_factory=set)
    values: dict[Ground, float] = field(default_factory=dict)
    read: set[Ground] = field(default_factory=set)


def ground(name: str, arguments: tuple[str, ...], binding: Binding) -> Ground:
    """Returns a predicate or function with the objects that its variables stand for."""
    return (name, *(binding.get(word, word) for word in arguments))


def as_pddl(what: Ground) -> str:
    """Returns a fact or function with its objects as PDDL."""
    return f"({' '.join(what)})"


class Number(Protocol):
    """The interface of a numeric expression."""

    def value(self, state: State, binding: Binding) -> float:
        """Returns its value; raises UndefinedValue."""

    def text(self, binding: Binding) -> str:
        """Returns the expression as PDDL, for these objects."""


@dataclass(frozen=True)
class Constant:
    """A number as such."""

    number: float

    def value(self, _state: State, _binding: Binding) -> float:
        """Returns the number."""
        return self.number

    def text(self, _binding: Binding) -> str:
        """Returns the number."""
        return f"{self.number:g}"


@dataclass(frozen=True)
class Fluent:
    """A function of objects; `?duration` is one, too."""

    name: str
    arguments: tuple[str, ...] = ()

    def value(self, state: State, binding: Binding) -> float:
        """Returns its value in the state."""
        key = ground(self.name, self.arguments, binding)
        state.read.add(key)
        if key not in state.values:
            raise UndefinedValue(f"{as_pddl(key)} has no value")
        return state.values[key]

    def text(self, binding: Binding) -> str:
        """Returns the function with its objects."""
        return self.name if self.name.startswith("?") else as_pddl(ground(self.name, self.arguments, binding))


@dataclass(frozen=True)
class Operation:
    """Sum, difference, product or quotient."""

    sign: str
    operands: tuple[Number, ...]

    def value(self, state: State, binding: Binding) -> float:
        """Returns the result."""
        numbers = [operand.value(state, binding) for operand in self.operands]
        result = -numbers[0] if self.sign == "-" and len(numbers) == 1 else numbers[0]
        for number in numbers[1:]:
            if self.sign == "/" and number == 0:
                raise UndefinedValue(f"{self.text(binding)} divides by 0")
            result = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[self.sign](
                result, number
            )
        if not isfinite(result):
            raise UndefinedValue(f"{self.text(binding)} is no finite number")
        return result

    def text(self, binding: Binding) -> str:
        """Returns the operation as PDDL."""
        return f"({self.sign} {' '.join(operand.text(binding) for operand in self.operands)})"


class Formula(Protocol):
    """The interface of a condition."""

    def holds(self, state: State, binding: Binding) -> bool:
        """Returns whether it is true; raises UndefinedValue."""

    def why(self, state: State, binding: Binding) -> str:
        """Returns the part of it that is false, with values."""


@dataclass(frozen=True)
class Fact:
    """A predicate of objects."""

    name: str
    arguments: tuple[str, ...]

    def holds(self, state: State, binding: Binding) -> bool:
        """Returns whether it is among the facts."""
        key = ground(self.name, self.arguments, binding)
        state.read.add(key)
        return key in state.facts

    def why(self, _state: State, binding: Binding) -> str:
        """Returns that it is false."""
        return f"{as_pddl(ground(self.name, self.arguments, binding))} is false"


@dataclass(frozen=True)
class SameObject:
    """The condition that two names mean one object."""

    left: str
    right: str

    def holds(self, _state: State, binding: Binding) -> bool:
        """Returns whether they are."""
        return binding.get(self.left, self.left) == binding.get(self.right, self.right)

    def why(self, _state: State, binding: Binding) -> str:
        """Returns that they are two objects."""
        return f"{binding.get(self.left, self.left)} is not {binding.get(self.right, self.right)}"


@dataclass(frozen=True)
class Comparison:
    """A comparison of two numbers."""

    sign: str
    left: Number
    right: Number

    def holds(self, state: State, binding: Binding) -> bool:
        """Returns whether they stand in that relation."""
        left, right = self.left.value(state, binding), self.right.value(state, binding)
        if abs(left - right) <= NEAR * max(1.0, abs(left), abs(right)):
            return self.sign in ("=", "<=", ">=")
        return SIGNS[self.sign](left, right)

    def why(self, state: State, binding: Binding) -> str:
        """Returns the comparison and its values."""
        words = f"({self.sign} {self.left.text(binding)} {self.right.text(binding)}) is false: "
        numbers = (self.left.value(state, binding), self.right.value(state, binding))
        return words + f" {self.sign} ".join(f"{number:.9g}" for number in numbers)


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    of: Formula

    def holds(self, state: State, binding: Binding) -> bool:
        """Returns whether it is false."""
        return not self.of.holds(state, binding)

    def why(self, state: State, binding: Binding) -> str:
        """Returns that the negated condition is true."""
        return self.of.why(state, binding).partition(" is ")[0] + " is true"


@dataclass(frozen=True)
class Junction:
    """A conjunction or a disjunction."""

    every: bool
    parts: tuple[Formula, ...]

    def holds(self, state: State, binding: Binding) -> bool:
        """Returns whether all, or any, are true."""
        return (all if self.every else any)(part.holds(state, binding) for part in self.parts)

    def why(self, state: State, binding: Binding) -> str:
        """Returns the first that is false, or all of them."""
        false = [part.why(state, binding) for part in self.parts if not part.holds(state, binding)]
        return false[0] if self.every and false else " and ".join(false) or "none of nothing is true"


@dataclass(frozen=True)
class Quantified:
    """A universally or existentially quantified condition."""

    every: bool
    variables: tuple[str, ...]
    objects: tuple[tuple[str, ...], ...]
    body: Formula

    def bindings(self, binding: Binding) -> Iterator[Binding]:
        """Yields one for each choice of objects."""
        for chosen in product(*self.objects):
            yield {**binding, **dict(zip(self.variables, chosen, strict=True))}

    def holds(self, state: State, binding: Binding) -> bool:
        """Returns whether it is true of all, or of any."""
        return (all if self.every else any)(self.body.holds(state, chosen) for chosen in self.bindings(binding))

    def why(self, state: State, binding: Binding) -> str:
        """Returns the first of which it is false."""
        for chosen in self.bindings(binding):
            if self.every and not self.body.holds(state, chosen):
                return self.body.why(state, chosen)
        return f"nothing is as (exists ({' '.join(self.variables)}) ...) wants it"
