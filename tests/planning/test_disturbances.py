"""What plans do when the cell is not as it should be."""

from dataclasses import replace

import pytest

from cellwright.orders import DESIGNS, find_order
from cellwright.planning import HeldItem, HeldKind, KitState, PlanRequest, PlanStatus, ToolHolderState, Verb, plan


def half_done(state, **robot):
    """One kit with its A parts in place; the robot is changed as told."""
    design = DESIGNS.get("a2b1c1")
    filled = tuple(slot.sku if slot.sku == "sku_part_a" else None for slot in design.slots)
    first = replace(state.robots[0], **robot)
    kits = (KitState("begun", design, "table_1", filled),)
    return replace(state, robots=(first, *state.robots[1:]), kits=kits)


def without(state, tool):
    holders = tuple(ToolHolderState(h.name, None if h.tool == tool else h.tool) for h in state.holders)
    return replace(state, holders=holders)


def test_a_part_in_hand_is_placed_first(cell, checked):
    hand = HeldItem(HeldKind.PART, "sku_part_b")
    state = half_done(without(cell(), "part_gripper"), tool="part_gripper", hand=hand)
    result = checked(PlanRequest(state, (find_order("a2b1c1"),)))
    assert [a.verb for a in result.actions[:2]] == [Verb.LOOK_SLOT, Verb.PLACE_PART]
    assert sum(a.verb is Verb.TAKE_PART for a in result.actions) == 1


def test_a_part_that_no_kit_wants_goes_back(cell, checked):
    hand = HeldItem(HeldKind.PART, "sku_part_a")
    state = half_done(without(cell(stock=50), "part_gripper"), tool="part_gripper", hand=hand)
    full = plan(PlanRequest(state, (find_order("a2b1c1"),)))
    assert full.status is PlanStatus.UNSOLVABLE
    assert full.reasons == ("kit begun: robot_1 holds sku_part_a and no place in its reach takes it",)
    trays = tuple(replace(tray, count=40) for tray in state.parts_trays)
    result = checked(PlanRequest(replace(state, parts_trays=trays), (find_order("a2b1c1"),)))
    assert result.actions[0].verb is Verb.RETURN_PART


def test_a_tool_on_the_wrong_holder_is_fetched_there(cell, checked):
    state = cell()
    tools = [holder.tool for holder in state.holders]
    holders = tuple(replace(holder, tool=tool) for holder, tool in zip(state.holders, tools[::-1], strict=True))
    result = checked(PlanRequest(replace(state, holders=holders), (find_order("a2b1c1"),)))
    assert (result.actions[0].tool, result.actions[0].place) == ("tray_gripper", "holder_3")


def test_a_depleted_tray_names_the_kits_and_the_rest_is_planned(cell, checked):
    state = cell()
    trays = tuple(replace(tray, count=3 if tray.sku == "sku_part_a" else 50) for tray in state.parts_trays)
    orders = (find_order("a2b1c1", 2), find_order("kit_m2l1", priority=1))
    result = checked(PlanRequest(replace(state, parts_trays=trays), orders))
    assert result.reasons == ("kit a2b1c1_2: needs 2 of sku_part_a, 1 left in reach",)
    first = next(a for a in result.actions if a.verb is Verb.TAKE_TRAY)
    assert first.kit == "kit_m2l1_1"


def test_a_robot_that_is_gone_takes_its_tool_with_it(cell, checked):
    state = without(cell(2, 2), "vacuum_gripper")
    gone = replace(state.robots[1], tool="vacuum_gripper", available=False)
    state = replace(state, robots=(state.robots[0], gone))
    orders = (find_order("a2b1c1"), find_order("a2b3c3d1e1"))
    result = checked(PlanRequest(state, orders))
    assert result.planner == "sequencer"
    assert result.reasons == ("kit a2b3c3d1e1_1: no robot in service can get a tool for sku_part_d",)
    assert {action.robot for action in result.actions} == {"robot_1"}


def with_room(state):
    return replace(state, parts_trays=tuple(replace(tray, count=tray.capacity - 50) for tray in state.parts_trays))


def mixed(state, filled, **kit):
    """A kit a2b1c1 on the first table with these SKUs in its slots a, a, b, c."""
    skus = tuple(letter and f"sku_part_{letter}" for letter in filled)
    return replace(state, kits=(KitState("mixed", DESIGNS.get("a2b1c1"), "table_1", skus, **kit),))


@pytest.mark.parametrize("robots", [1, 2])
def test_a_wrong_part_goes_back_into_its_tray(cell, checked, robots):
    state = mixed(with_room(cell(robots, tables=2)), ("d", "a", "b", "c"))
    result = checked(PlanRequest(state, (find_order("a2b1c1"),)))
    assert not result.unfinished
    steps = [(a.verb, a.sku, a.place) for a in result.actions if a.verb in (Verb.REMOVE_PART, Verb.RETURN_PART)]
    wrong = "sku_part_d"
    assert steps == [(Verb.REMOVE_PART, wrong, "table_1"), (Verb.RETURN_PART, wrong, "parts_d")]
    placed = [action.sku for action in result.actions if action.verb is Verb.PLACE_PART]
    assert placed == ["sku_part_a"]
    out = next(a for a in result.actions if a.verb is Verb.REMOVE_PART)
    into = next(a for a in result.actions if a.verb is Verb.PLACE_PART)
    assert out.end_s <= into.start_s
    assert result.status is PlanStatus.OPTIMAL


@pytest.mark.parametrize("robots", [1, 2])
def test_a_wrong_part_is_used_where_it_is_missing(cell, checked, robots):
    state = mixed(with_room(cell(robots, tables=2)), ("b", "a", None, "c"))
    result = checked(PlanRequest(state, (find_order("a2b1c1"),)))
    assert [a.sku for a in result.actions if a.verb is Verb.PLACE_PART] == ["sku_part_b", "sku_part_a"]
    assert not any(a.verb is Verb.RETURN_PART for a in result.actions)


def test_wrong_parts_come_out_before_other_kits_are_filled(cell, checked):
    state = mixed(with_room(cell(tables=2)), ("b", "a", "b", "c"))
    other = KitState("other", DESIGNS.get("a2b1c1"), "table_2", ("sku_part_a", "sku_part_a", None, "sku_part_c"))
    result = checked(PlanRequest(replace(state, kits=(other, *state.kits)), (find_order("a2b1c1", 2),)))
    assert not any(a.verb is Verb.RETURN_PART for a in result.actions)
    assert result.status is PlanStatus.OPTIMAL


@pytest.mark.parametrize("robots", [1, 2])
def test_a_wrong_part_for_which_no_tray_has_room_is_said(cell, checked, robots):
    state = mixed(cell(robots, tables=2), ("d", "a", "b", "c"))  # all parts trays are full
    result = checked(PlanRequest(state, (find_order("a2b1c1", 2),)))
    said = "slot_1 holds sku_part_d, not sku_part_a, and no parts tray of sku_part_d has room for it"
    assert result.reasons == (f"kit mixed: {said}",)
    assert {a.kit for a in result.actions if a.verb is Verb.PLACE_KIT} == {"a2b1c1_1"}


def test_a_wrong_part_that_no_tool_handles_is_said(cell, checked):
    state = mixed(with_room(without(cell(tables=2), "vacuum_gripper")), ("d", "a", "b", "c"))
    result = checked(PlanRequest(state, (find_order("a2b1c1"),)))
    said = "slot_1 holds sku_part_d, not sku_part_a, and no robot in service can get a tool for sku_part_d"
    assert result.reasons == (f"kit mixed: {said}",)
    assert (result.status, result.actions) == (PlanStatus.UNSOLVABLE, ())


def test_a_held_tray_is_laid_without_taking_another(cell, checked):
    state = without(cell(), "tray_gripper")
    hand = HeldItem(HeldKind.KIT_TRAY, "sku_kit_tray")
    state = replace(state, robots=(replace(state.robots[0], tool="tray_gripper", hand=hand),))
    result = checked(PlanRequest(state, (find_order("a2b1c1"),)))
    assert [a.verb for a in result.actions[:2]] == [Verb.PLACE_TRAY, Verb.CREATE_KIT]
    assert not any(a.verb is Verb.TAKE_TRAY for a in result.actions)


def test_a_held_kit_is_put_into_the_outlet_first(cell, checked):
    state, design = without(cell(), "tray_gripper"), DESIGNS.get("a2b1c1")
    kit = KitState("held", design, "", tuple(slot.sku for slot in design.slots))
    arm = replace(state.robots[0], tool="tray_gripper", hand=HeldItem(HeldKind.KIT, "sku_kit_tray", "held"))
    result = checked(PlanRequest(replace(state, robots=(arm,), kits=(kit,)), (find_order("a2b1c1", 2),)))
    assert (result.actions[0].verb, result.actions[0].kit) == (Verb.PLACE_KIT, "held")
    assert {a.kit for a in result.actions if a.verb is Verb.TAKE_TRAY} == {"a2b1c1_1"}


def test_a_half_filled_kit_gets_only_what_it_lacks(cell, checked):
    result = checked(PlanRequest(half_done(cell()), (find_order("a2b1c1"),)))
    assert sorted(a.sku for a in result.actions if a.verb is Verb.PLACE_PART) == ["sku_part_b", "sku_part_c"]
    assert not any(a.verb is Verb.TAKE_TRAY for a in result.actions)


def test_a_part_is_kept_in_hand_until_the_other_robot_has_laid_a_kit_for_it(cell, checked):
    state = without(cell(2, 2), "part_gripper")  # all parts trays are full, so it cannot go back
    first = replace(state.robots[0], tool="part_gripper", hand=HeldItem(HeldKind.PART, "sku_part_a"))
    result = checked(PlanRequest(replace(state, robots=(first, state.robots[1])), (find_order("a2b1c1"),)))
    assert not result.unfinished
    own = [a.verb for a in result.actions if a.robot == "robot_1"]
    assert own[:2] == [Verb.LOOK_SLOT, Verb.PLACE_PART]
    assert sum(a.verb is Verb.TAKE_PART for a in result.actions) == 3
