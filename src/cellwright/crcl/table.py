"""The type table: what writer, reader and checker know of each type, taken from the dataclasses."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from cellwright.crcl import messages
from cellwright.crcl.messages import CRCLCommandInstance, CRCLProgram, CRCLStatus, DataThing
from cellwright.crcl.messages.base import is_abstract
from cellwright.crcl.messages.enums import ENUM_BASES
from cellwright.crcl.types import (
    BOOLEAN,
    DOUBLE,
    FRACTION,
    INT,
    LONG,
    NMTOKEN,
    POSITIVE_DECIMAL,
    STRING,
    TOKEN,
    AtLeast,
    Primitive,
    enumeration,
)

__all__ = ["DOCUMENTS", "PLANS", "SIMPLE_TYPES", "FieldPlan", "TypePlan", "element_name"]

_CAPITALS = {"id": "ID", "crcl": "CRCL"}
_ENUMS = {members: enumeration(members, base) for members, base in ENUM_BASES.items()}

Step: TypeAlias = "tuple[int, str, bool, Callable[[str], Any] | None, Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlan:
    """One element of a type.

    Attributes:
        attribute: The dataclass field.
        element: The XML element.
        index: Its place in the sequence.
        primitive: Its simple type, or None.
        plan: Its type where that has elements of its own, or None.
        least: How often it must occur.
        repeated: Whether it may occur any number of times; otherwise once.
        begin: Its start tag.
        end: Its end tag.
    """

    attribute: str
    element: str
    index: int
    primitive: Primitive | None
    plan: TypePlan | None
    least: int
    repeated: bool
    begin: str
    end: str


@dataclass(eq=False, slots=True, kw_only=True)
class TypePlan:
    """One type: its class, its elements in order, and the types that may stand in its place.

    Attributes:
        cls: The dataclass.
        name: The type's name in the schema.
        abstract: Whether only derived types may occur.
        fields: The elements in their order.
        steps: The same by element, as the reader wants them: index, attribute, repeated, reading function, type.
        repeated: The elements that may occur more than once.
        values_of: All fields of an instance at once.
        substitutes: Types that may occur where this one is declared, by schema name; itself unless abstract.
    """

    cls: type[DataThing]
    name: str
    abstract: bool
    fields: tuple[FieldPlan, ...]
    steps: dict[str, Step]
    repeated: tuple[FieldPlan, ...]
    values_of: Callable[[DataThing], tuple[Any, ...]]
    substitutes: dict[str, TypePlan]


def element_name(attribute: str) -> str:
    """Returns the XML name of a field: `command_id` is CommandID."""
    return "".join(_CAPITALS.get(word, word[:1].upper() + word[1:]) for word in attribute.split("_"))


def _field_plan(attribute: str, element: str, index: int, hint: Any) -> FieldPlan:
    least, repeated = 1, False
    if get_origin(hint) in (Union, types.UnionType):  # only `... | None` occurs
        hint, least = next(kind for kind in get_args(hint) if kind is not type(None)), 0
    primitive: Primitive | None = None
    at_least: AtLeast | None = None
    if get_origin(hint) is Annotated:
        hint, note = get_args(hint)
        if isinstance(note, AtLeast):
            at_least = note
        else:
            primitive = note
    if get_origin(hint) is tuple:
        hint, repeated, least = get_args(hint)[0], True, at_least.count if at_least else 0
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        primitive = _ENUMS[hint]
    plan = PLANS[hint] if primitive is None else None
    return FieldPlan(
        attribute=attribute,
        element=element,
        index=index,
        primitive=primitive,
        plan=plan,
        least=least,
        repeated=repeated,
        begin=f"<{element}>",
        end=f"</{element}>",
    )


def _fill(plan: TypePlan) -> None:
    hints = get_type_hints(plan.cls, include_extras=True)
    plan.fields = tuple(
        _field_plan(f.name, f.metadata.get("element") or element_name(f.name), index, hints[f.name])
        for index, f in enumerate(fields(plan.cls))
    )
    plan.steps = {
        f.element: (f.index, f.attribute, f.repeated, f.primitive.read if f.primitive else None, f.plan)
        for f in plan.fields
    }
    plan.repeated = tuple(f for f in plan.fields if f.repeated)
    plan.values_of = attrgetter(*(f.attribute for f in plan.fields))
    plan.substitutes = {p.name: p for p in PLANS.values() if issubclass(p.cls, plan.cls) and not p.abstract}


def _classes() -> list[type[DataThing]]:
    everything = (getattr(messages, name) for name in messages.__all__)
    return [thing for thing in everything if isinstance(thing, type) and issubclass(thing, DataThing)]


PLANS: dict[type[DataThing], TypePlan] = {
    cls: TypePlan(
        cls=cls,
        name=f"{cls.__name__}Type",
        abstract=is_abstract(cls),
        fields=(),
        steps={},
        repeated=(),
        values_of=lambda _: (),
        substitutes={},
    )
    for cls in _classes()
}
"""All types by class."""

for _plan in PLANS.values():
    _fill(_plan)

DOCUMENTS: dict[str, TypePlan] = {cls.__name__: PLANS[cls] for cls in (CRCLCommandInstance, CRCLStatus, CRCLProgram)}
"""The documents by their root element."""

SIMPLE_TYPES: dict[str, Primitive] = {
    primitive.name: primitive
    for primitive in (
        *(BOOLEAN, DOUBLE, FRACTION, INT, LONG, NMTOKEN, POSITIVE_DECIMAL, STRING, TOKEN),
        *_ENUMS.values(),
    )
}
"""All simple types by the name in the schema."""
