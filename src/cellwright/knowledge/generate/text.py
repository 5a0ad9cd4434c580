"""Python text in the project's form, so that generated files pass the same checks as written ones."""

from __future__ import annotations

import textwrap

__all__ = ["call", "condition", "docstring", "quoted"]

WIDTH = 120


def quoted(text: str) -> str:
    """Returns a string literal with double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def call(start: str, arguments: list[str], indent: int = 4) -> str:
    """Returns `start(arguments)`, on one line where it fits, else one argument on each line."""
    margin = " " * indent
    one_line = f"{margin}{start}({', '.join(arguments)})"
    if len(one_line) <= WIDTH:
        return one_line
    inner = f"{margin}    " + ", ".join(arguments)
    if len(inner) <= WIDTH:
        return f"{margin}{start}(\n{inner}\n{margin})"
    listed = "".join(f"{margin}    {argument},\n" for argument in arguments)
    return f"{margin}{start}(\n{listed}{margin})"


def condition(keyword: str, expression: str) -> str:
    """Returns a late-bound argument of a property's call."""
    one_line = f"{keyword}=lambda: {expression}"
    return one_line if len(one_line) + 9 <= WIDTH else f"{keyword}=lambda: (\n            {expression}\n        )"


def docstring(text: str, indent: int = 4) -> str:
    """Returns a docstring whose lines keep within the width; the first sentence stands alone."""
    margin = " " * indent
    if len(text) + indent + 6 <= WIDTH:
        return f'{margin}"""{text}"""'
    first, _, rest = text.partition(". ")
    head = textwrap.wrap(first if not rest else f"{first}.", WIDTH - indent - 3)
    lines = [*head, "", *textwrap.wrap(rest, WIDTH - indent)] if rest else head
    body = "\n".join(f"{margin}{line}".rstrip() for line in lines[1:])
    return f'{margin}"""{lines[0]}\n{body}\n{margin}"""'
