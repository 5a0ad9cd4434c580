"""`cellwright init`: a project that passes its own tests, and fails them when its controller does nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import cellwright as cw

FILES = [".github/workflows/test.yml", ".gitignore", "README.md", "cell_2.yaml", "controller.py", "order.yaml"]
FILES += ["parts/bracket.urdf", "pyproject.toml", "requirements.txt", "tests/test_cell_2.py", "trial.yaml"]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of a README, with the programs of this interpreter."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )


def test_a_project_has_the_name_of_its_folder(cellwright):
    made = cellwright("init", "Cell-2", "--json").json
    assert made["cell"] == "cell_2"
    assert made["files"] == FILES
    assert made["next"][:2] == ["cd Cell-2", "pytest"]
    written = [path for path in sorted(Path("Cell-2").rglob("*")) if path.is_file()]
    assert [str(path.relative_to("Cell-2")) for path in written] == FILES
    text = "".join(path.read_text("utf-8") for path in written)
    assert "mycell" not in text
    assert "bench.yaml" not in text
    assert text.count("cell_2.yaml") > 4
    assert cw.load_cell("Cell-2/cell_2.yaml").name == "cell_2"
    assert cw.read_trial(Path("Cell-2/trial.yaml")).faults
    assert "pip install -r requirements.txt" in str(yaml.safe_load(written[0].read_text("utf-8"))["jobs"])
    assert len(Path("Cell-2/controller.py").read_text("utf-8").splitlines()) <= 140


@pytest.mark.parametrize("name", ["on", "class", "n"])
def test_a_name_that_means_something_elsewhere_is_a_name(cellwright, name):
    assert cellwright("init", "here", "--cell", name).code == 0
    assert cw.load_cell(f"here/{name}.yaml").name == name
    compile(Path(f"here/tests/test_{name}.py").read_text("utf-8"), "test", "exec")
    assert cw.read_trial(Path("here/trial.yaml")).cell.endswith(f"{name}.yaml")


def test_what_it_prints_is_what_its_readme_says(cellwright):
    for controller in ("python", "internal"):
        printed = cellwright("init", controller, "--controller", controller, "--cell", "mine").out
        commands = re.findall(r"^  (.+)$", printed, re.MULTILINE)
        readme = Path(controller, "README.md").read_text("utf-8")
        assert commands == [f"cd {controller}", *re.findall(r"^\$ (.+)$", readme, re.MULTILINE)]
        for file in re.findall(r"^\| `([^`]+)`", readme, re.MULTILINE):
            assert Path(controller, file).is_file()
    assert not Path("internal/controller.py").exists()


def test_this_folder_is_the_default_also_with_a_repository_in_it(cellwright, tmp_path, monkeypatch):
    folder = tmp_path / "bench_7"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    ended = cellwright("init")
    assert ended.code == 0
    assert "cd " not in ended.out
    assert (folder / "bench_7.yaml").is_file()


def test_files_of_others_are_not_touched(refused, cellwright):
    folder = Path("mine")
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    assert refused("init", "mine") == (
        "cellwright: mine is not empty, it has notes.txt: choose another folder, or add --overwrite\n"
    )
    (folder / "controller.py").write_text("old")
    assert cellwright("init", "mine", "--overwrite").code == 0
    assert (folder / "notes.txt").read_text() == "mine"
    assert "def main" in (folder / "controller.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x", "--cell", "My Cell"], "--cell: a name is a small letter and up to 47 small letters"),
        (["x", "--cell", "../up"], "--cell: a name is a small letter"),
        (["aprs"], "a cell of the name 'aprs' is installed: say another with --cell NAME"),
        (["7"], "the folder's name '7' makes no name for a cell: say it with --cell NAME"),
        (["x", "--controller", "pyhton"], "unknown controller 'pyhton'; did you mean 'python'?"),
        (["file"], "cannot write file: "),
        (["file/x"], "cannot write file/x: "),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(refused, tmp_path, arguments, said):
    (tmp_path / "file").write_text("")
    line = refused("init", *arguments)
    assert said in line
    assert line.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def project(folder: Path, *options: str) -> Path:
    done = shell(f"cellwright init {' '.join(['mine', *options])}", folder)
    assert done.returncode == 0, done.stderr
    return folder / "mine"


@pytest.mark.slow
def test_a_project_does_what_its_readme_says(tmp_path):
    folder = project(tmp_path)
    commands = re.findall(r"^\$ (.+)$", (folder / "README.md").read_text("utf-8"), re.MULTILINE)
    said = []
    for command in commands:
        done = shell(command, folder)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stdout)
    assert "3 passed" in said[0]
    assert "done: 2 parts seen seated in one kit" in said[1]
    assert "done: all orders were submitted" in said[2]
    assert "fault drop" in said[2]


@pytest.mark.slow
def test_a_controller_that_does_nothing_fails_the_tests(tmp_path):
    folder = project(tmp_path)
    program = folder / "controller.py"
    text = program.read_text("utf-8")
    call = '        ):\n            Builder(robot, vision, drawings, order["kits"][0]).build()\n'
    assert call in text
    program.write_text(text.replace(call, "        ):\n            pass\n"), encoding="utf-8")
    done = shell("pytest -q", folder)
    assert done.returncode == 1
    assert "3 failed" in done.stdout
    assert "slot_1: the slot is empty" in done.stdout


@pytest.mark.long
@pytest.mark.slow
def test_a_project_with_the_controller_inside_is_green_too(tmp_path):
    folder = project(tmp_path, "--controller", "internal")
    for command in ("pytest -q", "cellwright trial trial.yaml"):
        done = shell(command, folder)
        assert done.returncode == 0, done.stdout + done.stderr
