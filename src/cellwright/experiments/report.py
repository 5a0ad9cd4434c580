"""An outcome on disk: the result as JSON, the data as CSV, plots as PNG, and one page that holds it all."""

from __future__ import annotations

import base64
import csv
import math
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from cellwright.core.errors import OutputError
from cellwright.core.json_text import json_text
from cellwright.core.page import fill_page
from cellwright.core.results import Result
from cellwright.experiments.experiment import DataTable, ExperimentOutcome
from cellwright.experiments.plots import can_plot, draw

__all__ = ["number_text", "result_json", "save_outcome", "write_table"]

SHORT_ROWS = 24  # of a table that is open from the start
FIGURES_ON_PAGE = 40  # more would bury plots and tables
ROWS_ON_PAGE = 40


def number_text(value: float) -> str:
    """Returns a figure as text for people."""
    if math.isnan(value):
        return "none"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.5g}"


def result_json(result: Result) -> str:
    """Returns the published form of a result; what is not a number is null."""
    return json_text(result.as_dict()) + "\n"


def save_outcome(
    outcome: ExperimentOutcome, folder: Path, say: Callable[[str], None] = lambda _text: None
) -> list[Path]:
    """Writes everything; returns the files, the page last."""
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


def write_table(table: DataTable, path: Path) -> None:
    """Writes a table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)


def _page(outcome: ExperimentOutcome, pictures: list[tuple[str, bytes]]) -> str:
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
        figures=_figures(result),
        notes="\n".join(_paragraph(note) for note in findings.notes),
        plots=missing + "\n".join(_picture(caption, svg) for caption, svg in pictures),
        short_tables="\n".join(_table(*item, " open") for item in findings.tables.items() if _is_short(item[1])),
        tables="\n".join(_table(*item) for item in findings.tables.items() if not _is_short(item[1])),
    )


def _paragraph(note: str) -> str:
    return f"<p>{_with_code(note)}</p>"


def _with_code(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _figures(result: Result) -> str:
    """Returns all figures; of many, those that are compared with something come first and the rest is folded."""
    names = list(result.metrics)
    compared = [name for name in names if name in result.targets or name in result.paper]
    if len(names) <= FIGURES_ON_PAGE or not compared:
        return _figures_table(result, names)
    rest = [name for name in names if name not in compared]
    summary = f"<summary>{len(rest)} more figures</summary>"
    return f"{_figures_table(result, compared)}<details>{summary}{_figures_table(result, rest)}</details>"


def _figures_table(result: Result, names: Sequence[str]) -> str:
    heads = ("ours", "paper", "target")
    head = "<th>metric</th>" + "".join(f'<th class="number">{text}</th>' for text in heads) + "<th>ok</th>"
    rows = "\n".join(_metric_row(result, name) for name in names)
    return f"<table>\n<tr>{head}</tr>\n{rows}\n</table>"


def _metric_row(result: Result, name: str) -> str:
    ok = ("yes" if result.meets_target(name) else "no") if name in result.targets else ""
    paper = number_text(result.paper[name]) if name in result.paper else ""
    cells = [number_text(result.metrics[name]), paper, result.target_text(name)]
    numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
    return f'<tr><td><code>{escape(name)}</code></td>{numbers}<td class="{ok}">{ok}</td></tr>'


def _picture(caption: str, svg: bytes) -> str:
    data = base64.b64encode(svg).decode()
    plain = escape(caption.replace("`", ""))
    image = f'<img alt="{plain}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{_with_code(caption)}</figcaption></figure>"


def _is_short(table: DataTable) -> bool:
    return len(table.rows) <= SHORT_ROWS


def _table(name: str, table: DataTable, is_open: str = "") -> str:
    """Returns the data for the page; long tables are cut, the CSV file is complete."""
    first = table.rows[0] if table.rows else [""] * len(table.columns)
    kinds = [' class="number"' if isinstance(value, int | float) else "" for value in first]
    head = "".join(f"<th{kind}>{escape(column)}</th>" for kind, column in zip(kinds, table.columns, strict=True))
    rows = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows[:ROWS_ON_PAGE])
    cut = f"; the first {ROWS_ON_PAGE} are shown" if len(table.rows) > ROWS_ON_PAGE else ""
    summary = f"{escape(name)}.csv: {len(table.rows)} rows{cut}"
    return f"<details{is_open}><summary>{summary}</summary><table><tr>{head}</tr>\n{rows}</table></details>"


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f'<td class="number">{number_text(float(value))}</td>'
    return f"<td>{escape(str(value))}</td>"
