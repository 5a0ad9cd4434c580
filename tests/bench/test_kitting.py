"""The kitting bench: what it measures, and that an order that was not done is no measurement."""

from __future__ import annotations

import pytest

from cellwright.bench import MeasurementFailed
from cellwright.bench.kitting import TWO_KITS, run_timed
from cellwright.bench.start_up import first_motion_s, help_s
from cellwright.orders import DESIGNS, Order, OrderLine


@pytest.mark.slow
def test_two_robots_move_at_once():
    timed = run_timed(3, TWO_KITS)
    assert 0.1 < timed.both_moving < 0.9
    assert timed.parts_per_min > 5
    assert 0 < timed.overhead_s < timed.cpu_s
    assert {action.robot for action in timed.report.order.actions} == {"fanuc", "motoman"}


@pytest.mark.long
def test_an_order_that_fails_is_no_measurement():
    too_many = Order("too_many", (OrderLine(DESIGNS.get("kit_s2l2"), 3),))
    with pytest.raises(MeasurementFailed, match="seed 3"):
        run_timed(3, too_many)


@pytest.mark.slow
def test_a_run_is_compared_with_the_physics_of_the_same_control():
    timed = run_timed(0, "kit_m2l1")  # ends in the same state to the last bit, or it is refused
    assert 0.1 < timed.raw_s / timed.cpu_s < 1.0


@pytest.mark.slow
def test_the_first_motion_of_a_run_comes_after_its_help_could_be_read():
    assert 0.0 < help_s("run") < first_motion_s()
