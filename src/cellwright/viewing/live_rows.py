"""All rows of a run so far, for a page that comes late; bounded, for cells that are served for days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.viewing.packet import pack

__all__ = ["RowsSoFar"]

MAX_ROWS = 20_000  # of each list, and values of each curve; the oldest go first
MAX_PICTURES = 200


class RowsSoFar:
    """The rows of a run document as they came, one after the other."""

    def __init__(self) -> None:
        self._about: dict[str, Any] = {}
        self._whole: dict[str, list[Any]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._actions: dict[str, Any] = {}
        self._series: dict[str, dict[str, Any]] = {}

    def add(self, rows: Mapping[str, Any]) -> None:
        """Adds rows that are new; actions with a known id, robots, score and what is said of the run replace others."""
        for key, value in rows.items():
            if key == "about":
                self._about |= value
            elif key in ("robots", "score"):
                self._whole[key] = value or self._whole.get(key, [])
            elif key == "actions":
                self._actions |= {row["id"]: row for row in value}
            elif key == "series":
                for one in value:
                    self._add_series(one)
            else:
                known = self._lists.setdefault(key, [])
                known += value
                if key == "colours" and len(known) > MAX_ROWS:  # what was painted before is so still
                    until = len(known) - MAX_ROWS
                    painted = {name: paint for row in known[: until + 1] for name, paint in row["colours"].items()}
                    known[until] = {**known[until], "colours": painted}
                del known[: -(MAX_PICTURES if key == "pictures" else MAX_ROWS)]
        while len(self._actions) > MAX_ROWS:
            del self._actions[next(iter(self._actions))]

    def packet(self) -> bytes:
        """Returns all of them as one packet."""
        curves = {"series": [*self._series.values()], "actions": [*self._actions.values()]}
        return pack("rows", {"about": self._about, **self._whole, **self._lists, **curves})

    def _add_series(self, new: dict[str, Any]) -> None:
        old = self._series.setdefault(new["name"], {**new, "times": [], "values": [[] for _ in new["values"]]})
        for values, more in zip([old["times"], *old["values"]], [new["times"], *new["values"]], strict=True):
            values += more
            del values[:-MAX_ROWS]
