"""Requests for plans when something cannot be had."""

from __future__ import annotations

from cellwright.execution.plan_requests import _as_ordered
from cellwright.orders import DESIGNS, KitDesign, Order
from cellwright.planning import KitState

WHOLE = DESIGNS.get("kit_m2l1")
SMALLER = KitDesign(WHOLE.name, WHOLE.tray_sku, WHOLE.slots[:1] + WHOLE.slots[2:])
MEDIUM, LARGE = WHOLE.slots[0].sku, WHOLE.slots[2].sku


def test_a_kit_that_was_begun_loses_the_slots_that_are_given_up():
    """It is one kit of one design for the planner, which refuses two of one name."""
    begun = KitState("kit_m2l1_1", WHOLE, "work_table", (MEDIUM, None, LARGE))
    assert _as_ordered(begun, [Order.of("one", {WHOLE: 1})]) is begun
    assert _as_ordered(begun, [Order.of("other", {DESIGNS.get("kit_s2l2"): 1})]) is begun
    smaller = _as_ordered(begun, [Order.of("one", {SMALLER: 1})])
    assert (smaller.name, smaller.design, smaller.filled) == ("kit_m2l1_1", SMALLER, (MEDIUM, LARGE))
