"""Overlaps are told at the entries of the file, all of them, with a remedy that works."""

import re

import pytest
import yaml

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput
from cellwright.sim import World

CELL = """
name: mine
title: Overlaps
settle_s: 0
robots:
  arm: {model: ur5, base: {xyz_m: [0, 0, 0.845]}, tool: wsg_50, home_deg: [0, -90, 0, -90, 0, 0]}
fixtures:
  floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}
  table: {model: optical_table, pose: {xyz_m: [0, 0, 0]}}
trays:
  supply: {model: medium_gear_tray, pose: {xyz_m: [2, 0, 0]}}
  kit: {model: kit_m2l1_tray, pose: {xyz_m: [2, 0.5, 0]}}
parts:
  gear: {model: medium_gear, pose: {xyz_m: [2, 1, 0]}}
populations:
  - {model: medium_gear, count: 4, trays: [supply]}
"""


@pytest.fixture
def build(tmp_path):
    """Builds the cell from a file, with pairs of old and new text; gives the lines of what is wrong, or none."""

    def make(*changes):
        text = CELL
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        file = tmp_path / "mine.yaml"
        file.write_text(text)
        try:
            World(load_cell(file), 0)
        except BadInput as error:
            return [line.removeprefix(f"{tmp_path}/") for line in getattr(error, "lines", (str(error),))]
        return []

    return make


def moved(line):
    """The key, and the way in metres, that a remedy names."""
    key, x, y, z = re.search(r"move (\S+) by at least \((\S+), (\S+), (\S+)\) mm", line).groups()
    return key, [float(v) / 1000 for v in (x, y, z)]


def test_the_cell_itself_is_sound(build):
    assert build() == []


@pytest.mark.parametrize(
    ("change", "at", "other"),
    [
        (("[2, 1, 0]", "[2, 1, -0.01]"), "line 14: parts.gear.pose", "'floor' is fixtures.floor.pose, line 8"),
        (("[2, 0, 0]", "[2, 0, -0.02]"), "line 11: trays.supply.pose", "'floor' is fixtures.floor.pose, line 8"),
        (("[2, 0.5, 0]", "[2, 0.1, 0]"), "line 12: trays.kit.pose", "'supply' is trays.supply.pose, line 11"),
        (("[2, 1, 0]", "[2, 0.02, 0]"), "line 14: parts.gear.pose", "'supply' is trays.supply.pose, line 11"),
    ],
    ids=["part in the floor", "full tray in the floor", "tray in a tray", "part in a full tray"],
)
def test_an_overlap_names_both_entries_and_its_remedy_works(build, change, at, other):
    (line,) = build(change)
    assert f", {at}: " in line
    assert other in line
    key, way_m = moved(line)
    section, name, _ = key.split(".")
    old = yaml.safe_load(change[1])
    new = [round(a + b, 5) for a, b in zip(old, way_m, strict=True)]
    assert key in at
    assert build((change[0], str(new))) == [], (section, name)
    almost = [a + 0.8 * b for a, b in zip(old, way_m, strict=True)]
    assert build((change[0], str(almost))) != []


def test_all_overlaps_are_told(build):
    lines = build(("[2, 1, 0]", "[2, 1, -0.01]"), ("[2, 0.5, 0]", "[2, 0.5, -0.01]"))
    assert [re.search(r"line (\d+)", line)[1] for line in lines] == ["12", "14"]


def test_a_base_that_is_too_low_is_told_how_far(build):
    lines = build(("[0, 0, 0.845]", "[0, 0, 0.81]"))
    remedy = "the base stands 35 mm below the top of 'table': move robots.arm.base.xyz_m by +35 mm along the base's z"
    assert any(line.startswith("mine.yaml, line 6: robots.arm.base: ") and remedy in line for line in lines)


def test_an_arm_in_itself_is_told_at_its_home(build):
    (line,) = build(("[0, -90, 0, -90, 0, 0]", "[0, -90, 170, 0, 0, 0]"))
    assert "line 6: robots.arm.home_deg: 'arm/" in line
    assert "choose angles" in line
