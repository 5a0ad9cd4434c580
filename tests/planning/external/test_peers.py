"""Fast Downward and ENHSP themselves."""

import shutil
import time
from dataclasses import replace

import pytest

from cellwright.orders import DESIGNS, find_order
from cellwright.planning import (
    HeldItem,
    HeldKind,
    PlanRequest,
    PlanStatus,
    ToolHolderState,
    Verb,
    plan,
    validate_sequence,
    validate_timed,
)
from cellwright.planning.external import ProcessLimits, choose_work, make_planner
from cellwright.planning.external.fast_downward import package_folder

pytestmark = pytest.mark.peer

PACKAGES = {"fast-downward": "up_fast_downward", "fast-downward-optimal": "up_fast_downward", "enhsp": "up_enhsp"}


def planned(name, request, time_s=120.0):
    """A plan of theirs, checked; where it is not installed the test is skipped."""
    if package_folder(PACKAGES[name]) is None:
        pytest.skip("not in Debian: pip install 'cellwright[planners]'")
    if name == "enhsp" and shutil.which("java") is None:
        pytest.skip("java is not installed (Debian: default-jre-headless)")
    result = make_planner(name, limits=ProcessLimits(time_s)).plan(request)
    assert result.planner == name
    for verdict in (validate_sequence(request, result), validate_timed(request, result)):
        assert verdict.valid, verdict.reason
    return result


@pytest.mark.parametrize("order", [order for order in DESIGNS if not order.endswith("_plug")])
@pytest.mark.parametrize("name", ["fast-downward", "enhsp"])
def test_every_order_is_planned_at_the_least_cost(cell, name, order):
    request = PlanRequest(cell(), (find_order(order),))
    result = planned(name, request)
    assert result.status is PlanStatus.OPTIMAL
    assert result.unfinished == ()
    assert result.cost == result.lower_bound == plan(request).cost


@pytest.mark.parametrize("name", ["fast-downward", "enhsp"])
def test_a_hundred_kits(cell, name, record_property):
    request = PlanRequest(cell(), (find_order("a2b3c3d1e1", 100),))
    begun_s = time.perf_counter()
    result = planned(name, request)
    record_property("milliseconds", round(1000 * (time.perf_counter() - begun_s)))
    assert result.ratio <= 1.001
    assert len(result.actions) > 6000


@pytest.mark.parametrize("name", ["fast-downward", "enhsp"])
def test_the_same_request_has_the_same_plan(request_from, name):
    request = request_from(33, harsh=False, largest=3)
    assert planned(name, request) == planned(name, request)


@pytest.mark.parametrize("name", ["fast-downward", "enhsp"])
def test_no_plan_is_proved(cell, name):
    """A part in hand that fits nowhere: all trays are full."""
    state = cell(stock=50)
    robot = replace(state.robots[0], tool="part_gripper", hand=HeldItem(HeldKind.PART, "sku_part_a"))
    holders = tuple(ToolHolderState(h.name, None if h.tool == "part_gripper" else h.tool) for h in state.holders)
    state = replace(state, robots=(robot,), holders=holders)
    result = planned(name, PlanRequest(state, (find_order("a2b1c1"),)))
    assert result.status is PlanStatus.UNSOLVABLE
    assert result.reasons == (f"kit a2b1c1_1: {name} has proved that there is no plan",)


@pytest.mark.parametrize("name", ["fast-downward", "enhsp"])
def test_a_time_limit_ends_it(cell, name):
    result = planned(name, PlanRequest(cell(), (find_order("a2b3c3d1e1", 100),)), time_s=0.1)
    assert result.status is PlanStatus.TIMEOUT
    assert len(result.unfinished) == 100


def test_from_any_state(request_from):
    solved = 0
    for seed in range(24):
        request = request_from(seed, largest=4)
        if choose_work(request).jobs:
            result = planned("fast-downward", request)
            assert bool(result.actions) == bool(plan(request, "sequencer").actions)
            solved += bool(result.actions)
    assert solved >= 8


@pytest.mark.parametrize("name", ["fast-downward-optimal", "enhsp"])
def test_wrong_parts_are_taken_out(scrambled, name):
    compared = 0
    for seed in range(40):
        request = scrambled(seed)
        work = choose_work(request)
        if len(work.jobs) < 3 and any(job.started and job.started.wrong for job in work.jobs):
            ours, theirs = plan(request, "sequencer"), planned(name, request)
            assert validate_sequence(request, ours).valid, seed
            assert (not ours.actions) == (theirs.status is PlanStatus.UNSOLVABLE), seed
            assert bool(theirs.actions) == any(action.verb is Verb.REMOVE_PART for action in theirs.actions), seed
            assert ours.lower_bound <= theirs.cost, seed
            if name == "fast-downward-optimal":
                assert theirs.cost <= ours.cost, seed
                assert ours.cost == theirs.cost or ours.status is PlanStatus.SOLVED, seed
            compared += bool(theirs.actions)
    assert compared >= 3


SMALL = [
    ([("a2b1c1", 4)], 1),
    ([("a2b1c1", 4)], 2),
    ([("a2b3c3d1e1", 4)], 1),
    ([("a2b3c3d1e1", 2)], 2),
    ([("a2b1c1", 2), ("a2b3c3d1e1", 1)], 2),
    ([("a2b1c1", 1), ("kit_m2l1", 1), ("kit_s2l2", 1)], 2),
    ([("kit_m2l1", 2), ("a2b2c1", 2)], 1),
]


@pytest.mark.parametrize(("kits", "tables"), SMALL)
def test_our_cost_and_bound_are_the_optimum(cell, kits, tables):
    request = PlanRequest(cell(tables=tables), tuple(find_order(name, number) for name, number in kits))
    ours, best = plan(request), planned("fast-downward-optimal", request)
    assert best.status is PlanStatus.OPTIMAL
    assert ours.lower_bound == ours.cost == best.cost == best.lower_bound


def test_our_bound_is_none_too_high_from_disturbed_states(request_from):
    """At most four kits on at most two tables: tools anywhere, hands full, kits begun, parts and reach lacking."""
    compared = 0
    for seed in range(120):
        request = request_from(seed, harsh=seed % 2 == 0, largest=2)
        if len(request.state.tables) > 2 or not 0 < len(choose_work(request).jobs) <= 4:
            continue
        ours, best = plan(request, "sequencer"), planned("fast-downward-optimal", request)
        assert ours.lower_bound <= best.cost, seed
        assert (not ours.actions) == (best.status is PlanStatus.UNSOLVABLE), seed
        if ours.status is PlanStatus.OPTIMAL:
            assert ours.cost == best.cost, seed
        compared += 1
    assert compared >= 32
