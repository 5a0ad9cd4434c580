"""Which part, which slot, which way round the fingers."""

from __future__ import annotations

import asyncio

import numpy as np

from cellwright.execution.binding import blockers, candidates, free_grasps, open_seat, wrong_part
from cellwright.execution.settings import Recipe
from cellwright.execution.view import CellView, Seen

from .conftest import SKUS, small_kit

GRIPPER = "aprs_fanuc_gripper"


def view_of(cell):
    asyncio.run(cell.sleep(0.5))
    return CellView(cell.belief)


def gear(name, x_m, y_m=0.0, z_m=0.0, tilt_rad=0.0):
    matrix = np.eye(4)
    matrix[1:3, 1:3] = [[np.cos(tilt_rad), -np.sin(tilt_rad)], [np.sin(tilt_rad), np.cos(tilt_rad)]]
    matrix[:3, 3] = [x_m, y_m, z_m]
    return Seen(name, SKUS["s"], matrix, 0.0002)


def test_parts_come_in_the_order_of_the_slots_and_what_leans_or_failed_is_passed_over(still):
    cell = still()
    matrix = cell.drawn["medium_gear_1"].copy()
    matrix[:3, :3] = matrix[:3, :3] @ [[1, 0, 0], [0, np.cos(0.5), -np.sin(0.5)], [0, np.sin(0.5), np.cos(0.5)]]
    cell.moved["medium_gear_1"] = matrix
    good, reasons = candidates(view_of(cell), SKUS["m"], "fanuc_medium_tray", Recipe(), {"medium_gear_2": "slipped"})
    assert [part.name for part in good] == ["medium_gear_3", "medium_gear_4"]
    assert reasons == ["medium_gear_1 leans by 29 deg", "medium_gear_2 failed before"]


def test_an_empty_tray_says_so(still):
    cell = still()
    view = view_of(cell)
    view.gone = {f"medium_gear_{number}" for number in range(1, 5)}
    good, reasons = candidates(view, SKUS["m"], "fanuc_medium_tray", Recipe(), {})
    assert not good
    assert reasons == [f"no {SKUS['m']} at fanuc_medium_tray"]


def test_a_filled_slot_is_not_open_and_a_part_of_another_kind_in_it_is_wrong(still):
    cell = still()
    design = small_kit("mml").lines[0].design
    view = view_of(cell)
    seat, why = open_seat(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert seat is not None
    assert seat.name == "slot_1"
    assert why == ""
    cell.moved["small_gear_1"] = seat.pose_part_in_world.matrix
    view = view_of(cell)
    other, _ = open_seat(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert other is not None
    assert other.name == "slot_2"
    part, where = wrong_part(view, "fanuc_kit_m2l1", design, SKUS["s"])
    assert part is not None
    assert where is not None
    assert (part.name, where.name) == ("small_gear_1", "slot_1")


def test_a_part_that_lies_across_a_slot_is_in_the_way_and_on_the_kit(still):
    cell = still()
    design = small_kit("mml").lines[0].design
    view = view_of(cell)
    seat, _ = open_seat(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert seat is not None
    assert view.extras("fanuc_kit_m2l1", view.parts()) == []
    cell.moved["small_gear_1"] = seat.pose_part_in_world.matrix
    cell.moved["small_gear_1"][:3, 3] += [0.03, 0.03, 0.013]
    view = view_of(cell)
    assert [part.name for part in blockers(view, seat, view.parts())] == ["small_gear_1"]
    assert [part.name for part in view.extras("fanuc_kit_m2l1", view.parts())] == ["small_gear_1"]
    other, _ = open_seat(view, "fanuc_kit_m2l1", design, SKUS["m"])
    assert other is None or other.name != seat.name


def test_fingers_turn_until_they_fit_between_neighbours():
    alone = gear("a", 0.0)
    assert free_grasps(alone, [alone], GRIPPER)[0].yaw_rad == 0.0
    pegs = [gear("b", 0.018), gear("c", -0.018)]  # where the fingers would go down
    ways = free_grasps(alone, [alone, *pegs], GRIPPER)
    assert ways
    assert abs(ways[0].yaw_rad - np.pi / 2) < 1e-9
    ring = [gear(f"n{i}", 0.02 * np.cos(a), 0.02 * np.sin(a)) for i, a in enumerate(np.linspace(0, 2 * np.pi, 16))]
    assert free_grasps(alone, [alone, *ring], GRIPPER) == []


def test_a_disc_at_the_height_of_the_finger_tips_is_in_the_way_and_one_below_is_not():
    alone = gear("a", 0.0)
    level = [gear("b", 0.035)]
    raised = [gear("b", 0.035, z_m=0.005)]
    assert free_grasps(alone, level, GRIPPER)[0].yaw_rad == 0.0
    assert free_grasps(alone, raised, GRIPPER)[0].yaw_rad != 0.0
