"""Every mistake in a cell file is one line: the file, the path inside it, what is allowed; exit code 2."""

import re
from pathlib import Path

import pytest

from cellwright.cells import actual_layout, cell_hints, load_cell
from cellwright.core.errors import BadInput

HOME = [0, 0, 0, 0, -90, 0]
BASE = {"xyz_m": [0, 0, 0.5]}


def part(**keys):
    return {"parts": {"gear": {"slot": None, **keys}}}


def arm(**keys):
    return {"robots": {"arm": keys}}


CASES = {
    "unknown robot": (arm(model="lr_mate_200"), "robots.arm.model", "did you mean 'lr_mate_200id'?", "sia20f"),
    "unknown tool": (arm(tool="fanuc_gripper"), "robots.arm.tool", "did you mean 'aprs_fanuc_gripper'?"),
    "unknown fixture": ({"fixtures": {"floor": {"model": "flor"}}}, "fixtures.floor.model", "did you mean 'floor'?"),
    "unknown tray model": ({"trays": {"kit": {"model": "kit_m2l2_tray"}}}, "trays.kit.model", "kit_m2l1_tray"),
    "unknown part model": (
        {"parts": {"gear": {"model": "medum_gear"}}},
        "parts.gear.model",
        "did you mean 'medium_gear'?",
    ),
    "unknown model of a population": (
        {"populations": [{"model": "gear", "count": 1, "trays": ["supply"]}]},
        "populations.0.model",
        "small_gear",
    ),
    "unknown tray": (part(slot="kid/slot_1"), "parts.gear.slot", "unknown tray 'kid'", "did you mean 'kit'?"),
    "unknown tray of a population": (
        {"populations": [{"model": "medium_gear", "count": 1, "trays": ["suply"]}]},
        "populations.0.trays",
        "did you mean 'supply'?",
    ),
    "unknown slot": (part(slot="kit/slot_9"), "parts.gear.slot", "slot of kit 'slot_9'", "slot_1, slot_2, slot_3"),
    "no slot": (part(slot="kit"), "parts.gear", "written tray/slot, got 'kit'"),
    "too few joints": (arm(home_deg=[0] * 5), "robots.arm.home_deg", "lr_mate_200id has 6 joints, got 5 angles"),
    "home outside limits": (
        arm(home_deg=[0, 0, 0, 0, -126, 0]),
        "robots.arm.home_deg",
        "joint_5 at -126 deg is outside -125.00 to 125.00 deg",
    ),
    "home a trace outside limits": (
        arm(model="sia20f", home_deg=[180, 0, 0, 0, 0, 0, 0], tool=None),
        "robots.arm.home_deg",
        "joint_1 at 180 deg is outside -179.99 to 179.99 deg",
    ),
    "wrong part for a slot": (
        part(slot="kit/slot_3"),
        "parts.gear.slot",
        "'kit/slot_3' is for sku_part_large_gear, not sku_part_medium_gear",
    ),
    "slot taken twice": (
        {"parts": {"other": {"model": "medium_gear", "slot": "kit/slot_1"}}},
        "parts.other.slot",
        "'kit/slot_1' already holds gear",
    ),
    "name used twice": (
        {"parts": {"kit": {"model": "medium_gear", "slot": "supply/slot_1"}}},
        "parts.kit",
        "the name is taken by trays.kit",
    ),
    "name of a population's part used": (
        {"fixtures": {"medium_gear_2": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}}},
        "populations.0",
        "'medium_gear_2', which is taken",
    ),
    "backlash for another arm": (
        {"actual": {"backlash_deg": [0.01] * 7}},
        "actual.backlash_deg",
        "arm has 6 joints, got 7 figures; one number is for all joints",
    ),
    "backlash of a worn-out arm": ({"actual": {"backlash_deg": 6}}, "actual.backlash_deg", "between 0 and 5"),
    "backlash below zero": ({"actual": {"backlash_deg": -0.01}}, "actual.backlash_deg", "between 0 and 5"),
    "zone of nobody": (
        {"safety": {"zones": {"front": {"robots": ["amr"], "pose": BASE, "size_m": [1, 1, 1]}}}},
        "safety.zones.front",
        "unknown robot 'amr'; did you mean 'arm'",
    ),
    "flat zone": (
        {"safety": {"zones": {"front": {"robots": ["arm"], "pose": BASE, "size_m": [1, 1, 0]}}}},
        "safety.zones.front.size_m.2",
        "greater than 0",
    ),
    "reserved name": (
        {"parts": {"world": {"model": "medium_gear", "slot": "supply/slot_1"}}},
        "parts.world",
        "reserved",
    ),
    "bad name": (
        {"trays": {"My Tray": {"model": "kit_m2l1_tray", "pose": BASE}}},
        "trays.My Tray",
        "a name is a small letter",
    ),
    "no place": ({"parts": {"lonely": {"pose": None}}}, "parts.lonely", "give either pose or slot"),
    "two places": (part(slot="kit/slot_1", pose=BASE), "parts.gear", "give either pose or slot"),
    "tray in a slot": ({"trays": {"kit": {"slot": "supply/slot_1"}}}, "trays.kit", "unknown key 'slot'"),
    "tray without a pose": ({"trays": {"kit": {"pose": None}}}, "trays.kit.pose", "required, but missing"),
    "population nowhere": ({"populations": [{"model": "medium_gear", "count": 1}]}, "populations.0", "trays or region"),
    "too many": (
        {"populations": [{"model": "medium_gear", "count": 5, "trays": ["supply"]}]},
        "populations.0",
        "5 of medium_gear wanted, but only 4 free slots fit",
    ),
    "too many for a region": (
        {
            "populations": [
                {"model": "large_gear", "count": 9, "region": {"min_xy_m": [2, 2], "max_xy_m": [2.2, 2.2], "z_m": 0}}
            ]
        },
        "populations.0",
        "no room for 9 of large_gear in the region",
    ),
    "empty region": (
        {
            "populations": [
                {"model": "large_gear", "count": 1, "region": {"min_xy_m": [2, 2], "max_xy_m": [2, 3], "z_m": 0}}
            ]
        },
        "populations.0.region",
        "min_xy_m must be below max_xy_m",
    ),
    "out of range": ({"timestep_s": 0.5}, "timestep_s", "less than or equal to 0.01"),
    "not a number": ({"settle_s": "soon"}, "settle_s", "should be a number, got 'soon'"),
    "nan": ({"settle_s": float("nan")}, "settle_s", "finite"),
    "nan in a pose": (
        {"trays": {"kit": {"pose": {"xyz_m": [0, float("nan"), 0]}}}},
        "trays.kit.pose.xyz_m.1",
        "finite",
    ),
    "too few coordinates": ({"trays": {"kit": {"pose": {"xyz_m": [0, 0]}}}}, "trays.kit.pose.xyz_m"),
    "far away": (
        {"trays": {"kit": {"pose": {"xyz_m": [0, 0, 1e9]}}}},
        "trays.kit.pose.xyz_m.2",
        "less than or equal to 100",
    ),
    "unknown key": ({"robot": {}}, "unknown key 'robot'; did you mean 'robots'?"),
    "unknown nested key": (arm(home=[0] * 6), "robots.arm", "did you mean 'home_deg'?"),
    "unknown fidelity": ({"fidelity": "magic"}, "fidelity", "'physics' or 'kinematic'"),
    "file in the file": ({"file": "/etc/passwd"}, "unknown key 'file'"),
    "huge error": ({"actual": {"tray": {"x_m": 1e300}}}, "actual.tray.x_m", "should be between -1 and 1"),
    "huge deviation": (
        {"actual": {"robot_base": {"yaw_deg": {"distribution": "normal", "sd": 1e5}}}},
        "actual.robot_base.yaw_deg",
        "should be between -180 and 180",
    ),
    "bad distribution": ({"actual": {"tray": {"x_m": {"low": 1}}}}, "actual.tray.x_m.high", "required"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_one_line_that_names_file_path_and_choices(case, load_changed, tmp_path):
    changes, *expected = CASES[case]
    with pytest.raises(BadInput) as caught:
        actual_layout(load_changed(**changes), seed=0)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert "\n" not in message
    assert re.match(rf"{re.escape(str(tmp_path / 'mine.yaml'))}, line \d+: ", message)
    for words in expected:
        assert words in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: [unclosed", "line 1"),
        ("name: a\n\tb: c", "line 2, column 1"),
        ("name: small\nname: small", "key 'name' occurs twice"),
        ("", "mapping"),
        ("just text", "mapping"),
        ("name: small", "title: required, but missing"),
        ("name: small\ntitle: t\nrobots: 3", "robots: should be a mapping"),
    ],
)
def test_a_broken_file_is_one_line(text, problem, load_changed, tmp_path):
    with pytest.raises(BadInput) as caught:
        load_changed(text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(tmp_path / "mine.yaml"))
    assert problem in message


@pytest.mark.parametrize("name", ["no/such.yaml", "missing.yml", Path("aprs")])
def test_a_missing_file_is_one_line_that_lists_the_cells(name):
    with pytest.raises(BadInput, match=r"^cell file \S+ does not exist \(cells by name: .*aprs.*\)$"):
        load_cell(name)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(BadInput, match=r"^unknown cell 'apr'; did you mean 'aprs'\? \(available: .*aprs.*\)$"):
        load_cell("apr")


def test_a_folder_is_not_a_cell(tmp_path):
    with pytest.raises(BadInput, match=r"^cannot read .*: Is a directory$"):
        load_cell(tmp_path)


def test_not_text_is_not_a_cell(tmp_path):
    file = tmp_path / "picture.yaml"
    file.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(BadInput, match="not a UTF-8 text file"):
        load_cell(file)


def test_all_mistakes_are_told_at_once(load_changed):
    changes = arm(model="lr_mate_200") | {
        "fixtures": {"floor": {"model": "flor"}},
        "trays": {"kit": {"model": "kit_m2"}},
    }
    with pytest.raises(BadInput) as caught:
        actual_layout(load_changed(**changes), seed=0)
    keys = [re.search(r", line \d+: (\S+): ", line)[1] for line in caught.value.lines]
    assert keys == ["fixtures.floor.model", "robots.arm.model", "trays.kit.model"]  # as they stand in the file


@pytest.mark.parametrize(
    ("home_deg", "hinted"),
    [
        ([0, 0, 0, 0, -1.5708, 0], True),
        ([0.5, -0.2, 0.1, 0, -1.2, 3.14], True),
        ([0, 0, 0, 0, -90, 0], False),
        ([0, 0, 0, 0, 0, 0], False),
        ([1, 2, 3, 0, -5, 6], False),
        ([0, 0, 0, 0, -1.5708, 12], False),
    ],
)
def test_radians_in_home_get_a_hint(load_changed, home_deg, hinted):
    hints = cell_hints(load_changed(**arm(home_deg=home_deg)))
    assert len(hints) == hinted
    if hinted:
        assert re.search(r"mine\.yaml, line \d+: robots\.arm\.home_deg: .*radians\? In degrees: \[", hints[0])


def test_a_model_that_does_not_exist_is_told_beside_a_key_that_does_not_fit(load_changed):
    changes = {"fixtures": {"floor": {"model": "flor"}}, "trays": {"kit": {"model": "kit_m2"}}, "settle_s": -1}
    with pytest.raises(BadInput) as caught:
        load_changed(**changes)
    keys = [re.search(r", line \d+: (\S+): ", line)[1] for line in caught.value.lines]
    assert keys == ["fixtures.floor.model", "settle_s", "trays.kit.model"]
