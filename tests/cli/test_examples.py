"""`cellwright examples`: a list, their text, copies that run as they are."""

from __future__ import annotations

import filecmp
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cellwright.scaffold import examples
from cellwright.scaffold.examples import INSTALLED

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"


def test_every_example_is_listed_with_a_line_and_a_command(cellwright):
    listed = cellwright("examples", "list", "--json").json["examples"]
    there = {path.stem if path.is_file() else path.name for path in FOLDER.iterdir() if path.name != "__pycache__"}
    assert {one["name"] for one in listed} == there
    assert [one["name"][:2] for one in listed if one["name"][0].isdigit()] == [f"{n:02}" for n in range(20)]
    assert all(20 < len(one["title"]) < 130 and one["command"] for one in listed)
    printed = cellwright("examples", "list").out
    assert "python 03_own_cell.py" in printed


@pytest.mark.parametrize("name", ["3", "03", "own_cell", "03_own_cell", "03_own_cell.py"])
def test_an_example_is_found_by_what_people_type(cellwright, name):
    assert cellwright("examples", "show", name).out == (FOLDER / "03_own_cell.py").read_text("utf-8")


def test_all_of_them_are_copied_whole(cellwright):
    ended = cellwright("examples", "copy")
    assert (ended.code, ended.err) == (0, "")
    copies = {str(path.relative_to("examples")) for path in Path("examples").rglob("*") if path.is_file()}
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert copies == {name for name in there if "__pycache__" not in name}
    assert filecmp.cmpfiles(FOLDER, "examples", copies, shallow=False)[1:] == ([], [])


def test_one_is_copied_with_what_it_needs_and_nothing_is_replaced(cellwright, refused):
    made = cellwright("examples", "copy", "11", "trials", "--out", "mine", "--json").json
    wanted = ["11_external_controller.py", "trials/two_orders.yaml", "controllers/by_sockets.py"]
    assert made["files"] == [f"mine/{name}" for name in [*wanted, "controllers/from_drawings.py"]]
    assert made["next"][0] == "cd mine && python 11_external_controller.py"
    Path("mine/11_external_controller.py").write_text("changed")
    said = refused("examples", "copy", "11", "--out", "mine")
    assert said.startswith("cellwright: mine/11_external_controller.py exists, and is not overwritten")
    assert Path("mine/11_external_controller.py").read_text() == "changed"
    assert cellwright("examples", "copy", "11", "--out", "mine", "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "own_sell"], "unknown example 'own_sell'"),
        (["copy", "99"], "unknown example '99'"),
        (["copy", "1", "--out", "file"], "cannot write file: "),
        (["copy", "1", "--out", "file/x"], "cannot write file/x: "),
    ],
)
def test_mistakes_are_one_line(refused, tmp_path, arguments, said):
    (tmp_path / "file").write_text("")
    assert said in refused("examples", *arguments)
    assert (tmp_path / "file").read_text() == ""


def test_a_copy_runs(cellwright, tmp_path):
    assert cellwright("examples", "copy", "1", "--out", ".").code == 0
    done = subprocess.run([sys.executable, "01_poses_and_frames.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert "part in world" in done.stdout


@pytest.mark.slow
def test_copies_that_need_others_run(cellwright, tmp_path):
    assert cellwright("examples", "copy", "pytest", "--out", ".").code == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "builds", "pytest"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_that_is_built_takes_them_along():
    """The wheel is built in a test of its own, which is slow; here the path that both sides name is compared."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["examples"] == "/".join(INSTALLED.parts[-3:])
    assert len(examples()) >= 19


@pytest.mark.slow
def test_the_wheel_has_the_examples_and_the_project(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=True, timeout=240)
    (wheel,) = tmp_path.glob("*.whl")
    unpacked = tmp_path / "installed"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(unpacked)], check=True)
    program = "from cellwright.cli import main; import sys; main(sys.argv[1:])"
    for arguments in (["examples", "copy", "--out", "ex"], ["init", "mine"]):
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": str(unpacked), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "ex/00_first_job.py").is_file()
    assert (tmp_path / "mine/.github/workflows/test.yml").is_file()
    assert not (unpacked / "examples").exists()
