"""The disk space of a default installation: the package and everything it needs, without extras."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import cellwright
from cellwright.bench.result import MeasurementFailed

__all__ = ["install_size_mb", "needed_distributions"]

PACKAGE = "cellwright"


def install_size_mb() -> float:
    """Returns megabytes of all files of the package and its dependencies, compiled Python files included."""
    own = sum(_size(path) for path in Path(cellwright.__file__).parent.rglob("*"))
    needed = [found for name, found in needed_distributions().items() if name != PACKAGE]
    return (own + sum(_distribution_size(found) for found in needed)) / 1e6


def needed_distributions() -> dict[str, Distribution]:
    """Returns distributions that the package needs, directly or not, by their normal names.

    A condition on the system or the Python version is taken as met when its distribution is installed.
    """
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = list(_own_requirements())
    while queue:
        requirement = queue.pop()
        name, extras = _parse(requirement)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            if ";" in requirement:
                continue
            raise MeasurementFailed("the size of the installation", f"'{name}' is not installed") from None
        queue += [r for r in found[name].requires or () if _wanted(r, extras)]
    return found


def _own_requirements() -> Iterator[str]:
    """Yields requirements from the checkout's own file if there is one, because installed metadata may be older."""
    project = Path(cellwright.__file__).parents[2] / "pyproject.toml"
    if project.is_file():
        table = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
        if table.get("name") == PACKAGE:
            yield from table["dependencies"]
            return
    try:
        yield from (r for r in distribution(PACKAGE).requires or () if _wanted(r, frozenset()))
    except PackageNotFoundError:
        raise MeasurementFailed("the size of the installation", f"'{PACKAGE}' is not installed") from None


def _parse(requirement: str) -> tuple[str, frozenset[str]]:
    match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?", requirement)
    assert match is not None
    name, extras = match.groups()
    wanted = frozenset(extra.strip() for extra in (extras or "").split(",") if extra.strip())
    return re.sub(r"[-_.]+", "-", name).lower(), wanted


def _wanted(requirement: str, extras: frozenset[str]) -> bool:
    """Returns whether a requirement belongs to the distribution itself or to one of the extras."""
    named = re.findall(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
    return not named or any(extra in extras for extra in named)


def _distribution_size(found: Distribution) -> int:
    return sum(_size(Path(str(found.locate_file(file)))) for file in found.files or ())


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
