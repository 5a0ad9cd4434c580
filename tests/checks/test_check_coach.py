"""`cell check` as a coach: each sabotage of a good cell is a finding with figures, and its remedy makes it go away."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import yaml

from cellwright.catalogue import ROBOTS
from cellwright.cells import Cell, load_cell
from cellwright.checks.cell import check_cell
from cellwright.checks.finding import Finding

pytestmark = pytest.mark.slow

GOOD = yaml.safe_load("""
name: own
title: A UR5 with a Robotiq gripper and gears
fidelity: kinematic
robots:
  ur:
    model: ur5
    base: {xyz_m: [-0.169, -1.14, 0.934]}
    tool: robotiq_2f_85
    home_deg: [180, -100, 100, -90, -90, 0]
fixtures:
  floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}
  cart: {model: fanuc_cart, pose: {xyz_m: [0.04, -1.16, 0]}}
trays:
  mediums: {model: medium_gear_tray, pose: {xyz_m: [0.16, -1.0, 0.916]}}
  larges: {model: large_gear_tray, pose: {xyz_m: [0.16, -1.26, 0.916]}}
  kit: {model: kit_m2l1_tray, pose: {xyz_m: [0.36, -1.0, 0.916]}}
parts:
  m1: {model: medium_gear, slot: mediums/slot_1}
  l1: {model: large_gear, slot: larges/slot_1}
sensors:
  - {type: logical_detector, name: eye, rate_hz: 10, min_xy_m: [-0.11, -1.63], max_xy_m: [0.83, -0.86]}
""")
OTHER = {"model": "ur5", "tool": "robotiq_2f_85", "home_deg": [180, -100, 100, -90, -90, 0]}


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """The good cell with other values at some places; None takes a place out."""
    cell = copy.deepcopy(GOOD)
    for place, value in changes:
        *path, last = place.split(".")
        at = cell
        for key in path:
            at = at[int(key)] if isinstance(at, list) else at[key]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return cell


def wrong(cell: dict[str, Any]) -> dict[str, Finding]:
    return {found.check: found for found in check_cell(Cell.model_validate(cell)) if not found.ok}


def test_a_good_cell_is_told_which_tool_takes_which_part_at_which_height():
    found = {finding.check: finding for finding in check_cell(Cell.model_validate(GOOD))}
    assert all(finding.ok for finding in found.values()), found
    grasp = found["grasp medium_gear"]
    assert re.match(r"ur with robotiq_2f_85 at 41\.\d mm, 8\.0 mm wide, 38\.5 mm on either side", grasp.detail)
    assert grasp.values["ur.robotiq_2f_85.height_m"] == pytest.approx(0.0186 + 0.004 + 0.0375 / 2)
    assert grasp.values["ur.robotiq_2f_85.width_m"] == pytest.approx(0.008)
    assert {"bases", "trays lie flat", "grasp large_gear", "reach", "sight"} <= set(found)


CASES = {
    "a base that floats": (
        [("robots.ur.base.xyz_m", [-0.169, -1.14, 0.984])],
        "bases",
        "'ur' floats 50 mm above 'cart'",
        [],
    ),
    "a base that sinks": (
        [("robots.ur.base.xyz_m", [-0.169, -1.14, 0.916])],
        "bases",
        "'ur' sinks 18 mm into 'cart'",
        [],
    ),
    "a base over nothing": (
        [("robots.ur.base.xyz_m", [-0.62, -1.14, 0.916]), ("fixtures.floor", None)],
        "bases",
        "'ur' hangs in the air: nothing is below its base",
        [("fixtures.foot", {"model": "fanuc_cart", "pose": {"xyz_m": [-1.1, -1.16, 0]}})],
    ),
    "a tray over the edge": (
        [("trays.kit.pose", {"xyz_m": [0.36, -0.93, 0.916]})],
        "trays lie flat",
        r"'kit' overhangs 'cart' by \d+ mm",
        [],
    ),
    "a tray that tilts": (
        [("trays.kit.pose", {"xyz_m": [0.36, -1.0, 0.920], "rpy_deg": [2, 0, 0]})],
        "trays lie flat",
        r"'kit' tilts by 2\.0 deg",
        [("trays.kit.pose", {"xyz_m": [0.36, -1.0, 0.916]})],
    ),
    "a tray in the air": (
        [("trays.kit.pose", {"xyz_m": [0.36, -1.0, 0.95]})],
        "trays lie flat",
        "nothing is below 'kit'",
        [("trays.kit.pose", {"xyz_m": [0.36, -1.0, 0.916]})],
    ),
    "a tray that no detector sees": (
        [("sensors.0.max_xy_m", [0.3, -0.86])],
        "sight",
        r"'kit' at \(0\.360, -1\.000\) m is 60 mm outside the field of eye",
        [("sensors.0.max_xy_m", [0.4, -0.86])],
    ),
    "a tray out of reach": (
        [("robots.ur.base", {"xyz_m": [-0.4, -1.38, 0.916]})],
        "reach",
        r"out of reach: kit/slot_2; of kit/slot_2, the nearest base is that of ur, 0\.91 m away",
        [("robots.ur.base", {"xyz_m": [-0.169, -1.14, 0.934]})],
    ),
    "a cup for gears": (
        [("robots.ur.tool", "small_vacuum")],
        "grasp medium_gear",
        "no tool takes it: ur with small_vacuum: it is not flat enough on top, or too heavy for the cup",
        [("robots.ur.tool", "wsg_50")],
    ),
    "a tool that is meant for something else": (
        [
            ("robots.ur.tool", None),
            ("robots.ur.changer", "tool_changer"),
            ("tools", {"hand": {"model": "pincher", "robot": "ur", "handles": ["large_gear"]}}),
        ],
        "grasp medium_gear",
        "no tool takes it: ur with hand: the cell means it for large_gear",
        [("tools.hand.handles", ["large_gear", "medium_gear"])],
    ),
    "a part that fingers cannot hold": (
        [
            ("robots.ur.tool", "aprs_fanuc_gripper"),
            ("parts.thin", {"model": "thin_gear", "pose": {"xyz_m": [0.36, -1.3, 0.916]}}),
        ],
        "grasp thin_gear",
        r"ur with aprs_fanuc_gripper: .*from above the jaws open 20 mm and need \d\d mm",
        [("robots.ur.tool", "wsg_50")],
    ),
}


def apply_remedy(cell: dict[str, Any], remedy: str) -> dict[str, Any]:
    """Does what a remedy says, where it gives figures."""
    if lifted := re.search(r"move robots\.(\w+)\.base\.xyz_m by ([+-]\d+) mm", remedy):
        cell["robots"][lifted[1]]["base"]["xyz_m"][2] += int(lifted[2]) / 1000
    if moved := re.search(r"move trays\.(\w+)\.pose by \(([+-]\d+), ([+-]\d+)\) mm", remedy):
        place = cell["trays"][moved[1]]["pose"]["xyz_m"]
        place[0], place[1] = place[0] + int(moved[2]) / 1000, place[1] + int(moved[3]) / 1000
    return cell


@pytest.mark.parametrize("name", CASES)
def test_a_sabotage_is_found_and_its_remedy_helps(name):
    sabotage, check, words, mending = CASES[name]
    found = wrong(changed(*sabotage))
    assert check in found, found
    assert re.search(words, found[check].detail), found[check].detail
    assert found[check].remedy
    mended = apply_remedy(changed(*sabotage, *mending), "" if mending else found[check].remedy)
    assert check not in wrong(mended)


def test_a_part_that_only_the_wrong_tool_reaches_is_out_of_reach():
    """One robot has a cup and gets there; the one with fingers does not."""
    far = {**OTHER, "base": {"xyz_m": [-0.4, -1.38, 0.916]}}
    cell = changed(("robots.ur.tool", "small_vacuum"), ("robots.far", far))
    assert "out of reach" in wrong(cell)["reach"].detail
    cell["robots"]["ur"]["tool"] = "robotiq_2f_85"
    assert "reach" not in wrong(cell)


def test_a_hand_over_needs_a_slot_that_both_robots_reach():
    """One robot reaches the gears, another the kit, 1.6 m away; an empty tray between them does."""
    cell = changed(
        ("robots.two", {**OTHER, "base": {"xyz_m": [1.231, -1.14, 0.934]}}),
        ("fixtures.cart_two", {"model": "fanuc_cart", "pose": {"xyz_m": [1.44, -1.16, 0]}}),
        ("trays.kit.pose", {"xyz_m": [1.56, -1.0, 0.916]}),
        ("sensors.0.max_xy_m", [2.0, -0.86]),
    )
    found = wrong(cell)
    assert set(found) == {"hand-over"}
    assert "two reaches kit/slot_1, and only ur a medium_gear" in found["hand-over"].detail
    assert found["hand-over"].values["cannot"] == 3
    cell["trays"]["between"] = {"model": "medium_gear_tray", "pose": {"xyz_m": [0.5, -1.0, 0.916]}}
    cell["trays"]["between_l"] = {"model": "large_gear_tray", "pose": {"xyz_m": [0.5, -1.26, 0.916]}}
    assert wrong(cell) == {}


@pytest.mark.parametrize("name", ["aprs", "aprs@lab-tools", "kitting", "rovi", "rovi@launch", "rovi@cube", "epucks"])
def test_cells_that_ship_are_clean(name):
    assert [found for found in check_cell(load_cell(name)) if not found.ok] == []


def test_kits_without_a_detector_are_a_finding_with_a_sensor_to_add():
    found = wrong(changed(("sensors", [])))
    assert list(found) == ["sight"]
    assert "the cell has no detector" in found["sight"].detail
    mended = yaml.safe_load(found["sight"].remedy.partition(": ")[2])
    assert not wrong(changed(("sensors", [mended])))


def test_a_tool_on_an_arm_with_a_hand_is_found_and_parts_are_called_by_the_cell_s_names(tmp_path):
    box = '<collision><geometry><box size="0.04 0.04 0.04"/></geometry></collision>'
    links = [f'<link name="l{n}">{box}</link>' for n in range(7)]
    frame = '<parent link="{}"/><child link="{}"/><origin xyz="0 0 0.15"/>'
    turn = (
        '<joint name="j{0}" type="revolute">{1}<axis xyz="0 {2} {3}"/><limit lower="-2" upper="2" effort="90"/></joint>'
    )
    links += [turn.format(n, frame.format(f"l{n}", f"l{n + 1}"), n % 2, 1 - n % 2) for n in range(6)]
    hand = f'<link name="claw">{box}</link><joint name="h" type="fixed">{frame.format("l6", "claw")}</joint>'
    part = tmp_path / "block.urdf"
    part.write_text(f'<robot name="block"><link name="block">{box}</link></robot>')
    cell = changed(("models", {"arm": str(tmp_path / "arm.urdf"), "block": str(part)}), ("robots.ur.model", "arm"))
    cell["robots"]["ur"] |= {"home_deg": [0, 20, 20, 20, 20, 20]}
    cell["parts"]["b1"] = {"model": "block", "pose": {"xyz_m": [0.3, -1.3, 0.936]}}
    findings = {}
    for case, more in (("bare", ""), ("with hand", hand)):
        (tmp_path / "arm.urdf").write_text(f'<robot name="arm">{"".join(links)}{more}</robot>')
        (tmp_path / "cell.yaml").write_text(yaml.safe_dump(cell))
        findings[case] = {found.check: found for found in check_cell(load_cell(tmp_path / "cell.yaml"))}
    assert "flange ur" not in findings["bare"]
    found = findings["with hand"]["flange ur"]
    assert not found.ok
    assert found.detail.endswith("beyond the flange: claw")
    assert "grasp block" in findings["bare"]
    notes = ROBOTS.get(load_cell(tmp_path / "cell.yaml").robots["ur"].model).notes
    assert [n.where for n in notes if "a tool mounted there would stand in it" in n.what] == ["link claw"]
