"""The tests of a session as one page: what came out, how long it took, what failed, and where its evidence is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cellwright.testing.settings import KeepSettings, near

__all__ = ["SessionReport", "TestRow"]

PREFIX = "cellwright_"


@dataclass
class TestRow:
    """One run of one test.

    Attributes:
        node_id: Its name.
        outcome: `passed`, `failed`, `error`, `skipped`, `xfailed`, `xpassed`, `rerun` or `flaky`.
        duration_s: Real time of setup, call and teardown.
        text: Why it failed or was skipped.
        time_s: Simulated time; None of a test without a cell.
        evidence: Kind and file.
        is_retry: Whether it has failed before in this session: if it passes now, it is flaky.
    """

    __test__ = False  # pytest: this is no test

    node_id: str
    outcome: str = "passed"
    duration_s: float = 0.0
    text: str = ""
    time_s: float | None = None
    evidence: list[tuple[str, Path]] = field(default_factory=list)
    is_retry: bool = False

    def take(self, report: pytest.TestReport, here: Path) -> None:
        """Adds what one phase of the test has come to; paths in it are relative to a folder."""
        self.duration_s += report.duration
        told = [(name.removeprefix(PREFIX), str(value)) for name, value in report.user_properties if _is_ours(name)]
        if told:
            self.evidence = [(name, here / value) for name, value in told if name not in ("time_s", "note")]
            self.time_s = next((float(value) for name, value in told if name == "time_s"), None)
        expected, outcome = hasattr(report, "wasxfail"), str(report.outcome)
        if outcome == "rerun":  # of pytest-rerunfailures
            self.outcome = "rerun"
        elif report.failed:
            self.outcome = "failed" if report.when == "call" else "error"
        elif expected and report.when == "call":
            self.outcome = "xfailed" if report.skipped else "xpassed"
        elif report.skipped:
            self.outcome = "xfailed" if expected else "skipped"
        if self.is_retry and report.when == "call" and self.outcome == "passed":
            self.outcome = "flaky"
        if report.failed or report.skipped or outcome == "rerun":
            told_why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            self.text = "\n\n".join(filter(None, [self.text, str(getattr(report, "wasxfail", "") or told_why)]))


class SessionReport:
    """Hears of all tests, also of those that workers of xdist run, and writes the page at the end.

    Args:
        settings: Where the page belongs.
        here: The folder that paths in reports are relative to.
        taken: The folder that was asked for, when another session has it.
    """

    def __init__(self, settings: KeepSettings, here: Path, *, taken: Path | None = None) -> None:
        self.rows: list[TestRow] = []
        self._taken = taken
        self._settings = settings
        self._here = here
        self._running: dict[str, TestRow] = {}
        self._notes: dict[str, None] = {}
        self._problem = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes a phase of a test; a setup begins a new run of it."""
        row = self._running.get(report.nodeid)
        if row is None or report.when == "setup":
            retried = row is not None and row.outcome == "rerun"
            row = self._running[report.nodeid] = TestRow(report.nodeid, is_retry=retried)
            self.rows.append(row)
        row.take(report, self._here)
        self._notes |= {str(value): None for name, value in report.user_properties if name == f"{PREFIX}note"}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Writes the page, if one is wanted."""
        if self._settings.report is None or not self.rows:
            return
        from cellwright.core.errors import CellwrightError
        from cellwright.testing.session_page import write_page

        try:
            write_page(self.rows, self._settings.report)
        except CellwrightError as error:
            self._problem = str(error)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says where the page is, and once what could not be kept."""
        if self._taken is not None and any(row.evidence for row in self.rows):
            own = near(self._settings.output)
            terminalreporter.line(f"cellwright: files are in {own}: another session has {near(self._taken)}")
        for note in self._notes:
            terminalreporter.line(f"cellwright: {note}")
        if self._problem:
            terminalreporter.line(f"cellwright: there is no report: {self._problem}", yellow=True)
        elif self._settings.report is not None and self.rows:
            terminalreporter.line(f"cellwright: report {near(self._settings.report)}")


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and name.startswith(PREFIX)
