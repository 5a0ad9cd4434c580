"""Plans from belief: what lies about is a supply, what cannot be had is left out."""

from __future__ import annotations

import asyncio

from cellwright.execution.planned import make_plan
from cellwright.execution.settings import Recipe
from cellwright.execution.view import CellView
from cellwright.planning import Verb

from .conftest import SKUS, small_kit


def planned(cell, letters="mml", robots=("fanuc",), left_out=None, gone=()):
    asyncio.run(cell.sleep(0.5))
    view = CellView(cell.belief)
    view.gone = set(gone)
    return make_plan(view, [small_kit(letters)], robots, left_out or {}, Recipe())


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


def test_what_cannot_be_had_is_said_and_the_rest_is_planned(still):
    gone = [f"large_gear_{number}" for number in range(1, 5)]
    found = planned(still(), "mml", gone=gone)
    assert [one.sku for one in found.missing] == [SKUS["l"]]
    assert [action.sku for action in takes(found)] == [SKUS["m"]] * 2


def test_two_robots_get_a_kit_each(still):
    cell = still()
    asyncio.run(cell.sleep(0.5))
    found = make_plan(CellView(cell.belief), [small_kit("m"), small_kit("s")], ("fanuc", "motoman"), {}, Recipe())
    assert {action.robot for action in found.result.actions} == {"fanuc", "motoman"}
