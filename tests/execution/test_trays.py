"""Kit trays in hands and boxes: where a tool takes them, how they hang, where they fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import TRAYS
from cellwright.cells import load_cell
from cellwright.core.messages import Tracks
from cellwright.core.pose import Pose
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.execution.surroundings import box_of, is_covered
from cellwright.execution.tray_places import note_trays
from cellwright.execution.trays import free_spot, hold_of, spot_on_table, top_trays
from cellwright.knowledge import Belief, WorldModel, filled_database
from cellwright.knowledge.belief_writer import begin_kit, set_down
from cellwright.planning.belief import state_of

M2L1, S2L2 = "kit_m2l1_tray", "kit_s2l2_tray"
yaws = st.floats(-np.pi, np.pi)
places = st.tuples(*[st.floats(-1.0, 1.0)] * 3)


@pytest.fixture(scope="module")
def station():
    return workstation_of(load_cell("kitting"))


@pytest.fixture
def belief(station):
    return Belief(WorldModel(filled_database("sqlite://", station, designs_for([]))))


@pytest.fixture
def view(belief):
    return belief.state


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
    assert is_covered(view, "m2l1_tray_1")
    assert not is_covered(view, "m2l1_tray_2")


def test_kits_go_side_by_side_into_their_box_until_it_is_full(belief, view):
    tray = TRAYS.get(S2L2)
    first = free_spot(view, "kit_box", tray, 2)
    assert first is not None
    assert (view.pose("kit_box").inverse() @ first).position[0] == pytest.approx(-0.121, abs=0.003)
    _move(belief, "s2l2_tray_2", first)
    second = free_spot(view, "kit_box", tray, 2)
    assert second.distance_m(first) == pytest.approx(0.242, abs=0.004)
    _move(belief, "s2l2_tray_1", second)
    assert free_spot(view, "kit_box", tray, 2) is None


def test_a_tray_becomes_a_kit_and_counts_where_it_is_set_down(belief, view):
    table = spot_on_table(view, "work_table")
    _move(belief, "m2l1_tray_2", table)
    set_down(belief, "m2l1_tray_2", "work_table")
    assert top_trays(view, "m2l1_tray_box") == ["m2l1_tray_1"]
    state = state_of(view)
    assert [(kit.place, kit.created) for kit in state.kits] == [("work_table", False)]
    assert {stack.name: stack.count for stack in state.tray_stacks} == {"m2l1_tray_box": 1, "s2l2_tray_box": 2}

    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_2", 1.0)
    (kit,) = state_of(view).kits
    assert (kit.name, kit.place, kit.created, kit.filled) == ("kit_1", "work_table", True, (None, None, None))
    assert view.detected_as("kit_1") == "m2l1_tray_2"
    assert view.pose("kit_1").is_close(table)
    assert box_of(view, "kit_1") == ""
    before = view.slots_of_kit("kit_1", view.relations.designs["kit_m2l1"])[0].position

    spot = free_spot(view, "kit_box", TRAYS.get(M2L1), 2)
    _move(belief, "m2l1_tray_2", spot)  # seeing the tray is seeing the kit
    set_down(belief, "kit_1", "kit_box")
    assert box_of(view, "kit_1") == "kit_box"
    state = state_of(view)
    assert [(outlet.name, outlet.count, outlet.capacity) for outlet in state.outlets] == [("kit_box", 1, 2)]
    after = view.slots_of_kit("kit_1", view.relations.designs["kit_m2l1"])[0].position
    assert np.linalg.norm(after - before) > 0.3


def test_a_tray_counts_where_it_is_seen(belief, view):
    assert note_trays(belief) == []
    table = spot_on_table(view, "work_table")
    _move(belief, "m2l1_tray_2", table)
    assert note_trays(belief) == ["m2l1_tray_2 is seen in or on work_table"]
    assert view.objects["m2l1_tray_2"].reference == "work_table"
    _move(belief, "m2l1_tray_2", Pose.from_xyz_rpy((0.0, 0.0, 0.05)) @ table, 2.0)
    assert note_trays(belief) == ["m2l1_tray_2 is seen where it does not belong"]
    assert state_of(view).kits == ()
    _move(belief, "m2l1_tray_2", view.pose("m2l1_tray_1") @ Pose.from_xyz_rpy((0.0, 0.0, 0.017)), 3.0)
    note_trays(belief)
    assert top_trays(view, "m2l1_tray_box") == ["m2l1_tray_2", "m2l1_tray_1"]


def test_a_kit_whose_tray_is_gone_is_none_any_more(belief, view):
    _move(belief, "m2l1_tray_2", spot_on_table(view, "work_table"))
    note_trays(belief)
    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_2", 1.0)
    belief.world_model.attach({"medium_gear_1": "kit_1"})
    belief.note_missing(["m2l1_tray_2"])
    assert note_trays(belief) == ["kit_1 is gone with its tray"]
    assert "kit_1" not in view.objects
    assert view.objects["medium_gear_1"].reference == "kitting"
    assert state_of(view).kits == ()
    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_1", 2.0)  # the name can be used again


def _move(belief: Belief, tray: str, pose: Pose, time_s: float = 1.0) -> None:
    """Somebody sees the tray there."""
    row, turn, spread = pose.position[None], pose.quaternion[None], np.full((1, 6), 1e-7)
    sku, ages = belief.state.sku(tray), np.zeros(1)
    belief.take(
        Tracks(
            round(time_s * 1e9),
            0,
            "detector",
            identities=(tray,),
            skus=(sku,),
            positions=row,
            quaternions=turn,
            variances=spread,
            ages_s=ages,
            slots=("",),
        )
    )
