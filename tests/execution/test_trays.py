"""Kit trays in hands and boxes: where a tool takes them, how they hang, where they fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import TRAYS
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.execution.tray_places import note_trays
from cellwright.execution.trays import free_spot, hold_of, spot_on_table, top_trays
from cellwright.execution.view import CellView
from cellwright.knowledge import Belief, WorldModel, filled_database
from cellwright.knowledge.kit_records import begin_kit, set_down
from cellwright.planning.belief import SupplyFilter, state_of

M2L1, S2L2 = "kit_m2l1_tray", "kit_s2l2_tray"
yaws = st.floats(-np.pi, np.pi)
places = st.tuples(*[st.floats(-1.0, 1.0)] * 3)


@pytest.fixture(scope="module")
def station():
    return workstation_of(load_cell("kitting"))


@pytest.fixture
def view(station):
    return CellView(Belief(WorldModel(filled_database("sqlite://", station, designs_for([])))))


@given(places, yaws, yaws, st.sampled_from([M2L1, S2L2]))
def test_a_tray_hangs_where_it_was_taken(xyz, yaw, near, model):
    hold = hold_of(TRAYS.get(model).sku, "tray_vacuum")
    pose_tray = Pose.from_xyz_rpy(xyz, (0.0, 0.0, yaw))
    pose_tool = hold.pose_tool(pose_tray, near)
    assert hold.hanging(pose_tool, pose_tray).is_close(pose_tray)
    assert pose_tool.rotation_matrix[2, 2] == pytest.approx(-1.0)
    x, y, _ = pose_tool.rotation_matrix[:, 0]
    assert abs((np.arctan2(y, x) - near + np.pi) % (2 * np.pi) - np.pi) <= np.pi / 2 + 1e-6, "the nearer half turn"


def test_only_a_tool_for_trays_takes_one():
    sku = TRAYS.get(M2L1).sku
    assert hold_of(sku, "tray_vacuum") is not None
    assert hold_of(sku, "small_vacuum") is None
    assert hold_of(sku, "big_gripper") is None
    assert hold_of(sku, "") is None
    assert hold_of("sku_nobody_knows", "tray_vacuum") is None


def test_the_top_tray_of_a_stack_comes_first_and_covers_the_others(view):
    assert top_trays(view, "m2l1_tray_box") == ["m2l1_tray_2", "m2l1_tray_1"]
    assert view.is_covered("m2l1_tray_1")
    assert not view.is_covered("m2l1_tray_2")


def test_kits_go_side_by_side_into_their_box_until_it_is_full(view):
    tray = TRAYS.get(S2L2)
    first = free_spot(view, "kit_box", tray, 2)
    assert first is not None
    assert (view.pose("kit_box").inverse() @ first).position[0] == pytest.approx(-0.121, abs=0.003)
    _move(view, "s2l2_tray_2", first)
    second = free_spot(view, "kit_box", tray, 2)
    assert second.distance_m(first) == pytest.approx(0.242, abs=0.004)
    _move(view, "s2l2_tray_1", second)
    assert free_spot(view, "kit_box", tray, 2) is None


def test_a_tray_becomes_a_kit_and_counts_where_it_is_set_down(view):
    belief, table = view.belief, spot_on_table(view, "work_table")
    _move(view, "m2l1_tray_2", table)
    set_down(belief, "m2l1_tray_2", "work_table")
    view.refresh()
    assert top_trays(view, "m2l1_tray_box") == ["m2l1_tray_1"]
    state = state_of(belief.world_model)
    assert [(kit.place, kit.created) for kit in state.kits] == [("work_table", False)]
    assert {stack.name: stack.count for stack in state.tray_stacks} == {"m2l1_tray_box": 1, "s2l2_tray_box": 2}

    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_2", 1.0)
    view.refresh()
    (kit,) = state_of(belief.world_model).kits
    assert (kit.name, kit.place, kit.created, kit.filled) == ("kit_1", "work_table", True, (None, None, None))
    assert view.detected_as("kit_1") == "m2l1_tray_2"
    assert view.pose("kit_1").is_close(table)
    assert view.box_of("kit_1") == ""
    before = view.seats_of_kit("kit_1", view.facts.designs["kit_m2l1"])[0].position

    spot = free_spot(view, "kit_box", TRAYS.get(M2L1), 2)
    _move(view, "m2l1_tray_2", spot)  # seeing the tray is seeing the kit
    set_down(belief, "kit_1", "kit_box")
    view.refresh()
    assert view.box_of("kit_1") == "kit_box"
    state = state_of(belief.world_model)
    assert [(outlet.name, outlet.count, outlet.capacity) for outlet in state.outlets] == [("kit_box", 1, 2)]
    after = view.seats_of_kit("kit_1", view.facts.designs["kit_m2l1"])[0].position
    assert np.linalg.norm(after - before) > 0.3


def test_a_tray_counts_where_it_is_seen(view):
    assert note_trays(view) == []
    table = spot_on_table(view, "work_table")
    _move(view, "m2l1_tray_2", table)
    assert note_trays(view) == ["m2l1_tray_2 is seen in or on work_table"]
    assert view.facts.things["m2l1_tray_2"].reference == "work_table"
    _move(view, "m2l1_tray_2", Pose.from_xyz_rpy((0.0, 0.0, 0.05)) @ table, 2.0)
    assert note_trays(view) == ["m2l1_tray_2 is seen where it does not belong"]
    assert state_of(view.belief.world_model).kits == ()
    _move(view, "m2l1_tray_2", view.pose("m2l1_tray_1") @ Pose.from_xyz_rpy((0.0, 0.0, 0.017)), 3.0)
    note_trays(view)
    assert top_trays(view, "m2l1_tray_box") == ["m2l1_tray_2", "m2l1_tray_1"]


def test_a_kit_whose_tray_is_gone_is_none_any_more(view):
    belief = view.belief
    _move(view, "m2l1_tray_2", spot_on_table(view, "work_table"))
    note_trays(view)
    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_2", 1.0)
    belief.world_model.attach({"medium_gear_1": "kit_1"})
    view.refresh()
    view.gone.add("m2l1_tray_2")
    assert note_trays(view) == ["kit_1 is gone with its tray"]
    assert "kit_1" not in view.facts.things
    assert view.facts.things["medium_gear_1"].reference == "kitting"
    assert state_of(belief.world_model, supply_filter=SupplyFilter(missing=frozenset(view.gone))).kits == ()
    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_1", 2.0)  # the name can be used again


def _move(view: CellView, tray: str, pose: Pose, time_s: float = 1.0) -> None:
    """Somebody sees the tray there."""
    belief = view.belief
    rows = np.array([belief.objects().index(tray)])
    belief._observe(rows, pose.matrix[None], np.full((1, 4), 1e-7), time_s, "detector")
