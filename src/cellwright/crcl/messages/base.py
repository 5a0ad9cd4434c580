"""The root of all CRCL types, and the mark of types that are only the root of others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TypeVar

from cellwright.crcl.types import String

__all__ = ["DataThing", "abstract", "is_abstract"]

_Class = TypeVar("_Class", bound=type)
_ABSTRACT: set[type] = set()


def abstract(cls: _Class) -> _Class:
    """Marks a type of which no message holds an instance, only instances of the types derived from it."""
    _ABSTRACT.add(cls)
    return cls


def is_abstract(cls: type) -> bool:
    """Returns whether a type was marked as abstract."""
    return cls in _ABSTRACT


@abstract
@dataclass(frozen=True, slots=True)
class DataThing:
    """Root of all types: everything may carry a name."""

    _: KW_ONLY
    name: String | None = None
