"""Fixtures of trials."""

import pytest

from cellwright.trials import trial_file
from cellwright.trials.trial import Trial


@pytest.fixture
def present(monkeypatch):
    """The trial that runs: a test changes its world by hand, which no controller can."""
    made = []

    class NotedTrial(Trial):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr(trial_file, "Trial", NotedTrial)
    return lambda: made[-1]
