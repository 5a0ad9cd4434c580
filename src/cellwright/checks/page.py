"""Findings as a page: what is wrong with a cell or a model comes first, each with its remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.checks.finding import Finding
from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import Html, badge, code, table, with_code

__all__ = ["findings_page"]


def findings_page(
    heading: str,
    origin: str,
    findings: Sequence[Finding],
    *,
    hints: Sequence[str] = (),
    versions: Mapping[str, str],
    command: str = "",
) -> str:
    """Returns the page.

    Args:
        heading: What was checked.
        origin: The conditions in one line.
        findings: All findings, in the order of the checks.
        hints: What is allowed and probably not meant.
        versions: What the figures depend on.
        command: How to repeat it.
    """
    wrong = [finding for finding in findings if not finding.ok]
    figures = [(f.check, name, value) for f in findings for name, value in f.values.items()]
    numbers = [(check, code(name), f"{0.0 if abs(value) < 1e-12 else value:.4g}") for check, name, value in figures]
    return Page(
        kind="check",
        heading=heading,
        origin=origin,
        verdict="All is well" if not wrong else "1 thing is wrong" if len(wrong) == 1 else f"{len(wrong)} are wrong",
        tone="bad" if wrong else "good",
        reason=[f"{finding.check}: {finding.remedy or finding.detail}" for finding in wrong[:3]],
        figures=[
            PageFigure("checks", str(len(findings))),
            PageFigure("well", str(len(findings) - len(wrong))),
            PageFigure("wrong", str(len(wrong))),
        ],
        sections=(
            PageSection("What is wrong", _table(wrong) if wrong else ""),
            PageSection("Hints", "".join(f"<p>{with_code(hint)}</p>" for hint in hints)),
            PageSection("All checks", _table(findings)),
            PageSection("Figures", table(("check", "figure", "value"), numbers, numbers=("value",)) if numbers else ""),
        ),
        versions=versions,
        command=command,
    ).html()


def _table(findings: Sequence[Finding]) -> str:
    return table(("check", "", "what was found"), map(_row, findings))


def _row(finding: Finding) -> tuple[object, ...]:
    mark = badge("well", "good") if finding.ok else badge("wrong", "bad")
    remedy = "" if finding.ok or not finding.remedy else f"<br><strong>Remedy:</strong> {with_code(finding.remedy)}"
    return finding.check, mark, Html(with_code(finding.detail) + remedy)
