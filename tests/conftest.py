"""Rules for every test."""

import gc
import os
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# The fast tier gives the same answer every time; `HYPOTHESIS_PROFILE=explore` looks for new examples.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

HERE = Path(__file__).parent
KERNELS = HERE.parent / "src" / "cellwright" / "motion" / "planning" / "__pycache__"


def pytest_configure(config):
    """Before all tests run in several workers, compiles what each of them, and many a subprocess, would compile."""
    all_of_them = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if all_of_them and _workers(config) and find_spec("numba") and not any(KERNELS.rglob("*.nbc")):
        halves = [
            subprocess.Popen([sys.executable, str(HERE / "compile_first.py"), half], stderr=subprocess.DEVNULL)
            for half in ("planner", "laws")
        ]
        for half in halves:  # what goes wrong in them the tests will find out
            half.wait()


def pytest_collection_finish():
    """What was imported stays: the collector of garbage need not look through it again and again."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a peer test may skip only for a peer that Debian does not have: a missing package is our mistake."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("peer") and _in_ci():
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if not reason.startswith("not in Debian"):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: skipped in CI ({reason}), but its peer is in Debian: install it"
    return report


def _workers(config: pytest.Config) -> int:
    return getattr(config.option, "numprocesses", None) or 0  # none in a worker


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() == "true"


@contextmanager
def _catalogue_restored():
    """Removes from the catalogue what was registered in between."""
    from cellwright.catalogue import KINDS
    from cellwright.orders import DESIGNS

    before = [(table, dict(table._entries)) for table in (*KINDS.values(), DESIGNS)]
    yield
    for table, entries in before:
        table._entries.clear()
        table._entries.update(entries)


@pytest.fixture
def own_models():
    """Removes a test's own models from the catalogue after it."""
    with _catalogue_restored():
        yield


@pytest.fixture(scope="module", autouse=True)
def _models_of_one_module():
    """Keeps the models of one test file out of the catalogue that the next one lists."""
    with _catalogue_restored():
        yield


@pytest.fixture(scope="session")
def aprs():
    """The APRS cell."""
    from cellwright.cells import load_cell

    return load_cell("aprs")


@pytest.fixture(scope="session")
def changed(aprs):
    """The APRS cell without physics and with some sections replaced, validated as a file would be."""

    def change(**sections):
        return type(aprs).model_validate(aprs.model_dump() | {"fidelity": "kinematic"} | sections)

    return change
