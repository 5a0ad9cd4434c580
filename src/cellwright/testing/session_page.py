"""The page about the tests of a session: one file without scripts, with links to the evidence beside it."""

from __future__ import annotations

import base64
import contextlib
import io
import os
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from cellwright.core.errors import OutputError
from cellwright.core.files import write_whole
from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import Tone, badge
from cellwright.lab.versions import all_versions
from cellwright.testing.session_report import TestRow

__all__ = ["write_page"]

OUTCOMES = ("failed", "error", "flaky", "rerun", "xpassed", "xfailed", "skipped", "passed")  # the worst first
TONES: dict[str, Tone] = {
    "failed": "bad",
    "error": "bad",
    "rerun": "warn",
    "flaky": "warn",
    "xpassed": "warn",
    "passed": "good",
}
STYLE = """.filter label { margin-right: 1.1rem; white-space: nowrap; }
.test { border-bottom: 1px solid var(--line); padding: 0.25rem 0; }
div.test { display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; align-items: baseline; }
div.test > :first-child { width: 0.7rem; }
.test .took.took { flex: 1 1 12rem; text-align: right; color: var(--quiet); font-size: 0.9rem; }
details.test.test > summary > code { flex: 0 1 auto; }
.inside .links { max-width: none; }
.inside { padding: 0.1rem 0 1rem 1.6rem; }
.inside img { display: block; width: 30rem; max-width: 100%; border-radius: 0.3rem; margin: 0.6rem 0; }
.inside pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 34rem; overflow-y: auto; }
@media print { .filter { display: none; } .inside pre { max-height: none; } }"""
THUMBNAIL_PX = (480, 270)
LONGEST_TEXT = 20_000  # characters of a failure: the end of one says what it was


def write_page(rows: Sequence[TestRow], file: Path) -> None:
    """Writes the page; tests that failed come first, and are open.

    Raises:
        OutputError: It cannot be written.
    """
    counts = Counter(row.outcome for row in rows)
    found = [outcome for outcome in OUTCOMES if counts[outcome]]
    ordered = sorted(rows, key=lambda row: OUTCOMES.index(row.outcome))
    bad, flaky = counts["failed"] + counts["error"], counts["flaky"]
    number = len(rows) - counts["rerun"]  # what was run again is one test, of which each attempt has a row
    page = Page(
        kind="session of tests",
        heading=f"{bad} of {_tests(number)} failed" if bad else f"No test of {number} failed",
        origin="Every test with a cell has a laboratory of its own; what was kept of it is linked.",
        verdict=", ".join(f"{counts[outcome]} {outcome}" for outcome in found),
        tone="bad" if bad else "warn" if flaky else "good",
        figures=[
            PageFigure("Tests", str(number)),
            PageFigure("Took", f"{sum(row.duration_s for row in rows):.1f} s", "all tests, one after the other"),
            PageFigure("Simulated", f"{sum(row.time_s or 0.0 for row in rows):.1f} s"),
        ],
        sections=[PageSection("Tests", _filters(counts, found) + "\n".join(_row(row, file.parent) for row in ordered))],
        versions=all_versions(),
    ).html()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, page.encode())
    except OSError as error:
        raise OutputError(error.filename or file, error.strerror or str(error)) from None


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number} tests"


def _filters(counts: Counter[str], found: Sequence[str]) -> str:
    """Returns the choice of outcomes, which the style sheet acts upon: no script is needed."""
    choices = [("all", counts.total()), *((outcome, counts[outcome]) for outcome in found)]
    labels = "\n".join(
        f'<label><input type="radio" name="show" id="show-{name}"{" checked" if name == "all" else ""}>'
        f" {name} ({count})</label>"
        for name, count in choices
    )
    rules = "\n".join(
        f"main:has(#show-{outcome}:checked) .test:not(.{outcome}) {{ display: none; }}" for outcome in found
    )
    return f'<style>\n{STYLE}\n{rules}\n</style>\n<p class="filter">\n{labels}\n</p>\n'


def _row(row: TestRow, folder: Path) -> str:
    time = "" if row.time_s is None else f"{row.time_s:.1f} s simulated, "
    head = (
        f"{badge(row.outcome, TONES.get(row.outcome, '')).text} <code>{escape(row.node_id)}</code>"
        f'<span class="took">{time}took {row.duration_s:.1f} s</span>'
    )
    inside = _links(row, folder) + _thumbnail(row, folder) + _text(row)
    if not inside:
        return f'<div class="test {row.outcome}"><span></span>{head}</div>'
    is_open = " open" if row.outcome in ("failed", "error") else ""
    return (
        f'<details class="row test {row.outcome}"{is_open}><summary>{head}</summary>'
        f'<div class="inside">{inside}</div></details>'
    )


def _links(row: TestRow, folder: Path) -> str:
    links = [f'<a href="{_href(path, folder)}">{escape(_name(what, path))}</a>' for what, path in row.evidence]
    return f'<p class="links">{" ".join(links)}</p>' if links else ""


def _name(what: str, path: Path) -> str:
    """Returns the text of a link: the kind, and of what there can be several, the file."""
    return f"{what}: {path.name}" if what in ("picture", "controller", "verdict") else what


def _href(path: Path, folder: Path) -> str:
    """Returns a link that still works when both are copied to another place."""
    try:
        return quote(Path(os.path.relpath(path, folder)).as_posix())
    except ValueError:  # another drive
        return path.as_uri()


def _thumbnail(row: TestRow, folder: Path) -> str:
    picture = next((path for what, path in row.evidence if what == "picture"), None)
    if picture is None:
        return ""
    from PIL import Image

    made = io.BytesIO()
    with contextlib.suppress(OSError), Image.open(picture) as whole:
        small = whole.convert("RGB")
        small.thumbnail(THUMBNAIL_PX)
        small.save(made, "JPEG", quality=80)
    if not made.getvalue():
        return ""
    data = base64.b64encode(made.getvalue()).decode()
    image = f'<img alt="The cell when it failed" src="data:image/jpeg;base64,{data}">'
    return f'<a href="{_href(picture, folder)}">{image}</a>'


def _text(row: TestRow) -> str:
    text = row.text.strip()
    if len(text) > LONGEST_TEXT:
        text = f"... (the first {len(text) - LONGEST_TEXT} characters are left out)\n{text[-LONGEST_TEXT:]}"
    return f"<pre>{escape(text)}</pre>" if text else ""
