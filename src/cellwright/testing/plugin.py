"""The pytest plugin: the fixture, and the evidence of tests.

It is loaded in every test run of an environment that has the package, so it imports nothing before it is used.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cellwright.testing.settings import KeepSettings, add_options, in_folder, marked_settings, near, read_settings

if TYPE_CHECKING:
    from cellwright.testing.cell import CellUnderTest

__all__ = ["cell", "pytest_addoption", "pytest_configure", "pytest_runtest_makereport", "pytest_sessionstart"]

CELL = pytest.StashKey["CellUnderTest"]()
KEPT = pytest.StashKey[bool]()
SETTINGS = pytest.StashKey[KeepSettings]()
LOCK = pytest.StashKey[Any]()
OUTPUT = "cellwright_output"  # told to workers of xdist


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Reads the options, and starts the report in the process that hears of all tests."""
    config.addinivalue_line(
        "markers", "cellwright(trace, video, picture): what is kept of this test, as by the options"
    )
    settings = config.stash[SETTINGS] = read_settings(config)
    if _is_worker(config):
        told = getattr(config, "workerinput", {}).get(OUTPUT)
        config.stash[SETTINGS] = in_folder(settings, Path(told)) if told else settings
        return
    wanted = settings.output
    if not config.option.collectonly:
        from cellwright.testing.folder_lock import FolderLock

        lock = config.stash[LOCK] = FolderLock(wanted)
        settings = config.stash[SETTINGS] = in_folder(settings, lock.folder)
    from cellwright.testing.session_report import SessionReport

    report = SessionReport(settings, config.invocation_params.dir, taken=wanted if settings.output != wanted else None)
    config.pluginmanager.register(report, "cellwright-report")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the output folder to the next session."""
    lock = config.stash.get(LOCK, None)
    if lock is not None:
        lock.release()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker of xdist the output folder of the session."""
    node.workerinput[OUTPUT] = str(node.config.stash[SETTINGS].output)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Says where to look at the cells while tests run; each worker of xdist has the next port."""
    view = config.stash[SETTINGS].view
    return [f"cellwright: live page http://{view}/ (workers of xdist: the next ports)"] if view else []


def pytest_sessionstart(session: pytest.Session) -> None:
    """Empties the output folder, once: workers of xdist leave that to the process that has started them."""
    settings = session.config.stash[SETTINGS]
    if not _is_worker(session.config) and not session.config.option.collectonly and settings.output.is_dir():
        from cellwright.testing.evidence import empty_output

        empty_output(settings.output)


@pytest.fixture
def cell(request: pytest.FixtureRequest) -> Iterator[CellUnderTest]:
    """A cell for one test, in a process and on ports of its own; `cell.start("aprs", ...)` starts it."""
    from cellwright.testing.cell import CellUnderTest
    from cellwright.testing.evidence import take_test_folder

    node = request.node
    settings = _settings_of(node)
    retry = max(0, getattr(node, "execution_count", 1) - 1)  # told by pytest-rerunfailures
    folder = take_test_folder(settings.output, node.nodeid, retry)
    made = node.stash[CELL] = CellUnderTest(folder, node.name, settings)
    node.stash[KEPT] = False
    yield made
    made.close(keep=node.stash[KEPT])
    with contextlib.suppress(OSError):
        settings.output.rmdir()  # unless something is in it


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keeps the evidence of a cell, and names its files in the report."""
    report = yield
    under_test = item.stash.get(CELL, None)
    if under_test is None or not under_test.started or call.when == "teardown":
        return report
    if call.when == "call" or report.failed:
        _keep(item, call, report, under_test)
    return report


def _keep(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, under_test: CellUnderTest) -> None:
    from cellwright.testing.evidence import KeptEvidence

    failure = str(call.excinfo.value) if call.excinfo and report.failed else ""  # tells of a controller that has failed
    first = f"the test failed: {failure.partition(chr(10))[0] or 'an assertion'}" if report.failed else ""
    again = shlex.join(["pytest", item.nodeid])
    evidence = KeptEvidence.of(under_test, _settings_of(item), failed=report.failed, failure=first, command=again)
    item.stash[KEPT] = bool(evidence.files)
    told = [*under_test.properties(), *evidence.properties(item.config.invocation_params.dir)]
    others = [said for said in item.user_properties if not str(said[0]).startswith("cellwright_")]
    item.user_properties[:] = [*others, *told]  # for JUnit XML, which reads them after the teardown
    report.user_properties = list(item.user_properties)
    if report.failed:
        report.sections += [("controller", text) for run in under_test.controllers if (text := str(run)) not in failure]
        lines = [f"{what}: {near(path)}" for what, path in evidence.files]
        report.sections.append(("cellwright", "\n".join([*lines, *evidence.notes])))


def _settings_of(node: pytest.Item) -> KeepSettings:
    marker = node.get_closest_marker("cellwright")
    return marked_settings(node.config.stash[SETTINGS], marker.kwargs if marker else {})


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
