"""Names in planning files, which ignore case and allow letters, digits, hyphens and underscores."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cellwright.core.errors import UnknownName

__all__ = ["Names"]

RESERVED = frozenset({"and", "or", "not", "object", "either", "forall", "exists", "when", "define", "number"})


class Names:
    """A mapping from original names to unique names in planning files, and back."""

    def __init__(self, originals: Iterable[str] = ()) -> None:
        self._written: dict[str, str] = {}
        self._original: dict[str, str] = {}
        for original in originals:
            self.write(original)

    def write(self, original: str) -> str:
        """Returns the name in planning files; the same for the same original."""
        known = self._written.get(original)
        if known is not None:
            return known
        word = re.sub(r"[^A-Za-z0-9_-]", "_", original)
        if not word or not word[0].isalpha() or word.lower() in RESERVED:
            word = f"x_{word}"
        name, number = word, 1
        while name.lower() in self._original:
            number += 1
            name = f"{word}_{number}"
        self._written[original] = name
        self._original[name.lower()] = original
        return name

    def read(self, written: str) -> str:
        """Returns the original of a name in a plan, in whatever case the planner printed it.

        Raises:
            UnknownName: Nothing has that name; lists those that exist.
        """
        try:
            return self._original[written.lower()]
        except KeyError:
            raise UnknownName("name", written, self._original, "plan") from None
