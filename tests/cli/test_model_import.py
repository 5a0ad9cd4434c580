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
    for words in ("arm fanuc", "mass 25 kg", "inverse kinematics analytic", "guessed (", "joint_6"):
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


def test_default_names_never_overwrite_another_import(capsys, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        size = {"one": 0.1, "two": 0.2}[folder]
        (tmp_path / folder / "thing.urdf").write_text(
            f'<robot name="{folder}"><link name="a"><collision><geometry><box size="{size} 0.1 0.1"/></geometry>'
            "</collision></link></robot>"
        )
    out = tmp_path / "o"
    assert run(capsys, tmp_path / "one" / "thing.urdf", "--out", out)[0] == 0
    first = (out / "thing.yaml").read_bytes(), (out / "thing.xml").read_bytes()
    code, said, _ = run(capsys, tmp_path / "two" / "thing.urdf", "--out", out)
    assert (code, (out / "thing_2.yaml").is_file()) == (0, True)
    assert "'thing_2'" in said
    assert first == ((out / "thing.yaml").read_bytes(), (out / "thing.xml").read_bytes())
    for words in ((), ("--kind", "part")):  # the same import again is written over; the same file as something else not
        run(capsys, tmp_path / "two" / "thing.urdf", "--out", out, *words)
    assert {file.stem for file in out.glob("*.yaml")} == {"thing", "thing_2", "thing_3"}


def test_a_file_called_model_is_called_by_its_folder_and_never_written_over(capsys, tmp_path):
    (tmp_path / "can").mkdir()
    text = "<mujoco><worldbody><body name='b'><geom size='.1'/></body></worldbody></mujoco>"
    source = tmp_path / "can" / "model.xml"
    source.write_text(text)
    assert run(capsys, source, "--out", tmp_path / "can")[0] == 0
    assert (tmp_path / "can" / "can.yaml").is_file()
    mine = tmp_path / "can" / "mine.xml"
    mine.write_text(text)
    assert run(capsys, mine, "--out", tmp_path / "can")[0] == 0
    assert (mine.read_text(), (tmp_path / "can" / "mine_2.yaml").is_file()) == (text, True)
    code, _, err = run(capsys, mine, "--out", tmp_path / "can", "--name", "mine")
    assert code == 2
    assert "would be written over; give another --name or --out" in err
    assert mine.read_text() == text


def test_an_unclear_kind_is_one_line_that_lists_the_choices(capsys, tmp_path):
    joint = '<joint name="w{0}" type="continuous"><parent link="a"/><child link="w{0}"/><axis xyz="0 1 0"/></joint>'
    ball = '<link name="{0}"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
    text = ball.format("a") + "".join(ball.format(f"w{n}") + joint.format(n) for n in range(3))
    (tmp_path / "tricycle.urdf").write_text(f'<robot name="r">{text}</robot>')
    code, out, err = run(capsys, tmp_path / "tricycle.urdf", "--out", tmp_path / "o")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--kind arm, tool, part or fixture" in err
    assert not (tmp_path / "o").exists()
    assert run(capsys, tmp_path / "tricycle.urdf", "--out", tmp_path / "o", "--kind", "fixture")[0] == 0
