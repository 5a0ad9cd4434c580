"""The blocks of docs/planning.md: a plan from a cell's drawings, and a task planner of the user's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cellwright.cli import main
from cellwright.planning import TASK_PLANNERS
from cellwright.trials import TRIAL_CONTROLLERS

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


PLANNER = """
from cellwright.planning import TASK_PLANNERS, Action, PlanResult, PlanStatus
from cellwright.planning.planner import Unfinished


@TASK_PLANNERS.register("lone_robot")
class Mine:
    {}


def result(**more):
    return PlanResult(**{{"status": PlanStatus.SOLVED, "planner": "mine", **more}})
"""
PLACE = r"^cellwright: lone_robot\.py, line 8: planner Mine fails in plan: "


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("def plan(self, request): pass", PLACE + "should return a PlanResult, returned NoneType$"),
        ("def plan(self, request): return {}['kit']", PLACE + "KeyError: 'kit'$"),
        (
            "def plan(self): pass",
            r"line 8: planner Mine fails in plan: TypeError: .* takes 1 positional argument but 2",
        ),
        (
            "def solve(self): pass",
            r"mine\.yaml, line \d+: plugins\.0: .*lone_robot\.py, line 6: planner 'lone_robot' sh",
        ),
        (
            "def __init__(self, speed): pass\n    def plan(self, request): pass",
            r"line 6: planner Mine cannot be made: T",
        ),
        (
            "def plan(self, request): return result(actions=['take-part'])",
            PLACE + "`actions` should be a tuple of Action",
        ),
        (
            "def plan(self, request): return result(actions=[Action('fly', 'fanuc')])",
            PLACE + "unknown verb of `actions.0",
        ),
        (
            "def plan(self, request): return result(actions=[Action('take-part', 'fanuc', start_s=None)])",
            PLACE + "`start_s` of `actions.0.` should be a finite number, is None",
        ),
        (
            "def plan(self, request): return result(unfinished=[Unfinished('it', 'why')])",
            PLACE + "unknown kit in `unfi",
        ),
        (
            "def plan(self, request): return result(status='fine')",
            PLACE + "unknown status 'fine' .available: not found",
        ),
        ("def plan(self, request): return result(makespan_s='1 s')", PLACE + "`makespan_s` should be a finite number"),
    ],
)
def test_a_planner_that_fails_is_one_line_with_its_place(mine, capfd, method, problem):
    Path("lone_robot.py").write_text(PLANNER.format(method), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["plan", mine, "--order", "kit_m2l1", "--planner", "lone_robot"])
    out, err = capfd.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    assert re.search(problem, err.strip()), err


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("def plan(self, request): pass", r"lone_robot\.py, line 8: planner Mine fails in plan: should return"),
        ("def solve(self): pass", r"lone_robot\.py, line 6: planner 'lone_robot' should be a class with a method"),
    ],
)
def test_a_run_with_such_a_planner_ends_with_that_line(mine, capfd, method, problem):
    Path("lone_robot.py").write_text(PLANNER.format(method), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["run", mine, "--planner", "lone_robot", "--fidelity", "kinematic", "--no-picture"])
    complaints = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("aprs, seed 0")]
    assert ended.value.code == 2
    assert len(complaints) == 1, complaints
    assert re.search(problem, complaints[0]), complaints


def test_a_bound_that_is_not_known_is_not_told_and_one_kit_is_no_kits(mine, capfd):
    for planner, told in (("lone_robot", False), ("sequencer", True)):
        with pytest.raises(SystemExit) as ended:
            main(["plan", mine, "--order", "kit_m2l1", "--planner", planner])
        out = capfd.readouterr().out
        assert not ended.value.code
        assert ("no plan takes less than" in out) is told
        assert "valid: every step of 1 kit was checked" in out


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


@pytest.mark.slow
def test_a_planner_of_ones_own_knows_which_robot_is_quicker_as_ours_does(mine, capfd):
    """The kit tray of either robot would do; the Motoman takes some 1.5 times as long as the Fanuc."""
    code, report = command(
        "run", mine, "--planner", "lone_robot", "--fidelity", "kinematic", "--no-picture", capfd=capfd
    )
    assert (code, report["status"]) == (0, "done")
    assert {action["robot"] for action in report["order"]["actions"]} == {"fanuc"}


@pytest.mark.slow
def test_a_trial_is_planned_by_a_planner_of_ones_own(mine, capfd):
    block = blocks("## Your own task planner")[1]
    with Path("lone_robot.py").open("a", encoding="utf-8") as plugin:
        plugin.write("\n" + block)
    trial = "trial: lone\ncell: mine.yaml\ncontroller: lone\norders: [{order: kit_m2l1}]\n"
    Path("trial.yaml").write_text(trial, encoding="utf-8")
    try:
        code, report = command("trial", "trial.yaml", capfd=capfd)
    finally:
        TRIAL_CONTROLLERS._entries.pop("lone", None)
    assert (code, report["done"], report["controller"]) == (0, True, "lone")


def test_a_planner_of_ones_own_plans_at_the_command_line(mine, capfd):
    robots = ("--robots", "fanuc,motoman", "--quantity", "2")
    code, own = command("plan", mine, "--order", "kit_m2l1", *robots, "--planner", "lone_robot", capfd=capfd)
    assert code == 0
    assert (own["planner"], own["status"], own["valid"]) == ("lone_robot", "solved", True)
    assert len({action["robot"] for action in own["actions"]}) == 1
    _, both = command("plan", mine, "--order", "kit_m2l1", *robots, capfd=capfd)
    assert len({action["robot"] for action in both["actions"]}) == 2
    assert both["makespan_s"] < 0.6 * own["makespan_s"]


@pytest.mark.parametrize("name", ["plan", "run"])
def test_help_says_that_plugins_bring_planners(name, capfd):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    words = " ".join(re.sub(r"[^\w',.{} -]", " ", capfd.readouterr().out).split())
    assert "enhsp, one of the cell's plugins" in words or "enhsp, or one of the cell's plugins" in words
