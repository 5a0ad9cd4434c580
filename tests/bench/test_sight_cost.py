"""What line of sight costs is measured between two laboratories that do the same."""

from __future__ import annotations

import pytest

from cellwright.bench.sight_cost import sight_cost
from cellwright.cells import load_cell


@pytest.mark.slow
def test_the_cost_is_a_share_of_speed():
    cell = load_cell("aprs").model_copy(update={"settle_s": 0.5})
    assert 0.0 <= sight_cost(cell, 0, 3) < 0.4
