"""A sweep over seeds on disk: JSON, a page, JUnit XML."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from cellwright.core.errors import OutputError
from cellwright.core.json_text import json_text
from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import Html, Tone, badge, folded, table
from cellwright.core.statistics import mean_of
from cellwright.experiments.seeds import seeds_text
from cellwright.experiments.trial_sweep import SeedRow, TrialSweep
from cellwright.lab.versions import all_versions

__all__ = ["SWEEP_FILES", "junit_xml", "save_sweep", "sweep_page"]

SWEEP_FILES = {"result": "seeds.json", "page": "seeds.html"}
LINKS = {
    "verdict.html": "verdict",
    "trace.html": "trace",
    "log.mcap": "log",
    "controller.stdout.txt": "stdout",
    "controller.stderr.txt": "stderr",
}
OPEN_ROWS = 40  # of a table that is open from the start


def save_sweep(sweep: TrialSweep, folder: Path, command: str, junit: Path | None = None) -> None:
    """Writes the result and its page into a folder, and JUnit XML where that is wanted.

    Raises:
        OutputError: A file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SWEEP_FILES["result"]).write_text(json_text(sweep.as_dict()) + "\n", encoding="utf-8")
        (folder / SWEEP_FILES["page"]).write_text(sweep_page(sweep, folder, command), encoding="utf-8")
        if junit is not None:
            junit.parent.mkdir(parents=True, exist_ok=True)
            junit.write_text(junit_xml(sweep), encoding="utf-8")
    except OSError as error:
        raise OutputError(error.filename or folder, error.strerror or str(error)) from None


def sweep_page(sweep: TrialSweep, folder: Path, command: str = "") -> str:
    """Returns the page: the rate with its interval, why seeds failed, every seed with links to its files."""
    rate, low, high = sweep.rate
    run, failed = len(sweep.rows), len(sweep.failed)
    verdict, tone = _verdict(sweep)
    score = mean_of("score", [100 * row.score for row in sweep.rows])
    least, most = (min(max(score[end], 0.0), 100.0) for end in ("score_low", "score_high"))  # no score lies outside
    note = "mean, of 100" + (f"; 95 %: {least:.0f} to {most:.0f}" if run > 1 else "")
    return Page(
        kind="trial over seeds",
        heading=f"`{sweep.trial}` over {_seeds_word(len(sweep.seeds))}",
        origin=f"Cell `{sweep.cell}`, seeds `{seeds_text(sweep.seeds)}`, controller `{sweep.controller}`",
        verdict=verdict,
        tone=tone,
        figures=[
            PageFigure("Done", f"{100 * rate:.1f} %", f"95 %: {100 * low:.1f} to {100 * high:.1f} % of {run}"),
            PageFigure("Not done", str(failed), f"of {run} that were run"),
            PageFigure("Score", f"{score['score']:.0f}" if run else "none", note),
        ],
        sections=[
            PageSection("Outcomes", _outcomes(sweep)),
            PageSection("Why seeds are not done", _reasons(sweep)),
            PageSection("Seeds", _seeds(sweep, folder)),
        ],
        versions=all_versions(),
        command=command,
    ).html()


def _verdict(sweep: TrialSweep) -> tuple[str, Tone]:
    failed, run, asked = len(sweep.failed), len(sweep.rows), len(sweep.seeds)
    part = "" if run == asked else f"; {asked - run} of {asked} seeds were not run"
    if failed:
        return f"{failed} of {_seeds_word(run)} {'is' if run == 1 else 'are'} not done{part}", "bad"
    return (
        (f"The {run} that were run are done{part}", "warn")
        if part
        else ("The seed is done" if run == 1 else f"All {run} seeds are done", "good")
    )


def _seeds_word(count: int) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"


def _outcomes(sweep: TrialSweep) -> str:
    rows = [
        (
            badge(kind["outcome"].replace("_", " "), "good" if kind["outcome"] == "done" else "bad"),
            str(kind["count"]),
            f"{100 * kind['share']:.1f}",
            Html(f"{100 * kind['share_low']:.1f} to {100 * kind['share_high']:.1f}", "interval"),
            f"{100 * kind['score_median']:.0f}",
            f"{kind['time_median_s']:.1f}",
            kind["seeds"],
        )
        for kind in sweep.outcomes()
    ]
    columns = ["outcome", "seeds", "share [%]", "95 % [%]", "score (median)", "simulated [s] (median)", "which"]
    return table(columns, rows, numbers=["seeds", "score (median)", "simulated [s] (median)"])


def _reasons(sweep: TrialSweep) -> str:
    rows = [(reason, str(len(seeds)), seeds_text(seeds)) for reason, seeds in sweep.reasons()]
    return table(["reason", "seeds", "which"], rows, numbers=["seeds"]) if rows else "<p>All that were run are.</p>"


def _seeds(sweep: TrialSweep, folder: Path) -> str:
    columns = ["seed", "outcome", "score", "simulated [s]", "files", "why not"]
    made = table(columns, [_row(row, folder) for row in sweep.rows], numbers=["seed", "score"])
    return folded(_seeds_word(len(sweep.rows)), made, is_open=len(sweep.rows) <= OPEN_ROWS)


def _row(row: SeedRow, folder: Path) -> tuple[object, ...]:
    word = badge(row.status.replace("_", " "), "good" if row.done else "bad")
    links = " ".join(f'<a href="{to}">{text}</a>' for text, to in _links(row, folder).items())
    return str(row.seed), word, f"{100 * row.score:.0f}", f"{row.time_s:.1f}", Html(links), row.reason


def _links(row: SeedRow, folder: Path) -> Mapping[str, str]:
    """Returns what was kept of a seed, relative to the page."""
    if row.folder is None:
        return {}
    there = {text: Path(row.folder) / name for name, text in LINKS.items()}
    return {
        text: quote(Path(os.path.relpath(path, folder)).as_posix()) for text, path in there.items() if path.exists()
    }


def junit_xml(sweep: TrialSweep) -> str:
    """Returns JUnit XML: a suite for the trial, a test case for each seed; those that were not run are skipped."""
    rows = {row.seed: row for row in sweep.rows}
    total_s = f"{sum(row.wall_s for row in sweep.rows):.3f}"
    suite = ElementTree.Element(
        "testsuite",
        name=sweep.trial,
        tests=str(len(sweep.seeds)),
        failures=str(len(sweep.failed)),
        errors="0",
        skipped=str(len(sweep.seeds) - len(rows)),
        time=total_s,
    )
    for seed in sweep.seeds:
        row = rows.get(seed)
        time = f"{row.wall_s:.3f}" if row else "0"
        case = ElementTree.SubElement(suite, "testcase", classname=sweep.trial, name=f"seed {seed}", time=time)
        if row is None:
            ElementTree.SubElement(case, "skipped", message="it was interrupted before")
            continue
        values = {"cellwright_score": f"{row.score:.3f}", "cellwright_time_s": f"{row.time_s:.3f}"}
        values |= {"cellwright_folder": row.folder} if row.folder else {}
        properties = ElementTree.SubElement(case, "properties")
        for name, value in values.items():
            ElementTree.SubElement(properties, "property", name=name, value=value)
        if not row.done:
            ElementTree.SubElement(case, "failure", type=row.status, message=_plain(row.reason))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _plain(text: str) -> str:
    """Returns text without the characters that XML cannot have, whatever a controller has said."""
    return "".join(character for character in text if character >= " " and character not in "\ufffe\uffff")
