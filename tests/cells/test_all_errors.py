"""All mistakes of a cell file are told in one round, each with its line, and nothing is told that is none."""

import re

import pytest

from cellwright.cells import load_cell, nominal_layout
from cellwright.core.errors import BadInput

BAD = """
name: bad
title: A cell with mistakes
settle_s: -1                                                                              # settle_s
colour: red                                                                               # unknown key 'colour'
models:
  my_arm: {file: nowhere.urdf}                                                            # models.my_arm
robots:
  arm:
    model: lr_mate_200id
    base: {xyz_m: [0, 0, 0.5]}
    tool: aprs_fanuc_griper                                                               # robots.arm.tool
    home_deg: [0, 900, 0, 0, 0, 0]                                                        # robots.arm.home_deg.1
  left:
    model: lr_mate_200id
    base: {xyz_m: [0, 2, 0.5]}
    changer: changer                                                                      # robots.left.changer
    home_deg: [0, 0, 0]                                                                   # robots.left.home_deg
  right: {model: my_arm, base: {xyz_m: [0, -2, 0.5]}}
fixtures:
  floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}
  rack: {model: flor, pose: {xyz_m: [0, 0, 0]}}                                           # fixtures.rack.model
  holder: {model: tool_holder, pose: {xyz_m: [3, 0, 0]}}
tools:
  cup: {model: small_vacuum, holder: rack}
  hand: {model: big_gripper, holder: holder, handles: [medum_gear]}                       # tools.hand.handles
  other: {model: big_gripper, holder: holder}                                             # tools.other.holder
  third: {model: big_gripper, holder: floor}                                              # tools.third.holder
trays:
  supply: {model: medium_gear_tray, pose: {xyz_m: [0.5, 0.3, 0.0]}}
  kit: {model: kit_m2l1_tray, pose: {xyz_m: [0.5, -0.3, 0.0]}}
  odd: {model: kit_m2l1_tray, pose: {xyz_m: [0.5, -0.3]}}                                 # trays.odd.pose.xyz_m.2
parts:
  gear: {model: medium_gear, slot: kit/slot_1}
  twice: {model: medium_gear, slot: kit/slot_1}                                           # parts.twice.slot
  wrong: {model: medium_gear, slot: kit/slot_3}                                           # parts.wrong.slot
  fine: {model: medium_gear, slot: odd/slot_1}
  lost: {model: medium_gear, slot: od/slot_1}                                             # parts.lost.slot
populations:
  - {model: medium_gear, count: 0, trays: [supply]}                                       # populations.0.count
  - {model: medium_gear, count: 50, trays: [supply]}                                      # populations.1
  - {model: medium_gear, count: 1, trays: [suply]}                                        # populations.2.trays
safety:
  zones:
    all: {robots: [arm, nobody], pose: {xyz_m: [0, 0, 0]}, size_m: [9, 9, 9]}             # safety.zones.all
"""


def expected(text):
    """Line -> the key that the comment in it announces."""
    lines = ((number, line.partition("# ")) for number, line in enumerate(text.splitlines(), 1))
    return {number: key for number, (_, sign, key) in lines if sign}


def told(text, tmp_path):
    """Line -> the key that is told for it, of a cell that cannot be laid out."""
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        nominal_layout(load_cell(file), 0)
    assert caught.value.exit_code == 2
    lines = [re.fullmatch(r".*mine\.yaml, line (\d+): (unknown key 'colour'|\S+):? .*", x) for x in caught.value.lines]
    return {int(line[1]): line[2].rstrip(":") for line in lines}


def test_all_mistakes_of_a_file_are_told_in_one_round(tmp_path):
    assert told(BAD, tmp_path) == expected(BAD)


def without(*signs):
    """The file without the lines that announce these mistakes, or with them put right."""
    right = {
        "settle_s": "settle_s: 1", "robots.arm.home_deg.1": "    home_deg: [0, 0, 0, 0, -90, 0]",
        "trays.odd.pose.xyz_m.2": "  odd: {model: kit_m2l1_tray, pose: {xyz_m: [0.5, -0.6, 0]}}",
        "populations.0.count": "  - {model: medium_gear, count: 1, trays: [supply]}",
        "models.my_arm": "  my_arm: {file: nowhere.urdf, kind: part}",
        "safety.zones.all": "    all: {robots: [arm], pose: {xyz_m: [0, 0, 0]}, size_m: [9, 9, 9]}",
    }  # fmt: skip
    lines = [(line, line.partition("# ")[2]) for line in BAD.splitlines()]
    return "\n".join(right.get(key, "") if key in signs else line for line, key in lines)


SCHEMA = ("settle_s", "unknown key 'colour'", "robots.arm.home_deg.1", "trays.odd.pose.xyz_m.2", "populations.0.count")


@pytest.mark.parametrize(
    "gone",
    [
        SCHEMA,
        (*SCHEMA, "robots.left.changer", "robots.left.home_deg", "robots.arm.tool"),
        ("fixtures.rack.model", "tools.third.holder", "parts.lost.slot"),
        (*SCHEMA, "safety.zones.all", "populations.1", "populations.2.trays"),
        ("populations.0.count", "parts.twice.slot", "parts.wrong.slot"),
    ],
    ids=["it fits the schema", "robots are right", "one unknown less", "no populations", "parts are right"],
)
def test_what_is_right_is_not_told_and_the_rest_is(tmp_path, gone):
    text = without(*gone)
    if "fixtures.rack.model" in gone:
        text = text.replace("small_vacuum, holder: rack}", "small_vacuum, robot: left}")
    if "robots.left.changer" in gone:
        text = text.replace("  left:", "  left:\n    changer: tool_changer")
    assert told(text, tmp_path) == expected(text)


def test_a_tool_is_not_blamed_for_a_changer_that_is_misspelt(tmp_path, small_text):
    tool = "\ntools: {hand: {model: big_gripper, robot: arm}}\n"
    text = small_text.replace("tool: aprs_fanuc_gripper", "changer: 5") + tool
    assert list(told(text, tmp_path).values()) == ["robots.arm.changer"]


def test_remedies_are_named(tmp_path, small_text):
    text = small_text + "  - {model: medium_gear, count: 9, trays: [kit]}\n"
    text = text.replace("  lonely:", "  twin: {model: medium_gear, slot: kit/slot_1}\n  lonely:")
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(BadInput) as caught:
        nominal_layout(load_cell(tmp_path / "mine.yaml"), 0)
    first, second = caught.value.lines
    assert "'kit/slot_1' already holds gear (free: slot_2, slot_3)" in first
    assert "populations.1: 9 of medium_gear wanted, but only 1 free slots fit; lower count, or add trays" in second


def test_a_variant_tells_its_mistakes_together(tmp_path, small_text):
    variants = "\nvariants:\n  worse:\n    trays:\n      kit: {model: kit}\n    parts:\n      lonely: {model: lone}\n"
    (tmp_path / "mine.yaml").write_text(small_text + variants)
    with pytest.raises(BadInput) as caught:
        nominal_layout(load_cell(f"{tmp_path}/mine.yaml@worse"), 0)
    assert len(caught.value.lines) == 2
