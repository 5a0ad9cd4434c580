"""What stands on what: tables that are not where they are drawn, and all that moves with them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import CHANGERS, FURNITURE, TRAYS
from cellwright.cells import Cell, actual_layout, load_cell, nominal_layout
from cellwright.core.pose import Pose
from cellwright.sim import World

shift = st.floats(-0.02, 0.02)
tilt = st.floats(-2.0, 2.0)
SIX = ("x_m", "y_m", "z_m", "roll_deg", "pitch_deg", "yaw_deg")
six = st.tuples(shift, shift, shift, tilt, tilt, tilt).map(lambda values: dict(zip(SIX, values, strict=True)))


@cache
def plain(name: str) -> Cell:
    """A cell without errors."""
    return load_cell(name).changed({"actual": {"size": None}})


def with_errors(name: str, **errors: dict[str, float]) -> Cell:
    return plain(name).changed({"actual": errors})


@given(six)
@settings(max_examples=15)
def test_a_table_is_turned_about_the_middle_of_its_top(error):
    drawn, actual = (make(with_errors("aprs", table=error), 0) for make in (nominal_layout, actual_layout))
    for name, model in (("fanuc_cart", "fanuc_cart"), ("shared_table", "shared_table")):
        top_m = [0.0, 0.0, FURNITURE.get(model).top_m]
        middle = actual.fixtures[name].apply(top_m) - drawn.fixtures[name].apply(top_m)
        assert middle == pytest.approx([error["x_m"], error["y_m"], error["z_m"]], abs=1e-12)
        assert np.degrees((drawn.fixtures[name].inverse() @ actual.fixtures[name]).rpy) == pytest.approx(
            [error["roll_deg"], error["pitch_deg"], error["yaw_deg"]], abs=1e-9
        )


ON_TABLES = {
    "aprs": {"fanuc_kit_m2l1": "fanuc_cart", "motoman_kit_s2l2": "shared_table", "medium_gear_1": "fanuc_cart"},
    "aprs@lab_tools": {"far_left_holder": "fanuc_cart", "shared_holder": "shared_table"},
    "kitting": {"medium_tray": "parts_table", "kit_box": "boxes_table", "m2l1_tray_2": "m2l1_tray_box"},
    "rovi": {"bottle": "table", "mug": "table"},
}


BOX_HALF_M = np.array(FURNITURE.get("kit_box").outer_size_m[:2]) / 2
TABLE_M = FURNITURE.get("side_table").top_m


def places(layout) -> dict[str, Pose]:
    return layout.fixtures | {name: item.pose_in_world for name, item in layout.objects.items()}


@pytest.mark.parametrize("name", ON_TABLES)
@given(table=six, box=six)
@settings(max_examples=10)
def test_what_stands_on_a_table_or_in_a_box_keeps_its_pose_relative_to_it(name, table, box):
    cell = with_errors(name, table=table, box=box)
    drawn, actual = places(nominal_layout(cell, 1)), places(actual_layout(cell, 1))
    for thing, carrier in ON_TABLES[name].items():
        before, after = (poses[carrier].inverse() @ poses[thing] for poses in (drawn, actual))
        if thing == "kit_box":  # which has an error of its own
            error = Pose.from_xyz_rpy([box[k] for k in SIX[:3]], np.radians([box[k] for k in SIX[3:]]))
            before = before @ error
            lift = (after.position - before.position)[2]
            corners = [[x * side, y * other, 0.0] for x in (-1, 1) for y in (-1, 1) for side, other in [BOX_HALF_M]]
            assert after.apply(corners)[:, 2].min() == pytest.approx(TABLE_M, abs=1e-9) if lift > 1e-9 else lift > -1e-9
            before = Pose(before.position + [0.0, 0.0, lift], before.quaternion)
        assert after.is_close(before, tolerance_m=1e-9, tolerance_rad=1e-7), thing


def test_robots_cameras_floor_and_fence_stay_where_they_are_surveyed():
    error = {"x_m": 0.02, "z_m": 0.01, "roll_deg": 1.0}
    cell = with_errors("aprs@lab_tools", table=error, holder=error, box=error)
    drawn, actual = nominal_layout(cell, 0), actual_layout(cell, 0)
    assert all(actual.bases[name].is_close(base) for name, base in drawn.bases.items())
    assert all(c.pose_in_world.is_close(actual.cameras[n].pose_in_world) for n, c in drawn.cameras.items())
    still = {n for n, pose in drawn.fixtures.items() if pose.is_close(actual.fixtures[n])}
    assert still == {"floor", "fence", "camera_fanuc", "camera_motoman"}


@given(six)
@settings(max_examples=15)
def test_a_holder_is_turned_about_the_place_where_its_tool_hangs(error):
    cell = with_errors("aprs@lab_tools", holder=error)
    hangs = [0.0, 0.0, FURNITURE.get("tool_holder").rail_top_m]
    drawn, actual = (layout.fixtures["shared_holder"] for layout in (nominal_layout(cell, 0), actual_layout(cell, 0)))
    assert actual.apply(hangs) - drawn.apply(hangs) == pytest.approx([error[k] for k in SIX[:3]], abs=1e-12)


def test_a_tool_hangs_in_its_holder_wherever_that_is():
    error = {"x_m": 0.01, "y_m": -0.005, "z_m": 0.004, "roll_deg": 0.5, "yaw_deg": 2.0}
    world = World(with_errors("aprs@lab_tools", holder=error, table=error), 0)
    coupling = FURNITURE.get("tool_holder").coupling_xyz_rpy(CHANGERS.get("tool_changer"))
    for tool, cfg in world.cell.tools.items():
        hangs = world.layout.fixtures[cfg.holder] @ Pose.from_xyz_rpy(*coupling)
        assert np.linalg.norm(world.data.xpos[world.loose_tools[tool].body] - hangs.position) < 0.001


@given(six)
@settings(max_examples=30)
def test_no_corner_of_a_tray_is_below_its_table_however_it_is_tilted(error):
    cell = with_errors("aprs", tray=error)
    for tray in actual_layout(cell, 0).trays:
        half = np.array(TRAYS.get(tray.model).size_m) / 2
        corners = np.array([[x, y, 0.0] for x in (-half[0], half[0]) for y in (-half[1], half[1])])
        lowest_m = tray.pose_in_world.apply(corners)[:, 2].min() - cell.trays[tray.name].pose.xyz_m[2]
        dip_m = np.ptp(Pose.from_xyz_rpy([0, 0, 0], np.radians([error[k] for k in SIX[3:]])).apply(corners)[:, 2]) / 2
        assert lowest_m == pytest.approx(max(error["z_m"] - dip_m, 0.0), abs=1e-12)


def test_a_tilted_tray_falls_flat_with_its_parts():
    error = {"roll_deg": 1.0, "pitch_deg": -0.7, "z_m": -0.002}
    world = World(with_errors("aprs", tray=error), 0)
    for tray in world.layout.trays:
        settled = world.pose_of(tray.name)
        assert np.degrees(np.hypot(*settled.rpy[:2])) < 0.05
        assert settled.position == pytest.approx(world.cell.trays[tray.name].pose.xyz_m, abs=0.003)
    for part in world.layout.parts:
        assert np.degrees(np.hypot(*world.pose_of(part.name).rpy[:2])) < 0.5


def test_tilted_trays_in_a_stack_do_not_stand_in_each_other():
    world = World(with_errors("kitting", tray={"roll_deg": {"sd": 1.0}, "pitch_deg": {"sd": 1.0}}), 3)
    low, high = (world.pose_of(f"m2l1_tray_{number}").position[2] for number in (1, 2))
    assert high - low == pytest.approx(0.017, abs=0.001)


def test_trays_keep_within_the_walls_of_their_box():
    """The boxes leave 5 mm to each side; every third tray with errors of 3 mm would stand in a wall."""
    cell = with_errors("kitting", tray={"x_m": {"sd": 0.003}, "y_m": {"sd": 0.003}, "yaw_deg": {"sd": 1.0}})
    box, inner = FURNITURE.get("kit_tray_box"), []
    for seed in range(30):
        layout = actual_layout(cell, seed)
        tray = layout.objects["s2l2_tray_1"]
        half = np.array(TRAYS.get(tray.model).size_m) / 2
        corners = tray.pose_in_world.apply([[x, y, 0] for x in (-half[0], half[0]) for y in (-half[1], half[1])])
        inner.append(np.abs(layout.fixtures["s2l2_tray_box"].inverse().apply(corners)[:, :2]).max(axis=0))
    room = np.array(box.inner_size_m) / 2
    assert (np.array(inner) <= room).all()
    assert (np.array(inner) > room - 0.001).any()


def test_scattered_parts_move_with_the_table_below_them():
    region = {"min_xy_m": [-0.3, -0.75], "max_xy_m": [0.3, -0.5], "z_m": 0.890}
    error = {"x_m": 0.01, "z_m": 0.005, "pitch_deg": 0.4}
    changes = {"trays": dict.fromkeys(plain("aprs").trays), "actual": {"table": error}}
    cell = plain("aprs").changed({**changes, "populations": [{"model": "small_gear", "count": 6, "region": region}]})
    drawn, actual = nominal_layout(cell, 2), actual_layout(cell, 2)
    for part in drawn.parts:
        before = drawn.fixtures["shared_table"].inverse() @ part.pose_in_world
        after = actual.fixtures["shared_table"].inverse() @ actual.objects[part.name].pose_in_world
        assert after.is_close(before)


@pytest.mark.parametrize("name", ["aprs@lab_tools", "kitting", "rovi"])
def test_errors_of_zero_leave_a_layout_as_it_was_to_the_bit(name):
    cell = load_cell(name)
    zeros = {"table": {"x_m": 0.0, "roll_deg": {"sd": 0.0}}, "holder": {"pitch_deg": 0.0}, "lens": {"edge_px": 0}}
    for seed in range(3):
        before, after = actual_layout(cell, seed), actual_layout(cell.changed({"actual": zeros}), seed)
        for one, other in ((places(before), places(after)), (before.bases, after.bases)):
            assert all(np.array_equal(one[n].position, other[n].position) for n in one)
        drawn = nominal_layout(cell, seed).fixtures
        assert all(np.array_equal(before.fixtures[n].quaternion, drawn[n].quaternion) for n in drawn)


@pytest.mark.parametrize("name", ["aprs@as_built", "aprs@lab_tools@as_built", "kitting@as_built", "rovi@as_built"])
def test_cells_as_they_were_built_stand_and_nothing_in_them_overlaps(name):
    for seed in range(2):
        world = World(load_cell(name), seed)
        moved_m = [p.pose_in_world.distance_m(world.pose_of(n)) for n, p in world.layout.objects.items()]
        assert max(moved_m) < 0.002
