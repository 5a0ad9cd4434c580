"""Rules for every test."""

import os

import pytest
from hypothesis import settings

# The fast tier gives the same answer every time; `HYPOTHESIS_PROFILE=explore` looks for new examples.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


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


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() == "true"
