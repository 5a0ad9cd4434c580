"""Names that a format accepts: each once in its scope, without the characters that it reserves."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cellwright.models.importing.notes import Notes

__all__ = ["NameScope", "file_name"]

_UNPRINTABLE = re.compile(r"[^\w\-./:+()\[\]{}@#$%&*=~,;!?|^' ]")
_UNSAFE_IN_FILES = re.compile(r"[^\w\-.]+")


class NameScope:
    """The names of one namespace of a file that is written.

    Args:
        notes: Gets a note for every changed name.
        reserved: Names that the format keeps for itself.
        separator: Text that the format forbids inside a name, if any.
    """

    def __init__(self, notes: Notes, reserved: Iterable[str] = (), separator: str = "") -> None:
        self._notes = notes
        self._separator = separator
        self._taken = set(reserved)
        self._given: dict[tuple[str, str], str] = {}

    def take(self, kind: str, name: str) -> str:
        """Returns the name under which an element is written; a name that is taken gets the kind as its ending."""
        clean = "_".join(_UNPRINTABLE.sub("_", name).split()) or kind
        if self._separator:
            clean = clean.replace(self._separator, "_")
            if clean.startswith("__") and clean.endswith("__"):
                clean = clean.strip("_") or kind
        choice, n = clean, 1
        while choice in self._taken:
            n += 1
            choice = f"{clean}_{kind}" if n == 2 else f"{clean}_{kind}_{n - 1}"
        if choice != name:
            why = "the format's names are unique and plain" if clean != name else "the name is taken"
            self._notes.changed(f"{kind} {name}", f"written as '{choice}': {why}")
        self._taken.add(choice)
        self._given[kind, name] = choice
        return choice

    def written(self, kind: str, name: str) -> str:
        """Returns the name that `take` returned before."""
        return self._given[kind, name]


def file_name(name: str) -> str:
    """Returns a name that every file system takes."""
    return _UNSAFE_IN_FILES.sub("_", name).strip("._") or "mesh"
