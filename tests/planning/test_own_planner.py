"""The blocks of docs/planning.md: a plan from a cell's drawings, and a task planner of the user's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cellwright.cli import main
from cellwright.planning import TASK_PLANNERS

ROOT = Path(__file__).parents[2]


def blocks(title):
    page = (ROOT / "docs/planning.md").read_text(encoding="utf-8").partition(title)[2]
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A cell with the planner of the guide as its plugin; afterwards the planner is forgotten."""
    (tmp_path / "lone_robot.py").write_text(blocks("## Your own task planner")[0], encoding="utf-8")
    aprs = (ROOT / "src/cellwright/cells/aprs.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(aprs + "plugins: [lone_robot.py]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield "mine.yaml"
    TASK_PLANNERS._entries.pop("lone_robot", None)


def command(*arguments, capfd):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json"])
    return ended.value.code or 0, json.loads(capfd.readouterr().out)


def test_the_first_block_plans_from_a_cells_drawings(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(blocks("# Planning")[0], names)
    names["database"].close()
    assert names["verdict"].valid
    assert len(names["result"].actions) == 2 * 3 * 5
    assert (tmp_path / "plan.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_run_is_planned_by_a_planner_of_ones_own(mine, capfd):
    options = ("--planner", "lone_robot", "--quantity", "2", "--fidelity", "kinematic", "--no-picture")
    code, report = command("run", mine, *options, capfd=capfd)
    assert (code, report["status"]) == (0, "done")
    assert len({action["robot"] for action in report["order"]["actions"]}) == 1


def test_a_planner_of_ones_own_plans_at_the_command_line(mine, capfd):
    robots = ("--robots", "fanuc,motoman", "--quantity", "2")
    code, own = command("plan", mine, "--order", "kit_m2l1", *robots, "--planner", "lone_robot", capfd=capfd)
    assert code == 0
    assert (own["planner"], own["status"], own["valid"]) == ("lone_robot", "solved", True)
    assert len({action["robot"] for action in own["actions"]}) == 1
    _, both = command("plan", mine, "--order", "kit_m2l1", *robots, capfd=capfd)
    assert len({action["robot"] for action in both["actions"]}) == 2
    assert both["makespan_s"] < 0.6 * own["makespan_s"]
