"""Plans from belief: what lies about is a supply, what cannot be had is left out."""

from __future__ import annotations

import asyncio

import numpy as np

from cellwright.catalogue import ROBOTS
from cellwright.execution.execution_plan import make_plan
from cellwright.execution.robot_pace import robot_paces
from cellwright.execution.settings import Recipe
from cellwright.orders import Order
from cellwright.planning import Verb

from .conftest import SKUS, small_kit


def planned(cell, letters="mml", robots=("fanuc",), left_out=None, gone=(), **how):
    asyncio.run(cell.sleep(0.5))
    view = cell.belief.state
    view.missing = set(gone)
    return make_plan(view, [small_kit(letters)], robots, left_out or {}, Recipe(), **how)


def takes(found):
    return [action for action in found.result.actions if action.verb is Verb.TAKE_PART]


def test_a_robot_takes_from_its_own_table_while_it_can(still):
    found = planned(still())
    assert {action.place for action in takes(found)} == {"fanuc_medium_tray", "fanuc_large_tray"}
    assert found.missing == ()
    assert list(found.kits) == ["fanuc_kit_m2l1"]


def test_where_its_own_table_has_nothing_left_it_goes_to_the_other(still):
    own = {f"medium_gear_{number}": "failed" for number in range(1, 5)}
    found = planned(still(), "m", left_out=own)
    assert [action.place for action in takes(found)] == ["motoman_medium_tray"]


def test_a_part_that_lies_on_the_table_is_a_supply_of_one(still):
    cell = still()
    cell.shift("medium_gear_1", x_m=0.05, y_m=0.115)
    cell.hidden |= {f"medium_gear_{number}" for number in range(2, 9)}
    found = planned(cell, "m", gone=cell.hidden)
    assert [action.place for action in takes(found)] == ["medium_gear_1"]


def test_a_part_in_a_tray_for_others_is_a_supply_of_one(still):
    """As after two parts of different kinds changed places."""
    cell = still()
    cell.moved = {"large_gear_1": cell.drawn["medium_gear_1"], "medium_gear_1": cell.drawn["large_gear_1"]}
    cell.hidden |= {f"large_gear_{number}" for number in range(2, 5)}
    found = planned(cell, "ml", gone=cell.hidden)
    assert {action.place for action in takes(found)} == {"fanuc_medium_tray", "large_gear_1"}
    assert found.missing == ()


def test_what_is_right_in_another_kit_stays_there_and_what_is_wrong_there_is_a_supply(still):
    cell = still()
    seats = cell.belief.state.slots_on_kit_tray("fanuc_kit_s2l2")
    cell.hidden |= {f"large_gear_{number}" for number in range(2, 5)}
    for sku, missing in ((SKUS["l"], [SKUS["l"]]), (SKUS["s"], [])):
        seat = next(seat for seat in seats if seat.sku == sku)
        cell.moved["large_gear_1"] = seat.pose_part_in_world.matrix
        found = planned(cell, "ml", gone=cell.hidden)
        assert [one.sku for one in found.missing] == missing
        assert ("large_gear_1" in {action.place for action in takes(found)}) == (not missing)


def test_what_cannot_be_had_is_said_and_the_rest_is_planned(still):
    gone = [f"large_gear_{number}" for number in range(1, 5)]
    found = planned(still(), "mml", gone=gone)
    assert [one.sku for one in found.missing] == [SKUS["l"]]
    assert [action.sku for action in takes(found)] == [SKUS["m"]] * 2


def test_kits_that_can_be_whole_come_before_those_that_stay_partial(still):
    """With one large gear two kits of a medium and a large one are made so: first a whole one, then a medium gear."""
    design = small_kit("ml").lines[0].design
    orders, robots = [Order.of("two", {design: 2})], ("fanuc", "motoman")
    cell = still(*orders)
    asyncio.run(cell.sleep(0.5))
    view = cell.belief.state
    view.missing = {f"large_gear_{number}" for number in range(2, 9)} & set(view.objects)
    cell.hidden |= view.missing
    first = make_plan(view, orders, robots, {}, Recipe())
    assert sorted(action.sku for action in takes(first)) == [SKUS["l"], SKUS["m"]]
    assert {kit.name for kit in first.kits.values()} == {"kit_ml"}
    assert len(first.kits) == 2
    (whole,) = {action.kit for action in first.result.actions if action.verb is Verb.PLACE_PART}
    for slot in view.slots_of_kit(whole, design):  # it is built
        taken = {SKUS["m"]: "medium_gear_1", SKUS["l"]: "large_gear_1"}[slot.sku]
        cell.moved[taken] = slot.pose_part_in_world.matrix
    asyncio.run(cell.sleep(0.5))
    then = make_plan(cell.belief.state, orders, robots, {}, Recipe(), kits=list(first.kits))
    assert [action.sku for action in takes(then)] == [SKUS["m"]]
    assert [one.sku for one in then.missing] == [SKUS["l"]]
    assert whole not in {action.kit for action in then.result.actions}
    assert then.kits == first.kits, "what is wanted stays wanted"


def test_two_robots_get_a_kit_each(still):
    cell = still()
    asyncio.run(cell.sleep(0.5))
    found = make_plan(cell.belief.state, [small_kit("m"), small_kit("s")], ("fanuc", "motoman"), {}, Recipe())
    assert {action.robot for action in found.result.actions} == {"fanuc", "motoman"}


def leaning(matrix, angle_rad):
    """The same pose, leaning."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    matrix[:3, :3] = [[1, 0, 0], [0, c, -s], [0, s, c]]
    return matrix


def lie_across(cell, angle_rad, slots=(1,)):
    """Puts small gears across slots of the kit."""
    seats = cell.belief.state.slots_of_kit("fanuc_kit_m2l1", small_kit("mml").lines[0].design)
    for number, slot in enumerate(slots, start=1):
        matrix = leaning(seats[slot].pose_part_in_world.matrix, angle_rad)
        matrix[:3, 3] += [0.0, 0.03 if slot else -0.03, 0.013]
        cell.moved[f"small_gear_{number}"] = matrix


def test_a_slot_that_nobody_can_clear_is_left_out_and_the_rest_is_planned(still):
    cell = still()
    lie_across(cell, 1.5)
    found = planned(cell, "mml")
    assert [(one.sku, one.part) for one in found.missing] == [(SKUS["m"], "small_gear_1")]
    assert "lies across slot_2 of fanuc_kit_m2l1 and leans by 86 deg" in found.missing[0].reason
    assert sorted(action.sku for action in takes(found)) == [SKUS["l"], SKUS["m"]]
    assert len(found.kits["fanuc_kit_m2l1"].slots) == 3  # what is wanted stays wanted


def test_when_nothing_is_left_nothing_is_planned(still):
    cell = still()
    lie_across(cell, 1.5, slots=(0, 1))
    found = planned(cell, "mm")
    assert len(found.missing) == 2
    assert found.result.actions == ()
    assert list(found.kits) == ["fanuc_kit_m2l1"]


def test_a_slot_that_can_be_cleared_is_planned_for(still):
    cell = still()
    lie_across(cell, 0.5)
    found = planned(cell, "mml")
    assert found.missing == ()
    assert len(takes(found)) == 3


def test_a_part_that_leans_is_a_supply_when_there_is_no_other(still):
    cell = still()
    cell.shift("medium_gear_1", x_m=0.05, y_m=0.115)
    cell.moved["medium_gear_1"] = leaning(cell.moved["medium_gear_1"], 0.6)
    assert [action.place for action in takes(planned(cell, "m"))] == ["fanuc_medium_tray"]
    cell.hidden |= {f"medium_gear_{number}" for number in range(2, 9)}
    found = planned(cell, "m", gone=cell.hidden)
    assert [action.place for action in takes(found)] == ["medium_gear_1"]


def test_a_kit_is_built_where_the_quicker_robot_works(still):
    both = ("fanuc", "motoman")
    for paces, robot in (({"motoman": 1.1}, "fanuc"), ({"fanuc": 1.1}, "motoman")):
        found = planned(still(), robots=both, paces=paces)
        assert {action.robot for action in found.result.actions} == {robot}
        assert list(found.kits) == [f"{robot}_kit_m2l1"]
    begun = planned(still(), robots=both, kits=["motoman_kit_m2l1"], paces={"motoman": 1.1})
    assert list(begun.kits) == ["motoman_kit_m2l1"]


def test_the_pace_of_a_robot_follows_from_its_arm_and_the_recipe():
    arms = {name: ROBOTS.get(name) for name in ("lr_mate_200id", "sia20f")}
    paces = robot_paces(arms, Recipe())
    assert paces["lr_mate_200id"] == 1.0
    assert 1.0 < paces["sia20f"] < 1.5
    fast, slow = (robot_paces(arms, Recipe(acceleration_mps2=a))["sia20f"] for a in (1.5, 0.2))
    assert slow < fast  # what the recipe limits is the same for both
    assert robot_paces({"one": arms["sia20f"]}, Recipe()) == {"one": 1.0}
