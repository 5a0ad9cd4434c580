"""Every example runs as a user would run it, and says what its docstring promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cellwright as cw

FOLDER = Path(__file__).parents[2] / "examples"

ESSENTIAL = {
    "00_first_job.py": r"place-part(?s:.*)done: score 100 of 100 after",
    "01_poses_and_frames.py": r"part in world: \[0.4, -0.95, 0.92\]\nand back in the tray: True",
    "02_read_a_log.py": r"joint_1 went from 0.0 to 20.0 deg\nthe two runs are identical",
    "03_own_cell.py": r"seed 1: done True.*\nseed 2: done True",
    "04_own_sensor.py": r"problems: \[\]\nreading \d+: from 1.3\d\d m down to 1.2\d\d m\nthe same again: True",
    "05_move_a_robot.py": r"the tool went down by 50\.\d mm.*\nrefused: fanuc cannot reach.*\nhome again",
    "06_snapshot.py": r"  0 mm beside: seated(?s:.*) 12 mm beside: not seated.*\nthe same again, to the last bit: True",
    "07_own_controller.py": r"pid: 0.0\d deg off.*\nspring: \d.\d\d deg off at the end .*, 0.0\d deg a second later",
    "08_plan_around_obstacles.py": r"carry: \d+\.\d s(?s:.*)stands \d\.\d mm from its place; 0 collisions",
    "09_own_crcl_client.py": r"motoman is ready\nMoveTo.*: done; .* (49\.9|50\.[01]) mm lower\n.*cannot reach.*\n.* 0",
    "10_external_robot.py": r"simulated.*20 mm\nrefused: True\nthe two.*True\nexternal.*3 mm\nthe two.*True\nsimulated",
    "11_external_controller.py": r"claimed: True, done: True(?s:.*)slot_3: large_gear(?s:.*)recoverable: True",
    "12_epucks.py": r"three squares each after \d+\.\d s\n(ePuck\d: .* off by \d+\.\d mm, expected \d+\.\d mm\n){4}",
    "14_calibrated_detections.py": r"large_gear: reported at 0.1610, -1.2050 m, is at 0.1715, -1.2098 m\n.*medium_gear",
    "15_insert_by_force.py": r"1[12]\.\d mm deep, pushed by \d\.\d N; it gave way by (0\.[5-9]|1\.\d) mm",
    "16_epuck_behaviours.py": r"Avoid.*: 1\.\d+ m in 30 s\n.*Wall: 1\.\d+ m in 30 s\n"
    r".*Range: 9\d mm before, 9\d mm after; sees it\n.*Transform: 25\d mm before, 1[5-9]\d mm after; does not see it\n"
    r"ePuck1/base_prox0 in ePuck0/base_link: \[",
    "17_epucks_over_rosbridge.py": r"ePuck1/base_link: x -0\.\d+, y -?0\.\d+, z 0\.0340 m, yaw -?\d+\.\d degrees\n"
    r".*\d\d values, .*\nePuck0: \d\d+ updates.*\nePuck1: \d\d+ updates.*\na picture of \d+ kB",
    "19_real_and_virtual.py": r"fanuc external: done.*\nmotoman external: done.*\n"
    r"fanuc with a shadow: done; \d\d commands",
    "18_controller_over_rosbridge.py": r"\d\d messages, stopped after 50 mm\n.* at x -0.\d\d m\npaused: True True",
    "13_own_planner.py": r"one_by_one: 30 steps, 66.0 s, 2.00 .*\nvalid: True\nwithout .*: step 1 .*found nothing",
}

QUICK = ("01_poses_and_frames.py", "02_read_a_log.py", "14_calibrated_detections.py")

LONG = {"19_real_and_virtual.py": [pytest.mark.long]}  # three kits in real time

# What a first run after an installation may say besides.
FIRST_TIME = r"(?m)^compiling [a-z ]+, once for this version: about \d+ s\n|^this machine does not keep pace: .*\n"


def test_every_example_is_tested_and_numbered_without_gaps():
    names = sorted(path.name for path in FOLDER.glob("*.py"))
    assert names == sorted(ESSENTIAL)
    assert [int(name[:2]) for name in names] == list(range(len(names)))


@pytest.mark.parametrize("name", ESSENTIAL)
def test_example_explains_itself(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    assert "Shows:" in docstring
    assert len(text.splitlines()) <= 70


@pytest.mark.parametrize("name", ESSENTIAL)
def test_example_imports_more_than_the_root_only_where_its_docstring_says_why(name):
    """Programs that an example starts in a text, as another process, are their own."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    tree = ast.parse(text)
    deeper = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and "cellwright." in (node.module or "")
    ]
    docstring = ast.get_docstring(tree) or ""
    for node in deeper:
        package = node.module.removeprefix("cellwright.").partition(".")[0]
        names = [alias.name for alias in node.names]
        assert re.search(rf"`(cellwright\.)?{package}\b", docstring) or any(f"`{n}`" in docstring for n in names), names
        assert not set(names) & set(cw.__all__), f"{names}: take it from `import cellwright as cw`"


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=[pytest.mark.slow, *LONG.get(n, [])]) for n in ESSENTIAL]
)
def test_example_runs(name, tmp_path):
    command = [sys.executable, "-W", "error::ResourceWarning", str(FOLDER / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.sub(FIRST_TIME, "", done.stderr) == ""
    assert re.search(ESSENTIAL[name], done.stdout), done.stdout
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind where it is run"
