"""The symbols of a domain and a problem: types, objects, predicates, functions; and formulas and effects of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from cellwright.knowledge.pddl.effects import ConditionalEffect, Effect, FactEffect, NumericEffect, UniversalEffect
from cellwright.knowledge.pddl.expressions import Node
from cellwright.knowledge.pddl.formulas import (
    SIGNS,
    Comparison,
    Constant,
    Fact,
    Fluent,
    Formula,
    Junction,
    Not,
    Number,
    Operation,
    Quantified,
    SameObject,
)

__all__ = ["SymbolTable", "VariableScope", "number_of"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
UPDATES = ("assign", "increase", "decrease", "scale-up", "scale-down")
MOST_CHOICES = 100_000
"""The most choices of objects of a quantifier."""
Types = tuple[str, ...]


def number_of(node: Node) -> float | None:
    """Returns a word as a number; None when it is none."""
    return float(node.word) if NUMBER.fullmatch(node.word) else None


@dataclass(frozen=True)
class VariableScope:
    """The variables that are known at a place, and whether `?duration` is."""

    variables: dict[str, Types] = field(default_factory=dict)
    lasting: bool = False


class SymbolTable:
    """The declared symbols; grows with the sections of the files, in their order."""

    def __init__(self) -> None:
        self.parents: dict[str, Types] = {"object": ()}
        self.objects: dict[str, Types] = {}
        self.predicates: dict[str, tuple[Types, ...]] = {}
        self.functions: dict[str, tuple[Types, ...]] = {}

    # ------------------------------------------------------------ declarations

    def typed(self, nodes: Sequence[Node], *, variables: bool = False) -> Iterator[tuple[Node, Types]]:
        """Yields each name of a list such as `a b - kind c` with its types, `object` where none is given."""
        waiting: list[Node] = []
        position = 0
        while position < len(nodes):
            node = nodes[position]
            if node.word == "-":
                if position + 1 == len(nodes) or not waiting:
                    raise node.error("'-' needs names before it and one type behind it")
                types = self._types(nodes[position + 1])
                yield from ((name, types) for name in waiting)
                waiting, position = [], position + 2
                continue
            if node.is_list or node.word.startswith("?") is not variables:
                raise node.error(f"'{node}' is no {'variable' if variables else 'name'}")
            waiting.append(node)
            position += 1
        yield from ((name, ("object",)) for name in waiting)

    def _types(self, node: Node) -> Types:
        if node.is_list and node.head != "either":
            raise node.error(f"'{node}' is no type")
        words = [item.word for item in node.items[1:]] if node.is_list else [node.word]
        for word in words:
            if word not in self.parents:
                raise node.error(f"unknown type '{word}'; known: {_some(self.parents)}")
        return tuple(words)

    def add_types(self, nodes: Sequence[Node]) -> None:
        """Adds types and their supertypes, which may come later in the list."""
        for node in nodes:
            if not node.is_list and node.word != "-":
                self.parents.setdefault(node.word, ("object",))
        for node, above in self.typed(nodes):
            if node.word != "object":
                self.parents[node.word] = above

    def add_objects(self, nodes: Sequence[Node]) -> None:
        """Adds objects of the problem, or constants of the domain."""
        for node, types in self.typed(nodes):
            if self.objects.setdefault(node.word, types) != types:
                raise node.error(f"a second object '{node}', of another type")

    def add_symbols(self, nodes: Sequence[Node], into: dict[str, tuple[Types, ...]]) -> None:
        """Adds predicates or functions with the types of their parameters."""
        position = 0
        while position < len(nodes):
            node = nodes[position]
            if node.word == "-":  # `- number` behind functions
                position += 2
                continue
            if not node.head:
                raise node.error(f"'{node}' declares nothing; allowed is (name ?variable - type ...)")
            if node.head in into:
                raise node.error(f"a second '{node.head}'")
            into[node.head] = tuple(types for _, types in self.typed(node.items[1:], variables=True))
            position += 1

    def is_a(self, kinds: Types, wanted: Types) -> bool:
        """Returns whether an object of these types may stand where those are wanted."""
        seen, left = set[str](), list(kinds)
        while left:
            kind = left.pop()
            if kind in wanted:
                return True
            if kind not in seen:
                seen.add(kind)
                left.extend(self.parents.get(kind, ()))
        return False

    # ------------------------------------------------------------ formulas and effects

    def formula(self, node: Node, scope: VariableScope) -> Formula:
        """Returns a condition."""
        head, rest = node.head, node.items[1:]
        if head in ("and", "or"):
            return Junction(head == "and", tuple(self.formula(part, scope) for part in rest))
        if head == "not" and len(rest) == 1:
            return Not(self.formula(rest[0], scope))
        if head == "imply" and len(rest) == 2:
            before, after = (self.formula(part, scope) for part in rest)
            return Junction(False, (Not(before), after))
        if head in ("forall", "exists") and len(rest) == 2:
            made = self._quantified(node, scope)
            inner = VariableScope({**scope.variables, **dict.fromkeys(made.variables, ("object",))}, scope.lasting)
            inner.variables.update(self._declared(rest[0]))
            return Quantified(head == "forall", made.variables, made.objects, self.formula(rest[1], inner))
        if head in SIGNS and len(rest) == 2:
            if head == "=" and not rest[0].is_list and not rest[1].is_list and self._are_objects(rest, scope):
                return SameObject(self._object(rest[0], scope), self._object(rest[1], scope))
            return Comparison(head, self.number(rest[0], scope), self.number(rest[1], scope))
        return self.fact(node, scope)

    def fact(self, node: Node, scope: VariableScope) -> Fact:
        """Returns a predicate with objects that fit it."""
        return Fact(node.head, self._arguments(node, self.predicates, "predicate", scope))

    def number(self, node: Node, scope: VariableScope) -> Number:
        """Returns an expression."""
        if not node.is_list:
            number = number_of(node)
            if number is not None:
                return Constant(number)
            if node.word == "?duration" and scope.lasting:
                return Fluent("?duration")
            if node.word in self.functions and not self.functions[node.word]:
                return Fluent(node.word)
            raise node.error(f"'{node}' is no number")
        if node.head in ("+", "-", "*", "/") and len(node.items) > (1 if node.head == "-" else 2):
            return Operation(node.head, tuple(self.number(part, scope) for part in node.items[1:]))
        return Fluent(node.head, self._arguments(node, self.functions, "function", scope))

    def effects(self, node: Node, scope: VariableScope) -> Iterator[Effect]:
        """Yields the parts of an effect."""
        head, rest = node.head, node.items[1:]
        if head == "and":
            for part in rest:
                yield from self.effects(part, scope)
        elif head in UPDATES and len(rest) == 2:
            target = self.number(rest[0], scope)
            if not isinstance(target, Fluent) or target.name.startswith("?"):
                raise node.error(f"'{rest[0]}' cannot change")
            yield NumericEffect(head, target, self.number(rest[1], scope))
        elif head == "not" and len(rest) == 1:
            yield FactEffect(False, self.fact(rest[0], scope))
        elif head == "when" and len(rest) == 2:
            yield ConditionalEffect(self.formula(rest[0], scope), tuple(self.effects(rest[1], scope)))
        elif head == "forall" and len(rest) == 2:
            over = self._quantified(node, scope)
            inner = VariableScope({**scope.variables, **self._declared(rest[0])}, scope.lasting)
            yield UniversalEffect(over, tuple(self.effects(rest[1], inner)))
        elif node.items or node.word:
            yield FactEffect(True, self.fact(node, scope))

    def _declared(self, node: Node) -> dict[str, Types]:
        if not node.is_list:
            raise node.error("needs ( ?variable - type ... )")
        return {variable.word: types for variable, types in self.typed(node.items, variables=True)}

    def _quantified(self, node: Node, _scope: VariableScope) -> Quantified:
        declared = self._declared(node.items[1])
        objects = tuple(
            tuple(name for name, kinds in self.objects.items() if self.is_a(kinds, types))
            for types in declared.values()
        )
        if prod(len(choice) for choice in objects) > MOST_CHOICES:
            raise node.error(f"speaks of more than {MOST_CHOICES} choices of objects")
        return Quantified(True, tuple(declared), objects, Junction(True, ()))

    def _are_objects(self, nodes: Iterable[Node], scope: VariableScope) -> bool:
        return all(node.word in scope.variables or node.word in self.objects for node in nodes)

    def _object(self, node: Node, scope: VariableScope) -> str:
        if node.word not in scope.variables and node.word not in self.objects:
            what, known = ("variable", scope.variables) if node.word.startswith("?") else ("object", self.objects)
            raise node.error(f"unknown {what} '{node}'; known: {_some(known)}")
        return node.word

    def _arguments(
        self, node: Node, known: dict[str, tuple[Types, ...]], what: str, scope: VariableScope
    ) -> tuple[str, ...]:
        if node.head not in known:
            raise node.error(f"unknown {what} '{node.head or node}'; known: {_some(known)}")
        wanted = known[node.head]
        if len(node.items) - 1 != len(wanted):
            raise node.error(f"{node} has {len(node.items) - 1} arguments; {node.head} takes {len(wanted)}")
        for item, types in zip(node.items[1:], wanted, strict=True):
            name = self._object(item, scope)
            kinds = scope.variables.get(name) or self.objects[name]
            if not any(self.is_a((kind,), types) or self.is_a(types, (kind,)) for kind in kinds):
                raise node.error(f"{name} in {node} is of type {' or '.join(kinds)}, not {' or '.join(types)}")
        return tuple(item.word for item in node.items[1:])


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "") or "none"
