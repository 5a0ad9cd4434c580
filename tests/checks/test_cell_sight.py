"""`cell check` tells what no detector sees while the robots are at home."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.cells import load_cell
from cellwright.checks.cell_sight import check_sight
from cellwright.sim import World

EYES = [
    {"type": "overhead_detector", "name": f"detector_{name}", "camera": f"camera_{name}", "rate_hz": 10, "plane_m": z_m}
    for name, z_m in (("fanuc", 0.916), ("motoman", 0.890))
]


def seen(**changes: Any):
    cell = load_cell("aprs").changed({"sensors": EYES, "fidelity": "kinematic", **changes})
    return check_sight(World(cell, seed=0))


def test_from_home_every_tray_part_and_slot_of_the_lab_is_seen():
    found = seen()
    assert found.ok, found.detail
    assert "30 trays and parts and 34 slots" in found.detail
    for cell in ("aprs", "aprs@lab_tools", "kitting"):
        found = check_sight(World(load_cell(cell).changed({"fidelity": "kinematic"}), seed=0))
        assert found.ok, found.detail


def test_a_home_pose_that_hides_a_slot_is_told_though_its_tray_is_seen():
    found = seen(robots={"motoman": {"home_deg": [0, 15, 0, -90, 0, -75, 0]}})
    assert not found.ok
    assert "slot_1 of 'motoman_kit_m2l1'" in found.detail
    assert "seen by detector_motoman, hidden by motoman" in found.detail
    assert found.values == {"things": 30, "unseen": 0, "slots": 34, "unseen_slots": 1}
    assert "home_deg" in found.remedy


def test_what_is_out_of_the_picture_or_behind_furniture_is_told():
    found = seen(cameras={"camera_fanuc": {"fov_deg": 20}, "camera_motoman": {"fov_deg": 20}})
    assert not found.ok
    assert "out of the picture" in found.detail
    roof = {"model": "kit_tray_box", "pose": {"xyz_m": [0.36, -1.33, 1.3]}}
    found = seen(fixtures={"roof": roof})
    assert "hidden by roof" in found.detail


@pytest.mark.parametrize("up_m", [0.02])
def test_what_lies_below_another_loose_thing_is_no_mistake(up_m):
    place = {"xyz_m": [0.36, -1.0, 0.916 + up_m]}
    found = seen(trays={"upper": {"model": "kit_m2l1_tray", "pose": place}})
    assert found.ok, found.detail
