"""The line of a key in a YAML file, so that errors name the place."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import yaml

__all__ = ["line_of", "with_line"]

_PLACE = re.compile(r"(?P<file>.+?\.ya?ml)(?:@(?P<variant>[\w-]+))?(?:: (?P<key>[^\s:]+))?")
MOST_BYTES = 4_000_000


def line_of(path: Path, key: str) -> int | None:
    """Returns the line of a key such as `orders.0.quantity`; of its parent when it is missing.

    None when the file cannot be read as YAML, or is empty.
    """
    found = _search(path, key)
    return found[0] if found else None


def with_line(where: str, key: str = "") -> str:
    """Returns a place in a file with its line: `cell.yaml: robots.arm` becomes `cell.yaml, line 7: robots.arm`.

    Where a variant of a cell is meant, as in `cell.yaml@launch`, the key is looked for among its differences first.

    Args:
        where: A file, with a key or without; anything else is given back unchanged.
        key: A key below it.
    """
    place = _PLACE.fullmatch(where)
    whole = ".".join(filter(None, (place["key"], key))) if place else ""
    if place is None or not whole:
        return where
    path = Path(place["file"])
    found = _search(path, whole)
    if place["variant"] is not None:
        name = place["variant"].replace("-", "_")
        own = _search(path, f"variants.{name}.{whole}")
        found = own if own and (not found or own[1] - 2 >= found[1]) else found
    if not found:
        return where
    at = f"{place['file']}{'@' + place['variant'] if place['variant'] else ''}, line {found[0]}"
    return f"{at}: {place['key']}" if place["key"] else at


@functools.lru_cache(maxsize=1)
def _composed(text: str) -> yaml.Node | None:
    """Returns the nodes of a text, cached for the next error in it."""
    made: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    return made


def _search(path: Path, key: str) -> tuple[int, int] | None:
    """Returns the line of the longest part of a key that exists, and the number of its steps."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        node = _composed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    if node is None:
        return None
    line, depth = node.start_mark.line + 1, 0
    for step in filter(None, key.split(".")):
        if isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
            found = (node.value[int(step)],) * 2
        else:
            found = None
        if found is None:
            break
        line, node, depth = found[0].start_mark.line + 1, found[1], depth + 1
    return line, depth
