"""Names that any PDDL reader takes: PDDL ignores case and allows few characters."""

from __future__ import annotations

import re

__all__ = ["Symbols"]

_RESERVED = frozenset({"and", "define", "either", "exists", "forall", "imply", "not", "number", "object", "or", "when"})


class Symbols:
    """One symbol for each thing, never the same for two."""

    def __init__(self) -> None:
        self._symbols: dict[tuple[str, str], str] = {}
        self._things: dict[str, tuple[str, str]] = {}

    def of(self, kind: str, name: str) -> str:
        """Returns the symbol of a thing, as near to its name as possible."""
        key = (kind, name)
        if key not in self._symbols:
            plain = re.sub(r"[^a-z0-9_-]", "_", name.lower())
            if not plain[:1].isalpha():
                plain = f"{kind}_{plain}"
            symbol, number = plain, 1
            while symbol in self._things or symbol in _RESERVED:
                number += 1
                symbol = f"{plain}__{number}"
            self._symbols[key], self._things[symbol] = symbol, key
        return self._symbols[key]

    def name(self, kind: str, symbol: str) -> str | None:
        """Returns the thing of that kind that a symbol stands for; None when there is none. Case does not matter."""
        found = self._things.get(symbol.lower())
        return found[1] if found and found[0] == kind else None
