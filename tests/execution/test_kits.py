"""Whole kits, from the drawings to seated gears, in a cell with physics and a detector with noise."""

from __future__ import annotations

import pytest

from cellwright.execution import OrderStatus
from cellwright.orders import find_order

from .conftest import build, small_kit


def test_a_gear_goes_from_its_tray_into_the_kit_and_every_step_says_why():
    report = build("m")
    order = report.order
    assert order.status is OrderStatus.DONE
    assert report.done
    assert not report.hits
    assert not report.drops
    verbs = [record.action.split()[0].strip("(") for record in order.actions]
    assert verbs == ["look-for-part", "set-grasp", "take-part", "look-for-slot", "place-part"]
    assert all(record.phase == "end" and record.part == order.kits[0].slots[0].part for record in order.actions)
    assert all(one.value == "true" and one.evidence for record in order.actions for one in record.predicates)
    whens = {one.when for record in order.actions for one in record.predicates}
    assert whens == {"precondition", "effect"}
    slot = order.kits[0].slots[0]
    assert slot.filled
    assert slot.offset_m < 0.001
    assert slot.seen_s > order.actions[-1].end_s - 1.0
    assert (order.plans, order.replans, order.retries) == (1, 0, 0)
    assert order.as_dict()["kits"][0]["slots"][0]["filled"] is True


@pytest.mark.slow
def test_two_robots_build_a_kit_each_at_the_same_time():
    report = build([small_kit("m"), small_kit("s")], robots=("fanuc", "motoman"))
    assert report.done
    assert not report.hits
    takes = {record.robot: record for record in report.order.actions if record.action.startswith("(take-part")}
    assert set(takes) == {"fanuc", "motoman"}
    first, second = takes.values()
    assert first.start_s < second.end_s
    assert second.start_s < first.end_s


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kit", ["kit_m2l1", "kit_s2l2"])
@pytest.mark.parametrize("robots", [("fanuc",), ("motoman",)])
def test_every_kit_by_every_robot(kit, robots, seed):
    report = build([find_order(kit)], robots=robots, seed=seed)
    assert report.done, report.reason
    assert not report.hits


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_both_kits_by_both_robots(seed):
    report = build([find_order("kit_m2l1"), find_order("kit_s2l2")], robots=("fanuc", "motoman"), seed=seed)
    assert report.done, report.reason
    assert not report.hits
