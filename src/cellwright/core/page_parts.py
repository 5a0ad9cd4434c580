"""Parts of pages: tables, pictures, lists; text that comes in is plain and is escaped here."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

__all__ = [
    "Html",
    "Tone",
    "badge",
    "bullets",
    "code",
    "drawing",
    "folded",
    "image",
    "paragraphs",
    "table",
    "with_code",
    "yes_no",
]

Tone = Literal["good", "bad", "warn", ""]
SIGNS: Mapping[Tone, str] = {"good": "✓ ", "bad": "✗ ", "warn": "! ", "": ""}  # read without colours


@dataclass(frozen=True)
class Html:
    """A cell's content that is HTML already.

    Attributes:
        text: The HTML.
        kind: Classes of its cell.
    """

    text: str
    kind: str = ""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()) -> str:
    """Returns a table that scrolls inside itself and can be copied; the first column heads its rows.

    Args:
        columns: The headings; one that ends in a unit in brackets holds numbers.
        rows: Cells: text, `Html`, or numbers, which are given as text in the form they are read in.
        numbers: Further columns that hold numbers.
    """
    is_number = [name.endswith("]") or name in numbers for name in columns]
    head = "".join(
        f'<th scope="col"{_class("number" if right else "")}>{escape(name)}</th>'
        for name, right in zip(columns, is_number, strict=True)
    )
    body = "\n".join(_row(row, is_number) for row in rows)
    return f'<div class="table"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _row(row: Sequence[object], is_number: Sequence[bool]) -> str:
    cells = []
    for index, (value, right) in enumerate(zip(row, is_number, strict=True)):
        own = value if isinstance(value, Html) else Html(escape(str(value)))
        kinds = " ".join(filter(None, ("number" if right else "", own.kind)))
        tag, scope = ("th", ' scope="row"') if index == 0 else ("td", "")
        cells.append(f"<{tag}{scope}{_class(kinds)}>{own.text}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def yes_no(ok: bool) -> Html:
    """Returns yes or no, told apart by words, too."""
    return Html(f'<span class="{"yes" if ok else "no"}">{"yes" if ok else "no"}</span>')


def badge(text: str, tone: Tone) -> Html:
    """Returns a word as a badge."""
    return Html(f'<span class="badge {tone}">{SIGNS[tone]}{escape(text)}</span>')


def code(text: str) -> Html:
    """Returns text as code."""
    return Html(f"<code>{escape(text)}</code>")


def with_code(text: str) -> str:
    """Returns text whose parts between backticks are code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def paragraphs(lines: Iterable[str]) -> str:
    """Returns lines as paragraphs."""
    return "\n".join(f"<p>{with_code(line)}</p>" for line in lines)


def bullets(lines: Iterable[str], nothing: str = "") -> str:
    """Returns lines as a list; of none, the sentence that says so."""
    items = "".join(f"<li>{with_code(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else f"<p>{escape(nothing)}</p>" if nothing else ""


def folded(summary: str, html: str, *, is_open: bool = False) -> str:
    """Returns what is seen once its summary is chosen; on paper it is seen always."""
    return f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>\n{html}\n</details>"


def beside(html: str, other: str) -> str:
    """Returns two things, beside each other where the page is wide."""
    return f'<div class="beside">\n<div>{html}</div>\n<div>{other}</div>\n</div>' if other else html


def image(data: bytes, caption: str, mime: str = "image/png") -> str:
    """Returns a picture that is part of the page."""
    source = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    plain = escape(caption.replace("`", ""))
    return f'<figure><img alt="{plain}" src="{source}"><figcaption>{with_code(caption)}</figcaption></figure>'


def drawing(svg: str, name: str, caption: str) -> str:
    """Returns a plot in the page itself, so that its text can be found and read out.

    Args:
        svg: A whole SVG file.
        name: The plot's name, which makes its anchors differ from those of other plots.
        caption: The caption, and what is read in its place; backticks make code.
    """
    inner = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    inner = re.sub(r' xmlns(:\w+)?="[^"]*"', "", inner)
    inner = re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{name}-", inner)
    plain = escape(caption.replace("`", ""))
    inner = inner.replace("<svg", f'<svg role="img" aria-label="{plain}"', 1)
    return f"<figure>{inner.strip()}<figcaption>{with_code(caption)}</figcaption></figure>"
