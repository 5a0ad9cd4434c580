"""`cellwright model import`: a report for people and programs, files that a cell can name, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cellwright.cells import load_cell
from cellwright.cli import main

pytestmark = pytest.mark.usefixtures("own_models")

DATA = Path(__file__).parents[1] / "models" / "importing" / "data"
CELL = """
name: mine
title: Mine
models: {{fanuc: {folder}/fanuc.yaml}}
robots: {{r: {{model: fanuc, base: {{xyz_m: [0, 0, 0]}}, home_deg: [0, 0, 0, 0, -90, 0]}}}}
"""


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["model", "import", *map(str, words)])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_an_arm_is_reported_written_and_usable(capsys, tmp_path):
    code, out, _ = run(capsys, DATA / "lr_mate_200id.urdf", "--name", "fanuc", "--mass", 25, "--out", tmp_path)
    assert code == 0
    for words in ("arm fanuc", "mass 25 kg", "inverse kinematics analytic", "guessed (", "changed (", "joint_6"):
        assert words in out
    assert (tmp_path / "fanuc.xml").exists()
    file = tmp_path / "cell.yaml"
    file.write_text(CELL.format(folder=tmp_path))
    assert load_cell(file).robots["r"].model.startswith("fanuc-")


def test_one_json_object(capsys, tmp_path):
    code, out, _ = run(capsys, DATA / "gripper.urdf", "--out", tmp_path, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["kind"] == "tool"
    assert found["width_m"] == pytest.approx([0.002365, 0.088], abs=1e-4)
    assert {note["kind"] for note in found["notes"]} == {"guessed", "changed"}


def test_a_part_with_units_mass_and_origin(capsys, tmp_path):
    (tmp_path / "part.obj").write_text(
        "v 0 0 0\nv 20 0 0\nv 20 30 0\nv 0 30 0\nv 0 0 40\nv 20 0 40\nv 20 30 40\nv 0 30 40\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
    )
    words = ("--units", "mm", "--mass", 0.03, "--origin", "bottom", "--sku", "sku_x", "--json")
    code, out, _ = run(capsys, tmp_path / "part.obj", *words, "--out", tmp_path / "o")
    found = json.loads(out)
    assert (code, found["kind"], found["sku"]) == (0, "part", "sku_x")
    assert found["size_m"] == pytest.approx([0.02, 0.03, 0.04])
    assert found["mass_kg"] == pytest.approx(0.03)
    assert found["grasps"][0]["width_m"] == pytest.approx(0.02)
    assert (tmp_path / "o" / "part.yaml").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.urdf",), "nowhere.urdf: does not exist"),
        ((DATA / "gripper.urdf", "--kind", "plane"), "unknown kind 'plane'"),
        ((DATA / "gripper.urdf", "--arg", "x"), "--arg is written name:=value"),
        ((DATA / "block.stl", "--kind", "arm"), "block.stl is a mesh: it can be a part or a fixture, not an arm"),
        ((DATA / "ur5.urdf", "--tip", "tool"), "did you mean 'tool0'"),
        ((DATA / "ur5.urdf", "--mass", "-1"), "mass_kg"),
        ((DATA / "ur5.urdf", "--search", "/nowhere"), "search folder /nowhere does not exist"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, tmp_path, words, said):
    code, out, err = run(capsys, *words, "--out", tmp_path)
    assert code == 2
    assert out == ""
    assert said in err
    assert len(err.strip().splitlines()) == 1
