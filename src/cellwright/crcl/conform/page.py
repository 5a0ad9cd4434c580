"""The report as a page: one file, no scripts, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from itertools import groupby

from cellwright.crcl.conform.evidence import Exchange
from cellwright.crcl.conform.report import CheckResult, ConformReport

__all__ = ["as_html"]

MAX_SHOWN = 60

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
details { border-bottom: 1px solid #ddd; padding: .4rem 0; }
summary { cursor: pointer; display: flex; gap: .8rem; align-items: baseline; }
.name { font-weight: 600; min-width: 17rem; }
.verdict { min-width: 6rem; border-radius: .3rem; padding: 0 .5rem; text-align: center; font-size: .85rem; }
.pass { background: #d9f2d9; } .fail { background: #f7caca; } .ambiguous { background: #fbeec2; }
.skipped { background: #e8e8e8; }
table { border-collapse: collapse; font-size: .8rem; margin: .5rem 0; width: 100%; table-layout: fixed; }
td { border-top: 1px solid #eee; padding: .15rem .5rem; vertical-align: top; overflow-wrap: anywhere; }
td:nth-child(1) { width: 5rem; } td:nth-child(2) { width: 3rem; } td:nth-child(3) { width: 5.5rem; }
code { font-size: .78rem; }
"""


def as_html(report: ConformReport, title: str = "CRCL conformance") -> str:
    """Returns the whole page."""
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    verdict = "it conforms" if report.conforms else "there are failures" if report.counts["fail"] else "nothing passed"
    if report.findings and not report.counts["fail"]:
        verdict = "nothing failed, but statuses break the schema"
    verdict += "" if report.complete else "; not everything was tried"
    findings = "".join(f"<li>{escape(line)}</li>" for line in report.findings)
    sections = "".join(
        f"<h2>{escape(area)}</h2>{''.join(map(_result, results))}"
        for area, results in groupby(report.results, key=lambda result: result.check.area)
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}: {escape(report.peer)}</h1>"
        f"<p>{counts}: {verdict}. {len(report.results)} checks in {report.took_s:.1f} s; {escape(report.ended)}, "
        f"{escape(report.restored)}.</p>"
        + (f"<h2>findings in statuses</h2><ul>{findings}</ul>" if findings else "")
        + f"{sections}</body></html>\n"
    )


def _result(result: CheckResult) -> str:
    verdict = result.verdict.value
    is_open = " open" if verdict == "fail" else ""
    rows = "".join(map(_row, result.evidence[:MAX_SHOWN]))
    if len(result.evidence) > MAX_SHOWN:
        rows += f'<tr><td colspan="4">{len(result.evidence) - MAX_SHOWN} more, see the JSON report</td></tr>'
    return (
        f'<details{is_open}><summary><span class="verdict {verdict}">{verdict}</span>'
        f'<span class="name">{escape(result.check.name)}</span><span>{escape(result.reason)}</span></summary>'
        f"<p>Rule: {escape(result.check.clause)}<br>Tried: {escape(result.check.does)}</p>"
        f"<table>{rows}</table></details>"
    )


def _row(exchange: Exchange) -> str:
    cells = (f"{exchange.time_s:.3f} s", str(exchange.connection), escape(exchange.direction))
    return (
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + f"<td><code>{escape(exchange.text)}</code></td></tr>"
    )
