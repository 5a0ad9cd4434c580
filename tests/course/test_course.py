"""Exercises as students and lecturers use them: starters, solutions, wrong programs, grades of a folder."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.cli.app import _run
from cellwright.course import (
    EXERCISES,
    ExerciseItem,
    ExerciseRun,
    ExerciseScore,
    find_submissions,
    grade_folder,
    score_program,
    seed_of,
    starter_text,
)
from cellwright.course.exercises import _touches
from cellwright.course.walls import random_walls, to_walls_m
from cellwright.mobile import RobotReadings
from cellwright.mobile.program_process import ProgramFailed, ProgramProcess

SOLUTIONS = Path(__file__).parents[2] / "docs" / "course" / "solutions"
UPDATE = "class Controller:\n    def update(self, robot):\n"
STRAIGHT = "class Controller:\n    def update(self, robot):\n        return 0.05, 0.0\n"
TRIANGLE = """
import math


class Controller:
    def update(self, robot):
        side = robot.task["side_m"] / 0.08  # by the clock, and one side too few
        sign = 1 if robot.task["turn"] == "left" else -1
        number, within = divmod(robot.time_s, side + math.pi / 2 / 1.5)
        if number >= 3:
            return 0.0, 0.0
        return (0.08, 0.0) if within < side else (0.0, 1.5 * sign)
"""


@pytest.fixture
def write(tmp_path):
    def write_program(text, name="program.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write_program


def test_every_exercise_has_a_starter_and_a_solution():
    assert sorted(path.stem for path in SOLUTIONS.glob("*.py")) == sorted(EXERCISES)
    for name in EXERCISES:
        assert f"cellwright course score {name} {name}.py" in starter_text(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_the_solution_passes_on_seeds_of_its_own(name):
    for seed in (0, seed_of("alice")):
        score = score_program(name, SOLUTIONS / f"{name}.py", seed)
        assert score.passed, score
        assert score.points >= 80, score


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_the_starter_gets_nothing_and_is_told_why(name, write):
    score = score_program(name, write(starter_text(name)), 0)
    assert score.points == 0
    assert not score.passed
    assert {item.reason for item in score.items} == {"the robot has not moved: return speeds other than 0 from update"}
    assert sum(item.of for item in score.items) == 100


@pytest.mark.slow
def test_a_square_of_three_sides_gets_some_of_the_points(write):
    score = score_program("square", write(TRIANGLE), 0)
    assert 20 <= score.points < 60
    assert not score.passed
    assert score.items[0].points == 15
    assert score == score_program("square", write(TRIANGLE), 0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("avoid", 60), ("wall", 60), ("follow", 60)])
def test_driving_straight_on_is_no_solution(name, most, write):
    assert score_program(name, write(STRAIGHT), 0).points < most


def test_a_seed_gives_a_variant_and_students_have_seeds_of_their_own():
    draw = lambda seed: EXERCISES.get("square")().task(np.random.default_rng(seed))  # noqa: E731
    assert len({(t["side_m"], t["turn"]) for t in map(draw, range(20))}) > 10
    assert seed_of("Alice ") == seed_of("alice") != seed_of("bob")
    assert seed_of("alice", "mango") != seed_of("alice")


def test_walls_leave_room_and_their_distance_is_that_of_their_faces():
    cell = load_cell("epucks@one").changed(
        {"arena": {"size_m": [1.0, 1.0], "inner_walls_m": [[[0.1, -0.1], [0.1, 0.1]]]}}
    )
    away_m = to_walls_m(cell, np.array([[0.0, 0.0], [0.4, 0.0], [0.1, 0.2], [-0.48, 0.3]]))
    assert away_m == pytest.approx([0.094, 0.1, 0.094, 0.02])
    walls = random_walls(np.random.default_rng(1), 5, 1.0)
    assert len(walls) == 5
    assert np.abs(walls).max() < 0.5 - 0.12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "class Controller:\n    def update(self, robot):\n        return nothing\n",
            "line 3: NameError: name 'nothing'",
        ),
        ("class Controller:\n    def update(self, robot):\n        return 1.0\n", "should return two finite numbers"),
        ("class Controller:\n    def update(self, robot):\n        return float('nan'), 0\n", "two finite numbers"),
        ("class Controller:\n    def update(self):\n        return 1, 2\n", "takes 1 positional argument"),
        ("import os\nclass Controller:\n    def update(self, robot):\n        os._exit(1)\n", "the program has ended"),
        ("1 / 0\nclass Controller:\n    def update(self, robot):\n        pass\n", "line 1: ZeroDivisionError"),
        (UPDATE + "        return 1e300, 0.0\n", "update returns 1e+300, 0; 1000 is the most"),
        (UPDATE + "        return [0] * 10**10\n", "line 3: MemoryError"),
        ("raise SystemExit\n" + UPDATE + "        return 0, 0\n", "line 1: SystemExit"),
        (UPDATE + "        return 10**400, 0\n", "should return two finite numbers"),
        (UPDATE + "        raise ValueError('one\\n\\x1b[31mtwo \\ud800')\n", "line 3: ValueError: one [31mtwo (at"),
        (
            f"class Odd(Exception):\n    def __str__(self):\n        1 / 0\n{UPDATE}        raise Odd\n",
            "line 6: Odd: it can",
        ),
        (
            f"class Odd:\n    def __repr__(self):\n        1 / 0\n{UPDATE}        return Odd()\n",
            "line 3: ZeroDivisionError",
        ),
    ],
)
def test_a_program_that_fails_is_told_in_one_line(text, problem, write):
    score = score_program("square", write(text), 0)
    assert problem in score.problem
    assert "\n" not in score.problem
    assert not score.passed


@pytest.mark.slow
def test_a_program_that_hangs_is_ended(write, monkeypatch):
    monkeypatch.setattr("cellwright.mobile.program_process.UPDATE_S", 0.3)
    hangs = "class Controller:\n    def update(self, robot):\n        while robot.time_s > 0.5:\n            pass\n"
    score = score_program("square", write(hangs + "        return 0.1, 0.0\n"), 0)
    assert "does not return from update within 0.3 s" in score.problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("open('/proc/%d/cmdline' % os.getppid())", "may not open /proc/"),  # has the seeds
        ("open(OTHERS_PROGRAM)", "may not open"),
        ("open('result.csv', 'w')", "may not open result.csv"),
        ("__import__('cellwright.course.exercises')", "may not import cellwright"),
        ("sys.modules['cellwright'].Lab", "may not import cellwright.lab"),
        ("os.kill(os.getppid(), 0)", "may not use os.kill"),
        ("os.system('true')", "may not use os.system"),
        ("os.fork()", "may not use os.fork"),
        ("__import__('socket').socket()", "may not use socket"),
        ("[os.write(fd, b'[]\\n') for fd in FDS]", "it writes into the pipe of its answers"),
        ("[os.write(fd, b'{\"speeds\": [NaN, 1]}\\n') for fd in FDS]", "it writes into the pipe"),
        ("[os.write(fd, b'{\"speeds\": [1]}\\n') for fd in FDS]", "it writes into the pipe"),
        ("[os.write(fd, b'{\"speeds\": null}\\n') for fd in FDS]", "it writes into the pipe"),
        ("[os.write(fd, b'{\"speeds\": [1' + b'0' * 400 + b', 1]}\\n') for fd in FDS]", "it writes into the pipe"),
        ("__import__('sqlite3').connect('result.csv')", "may not use sqlite3.connect"),
        ("os.chmod(OTHERS_PROGRAM, 0)", "may not use os.chmod"),
    ],
)
def test_a_program_gets_at_nothing_but_its_robot(line, problem, write):
    other = write(STRAIGHT, "other.py")
    made = "FDS = [n for n in range(3, 30) if stat.S_ISFIFO(mode(n)) and fcntl.fcntl(n, fcntl.F_GETFL) & os.O_WRONLY]\n"
    text = (
        "import fcntl, os, stat, sys\n"
        "def mode(n):\n    try:\n        return os.fstat(n).st_mode\n    except OSError:\n        return 0\n"
        f"{made}OTHERS_PROGRAM = {str(other)!r}\n{UPDATE}        {line}\n        return 0.1, 0.0\n"
    )
    score = score_program("square", write(text), 0)
    assert problem in score.problem
    assert not score.passed


@pytest.mark.slow
def test_a_program_may_use_packages_and_answer_their_numbers(write):
    text = (
        f"import numpy as np\n{UPDATE}        import random, statistics\n        return np.float32(0.05), np.int64(0)\n"
    )
    score = score_program("square", write(text), 0)
    assert score.problem == ""
    assert score.points > 0


@pytest.mark.slow
def test_a_program_that_answers_ahead_and_sleeps_stops_nothing(write, monkeypatch):
    monkeypatch.setattr("cellwright.mobile.program_process.UPDATE_S", 2.0)
    text = (
        "import os, stat, time\n"
        f"{UPDATE}        for fd in range(3, 30):\n            try:\n"
        "                os.write(fd, b'{\"speeds\": [0.1, 0.0]}\\n' * 2000)\n"
        "            except OSError:\n                pass\n        time.sleep(60)\n"
    )
    score = score_program("square", write(text), 0)
    assert "it does not take its readings" in score.problem or "does not return" in score.problem


def test_an_answer_that_trickles_in_gets_no_more_time(write, monkeypatch):
    monkeypatch.setattr("cellwright.mobile.program_process.UPDATE_S", 0.5)
    text = (
        "import os, time\n"
        f"{UPDATE}        for _ in range(100):\n            time.sleep(0.1)\n            for fd in range(3, 30):\n"
        "                try:\n                    os.write(fd, b' ')\n"
        "                except OSError:\n                    pass\n        return 0, 0\n"
    )
    with (
        ProgramProcess(write(text)) as program,
        pytest.raises(ProgramFailed, match=r"does not return .* within 0\.5 s"),
    ):
        program.update(RobotReadings("ePuck0"))


def test_what_a_program_prints_is_shown_as_far_as_it_is_not_too_much(write, capfd):
    for line, times, shown in (
        ("print('at', robot.x_m, chr(27))", 3, "at 0.0  \n" * 3),
        ("print('x' * 10**6)", 4, None),
    ):
        with ProgramProcess(write(f"{UPDATE}        {line}\n        return 0.1, 0.0\n")) as program:
            for _ in range(times):
                assert program.update(RobotReadings("ePuck0")) == (0.1, 0.0)
        said = capfd.readouterr().err
        assert said == shown or (shown is None and 1_000_000 < len(said) < 1_200_000)
    assert said.endswith("program.py: it prints too much; the rest is left out\n")


@pytest.mark.slow
def test_a_program_has_only_so_much_time_in_all(write, monkeypatch):
    monkeypatch.setattr("cellwright.mobile.program_process.TOTAL_S", 0.5)
    text = f"import time\n{UPDATE}        time.sleep(0.05)\n        return 0.1, 0.0\n"
    assert "more than 0.5 s of real time in all" in score_program("square", write(text), 0).problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "speeds", "most"),
    [("follow", "0.12, 0.0", 40), ("avoid", "0.04, 0.8", 45), ("avoid", "0.12, 0.0", 30)],
    ids=["pushing the leader", "round in a circle", "into a wall"],
)
def test_a_way_round_the_task_is_no_solution(name, speeds, most, write):
    assert score_program(name, write(f"{UPDATE}        return {speeds}\n"), 1).points < most


def test_a_touch_that_lasts_counts_again_every_second():
    gaps_m = np.full(200, 0.01)
    assert _touches(gaps_m) == 0
    gaps_m[[0, 20]] = 0.0
    assert _touches(gaps_m) == 2
    gaps_m[100:200] = 0.0004  # four seconds, to the end
    assert _touches(gaps_m) == 6


def run_of(name, way_in, other_m=None):
    """Returns an exercise, and a run along a way, as its score sees it."""
    exercise, rng = EXERCISES.get(name)(), np.random.default_rng(0)
    task = exercise.task(rng)
    cell = exercise.cell(task, rng)
    xy_m = np.stack([way_in(cell)] if other_m is None else [other_m, way_in(cell)], axis=1)
    return exercise, ExerciseRun(task, cell, xy_m, np.zeros(xy_m.shape[:2]))


def clear_points(exercise, run):
    return next(item.points for item in exercise.score(run) if item.name == "clear")


TIMES = np.linspace(0.0, 1.0, 1500)
RADIUS_M = 0.037


def straight(from_m, to_m):
    return np.asarray(from_m) + TIMES[:, None] * (np.asarray(to_m) - np.asarray(from_m))


def lap(half_x_m, half_y_m):
    corners = [(-half_x_m, -half_y_m), (half_x_m, -half_y_m), (half_x_m, half_y_m), (-half_x_m, half_y_m)]
    return np.concatenate([straight(a, b)[::4] for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)])


@pytest.mark.parametrize(("name", "least"), [("avoid", 50), ("wall", 5)])  # a lap goes through the inner wall
def test_touching_walls_costs_points(name, least):
    def points(gap_m):
        return clear_points(*run_of(name, lambda cell: lap(*(np.array(cell.arena.size_m) / 2 - RADIUS_M - gap_m))))

    assert points(0.02) >= least
    assert points(0.0) == 0


def test_touching_the_leader_costs_points():
    leader_m = straight([0.0, 0.0], [1.5, 0.0])

    def points(gaps_m):
        return clear_points(*run_of("follow", lambda _: leader_m - np.outer(2 * RADIUS_M + gaps_m, [1, 0]), leader_m))

    gaps_m = np.full(len(TIMES), 0.02)
    assert points(gaps_m) == 20
    gaps_m[700:705] = 0.0
    assert points(gaps_m) == pytest.approx(16, abs=0.2)
    assert points(0 * gaps_m) == 0


def test_a_program_that_fails_has_not_passed():
    items = (ExerciseItem("way", 100.0, 100.0, "far"),)
    score = ExerciseScore(exercise="square", seed=0, task={}, items=items, problem="")
    assert score.passed
    assert not replace(score, problem="program.py, line 3: ZeroDivisionError: division by zero").passed
    assert not replace(score, items=(ExerciseItem("way", 59.0, 100.0, "less far"),)).passed


def test_a_programs_process_has_its_limits(write):
    other = write(STRAIGHT, "other.py")
    tried = [f"open({str(other)!r})", "open('x', 'w')", "os.fork()", "os.kill(os.getppid(), 0)", "socket.socket()"]
    tried += ["__import__('mujoco')", "os.system('true')", "os.remove('x')"]
    text = "import os, socket\n" + UPDATE + "        allowed = []\n"
    for line in tried:
        text += f"        try:\n            {line}\n            allowed.append({line!r})\n"
        text += "        except PermissionError:\n            pass\n"
    text += "        raise ValueError(f'allowed: {allowed}')\n"
    with ProgramProcess(write(text)) as program, pytest.raises(ProgramFailed, match=r"ValueError: allowed: \[\]$"):
        program.update(RobotReadings("ePuck0"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import cellwright\n", "line 1: a program may not import cellwright"),
        ("def (\n", "line 1: invalid syntax"),
        ("x = 1\n", "needs a class Controller with a method update"),
        ("class Controller:\n    pass\n", "needs a class Controller with a method update"),
        (f"{UPDATE}        return {'-' * 100_000}1, 0\n", "nested too deeply"),
        (f"{UPDATE}        return 0, 0\0\n", "line 1: source code string cannot contain null bytes"),
    ],
    ids=["import", "syntax", "no class", "no method", "deep", "null"],
)
def test_what_is_no_program_is_refused_before_anything_runs(text, message, write, capsys):
    assert _run(["course", "score", "square", str(write(text))]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_bad_input_of_commands_is_one_line(tmp_path, capsys):
    for arguments, message in (
        (["score", "squar", "x.py"], "unknown exercise 'squar'; did you mean 'square'"),
        (["score", "square", str(tmp_path / "no.py")], "cannot read"),
        (["score", "square", "x.py", "--seeds", "x"], "--seeds: 'x'"),
        (["grade", str(tmp_path / "none")], "is no folder"),
        (["grade", str(tmp_path)], "no submission"),
        (["start", "maze"], "unknown exercise 'maze'"),
    ):
        assert _run(["course", *arguments, *(["--out", str(tmp_path / "g.csv")] if "grade" in arguments else [])]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1, error


def test_a_file_to_begin_with_is_written_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert _run(["course", "start", "wall"]) == 0
    assert Path("wall.py").read_text() == starter_text("wall")
    assert _run(["course", "start", "wall"]) == 2
    assert "not overwritten" in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder_of_submissions_becomes_a_table(tmp_path, write, capsys):
    good = (SOLUTIONS / "square.py").read_text()
    write(good, "in/alice/square.py")
    write(good.replace("ahead", "way").replace("0.08", "0.081") + "\n# my own work\n", "in/bob_square.py")
    write(TRIANGLE, "in/carol/square.py")
    write("import cellwright\n", "in/dan/square.py")
    write(f"{UPDATE}        return {'-' * 100_000}1, 0\n", "in/eve/square.py")
    write(f"\ufeff{UPDATE}        return {'+ '.join(['0'] * 600)}, 0\n", "in/frank/square.py")  # saved by Notepad
    write("x = 1\n", "in/notes.py")
    assert [name for name, _ in find_submissions(tmp_path / "in")] == ["alice", "bob", "carol", "dan", "eve", "frank"]
    out = tmp_path / "grades.csv"
    assert _run(["course", "grade", str(tmp_path / "in"), "--seeds", "0,3", "--out", str(out)]) == 0
    with out.open() as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert float(rows["alice"]["points"]) > 90
    assert rows["alice"]["like"] == "bob"
    assert rows["bob"]["like"] == "alice"
    assert rows["carol"]["like"] == ""
    assert 0 < float(rows["carol"]["points"]) < 60
    assert rows["carol"]["passed"] == "0/2"
    assert "may not import cellwright" in rows["dan"]["problem"]
    assert "nested too deeply" in rows["eve"]["problem"]
    assert rows["frank"]["problem"] == ""
    assert rows["alice"]["seeds"] == "0 3"
    own = grade_folder(tmp_path / "in", None, "mango")
    assert own[0].scores[0].seed == seed_of("alice", "mango")


@pytest.mark.slow
def test_the_command_scores_as_json_and_exits_with_the_verdict(tmp_path, write):
    command = [sys.executable, "-m", "cellwright", "course", "score", "square", "--json"]
    done = subprocess.run([*command, str(SOLUTIONS / "square.py")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scores"][0]["points"] > 90
    log = tmp_path / "run.mcap"
    prints = TRIANGLE.replace("        if number", '        print("hello")\n        if number')
    done = subprocess.run(
        [*command, str(write(prints)), "--record", str(log)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "hello" in done.stderr  # and stdout is one JSON object
    assert json.loads(done.stdout)["scores"][0]["passed"] is False
    assert log.stat().st_size > 1000
