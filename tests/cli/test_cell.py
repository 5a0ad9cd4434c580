"""`cellwright cell`."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image


def narrow(text: str) -> bool:
    return max(map(len, text.splitlines())) <= 80


def test_list(cellwright):
    ended = cellwright("cell", "list")
    assert ended.code == 0
    assert "APRS agility laboratory" in ended.out
    assert narrow(ended.out)
    assert "aprs" in [cell["name"] for cell in cellwright("cell", "list", "--json").json["cells"]]


def test_show(cellwright):
    ended = cellwright("cell", "show", "aprs", "--seed", 3)
    assert (ended.code, ended.err) == (0, "")
    for text in (
        "lr_mate_200id",
        "aprs_motoman_gripper",
        "fanuc_kit_m2l1",
        "small_gear_8",
        "camera_post",
        "wrench",
        "curtain_front",
    ):
        assert text in ended.out
    assert narrow(ended.out.split("\n\n", 1)[1])  # the description is left to the terminal to wrap


def test_show_list_and_check_tell_of_errors_of_a_named_size(cellwright):
    ended = cellwright("cell", "show", "aprs@lab_tools@as-built", "--seed", 3)
    assert (ended.code, ended.err) == (0, "")
    assert "errors of the real cell: as_built" in ended.out
    assert narrow(ended.out.split("\n\n", 1)[1])
    shown = cellwright("cell", "show", "aprs@as_built", "--seed", 3, "--json").json
    off = shown["robots_and_fixtures"]
    assert shown["actual"]["size"] == "as_built"
    assert off["fence"] == {"off_mm": 0.0, "off_deg": 0.0}
    assert all(0.1 < off[name]["off_mm"] < 20 for name in ("fanuc", "shared_table", "camera_fanuc"))
    assert "CELL@calibrated" in cellwright("cell", "list").out


@pytest.mark.slow
def test_check_tells_of_errors_of_a_named_size(cellwright):
    found = {one["check"]: one for one in cellwright("cell", "check", "rovi@as_built", "--json").json["findings"]}
    assert found["errors"]["detail"].startswith("as_built, seed 0: off at most robots by ")
    assert found["bases"]["ok"], "the base is where it was surveyed, the table is not: that is no mistake of the file"


def test_show_tells_all_mistakes_of_a_file_those_of_sensors_and_interfaces_too(cell_file, refused):
    eye = ("vision: {detector: detector_f", "vision: {detector: eye_f")
    file = cell_file(("type: wrench, robot: fanuc", "type: wrench, robot: nobody"), eye)
    for form in ([], ["--json"], ["--yaml"]):
        lines = refused("cell", "show", file, *form)
        assert "unknown robot 'nobody'" in lines
        assert "robots.fanuc.vision.detector: unknown detector 'eye_fanuc'" in lines
    assert "unknown detector 'eye_fanuc'" in refused("cell", "show", cell_file(eye)), "also when that is all"


def test_show_for_programs(cellwright):
    shown = cellwright("cell", "show", "aprs", "--seed", 3, "--json").json
    assert set(shown["robots"]) == {"fanuc", "motoman"}
    assert shown["safety"]["inputs"]["e_stop"]["zones"] == ["fanuc", "motoman"]
    assert len(shown["objects"]) == 30
    tray = shown["objects"]["motoman_large_tray"]
    assert tray["xyz_m"] == pytest.approx([-0.17, -0.757, 0.89])
    assert tray["yaw_deg"] == pytest.approx(90)
    assert 0 < tray["off_mm"] < 20
    assert cellwright("cell", "show", "aprs", "--seed", 4, "--json").json["objects"] != shown["objects"]


@pytest.mark.slow
def test_show_the_drawings_for_controllers(cellwright, cell_file, refused):
    """What a trial's control interface tells, for whoever works at a cell that is only served."""
    drawn = cellwright("cell", "show", cell_file(), "--drawings").json
    tray = drawn["trays"]["fanuc_kit_m2l1"]
    assert tray["reached_by"] == {"fanuc": ["aprs_fanuc_gripper"]}
    assert tray["pose_in_base"]["fanuc"]["xyz_m"] == pytest.approx([0.529, 0.14, -0.018])
    assert tray["slots"]["slot_1"]["part_sku"] == "sku_part_medium_gear"
    assert drawn["views"]["detector_motoman"]["camera"]["pose_in_world"]["xyz_m"] == [0.031, -0.69, 2.005]
    assert "give one of them" in refused("cell", "show", "aprs", "--drawings", "--json")


def test_check(cellwright, cell_file):
    ended = cellwright("cell", "check", cell_file())
    assert ended.code == 0
    assert narrow(ended.out)
    assert "sensor detector_motoman" in ended.out
    file = cell_file(("[0.36, -1.000, 0.916]", "[1.36, -1.000, 0.916]"))
    ended = cellwright("cell", "check", file)
    assert ended.code == 1
    assert "wrong" in ended.out
    found = {f["check"]: f for f in cellwright("cell", "check", file, "--json").json["findings"]}
    assert found["reach"]["ok"] is False
    assert "fanuc_kit_m2l1/slot_1" in found["reach"]["detail"]


def test_picture(cellwright, cell_file, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "ray")
    size = ["--width", 64, "--height", 48]
    ended = cellwright("cell", "picture", cell_file(), "--out", "new/folder/[a].png", *size)
    assert (ended.code, ended.out) == (0, "new/folder/[a].png (64 x 48, renderer ray)\n")
    with Image.open("new/folder/[a].png") as image:
        assert image.size == (64, 48)
    data = cellwright("cell", "picture", cell_file(), "--out", "b.png", *size, "--json").json
    assert (data["file"], data["width"], data["height"], data["renderer"]) == ("b.png", 64, 48, "ray")


@pytest.mark.slow
def test_export_opens_in_mujoco(cellwright, cell_file):
    data = cellwright("cell", "export", cell_file(), "--format", "mjcf", "--out", "cell.xml", "--json").json
    assert data["format"] == "mjcf"
    assert data["files"][0] == "cell.xml"
    model = mujoco.MjModel.from_xml_path("cell.xml")
    assert (model.nbody, model.ngeom) == (data["bodies"], data["geoms"])
    world = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, world, model.key("start").id)
    start = world.qpos.copy()
    mujoco.mj_step(model, world, 50)
    assert np.abs(world.qpos - start).max() < 2e-3  # arms are held at home, gears lie in their slots
    ended = cellwright("cell", "export", cell_file(), "--out", "again.xml")
    assert ended.out.startswith(f"again.xml (mjcf, {model.nbody} bodies, {model.ngeom} geoms)\n")
    assert all(Path(line).exists() for line in ended.out.splitlines()[1:])


def test_brackets_in_a_cell_are_printed(cellwright, cell_file):
    file = cell_file(("APRS agility laboratory", "'Cell [red]one[/red] [/]'"))
    assert "Cell [red]one[/red] [/]" in cellwright("cell", "show", file).out


@pytest.mark.slow
def test_a_picture_replaces_no_other(cellwright, cell_file, refused):
    size = ["--width", 32, "--height", 16]
    names = [cellwright("cell", "picture", cell_file(), *size, "--json").json["file"] for _ in range(2)]
    assert names == ["out/cell.png", "out/cell-2.png"]
    told = refused("cell", "picture", cell_file(), "--out", "out/cell.png", *size)
    assert "out/cell.png exists, and is not overwritten: choose another name, or add --overwrite" in told
    assert cellwright("cell", "picture", cell_file(), "--overwrite", *size).out.startswith("out/cell.png")
