"""An outcome on disk: the result as JSON, the data as CSV, plots as PNG, and one page that holds it all."""

from __future__ import annotations

import base64
import csv
import json
import math
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from cellwright.core.errors import OutputError
from cellwright.core.page import fill_page
from cellwright.core.results import Result
from cellwright.experiments.experiment import Outcome, Table
from cellwright.experiments.plots import can_plot, draw

__all__ = ["number_text", "result_json", "save_outcome", "write_table"]

ROWS_ON_PAGE = 40


def number_text(value: float) -> str:
    """A figure as a person reads it."""
    if math.isnan(value):
        return "none"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.5g}"


def result_json(result: Result) -> str:
    """The published form; what is not a number is null."""
    data = result.as_dict()
    data["metrics"] = {name: value if math.isfinite(value) else None for name, value in data["metrics"].items()}
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def save_outcome(outcome: Outcome, folder: Path, say: Callable[[str], None] = lambda _text: None) -> list[Path]:
    """Writes everything; the files, the page last."""
    written: list[Path] = []

    def write(name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)
        written.append(folder / name)

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write("result.json", result_json(outcome.result).encode())
        for name, table in outcome.findings.tables.items():
            write_table(table, folder / f"{name}.csv")
            written.append(folder / f"{name}.csv")
        pictures: list[tuple[str, bytes]] = []
        if can_plot():
            for plot in outcome.findings.plots:
                write(f"{plot.name}.png", draw(plot, "png"))
                pictures.append((plot.caption, draw(plot, "svg")))
        elif outcome.findings.plots:
            say("there are no plots: pip install 'cellwright[plots]'")
        write("report.html", _page(outcome, pictures).encode())
    except OSError as error:
        raise OutputError(error.filename or folder, error.strerror or str(error)) from None
    return written


def write_table(table: Table, path: Path) -> None:
    """A table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)


def _page(outcome: Outcome, pictures: list[tuple[str, bytes]]) -> str:
    result, findings = outcome.result, outcome.findings
    missing = "" if pictures or not findings.plots else "<p>No plots: matplotlib was not installed.</p>"
    return fill_page(
        "cellwright.experiments",
        "page.html",
        title=escape(outcome.title),
        name=escape(result.name),
        seed=result.seed,
        quick='<p class="no">A quick run: less certain than a full one.</p>' if result.quick else "",
        versions=escape(", ".join(f"{package} {version}" for package, version in result.versions.items())),
        metrics="\n".join(_metric_row(result, name) for name in result.metrics),
        notes="\n".join(_paragraph(note) for note in findings.notes),
        plots=missing + "\n".join(_picture(caption, svg) for caption, svg in pictures),
        tables="\n".join(_table(name, table) for name, table in findings.tables.items()),
    )


def _paragraph(note: str) -> str:
    return "<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(note)) + "</p>"


def _metric_row(result: Result, name: str) -> str:
    ok = ("yes" if result.meets_target(name) else "no") if name in result.targets else ""
    paper = number_text(result.paper[name]) if name in result.paper else ""
    cells = [number_text(result.metrics[name]), paper, result.target_text(name)]
    numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
    return f'<tr><td><code>{escape(name)}</code></td>{numbers}<td class="{ok}">{ok}</td></tr>'


def _picture(caption: str, svg: bytes) -> str:
    data = base64.b64encode(svg).decode()
    words = escape(caption)
    return (
        f'<figure><img alt="{words}" src="data:image/svg+xml;base64,{data}"><figcaption>{words}</figcaption></figure>'
    )


def _table(name: str, table: Table) -> str:
    """The data for whoever has only the page; long tables are cut, the CSV file is whole."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join(
        "<tr>" + "".join(f'<td class="number">{escape(_cell(value))}</td>' for value in row) + "</tr>"
        for row in table.rows[:ROWS_ON_PAGE]
    )
    cut = f"; the first {ROWS_ON_PAGE} are shown" if len(table.rows) > ROWS_ON_PAGE else ""
    summary = f"{escape(name)}.csv: {len(table.rows)} rows{cut}"
    return f"<details><summary>{summary}</summary><table><tr>{head}</tr>\n{rows}</table></details>"


def _cell(value: object) -> str:
    return number_text(float(value)) if isinstance(value, int | float) else str(value)
