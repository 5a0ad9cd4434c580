from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.orders import DESIGNS, find_order
from cellwright.planning import (
    PLANNERS,
    Hand,
    HandKind,
    Holder,
    KitState,
    PlanRequest,
    PlanStatus,
    Verb,
    plan,
    validate_sequence,
    validate_timed,
)

NAMES = ["a2b1c1", "a2b2c1", "a4b3c3", "a4b4c2", "a2b3c5", "a4b3c2d1", "a2b3c3d1e1", "s2b2", "kit_s2l2", "kit_m2l1"]


def checked(request, planner=None):
    result = plan(request, planner)
    for verdict in (validate_sequence(request, result), validate_timed(request, result)):
        assert verdict.valid, verdict.reason
    return result


@pytest.mark.parametrize("name", NAMES)
def test_every_order_has_the_shortest_plan(cell, name):
    result = checked(PlanRequest(cell(), (find_order(name),)))
    tools = 2 if set("de") & set(name) and name[0] == "a" else 1
    # attach, lay a tray in three steps, per tool detach and attach, five steps a part, change again, clear in two
    assert len(result.actions) == 1 + 3 + 2 * tools + 5 * len(DESIGNS.get(name).slots) + 2 + 2
    assert result.status is PlanStatus.OPTIMAL
    assert result.cost == result.lower_bound == result.makespan_s


def test_tables_save_tool_changes(cell):
    order = find_order("a2b3c3d1e1", 12)
    alone = checked(PlanRequest(cell(tables=1), (order,)))
    batched = checked(PlanRequest(cell(tables=4), (order,)))
    changes = [sum(a.verb is Verb.ATTACH for a in made.actions) for made in (alone, batched)]
    assert changes == [3 * 12 + 1, 3 * 3 + 1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("kits", "tables"), [(1, 1), (2, 2), (9, 1), (10, 2)])
def test_two_robots_with_equal_kits_come_close_to_the_bound(cell, name, kits, tables):
    result = checked(PlanRequest(cell(2, tables), (find_order(name, kits),)))
    assert result.ratio <= 1.1
    assert {action.robot for action in result.actions} == {"robot_1", "robot_2"}


def test_more_iterations_never_make_it_worse(cell):
    orders = (find_order("a2b1c1", 3), find_order("a2b3c3d1e1", 3))
    request = PlanRequest(cell(2, 2), orders)
    spans = [checked(replace(request, iterations=n)).makespan_s for n in (0, 12, 400)]
    assert spans == sorted(spans, reverse=True)


def test_a_shared_zone_is_never_entered_by_two(cell):
    state = cell(2, 2)
    zones = tuple((place, "middle") for place in ("table_1", "table_2", "parts_a", "parts_b"))
    free = checked(PlanRequest(state, (find_order("a2b3c3d1e1", 4),)))
    tight = checked(PlanRequest(replace(state, zones=zones), (find_order("a2b3c3d1e1", 4),)))
    assert tight.makespan_s > free.makespan_s


def half_done(state, **robot):
    """One kit with its A parts in place; the robot is changed as told."""
    design = DESIGNS.get("a2b1c1")
    filled = tuple(slot.sku if slot.sku == "sku_part_a" else None for slot in design.slots)
    first = replace(state.robots[0], **robot)
    kits = (KitState("begun", design, "table_1", filled),)
    return replace(state, robots=(first, *state.robots[1:]), kits=kits)


def without(state, tool):
    holders = tuple(Holder(h.name, None if h.tool == tool else h.tool) for h in state.holders)
    return replace(state, holders=holders)


def test_a_part_in_hand_is_placed_first(cell):
    hand = Hand(HandKind.PART, "sku_part_b")
    state = half_done(without(cell(), "part_gripper"), tool="part_gripper", hand=hand)
    result = checked(PlanRequest(state, (find_order("a2b1c1"),)))
    assert [a.verb for a in result.actions[:2]] == [Verb.LOOK_SLOT, Verb.PLACE_PART]
    assert sum(a.verb is Verb.TAKE_PART for a in result.actions) == 1


def test_a_part_that_no_kit_wants_goes_back(cell):
    hand = Hand(HandKind.PART, "sku_part_a")
    state = half_done(without(cell(stock=50), "part_gripper"), tool="part_gripper", hand=hand)
    full = plan(PlanRequest(state, (find_order("a2b1c1"),)))
    assert full.status is PlanStatus.UNSOLVABLE
    assert full.reasons == ("kit begun: robot_1 holds sku_part_a and no place in its reach takes it",)
    trays = tuple(replace(tray, count=40) for tray in state.parts_trays)
    result = checked(PlanRequest(replace(state, parts_trays=trays), (find_order("a2b1c1"),)))
    assert result.actions[0].verb is Verb.RETURN_PART


def test_a_tool_on_the_wrong_holder_is_fetched_there(cell):
    state = cell()
    tools = [holder.tool for holder in state.holders]
    holders = tuple(replace(holder, tool=tool) for holder, tool in zip(state.holders, tools[::-1], strict=True))
    result = checked(PlanRequest(replace(state, holders=holders), (find_order("a2b1c1"),)))
    assert (result.actions[0].tool, result.actions[0].place) == ("tray_gripper", "holder_3")


def test_a_depleted_tray_names_the_kits_and_the_rest_is_planned(cell):
    state = cell()
    trays = tuple(replace(tray, count=3 if tray.sku == "sku_part_a" else 50) for tray in state.parts_trays)
    orders = (find_order("a2b1c1", 2), find_order("kit_m2l1", priority=1))
    result = checked(PlanRequest(replace(state, parts_trays=trays), orders))
    assert result.reasons == ("kit a2b1c1_2: needs 2 of sku_part_a, 1 left in reach",)
    first = next(a for a in result.actions if a.verb is Verb.TAKE_TRAY)
    assert first.kit == "kit_m2l1_1"


def test_a_robot_that_is_gone_takes_its_tool_with_it(cell):
    state = without(cell(2, 2), "vacuum_gripper")
    gone = replace(state.robots[1], tool="vacuum_gripper", available=False)
    state = replace(state, robots=(state.robots[0], gone))
    orders = (find_order("a2b1c1"), find_order("a2b3c3d1e1"))
    result = checked(PlanRequest(state, orders))
    assert result.planner == "sequencer"
    assert result.reasons == ("kit a2b3c3d1e1_1: no robot in service can get a tool for sku_part_d",)
    assert {action.robot for action in result.actions} == {"robot_1"}


def test_a_wrong_part_in_a_kit_is_said(cell):
    design = DESIGNS.get("a2b1c1")
    kit = KitState("mixed", design, "table_1", ("sku_part_b", None, None, None))
    result = checked(PlanRequest(replace(cell(tables=2), kits=(kit,)), (find_order("a2b1c1", 2),)))
    assert any("slot_1 holds sku_part_b, not sku_part_a" in reason for reason in result.reasons)
    assert result.status is PlanStatus.OPTIMAL


def test_reach_decides_who_does_what(cell):
    state = cell(2, 2)
    no_a = replace(state.robots[0], reach=state.robots[0].reach - {"parts_a"})
    result = checked(PlanRequest(replace(state, robots=(no_a, state.robots[1])), (find_order("a2b1c1", 3),)))
    assert not result.unfinished
    assert {a.robot for a in result.actions if a.sku == "sku_part_a"} == {"robot_2"}


def test_kits_that_are_finished_need_nothing(cell):
    design = DESIGNS.get("a2b1c1")
    kit = KitState("done", design, "outlet", tuple(slot.sku for slot in design.slots))
    result = checked(PlanRequest(replace(cell(), kits=(kit,)), (find_order("a2b1c1"),)))
    assert (result.status, result.actions) == (PlanStatus.OPTIMAL, ())


def test_bad_requests_are_one_line(cell):
    with pytest.raises(UnknownName, match="available: scheduler, sequencer"):
        PLANNERS.get("sequenzer")
    with pytest.raises(BadInput, match="at least one order"):
        PlanRequest(cell(), ())
    with pytest.raises(BadInput, match="2 places"):
        replace(cell(), holders=(Holder("holder_1", "tray_gripper"), Holder("holder_2", "tray_gripper")))
    trays = cell().parts_trays
    with pytest.raises(BadInput, match="which takes 0 to 2000"):
        replace(cell(), parts_trays=(replace(trays[0], count=2001), *trays[1:]))


def test_random_orders_from_random_states_for_one_robot(request_from):
    for seed in range(40):
        result = checked(request_from(seed, harsh=bool(seed % 2)))
        assert result.makespan_s <= 1.02 * result.lower_bound


def test_random_orders_from_random_states_for_two_robots(request_from):
    for seed in range(20):
        result = checked(request_from(seed, robots=2, harsh=bool(seed % 2), largest=4))
        assert result.makespan_s >= result.lower_bound - 1e-6


@pytest.mark.long
@pytest.mark.parametrize("robots", [1, 2])
def test_many_random_orders_from_many_random_states(request_from, robots):
    for seed in range(40_000):
        result = checked(request_from(1000 + seed, robots=robots, harsh=bool(seed % 2), largest=4))
        assert result.makespan_s >= result.lower_bound - 1e-6
        if robots == 1:
            assert result.makespan_s <= 1.02 * result.lower_bound
