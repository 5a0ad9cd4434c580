"""The bench of `cellwright init`."""

from __future__ import annotations

import pytest

from cellwright.bench.view_init import init_to_green_s


@pytest.mark.long
@pytest.mark.slow
def test_a_project_is_green_in_ninety_seconds():
    assert 1.0 < init_to_green_s() < 90.0
