"""`cellwright model export` and `cellwright cell export` as MJCF, URDF and SDF."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import mujoco
import pytest


@pytest.mark.parametrize("form", ["mjcf", "urdf", "sdf"])
def test_model_for_programs(cellwright, form):
    data = cellwright("model", "export", "wsg_50", "--format", form, "--out", f"new/hand.{form}", "--json").json
    assert (data["model"], data["kind"], data["format"]) == ("wsg_50", "tool", form)
    assert (data["links"], data["joints"]) == (3, 2)
    assert data["files"][0] == f"new/hand.{form}"
    assert all(Path(file).exists() for file in data["files"])
    assert bool(data["notes"]) is (form != "mjcf")
    assert all(set(note) == {"kind", "where", "what"} for note in data["notes"])
    if form != "sdf":
        assert mujoco.MjModel.from_xml_path(data["files"][0]).njnt == 2


def test_model_for_people(cellwright):
    ended = cellwright("model", "export", "ur5", "--out", "ur5.urdf")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "ur5.urdf (urdf, 8 links, 7 joints)"
    assert lines[1].startswith("ur5_meshes (")
    assert "dropped: sensor wrist: URDF has no force_torque sensor" in lines


def test_arm_and_furniture_stand_fast_in_sdf(cellwright):
    cellwright("model", "export", "ur5", "--format", "sdf", "--out", "a.sdf")
    assert ET.parse("a.sdf").findtext("model/joint/parent") == "world"
    cellwright("model", "export", "fence", "--format", "sdf", "--out", "b.sdf")
    assert ET.parse("b.sdf").findtext("model/static") == "true"
    cellwright("model", "export", "small_gear", "--format", "sdf", "--out", "c.sdf")
    assert ET.parse("c.sdf").findtext("model/static") is None


def test_uris_of_a_package(cellwright):
    cellwright("model", "export", "small_gear", "--out", "gear.urdf", "--mesh-uri", "package://parts/")
    meshes = [e.get("filename") for e in ET.parse("gear.urdf").iter("mesh")]
    assert meshes
    assert all(uri.startswith("package://parts/gear_meshes/") for uri in meshes)


def test_file_is_translated(cellwright, refused):
    cellwright("model", "export", "wsg_50", "--out", "a/hand.urdf")
    data = cellwright("model", "export", "a/hand.urdf", "--format", "sdf", "--out", "b/hand.sdf", "--json").json
    assert data["kind"] == "file"
    assert ET.parse("b/hand.sdf").getroot().get("version") == "1.11"
    assert any(Path("b/hand_meshes").iterdir())
    assert "nosuch.urdf: does not exist" in refused("model", "export", "nosuch.urdf", "--out", "x.sdf")
    Path("broken.urdf").write_text("<robot>")
    assert "broken.urdf:1: is not well-formed XML" in refused("model", "export", "broken.urdf", "--out", "x.sdf")


@pytest.mark.parametrize("form", ["urdf", "sdf"])
def test_cell(cellwright, cell_file, form):
    data = cellwright("cell", "export", "rovi", "--format", form, "--out", f"cell.{form}", "--json").json
    assert data["format"] == form
    assert data["links"] == 19
    root = ET.parse(f"cell.{form}").getroot()
    assert root.tag == {"urdf": "robot", "sdf": "sdf"}[form]
    name = "ur5/link_6" if form == "urdf" else "link_6"
    assert name in [link.get("name") for link in root.iter("link")]


def test_bad_input(refused, cellwright):
    line = refused("model", "export", "ur55", "--out", "x.urdf")
    assert "unknown model 'ur55'; did you mean 'ur5'?" in line
    assert "'step' is not one of 'mjcf', 'urdf', 'sdf'" in refused(
        "model", "export", "ur5", "--format", "step", "--out", "x"
    )
    Path("file").write_text("")
    assert "file is not a folder" in refused("model", "export", "ur5", "--out", "file/x.urdf")
    assert "--order says nothing" in refused(
        "cell", "export", "rovi", "--format", "sdf", "--order", "a", "--out", "x.sdf"
    )
    Path("x_meshes").write_text("")
    assert "cannot write x_meshes" in refused("model", "export", "small_gear", "--out", "x.urdf")


def test_the_file_s_name_decides_the_format_and_a_contradiction_is_refused(cellwright):
    for name, root in (("a.sdf", "<sdf"), ("a.urdf", "<robot"), ("a.xml", "<mujoco"), ("b", "<robot")):
        assert cellwright("model", "export", "small_gear", "--out", name).code == 0
        assert root in Path(name).read_text()[:300]
    for words in (("model", "export", "small_gear"), ("cell", "export", "rovi")):
        ended = cellwright(*words, "--format", "urdf", "--out", "a.sdf")
        assert ended.code == 2
        assert "a.sdf is called sdf, and --format says urdf" in ended.err


def test_an_unknown_ending_is_refused_unless_the_format_is_said(cellwright):
    for words in (("model", "export", "small_gear"), ("cell", "export", "rovi")):
        ended = cellwright(*words, "--out", "a.dae")
        assert (ended.code, ended.err.count("\n"), Path("a.dae").exists()) == (2, 1, False)
        assert "a.dae: no format is called '.dae'; allowed: .urdf, .sdf, .world, .xml, .mjcf" in ended.err
    assert cellwright("model", "export", "small_gear", "--out", "a.dae", "--format", "urdf").code == 0


def test_what_is_exported_as_mjcf_is_imported_under_that_ending(cellwright):
    assert cellwright("model", "export", "wsg_50", "--out", "hand.mjcf").code == 0
    Path("whole.mjcf").write_text('<mujoco model="hand"><include file="hand.mjcf"/></mujoco>')
    for name in ("hand", "whole"):
        ended = cellwright("model", "import", f"{name}.mjcf", "--out", f"o_{name}", "--json")
        assert (ended.code, ended.json["kind"]) == (0, "tool")
