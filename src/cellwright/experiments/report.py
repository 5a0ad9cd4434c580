"""An outcome on disk: the result as JSON, the data as CSV, plots as PNG, and one page that holds it all."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from cellwright.core.errors import OutputError
from cellwright.core.json_text import json_text
from cellwright.core.page import Page, PageSection
from cellwright.core.page_parts import Tone, code, drawing, folded, paragraphs, table, yes_no
from cellwright.core.results import Result
from cellwright.experiments.experiment import DataTable, ExperimentOutcome
from cellwright.experiments.plots import can_plot, draw

__all__ = ["interval_text", "number_text", "result_json", "save_outcome", "write_table"]

SHORT_ROWS = 24  # of a table that is open from the start
FIGURES_ON_PAGE = 40  # more would bury plots and tables
ROWS_ON_PAGE = 40


def number_text(value: float) -> str:
    """Returns a figure as text for people."""
    if math.isnan(value):
        return "none"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.5g}"


def interval_text(result: Result, name: str) -> tuple[str, str]:
    """Returns a metric's 95 % interval, and of how many values it is, as text; empty where there is none."""
    found = result.interval(name)
    if found is None:
        return "", ""
    low, high, count = found
    if math.isnan(low) and math.isnan(high):  # there are too few values for an interval
        interval = ""
    elif math.isnan(low) or math.isnan(high):  # or for one of its ends
        interval = f"<= {_rough(high)}" if math.isnan(low) else f">= {_rough(low)}"
    else:
        interval = f"{_rough(low)} to {_rough(high)}"
    return interval, "" if math.isnan(count) else f"{count:.0f}"


def _rough(value: float) -> str:
    """Returns an end of an interval, which is not known to five digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


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
        for name, data in outcome.findings.tables.items():
            write_table(data, folder / f"{name}.csv")
            written.append(folder / f"{name}.csv")
        pictures: list[str] = []
        if can_plot():
            for plot in outcome.findings.plots:
                write(f"{plot.name}.png", draw(plot, "png"))
                pictures.append(drawing(draw(plot, "svg").decode(), plot.name, plot.caption))
        elif outcome.findings.plots:
            say("there are no plots: pip install 'cellwright[plots]'")
        write("report.html", _page(outcome, pictures).encode())
    except OSError as error:
        raise OutputError(error.filename or folder, error.strerror or str(error)) from None
    return written


def write_table(data: DataTable, path: Path) -> None:
    """Writes a table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(data.columns)
        writer.writerows(data.rows)


def _page(outcome: ExperimentOutcome, pictures: list[str]) -> str:
    result, findings = outcome.result, outcome.findings
    missing = "" if pictures or not findings.plots else "<p>No plots: matplotlib was not installed.</p>"
    tables = [(_is_short(data), _table(name, data)) for name, data in findings.tables.items()]
    quick = " --quick" if result.quick else ""
    verdict, tone = _verdict(result)
    return Page(
        kind="experiment",
        heading=outcome.title,
        origin=f"Experiment `{result.name}`, seed {result.seed}",
        verdict=verdict,
        tone=tone,
        reason=["A quick run: less certain than a full one."] if result.quick else [],
        sections=(
            PageSection("Figures", _figures(result)),
            PageSection("Plots", missing + "\n".join(pictures)),
            PageSection("In short", "\n".join(html for is_short, html in tables if is_short)),
            PageSection("What was done, and why the figures are what they are", paragraphs(findings.notes)),
            PageSection("Data", "\n".join(html for is_short, html in tables if not is_short)),
        ),
        versions=result.versions,
        command=f"cellwright experiment run {result.name} --seed {result.seed}{quick}",
    ).html()


def _verdict(result: Result) -> tuple[str, Tone]:
    """Returns how many targets are met; an experiment without targets has no verdict."""
    if not result.targets:
        return "", ""
    met, count = len(result.targets) - len(result.failed), len(result.targets)
    if met == count:
        return f"All {count} targets are met" if count > 1 else "The target is met", "good"
    return f"{met} of {count} targets are met", "warn" if met else "bad"


def _figures(result: Result) -> str:
    """Returns all figures; of many, those that are compared with something come first and the rest is folded."""
    names = result.shown
    compared = [name for name in names if name in result.targets or name in result.paper]
    if len(names) <= FIGURES_ON_PAGE or not compared:
        return _figures_table(result, names)
    rest = [name for name in names if name not in compared]
    return _figures_table(result, compared) + folded(f"{len(rest)} more figures", _figures_table(result, rest))


def _figures_table(result: Result, names: Sequence[str]) -> str:
    columns = ["metric", "ours", "95 % interval", "of [n]", "paper", "target", "ok"]
    rows = [_metric_row(result, name) for name in names]
    filled = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    rows = [tuple(row[at] for at in filled) for row in rows]
    return table([columns[at] for at in filled], rows, numbers=("ours", "95 % interval", "paper", "target"))


def _metric_row(result: Result, name: str) -> tuple[object, ...]:
    ok = yes_no(result.meets_target(name)) if name in result.targets else ""
    paper = number_text(result.paper[name]) if name in result.paper else ""
    interval, count = interval_text(result, name)
    return code(name), number_text(result.metrics[name]), interval, count, paper, result.target_text(name), ok


def _is_short(data: DataTable) -> bool:
    return len(data.rows) <= SHORT_ROWS


def _table(name: str, data: DataTable) -> str:
    """Returns the data for the page; long tables are cut, the CSV file is complete."""
    first = data.rows[0] if data.rows else [""] * len(data.columns)
    numbers = [column for column, value in zip(data.columns, first, strict=True) if isinstance(value, int | float)]
    rows = [[_text(value) for value in row] for row in data.rows[:ROWS_ON_PAGE]]
    cut = f"; the first {ROWS_ON_PAGE} are shown" if len(data.rows) > ROWS_ON_PAGE else ""
    summary = f"{name}.csv: {len(data.rows)} rows{cut}"
    return folded(summary, table(data.columns, rows, numbers=numbers), is_open=_is_short(data))


def _text(value: object) -> str:
    return number_text(float(value)) if isinstance(value, int | float) else str(value)
