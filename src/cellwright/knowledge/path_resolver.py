"""Follows the paths by which the ontology defines predicates in the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["PathResolver"]

Links = Mapping[str, list[str]]


class PathResolver:
    """Answers which objects a path leads to.

    Args:
        links: Property -> object -> objects.
        existing: The objects of the database, unlike those that are only ordered.
    """

    def __init__(self, links: Mapping[str, Links], existing: Iterable[str]) -> None:
        self._links = dict(links)
        self._existing = frozenset(existing)
        self._back: dict[str, dict[str, list[str]]] = {}

    def follow(self, start: str, path: str) -> list[str]:
        """Returns the objects to which the path leads from an object; each once."""
        ends = [start]
        for step in path.split("/"):
            ends = list(dict.fromkeys(end for at in ends for end in self._step(at, step)))
        return ends

    def _step(self, at: str, step: str) -> list[str]:
        if step == ".":
            return [at]
        if step == "exists":
            return [at] if at in self._existing else []
        if step.startswith("!"):
            return [] if self._step(at, step[1:]) else [at]
        if step.startswith("?"):
            return [at] if self._step(at, step[1:]) else []
        if step.startswith("^"):
            return self._backwards(step[1:]).get(at, [])
        return self._links.get(step, {}).get(at, [])

    def _backwards(self, name: str) -> dict[str, list[str]]:
        if name not in self._back:
            found: dict[str, list[str]] = {}
            for owner, targets in self._links.get(name, {}).items():
                for target in targets:
                    found.setdefault(target, []).append(owner)
            self._back[name] = found
        return self._back[name]
