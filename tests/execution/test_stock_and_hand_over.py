"""Parts out of another kit's slots, and parts from robot to robot through a tray that both reach, with physics."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.orders import find_order
from cellwright.trials import RunCfg, run_order

from .conftest import SKUS, StillCell, small_kit


def cell_like_aprs(folder: Path, *without: str, **changes: str) -> Path:
    """The laboratory's cell file without variants and lines that begin with these words, others in place of some."""
    text = (files("cellwright.cells") / "aprs.yaml").read_text(encoding="utf-8")
    lines = re.sub(r"^variants:\n(?:[ #].*\n|\n)*", "", text, flags=re.MULTILINE).splitlines()
    kept = [line for line in lines if not line.strip().startswith(without)] if without else lines
    path = folder / "like_aprs.yaml"
    changed = [next((new for old, new in changes.items() if line.strip().startswith(f"{old}:")), line) for line in kept]
    path.write_text("\n".join(changed), encoding="utf-8")
    return path


def verbs(report, *wanted: str) -> list[tuple[str, str, str]]:
    rows = [(record.robot, record.action.strip("()").split()[0], record.part) for record in report.order.actions]
    return [row for row in rows if row[1] in wanted]


@pytest.mark.slow
def test_two_robots_hand_gears_over_through_a_tray_that_both_reach(tmp_path):
    """The kit is out of the Fanuc's reach, the medium gears are out of the Motoman's."""
    far = "  motoman_kit_m2l1: {model: kit_m2l1_tray, pose: {xyz_m: [0.33, -0.50, 0.890]}}"
    path = cell_like_aprs(tmp_path, "fanuc_kit_", "motoman_kit_s2l2", motoman_kit_m2l1=far)
    text = path.read_text(encoding="utf-8").replace(
        "{model: medium_gear, count: 8, trays: [fanuc_medium_tray, motoman_medium_tray]}",
        "{model: medium_gear, count: 4, trays: [fanuc_medium_tray]}",
    )
    path.write_text(text, encoding="utf-8")
    with cw.Lab.from_cell(str(path), 0) as lab:
        report = run_order(lab, [find_order("kit_m2l1")], RunCfg(("fanuc", "motoman")))
    assert report.done, report.reason
    assert not report.hits
    assert round(report.score, 2) == 1.0
    passed = verbs(report, "return-part")
    assert [robot for robot, _, _ in passed] == ["fanuc", "fanuc"]
    placed = {part for robot, _, part in verbs(report, "place-part") if robot == "motoman"}
    assert {part for _, _, part in passed} < placed
    assert (report.order.plans, report.order.retries) == (1, 0)


@pytest.mark.slow
def test_a_gear_out_of_a_wrong_slot_of_one_kit_completes_another(tmp_path):
    """The only small gear lies where a large one belongs."""
    path = cell_like_aprs(tmp_path, "motoman_kit_")
    text = path.read_text(encoding="utf-8").replace(
        "{model: small_gear, count: 8, trays: [fanuc_small_tray, motoman_small_tray]}",
        "{model: small_gear, count: 1, trays: [fanuc_small_tray]}",
    )
    path.write_text(text, encoding="utf-8")
    orders = [small_kit("s"), small_kit("ml")]
    still = StillCell(orders).belief.state
    seat = next(seat for seat in still.slots_on_kit_tray("fanuc_kit_m2l1") if seat.sku == SKUS["l"])
    above = cw.Pose.from_xyz_rpy([0.0, 0.0, 0.005], [0.0, 0.0, 0.0])
    seat_in_kit = still.pose("fanuc_kit_m2l1").inverse() @ seat.pose_part_in_world
    with cw.Lab.from_cell(str(path), 0) as lab:
        lab.world.place("small_gear_1", lab.world.pose_of("fanuc_kit_m2l1") @ seat_in_kit @ above)
        lab.advance(1.0)
        report = run_order(lab, orders, RunCfg(("fanuc",)))
    assert report.done, report.reason
    assert not report.hits
    assert round(report.score, 2) == 1.0
    assert [part for _, _, part in verbs(report, "remove-part")] == ["small_gear_1"]
    assert verbs(report, "return-part") == []
