"""All mistakes of a configuration at once, instead of one each time somebody tries again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cellwright.core.errors import BadInput, ConfigErrors

__all__ = ["Mistakes"]


class Mistakes:
    """Collects mistakes instead of stopping at the first: `with mistakes.of_one(): check(...)`, then `tell()`."""

    def __init__(self) -> None:
        self._found: list[BadInput] = []

    @contextmanager
    def of_one(self) -> Iterator[None]:
        """Goes on after a mistake in this one."""
        try:
            yield
        except BadInput as error:
            self._found.append(error)

    def tell(self) -> None:
        """Raises what was found: the one mistake, or all of them together."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise ConfigErrors(self._found)
