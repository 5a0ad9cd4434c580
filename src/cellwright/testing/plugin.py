"""The pytest plugin: the fixture, and the evidence of a test that fails.

It is loaded in every test run of an environment that has the package, so it imports nothing before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cellwright.testing.cell import CellUnderTest

__all__ = ["cell", "pytest_addoption", "pytest_runtest_makereport"]

CELL = pytest.StashKey["CellUnderTest"]()
FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option for the folder of the evidence."""
    group = parser.getgroup("cellwright")
    group.addoption(
        "--cellwright-keep", metavar="DIR", help="keep logs, pictures and reports of tests that fail in this folder"
    )


@pytest.fixture
def cell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CellUnderTest]:
    """A cell for one test, in a process and on ports of its own; `cell.start("aprs", ...)` starts it."""
    from cellwright.testing.cell import CellUnderTest

    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", request.node.name)
    wanted = request.config.getoption("--cellwright-keep")
    folder = Path(wanted).absolute() / name if wanted else tmp_path_factory.mktemp(f"cell_{name[:40]}")
    made = request.node.stash[CELL] = CellUnderTest(folder, name)
    yield made
    made.close(keep=request.node.stash.get(FAILED, False))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keeps the evidence of a cell whose test fails, and names its files in the report."""
    report = yield
    under_test = item.stash.get(CELL, None)
    if report.failed and under_test is not None and call.when != "teardown":
        item.stash[FAILED] = True
        failure = str(call.excinfo.value) if call.excinfo else ""  # which tells of a controller that has failed
        report.sections += [("controller", text) for run in under_test.controllers if (text := str(run)) not in failure]
        report.sections.append(("cellwright", _evidence(under_test)))
    return report


def _evidence(under_test: CellUnderTest) -> str:
    from cellwright.core.errors import CellwrightError

    said = [file for run in under_test.controllers for file in (run.stdout_file, run.stderr_file)]
    try:
        return "\n".join(f"kept: {path}" for path in (*under_test.save(), *said))
    except CellwrightError as error:
        return f"there is no report: {error}\nkept: {under_test.folder}"
