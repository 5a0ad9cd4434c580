"""Notes of an importer: what it changed, guessed or left out, one note per fact, in the order in which it was met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cellwright.core.errors import BadInput

__all__ = ["DescriptionError", "Note", "Notes", "listed"]

Kind = Literal["changed", "guessed", "dropped"]
MOST_NAMED = 6


def listed(names: Sequence[str]) -> str:
    """Returns names in a row; only the first ones of many, and their number."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"


class DescriptionError(BadInput):
    """A description that cannot be used; names the file and the line."""

    def __init__(self, file: Path | str, problem: str, line: int | None = None) -> None:
        super().__init__(f"{file}:{line}: {problem}" if line else f"{file}: {problem}")


@dataclass(frozen=True)
class Note:
    """One fact.

    Attributes:
        kind: `changed` (the file says something else), `guessed` (it says nothing) or `dropped` (it says more).
        where: The file and line, or the link or joint.
        what: The change, and its reason.
    """

    kind: Kind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}"


class Notes(list[Note]):
    """A list of notes that grows; the same fact is noted once."""

    def add(self, kind: Kind, where: str, what: str) -> None:
        """Notes a fact."""
        note = Note(kind, where, what)
        if note not in self:
            self.append(note)

    def changed(self, where: str, what: str) -> None:
        """Notes that something in the file was not taken as it is."""
        self.add("changed", where, what)

    def guessed(self, where: str, what: str) -> None:
        """Notes that the file says nothing, and something was needed."""
        self.add("guessed", where, what)

    def dropped(self, where: str, what: str) -> None:
        """Notes that something in the file is not used."""
        self.add("dropped", where, what)
