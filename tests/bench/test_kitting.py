"""The kitting bench: what it measures, and that an order that was not done is no measurement."""

from __future__ import annotations

import pytest

from cellwright.bench import MeasurementFailed
from cellwright.bench.kitting import TWO_KITS, run_timed
from cellwright.orders import DESIGNS, Order, OrderLine


@pytest.mark.slow
def test_two_robots_move_at_once():
    timed = run_timed(3, TWO_KITS)
    assert 0.1 < timed.both_moving < 0.9
    assert timed.parts_per_min > 5
    assert 0 < timed.thinking_s < timed.cpu_s
    assert {action.robot for action in timed.report.order.actions} == {"fanuc", "motoman"}


@pytest.mark.long
def test_an_order_that_fails_is_no_measurement():
    too_many = Order("too_many", (OrderLine(DESIGNS.get("kit_s2l2"), 3),))
    with pytest.raises(MeasurementFailed, match="seed 3"):
        run_timed(3, too_many)
