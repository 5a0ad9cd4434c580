"""All mistakes of a configuration at once, instead of one each time somebody tries again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from cellwright.core.errors import BadInput, ConfigErrors

__all__ = ["ErrorCollector"]

_UNKNOWN = re.compile(r"unknown [^']*'(.*?)'")
_LINE = re.compile(r"(.*?), line (\d+): ")


class ErrorCollector:
    """Collects mistakes instead of stopping at the first: `with mistakes.of_one(): check(...)`, then `tell()`.

    Args:
        left_out: Names that exist and are not looked at, because something else about them is wrong: that such a name
            is unknown is no mistake.

    Attributes:
        found: What is wrong, one each.
        paths: The keys in the file that are wrong, or that only seem to be because of such a name.
    """

    def __init__(self, left_out: Collection[str] = ()) -> None:
        self.found: list[BadInput] = []
        self.paths: list[str] = []
        self._left_out = left_out

    @contextmanager
    def of_one(self) -> Iterator[None]:
        """Goes on after a mistake in this one."""
        try:
            yield
        except BadInput as error:
            self.add(error)

    def add(self, error: BadInput) -> None:
        """Adds a mistake, or all of several."""
        for one in getattr(error, "errors", (error,)):
            self.paths.append(getattr(one, "path", ""))
            unknown = _UNKNOWN.search(str(one))
            if unknown is None or unknown[1] not in self._left_out:
                self.found.append(one)

    def tell(self) -> None:
        """Raises what was found, by lines of the file: the one mistake, or all of them together."""
        if len(self.found) == 1:
            raise self.found[0]
        if self.found:
            raise ConfigErrors(self.in_order())

    def in_order(self) -> list[BadInput]:
        """Returns what was found, as it stands in the file."""
        return sorted(self.found, key=_line)


def _line(error: BadInput) -> tuple[str, int]:
    found = _LINE.match(str(error))
    return (found[1], int(found[2])) if found else ("", 0)
