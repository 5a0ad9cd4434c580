"""The plugin's options and ini settings, read once and checked: one line about each wrong value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

__all__ = ["KeepSettings", "add_options", "in_folder", "marked_settings", "near", "read_settings"]

ON, OFF, RETAINED, ON_FAILURE = "on", "off", "retain-on-failure", "only-on-failure"
WHEN = {"trace": (ON, OFF, RETAINED), "video": (ON, OFF, RETAINED), "picture": (ON, OFF, ON_FAILURE)}
VIEW = "127.0.0.1:8080"
FASTEST, SLOWEST = 100.0, 0.01
HELP = {
    "trace": "keep trace.html of tests: on, off, retain-on-failure (default: off)",
    "video": "keep a video of tests: on, off, retain-on-failure (default: off)",
    "picture": "keep a picture of the cell: on, off, only-on-failure (default: only-on-failure)",
    "output": "folder of what is kept, a folder for each test; emptied at the start (default: test-results)",
    "report": "write one page about all tests (default: report.html in the output folder)",
    "view": f"watch the cells in a browser while tests run (default: {VIEW})",
    "speed": "simulated seconds per second in all cells, instead of each test's pace",
    "slowmo": "slow motion: so many times slower than real time (a factor, no milliseconds)",
}


@dataclass(frozen=True)
class KeepSettings:
    """The wishes of a session: what is kept of a test, where, and how it is watched.

    Attributes:
        output: The folder with a folder for each test.
        trace: `on`, `off` or `retain-on-failure`.
        video: The same.
        picture: `on`, `off` or `only-on-failure`.
        report: The page about all tests; none when None.
        view: HOST:PORT of the live page; empty for none.
        speed: Simulated seconds per second instead of the pace of each test.
    """

    output: Path
    trace: str = OFF
    video: str = OFF
    picture: str = OFF
    report: Path | None = None
    view: str = ""
    speed: float | None = None

    def keeps(self, what: str, *, failed: bool) -> bool:
        """Returns whether a trace, a video or a picture of a test is kept."""
        return getattr(self, what) in ((ON, RETAINED, ON_FAILURE) if failed else (ON,))


def add_options(parser: pytest.Parser) -> None:
    """Adds the options, and an ini setting for each, of the same name with underscores."""
    group = parser.getgroup("cellwright")
    names = {"output": "DIR", "speed": "FACTOR", "slowmo": "FACTOR"}
    for name, text in HELP.items():
        values = {"metavar": names.get(name, "|".join(WHEN.get(name, ())))}
        if name in ("report", "view"):
            values = {"metavar": "FILE" if name == "report" else "ADDRESS", "nargs": "?", "const": ""}
        group.addoption(f"--cellwright-{name}", default=None, help=text, **values)
        parser.addini(f"cellwright_{name}", text, default=None)


def read_settings(config: pytest.Config) -> KeepSettings:
    """Returns the settings of a session; the command line wins over the ini file.

    Raises:
        pytest.UsageError: One line: which option, what it was, what is allowed.
    """
    said = {name: _value(config, name) for name in HELP}
    here = config.invocation_params.dir
    output = (here / (said["output"] or "test-results")).absolute()
    if output.exists() and not output.is_dir():
        raise pytest.UsageError(f"--cellwright-output: {output} is not a folder")
    return KeepSettings(
        output=output,
        **{name: _when(name, said[name]) for name in WHEN},
        report=_report(said["report"], here, output),
        view=_view(said["view"]),
        speed=_speed(said["speed"], said["slowmo"]),
    )


def in_folder(settings: KeepSettings, output: Path) -> KeepSettings:
    """Returns the settings with another output folder, and the page in it, where it was to be in the first."""
    report = settings.report
    if report is not None and report.is_relative_to(settings.output):
        report = output / report.relative_to(settings.output)
    return replace(settings, output=output, report=report)


def marked_settings(settings: KeepSettings, markers: Mapping[str, Any]) -> KeepSettings:
    """Returns the settings of one test, with what its marker says: `@pytest.mark.cellwright(trace="on")`."""
    if wrong := sorted(set(markers) - set(WHEN)):
        raise pytest.UsageError(f"marker cellwright: unknown '{wrong[0]}' (available: {', '.join(WHEN)})")
    where = "marker cellwright: {}"
    said: dict[str, Any] = {name: _when(name, value, where) for name, value in markers.items()}
    return replace(settings, **said)


def _value(config: pytest.Config, name: str) -> str | None:
    given = config.getoption(f"--cellwright-{name}")
    if given is not None:
        return str(given)
    written = config.getini(f"cellwright_{name}")
    return None if written in (None, "") else str(written)


def _when(name: str, value: object, where: str = "--cellwright-{}") -> str:
    if value is None:
        return ON_FAILURE if name == "picture" else OFF
    if value not in WHEN[name]:
        raise pytest.UsageError(f"{where.format(name)}: should be {', '.join(WHEN[name])}, got '{value}'")
    return str(value)


def _report(value: str | None, here: Path, output: Path) -> Path | None:
    if value is None:
        return None
    if value and not value.endswith((".html", ".htm")):
        raise pytest.UsageError(f"--cellwright-report: should be a .html file, as in =report.html, got '{value}'")
    return (here / value).absolute() if value else output / "report.html"


def _view(value: str | None) -> str:
    if value is None:
        return ""
    found = re.fullmatch(r"(?:(127\.0\.0\.1|localhost):)?(\d{1,5})", value or VIEW)  # no token is shown
    if found is None or int(found[2]) > 65535:
        raise pytest.UsageError(f"--cellwright-view: should be a port here, as in =8080 or ={VIEW}, got '{value}'")
    worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0)  # each has a page of its own
    first = int(found[2])
    port = 0 if first == 0 else first + worker if first + worker <= 65535 else first - worker
    return f"{found[1] or '127.0.0.1'}:{port}"


def _speed(speed: str | None, slowmo: str | None) -> float | None:
    if speed is not None and slowmo is not None:
        raise pytest.UsageError("--cellwright-speed and --cellwright-slowmo say the same: give one of them")
    name, text = ("speed", speed) if slowmo is None else ("slowmo", slowmo)
    if text is None:
        return None
    turned: Callable[[float], float] = (lambda value: value) if slowmo is None else (lambda value: 1.0 / value)
    low, high = (SLOWEST, FASTEST) if slowmo is None else (1.0, 1.0 / SLOWEST)
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        hint = " (a factor, no milliseconds)" if name == "slowmo" else ""
        raise pytest.UsageError(f"--cellwright-{name}: should be a number from {low:g} to {high:g}{hint}, got '{text}'")
    return turned(value)


def near(path: Path) -> Path:
    """Returns a path as it is shorter: relative to the working folder, when it is in that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
