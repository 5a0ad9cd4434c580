"""Rows of a run document: lists that grow, of which only what is new is taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["LISTS", "Row", "Rows", "rounded"]

Row = dict[str, Any]
LISTS = ("actions", "plans", "events", "messages", "belief", "detections", "paths", "series", "pictures",
         "colours", "score")  # fmt: skip


class Rows:
    """The rows that have come since they were taken last, list by list."""

    def __init__(self) -> None:
        self._new: dict[str, list[Row]] = {}

    def add(self, name: str, row: Row) -> None:
        """Adds a row to a list."""
        self._new.setdefault(name, []).append(row)

    def take(self) -> dict[str, list[Row]]:
        """Returns what is new; a row that was added twice is there once, as it is now."""
        taken = {name: list({id(row): row for row in self._new[name]}.values()) for name in LISTS if name in self._new}
        self._new = {}
        return taken


def rounded(values: Iterable[float], digits: int = 4) -> list[float | None]:
    """Returns numbers for JSON, with so many digits; null for those that it does not have."""
    return [round(float(value), digits) + 0.0 if np.isfinite(value) else None for value in values]
