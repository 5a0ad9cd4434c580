"""The `models` section: a robot, a tool, a part and a fixture of the user's own, in a cell by YAML alone."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS
from cellwright.cells import cell_yaml, load_cell, nominal_layout, own_name
from cellwright.core.errors import BadInput, ConfigError
from cellwright.shapes.mesh import cuboid

pytestmark = pytest.mark.usefixtures("own_models")

DATA = Path(__file__).parents[1] / "models" / "importing" / "data"
CELL = """
name: mine
title: My own cell
models:
  my_arm: {{file: {data}/ur5.urdf, payload_kg: 5}}
  my_hand: {{file: {data}/gripper.urdf, grip_force_n: 20}}
  my_stand: {{file: {data}/gripper.urdf}}
  my_block: {{file: block.stl, units: mm, mass_kg: 0.05}}
robots:
  r: {{model: my_arm, base: {{xyz_m: [0, 0, 0.5]}}, tool: my_hand, home_deg: [0, -90, 90, -90, -90, 0]}}
fixtures:
  floor: {{model: floor, pose: {{xyz_m: [0, 0, 0]}}}}
  stand: {{model: my_stand, pose: {{xyz_m: [0, 1, 0]}}}}
parts:
  one: {{model: my_block, pose: {{xyz_m: [0.5, 0.3, 0]}}}}
populations:
  - {{model: my_block, count: 2, region: {{min_xy_m: [0.3, -0.4], max_xy_m: [0.6, -0.1], z_m: 0}}}}
"""


def write(folder, text=CELL):
    cube = cuboid([0, 0, 0], [30, 20, 40])
    corners = cube.vertices[cube.faces].astype("<f4")
    data = bytes(80) + len(corners).to_bytes(4, "little")
    (folder / "block.stl").write_bytes(data + b"".join(bytes(12) + corner.tobytes() + bytes(2) for corner in corners))
    file = folder / "cell.yaml"
    file.write_text(text.format(data=DATA))
    return file


def test_every_section_may_use_them(tmp_path):
    cell = load_cell(write(tmp_path))
    robot = cell.robots["r"]
    assert robot.model.startswith("my_arm-")
    assert re.fullmatch(r"[\w.:-]+", str(robot.tool)), "CRCL names grippers so"
    assert own_name(str(robot.tool)) == "my_hand"
    assert ROBOTS.get(robot.model).payload_kg == 5
    assert ROBOTS.get(robot.model).name == "my_arm"  # what errors call it
    assert TOOLS.get(str(robot.tool)).grip_force_n == 20
    assert FURNITURE.get(cell.fixtures["stand"].model).title == "two_fingers"
    assert PARTS.get(cell.parts["one"].model).sku == "sku_my_block"
    assert {part.name for part in nominal_layout(cell, 0).parts} == {"one", "my_block_1", "my_block_2"}


def test_two_cells_may_mean_different_things_by_one_name(tmp_path):
    first = load_cell(write(tmp_path))
    other = load_cell(write(tmp_path, CELL.replace("payload_kg: 5", "payload_kg: 3")))
    again = load_cell(write(tmp_path))
    assert first.robots["r"].model != other.robots["r"].model
    assert first.robots["r"].model == again.robots["r"].model
    assert ROBOTS.get(first.robots["r"].model).payload_kg == 5
    assert ROBOTS.get(other.robots["r"].model).payload_kg == 3


def test_a_cell_s_own_name_goes_before_the_catalogue_s(tmp_path):
    cell = load_cell(write(tmp_path, CELL.replace("my_block", "cube")))
    assert PARTS.get(cell.parts["one"].model).mass_kg == 0.05
    assert PARTS.get("cube").mass_kg != 0.05


def test_a_cell_without_the_section_does_not_know_them(tmp_path):
    load_cell(write(tmp_path))
    start, end = CELL.index("models:"), CELL.index("robots:")
    with pytest.raises(BadInput, match="unknown robot model 'my_arm'"):
        nominal_layout(load_cell(write(tmp_path, CELL[:start] + CELL[end:])), 0)


def test_a_cell_that_went_to_another_process_finds_its_models_again(tmp_path, monkeypatch):
    cell = pickle.loads(pickle.dumps(load_cell(write(tmp_path))))
    model = cell.robots["r"].model
    monkeypatch.delitem(ROBOTS._entries, model)
    nominal_layout(cell, 0)
    assert model in ROBOTS


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ur5.urdf", "gone.urdf", r"models\.my_arm: .*gone\.urdf: does not exist"),
        ("tool: my_hand", "tool: my_arm", r"models\.my_arm: .*all move by themselves"),
        (
            "tool: my_hand",
            "tool: my_block",
            r"models\.my_block: .*it can be a part or a fixture, not a tool",
        ),
        ("payload_kg: 5", "payload_kg: -5", "payload_kg"),
        ("payload_kg: 5", "base: nowhere", "unknown link 'nowhere'"),
        ("payload_kg: 5", "kind: part", r"robots\.r\.model: models\.my_arm is a part, and is used as an arm"),
        ("payload_kg: 5", "search: [nowhere]", "search folder .*nowhere does not exist"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, old, new, words):
    assert old in CELL
    with pytest.raises(ConfigError, match=words):
        load_cell(write(tmp_path, CELL.replace(old, new)))


def test_an_arm_without_a_home_in_the_cell_starts_in_that_of_its_figures(tmp_path):
    said = "payload_kg: 5, home_rad: [0.1, -1.2, 1.3, -1.4, -1.5, 0.6]"
    text = CELL.replace("payload_kg: 5", said).replace(", home_deg: [0, -90, 90, -90, -90, 0]", "")
    cell = load_cell(write(tmp_path, text))
    assert np.radians(cell.robots["r"].home_deg) == pytest.approx([0.1, -1.2, 1.3, -1.4, -1.5, 0.6])
    ours = "name: c\ntitle: t\nrobots: {{r: {{model: ur5, base: {{xyz_m: [0, 0, 0]}}}}}}\n"
    cell = load_cell(write(tmp_path, ours))
    assert np.radians(cell.robots["r"].home_deg) == pytest.approx(ROBOTS.get("ur5").home_rad)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[0, -90, 90, -90, -90, 0]", "[0, -90]", r"home_deg: my_arm has 6 joints, got 2 angles"),
        ("tool: my_hand", "tool: my_hadn", r"unknown tool model 'my_hadn'.*did you mean 'my_hand'"),
        ("stand: {{model: my_stand", "stand: {{model: my_table", r"unknown furniture model 'my_table'"),
    ],
)
def test_errors_call_models_as_the_cell_does(tmp_path, old, new, words):
    assert old in CELL
    load_cell(write(tmp_path))
    cell = load_cell(write(tmp_path, CELL.replace(old, new)))
    with pytest.raises(BadInput, match=words) as caught:
        nominal_layout(cell, 0)
    assert not re.search(r"my_\w+-[0-9a-f]{8}", str(caught.value))


def test_all_mistakes_in_the_figures_of_models_are_told_at_the_file_that_has_them(tmp_path):
    joint = '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><axis xyz="0 0 1"/>'
    joint += '<limit lower="-2" upper="2" effort="9" velocity="1"/></joint>'
    links = "".join(f'<link name="l{n}"/>' for n in range(3))
    (tmp_path / "arm.urdf").write_text(f'<robot name="two">{links}{joint.format(0, 1)}{joint.format(1, 2)}</robot>')
    (tmp_path / "arm.yaml").write_text("file: arm.urdf\nkind: arm\nhome_rad: [9, -9]\n")
    (tmp_path / "worse.yaml").write_text("file: arm.urdf\nkind: robo\npayload_kg: -1\n")
    (tmp_path / "cell.yaml").write_text(
        "name: mine\ntitle: Mine\nmodels:\n  a: arm.yaml\n  b: worse.yaml\n  c:\n    file: arm.urdf\n"
        "    home_rad: [0, 0, 0]\nrobots:\n"
        + "".join(f"  {name}: {{model: {name}, base: {{xyz_m: [0, 0, 0]}}, tool: none}}\n" for name in "abc")
    )
    with pytest.raises(BadInput) as caught:
        load_cell(tmp_path / "cell.yaml")
    told = [line.replace(f"{tmp_path}/", "").partition(" (available")[0] for line in caught.value.lines]
    assert told == [
        "cell.yaml, line 4: models.a: arm.yaml, line 3: home_rad: j0 at 9 rad is outside -2 to 2 rad",
        "cell.yaml, line 4: models.a: arm.yaml, line 3: home_rad: j1 at -9 rad is outside -2 to 2 rad",
        told[2],
        told[3],
        "cell.yaml, line 8: models.c.home_rad: has 3 angles, the arm has 2 joints",
        *(f"cell.yaml, line {ord(n) - 87}: robots.{n}.tool: unknown tool model 'none'" for n in "abc"),
    ]
    assert told[2].startswith("cell.yaml, line 5: models.b: worse.yaml, line 2: kind: should be 'arm', 'tool'")
    assert told[3].startswith("cell.yaml, line 5: models.b: worse.yaml, line 3: payload_kg: should be greater than")


def test_written_as_yaml_they_have_the_names_of_their_author(tmp_path):
    cell = load_cell(write(tmp_path))
    (tmp_path / "again.yaml").write_text(cell_yaml(cell))
    written = yaml.safe_load(cell_yaml(cell))
    assert (written["robots"]["r"]["model"], written["robots"]["r"]["tool"]) == ("my_arm", "my_hand")
    assert (written["parts"]["one"]["model"], written["populations"][0]["model"]) == ("my_block", "my_block")
    assert load_cell(tmp_path / "again.yaml").read_from(cell.file) == cell
