"""Registries of named classes and functions: those of this package, and those that others add by entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from cellwright.core.errors import BadInput, UnknownName

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named entries of one kind.

    Entries of other packages are imported when they are asked for, so that a broken package affects only its users.

    Args:
        kind: The kind of entry, for messages, such as `sensor`.
        group: The entry-point group through which other packages add theirs, such as `cellwright.sensors`.
        of_plugins: Whether plugins of a cell add entries: a name that is missing may be that of one that none names.
        check: Returns what is wrong with an entry, for it to be refused; nothing when it can serve.
    """

    def __init__(
        self, kind: str, group: str, *, of_plugins: bool = False, check: Callable[[object], str] = lambda _: ""
    ) -> None:
        self.kind = kind
        self.group = group
        self._of_plugins = of_plugins
        self._check = check
        self._entries: dict[str, T] = {}
        self._points: dict[str, list[EntryPoint]] | None = None

    def register(self, name: str) -> Callable[[T], T]:
        """Returns a decorator that registers a class or function under a name."""

        def decorate(thing: T) -> T:
            self.add(name, thing)
            return thing

        return decorate

    def add(self, name: str, thing: T) -> None:
        """Registers an entry under a name that must be free; a class that is defined anew replaces its former self."""
        if wrong := self._check(thing):
            raise BadInput(f"{self.kind} '{name}' {wrong}")
        if name in self._entries and not _same(self._entries[name], thing):
            raise BadInput(f"{self.kind} '{name}' is registered twice")
        self._entries[name] = thing

    def get(self, name: str, where: str = "") -> T:
        """Returns the entry of that name; the error lists what exists and suggests the nearest."""
        for point in self._found().get(name, []):
            self._load(point)
        self._found().pop(name, None)
        if name not in self._entries:
            raise self.unknown(name, where)
        return self._entries[name]

    def unknown(self, name: str, where: str = "", besides: Iterable[str] = ()) -> UnknownName:
        """Returns the error of a name that is not there: it lists what is, and what is allowed besides."""
        more = f"a {self.kind} of your own comes by the cell's `plugins`" if self._of_plugins else ""
        return UnknownName(self.kind, name, {*self.names(), *besides}, where, more)

    def names(self) -> list[str]:
        """Returns all names, sorted."""
        return sorted({*self._entries, *self._found()})

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self._found()

    def _found(self) -> dict[str, list[EntryPoint]]:
        """Returns the entry points of other packages that are not loaded yet."""
        if self._points is None:
            self._points = {}
            for point in _entry_points(tuple(sys.path)).select(group=self.group):
                self._points.setdefault(point.name, []).append(point)
        return self._points

    def _load(self, point: EntryPoint) -> None:
        package = point.dist.name if point.dist else point.value
        try:
            thing = point.load()
        except Exception as error:
            raise BadInput(
                f"{self.kind} '{point.name}' of package '{package}' cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        twice = ", the second time" * (point.name in self._entries)
        try:
            self.add(point.name, thing)
        except BadInput as error:
            raise BadInput(f"{error}{twice} by package '{package}'") from None


@cache
def _entry_points(_path: tuple[str, ...]) -> Any:
    """Returns the entry points of all packages, read once: each reading opens a file of every package."""
    return entry_points()


def _same(old: object, new: object) -> bool:
    """Returns whether two entries are one, or one class or function whose file or notebook cell ran once more."""
    written = [(getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)) for thing in (old, new)]
    return old is new or (None not in written[0] and written[0] == written[1])
