"""In which line of a YAML file a key stands, so that a mistake can be found where it was written."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

__all__ = ["line_of", "line_of_mistake"]

_UNKNOWN_KEY = re.compile(r"unknown key '(.*?)'")


def line_of(path: Path, key: str) -> int | None:
    """The line of a key such as `orders.0.quantity`; of what it should stand in when it is missing.

    None when the file cannot be read as YAML, or is empty.
    """
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    line = node.start_mark.line + 1 if node is not None else None
    for step in filter(None, key.split(".")):
        if isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
            found = (node.value[int(step)],) * 2
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def line_of_mistake(path: Path, key: str, problem: str) -> int | None:
    """As `line_of`, but a key that nobody knows is looked for itself, not what it stands in."""
    unknown = _UNKNOWN_KEY.match(problem)
    return line_of(path, ".".join(filter(None, (key, unknown[1])))) if unknown else line_of(path, key)
