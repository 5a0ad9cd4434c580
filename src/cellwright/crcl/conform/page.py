"""The report as a page: one file that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import Html, Tone, badge, bullets, code, table, with_code
from cellwright.crcl.conform.check import CheckVerdict
from cellwright.crcl.conform.evidence import Exchange
from cellwright.crcl.conform.report import CheckResult, ConformReport

__all__ = ["as_html"]

MAX_SHOWN = 60
TONES: Mapping[CheckVerdict, Tone] = {
    CheckVerdict.PASS: "good",
    CheckVerdict.FAIL: "bad",
    CheckVerdict.AMBIGUOUS: "warn",
    CheckVerdict.SKIPPED: "",
}


def as_html(
    report: ConformReport,
    title: str = "CRCL conformance",
    command: str = "",
    versions: Mapping[str, str] | None = None,
) -> str:
    """Returns the whole page.

    Args:
        report: The results.
        title: Before the server's address.
        command: How to repeat it.
        versions: What the checks depend on.
    """
    verdict = "It conforms" if report.conforms else "There are failures" if report.counts["fail"] else "Nothing passed"
    if report.findings and not report.counts["fail"]:
        verdict = "Nothing failed, but statuses break the schema"
    verdict += "" if report.complete else "; not everything was tried"
    tone: Tone = "bad" if not report.conforms else "good" if report.complete else "warn"
    areas: dict[str, list[CheckResult]] = {}
    for result in report.results:  # what moves is tried last, whichever area it belongs to
        areas.setdefault(result.check.area, []).append(result)
    sections = [
        PageSection(area[:1].upper() + area[1:], "".join(map(_result, results))) for area, results in areas.items()
    ]
    return Page(
        kind="CRCL conformance",
        heading=f"{title}: `{report.peer}`",
        origin=f"{len(report.results)} checks in {report.took_s:.1f} s",
        verdict=verdict,
        tone=tone,
        reason=(f"{report.ended[:1].upper()}{report.ended[1:]}; {report.restored}.",),
        figures=[PageFigure(name, str(count)) for name, count in report.counts.items()],
        sections=(PageSection("Findings in statuses", bullets(report.findings)), *sections),
        versions=versions or {},
        command=command,
    ).html()


def _result(result: CheckResult) -> str:
    is_open = " open" if result.verdict is CheckVerdict.FAIL else ""
    mark = badge(result.verdict.value, TONES[result.verdict]).text
    more = len(result.evidence) - MAX_SHOWN
    rest = f"<p>{more} more, see the JSON report.</p>" if more > 0 else ""
    seen = table(("at [s]", "connection", "direction", "text"), map(_row, result.evidence[:MAX_SHOWN]))
    if result.evidence and not is_open:  # hundreds of sheets of paper, of which nobody needs one
        seen = f'<div class="screen">{seen}</div>'
    return (
        f'<details class="row"{is_open}><summary>{mark}<code>{escape(result.check.name)}</code>'
        f"<span>{with_code(result.reason)}</span></summary>"
        f"<p>Rule: {escape(result.check.clause)}<br>Tried: {escape(result.check.does)}</p>"
        f"{seen if result.evidence else ''}{rest}</details>"
    )


def _row(exchange: Exchange) -> tuple[object, ...]:
    text = Html(f'<div class="long">{code(exchange.text).text}</div>')
    return f"{exchange.time_s:.3f}", exchange.connection, exchange.direction, text
