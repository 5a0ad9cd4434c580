"""A collector of configuration errors, so that a user sees all of them at once and not one for each attempt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from cellwright.core.errors import BadInput, ConfigErrors

__all__ = ["ErrorCollector"]

_UNKNOWN = re.compile(r"unknown [^']*'(.*?)'")
_LINE = re.compile(r"(.*?), line (\d+): ")


class ErrorCollector:
    """Collects errors instead of stopping at the first: `with errors.collecting(): check(...)`, then `raise_errors()`.

    Args:
        left_out: Names that exist and are not looked at, because something else about them is wrong: that such a name
            is unknown is no error.

    Attributes:
        found: The errors, one each.
        paths: The keys in the file that are wrong, or that only seem to be because of such a name.
    """

    def __init__(self, left_out: Collection[str] = ()) -> None:
        self.found: list[BadInput] = []
        self.paths: list[str] = []
        self._left_out = left_out

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Adds an error that is raised inside, and goes on after it."""
        try:
            yield
        except BadInput as error:
            self.add(error)

    def add(self, error: BadInput) -> None:
        """Adds an error, or all of several."""
        for one in getattr(error, "errors", (error,)):
            self.paths.append(getattr(one, "path", ""))
            unknown = _UNKNOWN.search(str(one))
            if unknown is None or unknown[1] not in self._left_out:
                self.found.append(one)

    def raise_errors(self) -> None:
        """Raises what was found, by lines of the file: the one error, or all of them together; nothing without any."""
        if len(self.found) == 1:
            raise self.found[0]
        if self.found:
            raise ConfigErrors(self.sorted_errors())

    def sorted_errors(self) -> list[BadInput]:
        """Returns what was found, in the order of the file."""
        return sorted(self.found, key=_line)


def _line(error: BadInput) -> tuple[str, int]:
    found = _LINE.match(str(error))
    return (found[1], int(found[2])) if found else ("", 0)
