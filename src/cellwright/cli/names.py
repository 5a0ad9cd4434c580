"""Lists of names as one argument: `fanuc,motoman`."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.core.errors import BadInput, UnknownName

__all__ = ["split_names"]


def split_names(text: str, known: Iterable[str], kind: str, where: str) -> list[str]:
    """Returns the names, each of them known and given once, in the order in which they were given."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    allowed = list(known)
    if not names:
        raise BadInput(f"no {kind} is named (available: {', '.join(allowed)})")
    for name in names:
        if name not in allowed:
            raise UnknownName(kind, name, allowed, where)
        if names.count(name) > 1:
            raise BadInput(f"the {kind} '{name}' is named twice")
    return names
