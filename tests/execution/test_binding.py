"""Which part, which slot, which way round the fingers."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from cellwright.core.errors import UnknownName
from cellwright.execution.binding import blockers, candidates, open_slot, wrong_part
from cellwright.execution.settings import Recipe
from cellwright.execution.surroundings import extras, is_movable
from cellwright.knowledge.belief_writer import add_objects

from .conftest import SKUS, small_kit

DESIGN = small_kit("mml").lines[0].design


def view_of(cell):
    asyncio.run(cell.sleep(0.5))
    return cell.belief.state


def lean(matrix, angle_rad):
    leaning = matrix.copy()
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    leaning[:3, :3] = matrix[:3, :3] @ [[1, 0, 0], [0, c, -s], [0, s, c]]
    return leaning


def test_parts_come_in_the_order_of_the_slots_those_that_lean_last_and_what_lies_or_failed_not_at_all(still):
    cell = still()
    for name, angle_rad in {"medium_gear_1": 0.5, "medium_gear_3": 0.9}.items():
        cell.moved[name] = lean(cell.drawn[name], angle_rad)
    good, reasons = candidates(view_of(cell), SKUS["m"], "fanuc_medium_tray", Recipe(), {"medium_gear_2": "slipped"})
    assert [part.name for part in good] == ["medium_gear_4", "medium_gear_1"]
    assert reasons == ["medium_gear_2 failed before", "medium_gear_3 leans by 52 deg"]


def test_an_empty_tray_says_so(still):
    cell = still()
    view = view_of(cell)
    view.missing = {f"medium_gear_{number}" for number in range(1, 5)}
    good, reasons = candidates(view, SKUS["m"], "fanuc_medium_tray", Recipe(), {})
    assert not good
    assert reasons == [f"no {SKUS['m']} at fanuc_medium_tray"]


def test_a_filled_slot_is_not_open_and_a_part_of_another_kind_in_it_is_wrong(still):
    cell = still()
    design = DESIGN
    view = view_of(cell)
    slot, why = open_slot(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert slot is not None
    assert slot.name == "slot_1"
    assert why == ""
    cell.moved["small_gear_1"] = slot.pose_part_in_world.matrix
    view = view_of(cell)
    other, _ = open_slot(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert other is not None
    assert other.name == "slot_2"
    part, where = wrong_part(view, "fanuc_kit_m2l1", design, SKUS["s"])
    assert part is not None
    assert where is not None
    assert (part.name, where.name) == ("small_gear_1", "slot_1")


def test_a_part_that_lies_across_a_slot_is_in_the_way_and_on_the_kit(still):
    cell = still()
    design = DESIGN
    view = view_of(cell)
    slot, _ = open_slot(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert slot is not None
    assert extras(view, "fanuc_kit_m2l1", DESIGN, view.parts()) == []
    cell.moved["small_gear_1"] = slot.pose_part_in_world.matrix
    cell.moved["small_gear_1"][:3, 3] += [0.03, 0.03, 0.013]
    view = view_of(cell)
    assert [part.name for part in blockers(view, slot, view.parts())] == ["small_gear_1"]
    assert [part.name for part in extras(view, "fanuc_kit_m2l1", DESIGN, view.parts())] == ["small_gear_1"]
    other, _ = open_slot(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert other is None or other.name != slot.name


def test_slots_are_known_by_name_on_trays_and_kits(still):
    state = still().belief.state
    tray, kit = "fanuc_medium_tray", "fanuc_kit_m2l1"
    assert state.slot(tray, "slot_2").position == pytest.approx(state.slots_of_tray(tray)[1].position)
    assert state.slot(kit, "slot_3").position == pytest.approx(state.slots_on_kit_tray(kit)[2].position)
    with pytest.raises(UnknownName, match="slot_1"):
        state.slot(tray, "slot_9")


def test_a_part_in_a_slot_that_the_kit_does_not_need_is_on_the_kit(still):
    cell = still(small_kit("m"))
    design, kit = small_kit("m").lines[0].design, "fanuc_kit_m2l1"
    view = view_of(cell)
    needed = {slot.name for slot in view.slots_of_kit(kit, design)}
    spare = next(slot for slot in view.slots_on_kit_tray(kit) if slot.name not in needed)
    gear = next(part.name for part in view.parts(spare.sku))
    cell.moved[gear] = spare.pose_part_in_world.matrix
    view = view_of(cell)
    assert [part.name for part in extras(view, kit, design, view.parts())] == [gear]
    assert extras(view, kit, DESIGN, view.parts()) == []


def test_a_tray_that_no_drawing_has_need_not_stay(still):
    cell = still()
    add_objects(cell.belief, ["medium_gear_vessel_1"], ["sku_medium_gear_vessel"])
    assert is_movable(cell.belief.state, "medium_gear_vessel_1")
    assert not is_movable(cell.belief.state, "fanuc_medium_tray")
