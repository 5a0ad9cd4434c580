"""Small tables and plain lines with which objects show themselves in notebooks and at the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["MOST_ROWS", "html_note", "html_table"]

MOST_ROWS = 60  # what is longer is no table to look at
LINE = "border-bottom:1px solid rgba(128,128,128,.35);padding:.15em .9em .15em 0;vertical-align:top;color:inherit"


def html_note(text: str) -> str:
    """Returns a line of HTML with escaped text, in the notebook's own colours."""
    return f'<div style="margin:.4em 0">{escape(text)}</div>'


def html_table(head: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table of HTML for a notebook; it has no colours of its own, so it can be read in light and dark.

    Args:
        head: A line above it.
        columns: Headings; those that end in a unit in brackets, or in `[]`, are of numbers, aligned to the right.
        rows: Their cells; all text is escaped.
    """
    sides = ["right" if name.endswith("]") else "left" for name in columns]
    lines = [[str(value) for value in row] for row in rows]
    titles = "".join(_cell("th", name.removesuffix(" []"), side) for name, side in zip(columns, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', value, side) for value, side in zip(line, sides, strict=True))}</tr>"
        for line in lines[:MOST_ROWS]
    )
    more = html_note(f"... and {len(lines) - MOST_ROWS} more") if len(lines) > MOST_ROWS else ""
    table = f'<table style="border-collapse:collapse;font-size:90%"><tr>{titles}</tr>{body}</table>' if lines else ""
    return f"<div><strong>{escape(head)}</strong>{table}{more}</div>"


def _cell(tag: str, text: str, side: str) -> str:
    return f'<{tag} style="text-align:{side};{LINE}">{escape(text)}</{tag}>'
