"""What a controller is told of a cell before it has looked: the drawings, and nothing of how the cell really is."""

from __future__ import annotations

import asyncio
import json
import math

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.drawings.summary import drawings
from cellwright.trials import Trial
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.orders import OrderBook
from cellwright.trials.trial_interfaces import TrialInterfaces


def asked(cell, seed):
    """The line that the control door answers with, and where the trays really are."""

    async def main(interfaces):
        await interfaces.open(any_port=True)
        reader, writer = await asyncio.open_connection(*interfaces.control.address.split(":"))
        try:
            writer.write(b'{"ask": "drawings"}\n')
            return await reader.readline()
        finally:
            writer.close()
            await interfaces.close()

    with cw.Lab(cell, seed=seed, pace=1.0) as lab:
        wanted = [{"order": "kit_m2l1", "announce": {"at_s": 100.0}}]
        cfg = TrialCfg(trial="drawn", time_limit_s=120.0, orders=wanted)
        line = lab.perform(main(TrialInterfaces(Trial(lab, cfg, OrderBook.of(cfg.orders, cell)))))
        return line, {name: lab.world.pose_of(name) for name in cell.trays}


@pytest.fixture(scope="module")
def answers(changed):
    cell = changed()
    return cell, [asked(cell, seed) for seed in (1, 2)]


@pytest.fixture(scope="module")
def told(answers):
    return json.loads(answers[1][0][0])["drawings"]


def pose_of(told):
    return Pose.from_xyz_rpy(told["xyz_m"], told["rpy_rad"])


def test_the_drawings_are_told_and_not_how_the_cell_really_is(answers, told):
    cell, ((_, actual), _) = answers
    for name, tray in told["trays"].items():
        drawn = pose_of(tray["pose_in_world"])
        assert drawn.is_close(cell.trays[name].pose.pose, tolerance_m=1e-8, tolerance_rad=1e-8)
        assert drawn.distance_m(actual[name]) > 1e-5, "this seed puts it elsewhere"


def test_the_answer_is_the_same_to_the_byte_for_every_seed(answers):
    (first, one), (second, other) = answers[1]
    assert first == second
    assert any(one[name].distance_m(other[name]) > 1e-5 for name in one), "though the cells differ"


def test_frames_lead_from_robot_to_robot(told):
    bases = {name: pose_of(robot["pose_base_in_world"]) for name, robot in told["robots"].items()}
    for name, robot in told["robots"].items():
        for other, pose in robot["bases_of_others_in_base"].items():
            there = bases[name] @ pose_of(pose)
            assert there.is_close(bases[other], tolerance_m=1e-8, tolerance_rad=1e-8)
        for tray in told["trays"].values():
            in_world = bases[name] @ pose_of(tray["pose_in_base"][name])
            assert in_world.is_close(pose_of(tray["pose_in_world"]), tolerance_m=1e-8, tolerance_rad=1e-8)
    assert set(told["robots"]["fanuc"]["bases_of_others_in_base"]) == {"motoman"}


def test_slots_and_heights(told):
    tray = told["trays"]["fanuc_kit_m2l1"]
    slots = tray["slots"]
    assert (tray["kind"], tray["sku"], list(slots)) == ("kit", "sku_kit_m2l1_vessel", ["slot_1", "slot_2", "slot_3"])
    assert [slot["part_sku"] for slot in slots.values()][2] == "sku_part_large_gear"
    assert slots["slot_3"]["part_xyz_m"][:2] == [0.0, -0.04]
    held_m = tray["pose_in_base"]["fanuc"]["xyz_m"][2] + slots["slot_1"]["grasp_z_m"]
    assert held_m == pytest.approx(0.013), "where the hand is when it holds a gear in the kit"
    assert told["surfaces"]["fanuc_cart"]["top_m"] == pytest.approx(tray["pose_in_world"]["xyz_m"][2])


def test_who_reaches_what_sees_what_and_with_which_tool(told):
    assert told["trays"]["fanuc_kit_m2l1"]["reached_by"] == {"fanuc": ["aprs_fanuc_gripper"]}
    assert "fanuc_kit_m2l1" in told["robots"]["fanuc"]["reaches_trays"]
    assert "fanuc_kit_m2l1" not in told["robots"]["motoman"]["reaches_trays"]
    assert set(told["trays"]["motoman_kit_m2l1"]["reached_by"]) == {"fanuc", "motoman"}
    view = told["views"][told["robots"]["motoman"]["detector"]]
    assert view["robot"] == "motoman"
    assert view["min_xy_m"] == pytest.approx([0.031 - 0.496, -0.690 - 0.496], abs=0.001), "all that its camera shows"
    assert view["max_xy_m"] == pytest.approx([0.031 + 0.496, -0.690 + 0.496], abs=0.001)
    assert view["camera"]["pose_in_world"]["xyz_m"] == [0.031, -0.69, 2.005]
    assert (view["camera"]["fov_rad"], view["camera"]["resolution_px"]) == (0.837, [2048, 2048])
    gripper = told["tools"]["aprs_fanuc_gripper"]
    assert (gripper["kind"], gripper["open_width_m"]) == ("gripper", 0.02)
    assert "sku_part_medium_gear" in gripper["takes_parts"]
    assert gripper["grasps"]["sku_part_medium_gear"] == {"height_m": pytest.approx(0.0296), "width_m": 0.008}
    assert told["time_limit_s"] == 120.0
    assert told["parts"]["sku_part_medium_gear"]["count"] == 8


def test_without_a_rectangle_a_detector_looks_at_what_its_camera_shows(aprs):
    lines = [line for line in aprs.sensors if "detector" not in line["type"]]
    eye = {"type": "overhead_detector", "name": "detector_fanuc", "camera": "camera_fanuc", "rate_hz": 10}
    cell = aprs.changed({"sensors": [*lines, eye | {"plane_m": 0.916}], "robots": {"motoman": {"vision": None}}})
    view = drawings(cell, lambda *_: True, None)["views"]["detector_fanuc"]
    half_m = (1.963 - 0.916) * np.tan(0.837 / 2)
    assert view["min_xy_m"] == pytest.approx([0.359 - half_m, -1.157 - half_m])
    assert view["max_xy_m"] == pytest.approx([0.359 + half_m, -1.157 + half_m])
    assert view["plane_m"] == 0.916
    assert len(view["corners_xy_in_base_m"]) == 4


def test_the_tools_that_a_robot_changes():
    """A vacuum tool reaches a tray where it takes it, and takes kit trays only."""
    cell = load_cell("kitting").model_copy(update={"fidelity": "kinematic"})
    told = json.loads(asked(cell, 3)[0])["drawings"]
    assert told["robots"]["motoman"]["changes_tools"]
    assert told["tools"]["tray_vacuum"]["takes_trays"] == ["sku_kit_m2l1_vessel", "sku_kit_s2l2_vessel"]
    assert told["tools"]["tray_vacuum"]["holder"] == "tray_tool_holder"
    assert told["trays"]["medium_tray"]["reached_by"] == {"motoman": ["big_gripper"]}
    assert told["trays"]["m2l1_tray_1"]["reached_by"] == {"motoman": ["big_gripper", "tray_vacuum"]}


def test_all_numbers_are_finite_and_all_keys_of_numbers_say_their_unit(told):
    def look(value, key):
        if isinstance(value, dict):
            for name, inner in value.items():
                look(inner, name)
        elif isinstance(value, list):
            for inner in value:
                look(inner, key)
        elif isinstance(value, float | int) and not isinstance(value, bool):
            assert math.isfinite(value)
            assert key.rpartition("_")[2] in {"m", "rad", "s", "hz", "kg", "n", "px", "count"}, key

    look(told, "")


def test_the_size_of_errors_is_told_and_not_their_direction():
    errors = {"size": "calibrated", "table": {"z_m": -0.02}, "backlash_deg": [0.1, 0, 0, 0, 0, 0]}
    told = drawings(load_cell("aprs").changed({"actual": errors}), lambda *_: True, None)["errors"]
    assert told["table"]["z_m"] == 0.02
    assert told["table"]["roll_rad"] == pytest.approx(np.radians(0.05), abs=1e-9)
    assert told["joint_zero_rad"] == pytest.approx(np.radians(0.005), abs=1e-9)
    assert told["backlash_rad"] == pytest.approx([np.radians(0.1), 0, 0, 0, 0, 0], abs=1e-9)
    assert told["lens"] == {"edge_px": 0.3, "centre_column_px": 0.3, "centre_row_px": 0.3}
    assert "z_m" not in told["tray"]
    assert "table" not in drawings(load_cell("aprs"), lambda *_: True, None)["errors"]
