"""Parts out of slots are stock for other kits, robots hand parts over through trays, and what cannot be is proven."""

from dataclasses import replace

import pytest

from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import (
    HeldItem,
    HeldKind,
    KitState,
    PartSupply,
    PlanRequest,
    PlanStatus,
    ToolHolderState,
    Verb,
    plan,
    state_after,
    validate_timed,
)

A, B, C = "sku_part_a", "sku_part_b", "sku_part_c"
AB = KitDesign.of("ab", "sku_kit_tray", {A: 1, B: 1})
BC = KitDesign.of("bc", "sku_kit_tray", {B: 1, C: 1})


def orders(*designs):
    return tuple(Order(f"order_{n}", (OrderLine(design, 1),)) for n, design in enumerate(designs))


def stocked(state, **counts):
    """Parts trays with so many parts, and room for as many as they can take."""
    trays = (replace(t, count=counts.get(t.sku[-1], t.count), capacity=50) for t in state.parts_trays)
    return replace(state, parts_trays=tuple(trays))


def steps(result, *verbs):
    return [(a.verb, a.robot, a.sku, a.place) for a in result.actions if a.verb in verbs]


# ------------------------------------------------------------ stock out of slots


@pytest.mark.parametrize("robots", [1, 2])
@pytest.mark.parametrize("later", [True, False])
def test_a_wrong_part_in_one_kit_is_the_stock_of_another(cell, checked, robots, later):
    """The only A lies where a C belongs; the kit that lacks it comes before or after in the order."""
    kits = (KitState("lacks", AB, "table_1", (None, B)), KitState("mixed", BC, "table_2", (B, A)))
    state = replace(stocked(cell(robots, 2, stock=50), a=0, b=10, c=10), kits=kits)
    wanted = (AB, BC) if later else (BC, AB)
    result = checked(PlanRequest(state, orders(*wanted)))
    assert not result.unfinished
    assert [a.sku for a in result.actions if a.verb is Verb.REMOVE_PART] == [A]
    assert not steps(result, Verb.RETURN_PART)
    assert sorted(a.sku for a in result.actions if a.verb is Verb.PLACE_PART) == [A, C]


@pytest.mark.parametrize("robots", [1, 2])
def test_a_wrong_part_needs_no_room_in_a_tray_when_a_kit_to_come_takes_it(cell, checked, robots):
    kits = (KitState("mixed", BC, "table_2", (B, A)),)
    state = replace(cell(robots, 2, stock=50), kits=kits)  # all parts trays are full
    state = replace(
        state, parts_trays=tuple(replace(t, count=0, capacity=0) if t.sku == A else t for t in state.parts_trays)
    )
    result = checked(PlanRequest(state, orders(BC, AB)))
    assert not result.unfinished


@pytest.mark.parametrize("robots", [1, 2])
def test_a_kit_that_is_to_be_taken_apart_is_stock(cell, checked, robots):
    spare = KitState("spare", AB, "table_2", (A, B), apart=True)
    state = replace(stocked(cell(robots, 2, stock=50), a=0, b=10), kits=(spare,))
    request = PlanRequest(state, orders(AB))
    result = checked(request)
    assert not result.unfinished
    assert result.reasons == ()
    assert {a.kit for a in result.actions if a.verb is Verb.PLACE_KIT} == {"ab_1"}
    assert (Verb.REMOVE_PART, A, "table_2", "spare") in {(a.verb, a.sku, a.place, a.kit) for a in result.actions}
    after = {kit.name: kit for kit in state_after(request, result.actions).kits}
    assert after["spare"].filled[0] is None
    assert after["ab_1"].place == "outlet"
    assert sum(a.verb is Verb.REMOVE_PART for a in result.actions) == 2  # sooner than from a tray
    assert robots > 1 or (result.status is PlanStatus.OPTIMAL and result.cost == result.lower_bound)


def test_without_being_told_so_a_kit_that_nobody_wants_is_not_taken_apart(cell, checked):
    kits = (KitState("other", AB, "table_2", (A, B)),)
    state = replace(stocked(cell(1, 2, stock=50), a=0), kits=kits)
    one_a = KitDesign.of("a", "sku_kit_tray", {A: 1})
    result = checked(PlanRequest(state, orders(one_a)))
    assert (result.status, result.reasons) == (PlanStatus.UNSOLVABLE, ("kit a_1: no sku_part_a left",))


# ------------------------------------------------------------ hand-over


def divided(cell, count=5, room=1, between=0):
    """The left robot reaches the A parts, the right one the table, both a tray with a little room between them."""
    state = stocked(cell(2, 1, stock=50), a=count, b=10)
    middle = PartSupply("middle", A, between, room)
    left, right = state.robots
    left = replace(left, reach=(left.reach | {"middle"}) - {"table_1"}, tool="part_gripper")
    right = replace(right, reach=(right.reach | {"middle"}) - {"parts_a"}, tool="other_gripper")
    holders = tuple(replace(h, tool=None) if h.tool == "part_gripper" else h for h in state.holders)
    other = replace(next(tool for tool in state.tools if tool.name == "part_gripper"), name="other_gripper")
    return replace(
        state,
        parts_trays=(*state.parts_trays, middle),
        robots=(left, right),
        holders=(*holders, ToolHolderState("holder_4")),
        tools=(*state.tools, other),
    )


@pytest.mark.parametrize(("wanted", "room"), [(1, 1), (3, 1), (3, 3)])
def test_robots_hand_parts_over_through_a_tray_that_both_reach(cell, checked, wanted, room):
    design = KitDesign.of("many", "sku_kit_tray", {A: wanted, B: 1})
    kit = KitState("kit", design, "table_1", (None,) * (wanted + 1), fixed=True)
    state = replace(divided(cell, room=room), kits=(kit,))
    result = checked(PlanRequest(state, orders(design)))
    assert not result.unfinished
    assert steps(result, Verb.RETURN_PART) == [(Verb.RETURN_PART, "robot_1", A, "middle")] * wanted
    takes = [step for step in steps(result, Verb.TAKE_PART) if step[1] == "robot_2" and step[2] == A]
    assert takes == [(Verb.TAKE_PART, "robot_2", A, "middle")] * wanted


def test_no_more_is_handed_over_than_is_lacking(cell, checked):
    design = KitDesign.of("many", "sku_kit_tray", {A: 3})
    state = replace(
        divided(cell, room=4, between=2), kits=(KitState("kit", design, "table_1", (None,) * 3, fixed=True),)
    )
    result = checked(PlanRequest(state, orders(design)))
    assert len(steps(result, Verb.RETURN_PART)) == 1


def test_a_part_in_the_wrong_hand_is_handed_over(cell, checked):
    design = KitDesign.of("one", "sku_kit_tray", {A: 1})
    state = replace(divided(cell, count=0), kits=(KitState("kit", design, "table_1", (None,), fixed=True),))
    left = replace(state.robots[0], hand=HeldItem(HeldKind.PART, A))
    trays = tuple(replace(t, capacity=0) if t.name == "parts_a" else t for t in state.parts_trays)
    result = checked(PlanRequest(replace(state, robots=(left, state.robots[1]), parts_trays=trays), orders(design)))
    assert not result.unfinished


def test_a_plan_that_takes_a_part_before_it_was_handed_over_is_refused(cell):
    design = KitDesign.of("one", "sku_kit_tray", {A: 1})
    state = replace(divided(cell), kits=(KitState("kit", design, "table_1", (None,), fixed=True),))
    request = PlanRequest(state, orders(design))
    result = plan(request)
    early = tuple(a._replace(start_s=a.start_s - 5.0) if a.robot == "robot_2" else a for a in result.actions)
    verdict = validate_timed(request, replace(result, actions=tuple(sorted(early, key=lambda a: a.start_s))))
    assert "middle has no part left" in verdict.reason


# ------------------------------------------------------------ proven or not found


def test_without_a_tray_between_them_it_is_proven_that_there_is_no_plan(cell, checked):
    design = KitDesign.of("one", "sku_kit_tray", {A: 1})
    state = divided(cell)
    apart = tuple(replace(r, reach=r.reach - {"middle"}) for r in state.robots)
    kits = (KitState("kit", design, "table_1", (None,), fixed=True),)
    result = checked(PlanRequest(replace(state, robots=apart, kits=kits), orders(design)))
    assert result.status is PlanStatus.UNSOLVABLE
    assert result.unfinished[0].proven
    assert "reaches both table_1 and" in result.reasons[0]


def test_what_was_not_found_and_is_not_proven_is_said_so(cell, checked):
    """A tool that would have to be carried over from one holder to another by a robot that does not need it."""
    design = KitDesign.of("one", "sku_kit_tray", {A: 1})
    state = stocked(cell(2, 1, stock=50), a=5)
    left, right = state.robots
    left = replace(left, reach=frozenset({"holder_2", "holder_4"}))
    right = replace(right, reach=(right.reach | {"holder_4"}) - {"holder_2"})
    kits = (KitState("kit", design, "table_1", (None,), fixed=True),)
    state = replace(state, holders=(*state.holders, ToolHolderState("holder_4")), robots=(left, right), kits=kits)
    result = checked(PlanRequest(state, orders(design)))
    assert (result.status, result.unfinished[0].proven) == (PlanStatus.NOT_FOUND, False)


@pytest.mark.parametrize("robots", [1, 2])
def test_one_finished_kit_of_six_is_not_unsolvable(cell, checked, robots):
    done = KitState("done", AB, "outlet", (A, B))
    state = replace(stocked(cell(robots, 2, stock=50), a=0), kits=(done,))
    result = checked(PlanRequest(state, (Order("six", (OrderLine(AB, 6),)),)))
    assert (result.status, len(result.unfinished)) == (PlanStatus.SOLVED, 5)
    assert all(kit.proven and kit.reason == "no sku_part_a left" for kit in result.unfinished)


@pytest.mark.parametrize("robots", [1, 2])
def test_one_kit_of_six_that_can_be_completed_is_planned_and_the_others_are_named(cell, checked, robots):
    state = stocked(cell(robots, 2, stock=50), a=1)
    result = checked(PlanRequest(state, (Order("six", (OrderLine(AB, 6),)),)))
    assert len(result.unfinished) == 5
    assert {a.kit for a in result.actions if a.verb is Verb.PLACE_KIT} == {"ab_1"}
    assert (
        result.status is PlanStatus.SOLVED
    )  # which one of six is built is our choice, so nothing is proven of the rest
