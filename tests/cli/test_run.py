"""`cellwright run`: its report for people and for programs, its files, its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PIL import Image

from cellwright.cli.run_report import ActionLines, print_report
from cellwright.core.errors import BadInput
from cellwright.execution import ActionRecord, Evaluated, OrderReport, OrderStatus, Unobtainable
from cellwright.judge import Score, ScoreItem
from cellwright.lab.world_file import WorldState
from cellwright.record import read_log
from cellwright.trials.report import Ending, OrderVerdict, Report
from cellwright.trials.run_files import latest_database, run_files

FAST = ["--fidelity", "kinematic", "--no-picture"]


@pytest.fixture(autouse=True)
def _draw_anywhere(monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "ray")


@pytest.mark.slow
def test_report_for_people_with_a_picture(cellwright, monkeypatch):
    import cellwright.sim.picture as picture

    monkeypatch.setattr(picture.take_picture, "__defaults__", ((64, 48),))
    ended = cellwright("run", "--seed", 3, "--fidelity", "kinematic", "--record", "[bold]my[/] log.mcap")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0].split() == ["at", "[s]", "took", "robot", "action", "true"]
    assert sum(" place-part " in line for line in lines) == 3
    for text in ("score", "/slot_3", "done: 3 parts", "friction alone", "picture out/run.png", "database out/run.db"):
        assert text in ended.out
    assert "log [bold]my[/] log.mcap" in ended.out  # brackets of the user are printed as they are
    assert max(map(len, lines)) <= 80
    told = ended.err.splitlines()
    assert told[0] == "aprs, seed 3: kit_m2l1 by all robots"
    assert "a plan of 15 steps" in told[1]
    assert not any("place-part" in line for line in told), "each action is told once"
    with Image.open("out/run.png") as image:
        assert image.size == (64, 48)
        assert len(image.getcolors(maxcolors=10_000)) > 100


@pytest.mark.slow
def test_report_for_programs(cellwright):
    options = ["--order", "kit_s2l2", "--robots", "fanuc", "--planner", "scheduler", "--seed", 3]
    ended = cellwright("run", *options, "--json", "--out", "mine", *FAST)
    report = ended.json
    assert ended.code == 0
    assert "scheduler: a plan of 20 steps" in ended.err
    assert (report["status"], report["done"], report["cell"], report["seed"]) == ("done", True, "aprs", 3)
    assert report["asked"]["order"] == "kit_s2l2"
    assert report["order"]["robots"] == ["fanuc"]
    assert [seating["seated"] for seating in report["kits"][0]["seatings"]] == [True] * 4
    predicates = [one for action in report["order"]["actions"] for one in action["predicates"]]
    assert all(one["value"] == "true" and one["evidence"] for one in predicates)
    assert {item["passed"] for item in report["items"]} == {True}
    assert report["log_lost"] == {"messages": 0, "reason": ""}
    assert (report["picture"], report["renderer"]) == (None, None)
    log = read_log(Path(report["log"]))
    assert log.metadata["seed"] == "3"
    assert log.span_ns[1] / 1e9 == pytest.approx(report["time_s"], abs=0.2)
    assert Path(report["database"]).exists()
    state = WorldState.read(Path("mine/run.world"))
    assert (state.header["order"], state.header["planner"]) == ("kit_s2l2", "scheduler")
    assert state.tick * 0.002 == pytest.approx(report["time_s"])


@pytest.mark.slow
def test_a_run_leaves_the_same_report_as_a_trial(cellwright, refused):
    """One JSON and one page; `run --json` has the score as a number, the file has it line by line."""
    ended = cellwright("run", "--out", "mine", "--seed", 3, "--json", *FAST)
    assert sorted(path.name for path in Path("mine").iterdir()) == [
        "log.mcap", "run.db", "run.world", "verdict.html", "verdict.json",
    ]  # fmt: skip
    told = json.loads(Path("mine/verdict.json").read_text())
    assert told.keys() < ended.json.keys()
    assert {key for key in told if told[key] != ended.json[key]} == {"score"}
    assert told["score"]["total"] == ended.json["score"] == pytest.approx(1.0)
    assert (told["ending"], told["orders"][0]["claimed"], told["possible"]) == ("returned", True, None)
    assert ended.json["files"]["page"] == "mine/verdict.html"
    page = Path("mine/verdict.html").read_text()
    assert "Run of <code>kit_m2l1</code>" in page
    assert page.count("<td>place-part") == 3
    assert "mine/log.mcap exists, and is not overwritten" in refused("run", "--out", "mine", *FAST)
    Path("mine/log.mcap").unlink()
    assert "mine/verdict.json exists, and is not overwritten" in refused("run", "--out", "mine", *FAST)


def test_every_predicate_and_what_is_not_there_at_all(capsys):
    felt = Evaluated("hand-is-empty", ("tool",), "true", "feels nothing")
    seen = Evaluated("part-is-there", ("gear", "tray"), "false", "3 mm off", "effect")
    action = ActionRecord(
        robot="fanuc",
        action="(take-part fanuc fanuc_tool sku_part_gear tray)",
        part="gear",
        phase="end",
        reason="",
        attempt=1,
        start_s=0.0,
        end_s=2.0,
        predicates=(felt, seen),
    )
    lost = [Unobtainable("sku_a", "no tray left"), Unobtainable("sku_a", "no tray left"), Unobtainable("sku_b", "gone")]
    order = OrderReport(
        status=OrderStatus.FAILED, reason="", orders=("o",), robots=("fanuc",), recovery="full", kits=(),
        actions=(action,), plans=1, retries=2, unobtainable=tuple(lost),
    )  # fmt: skip
    missed = [f"kit_{number}" for number in range(1, 49)]
    items = [ScoreItem(f"{kit}/{slot}", 0.0, 3.0, "no tray") for kit in missed for slot in ("slot_1", "slot_2")]
    ordered = OrderVerdict(order="o", priority=0, announced_s=0.0, submitted_s=None, kits=(), claimed=())
    report = Report(
        trial="run", cell="aprs", seed=0, controller="internal", is_run=True, ending=Ending.FAILED, detail="",
        time_s=2.0, start_s=0.0, wall_s=1.0, possible=None, orders=(ordered,),
        account=order, faults=(), not_applied=(), hits=(), drops=(),
        scored=Score(False, (*items, ScoreItem("floor", 2.0, 2.0, "none"))), notes=(), versions={},
    )  # fmt: skip
    ActionLines(["fanuc"])(action)
    print_report(report)
    brief = capsys.readouterr().out
    assert "after  part-is-there(gear, tray) is false: 3 mm off" in brief
    assert "feels nothing" not in brief
    assert "not to be had: 2 of sku_a: no tray left\nnot to be had: sku_b: gone" in brief
    assert [line.split() for line in brief.splitlines() if "kits (" in line] == [
        ["48", "kits", "(kit_1,", "kit_2,", "kit_3,", "...)", "0", "288", "no", "tray"]
    ]
    assert "1 action, 2 retries, 1 plan;" in brief
    ActionLines(["fanuc"], predicates=True)(action)
    assert "before hand-is-empty(tool) is true: feels nothing" in capsys.readouterr().out


needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@pytest.mark.slow
@needs_full_device
def test_what_cannot_be_had_is_a_failure_and_a_full_disk_is_none(cellwright, cell_file):
    """No gears to take: exit 1 and the reason; a log that cannot be written does not hide it."""
    file = cell_file(("  - {model: medium_gear, count: 8, trays: [fanuc_medium_tray, motoman_medium_tray]}\n", ""))
    ended = cellwright("run", file, "--record", "/dev/full", "--no-picture", "--json")
    assert ended.code == 1
    assert ended.json["done"] is False
    assert "medium_gear" in ended.json["reason"]
    assert "No space left" in ended.json["log_lost"]["reason"]
    assert "the log is incomplete" in ended.err


@needs_full_device
@pytest.mark.slow
def test_a_full_disk_takes_the_pages_of_a_run_and_not_its_verdict(cellwright, cell_file):
    file = cell_file(("  - {model: medium_gear, count: 8, trays: [fanuc_medium_tray, motoman_medium_tray]}\n", ""))
    Path("kept").mkdir()
    Path("kept", "verdict.json").symlink_to("/dev/full")
    ended = cellwright("run", file, "--out", "kept", "--no-picture", "--json", "--overwrite")
    assert ended.code == 2
    assert ended.json["done"] is False
    assert "verdict" not in ended.json["files"]
    assert ended.err.splitlines()[-1] == "cellwright: cannot write kept: No space left on device"


def test_earlier_files_survive_a_command_that_is_refused(cellwright, refused):
    Path("out").mkdir()
    for name in ("run.mcap", "run.db", "run.world"):
        Path("out", name).write_text("earlier", encoding="utf-8")
    assert "fanuc, motoman" in refused("run", "--robots", "nobody", *FAST)
    assert "0 to" in refused("run", "--seed", "-1", *FAST)
    assert "none" in refused("run", "--recovery", "some", *FAST)
    assert "kind of fault" in refused("run", "--fault", "flood", *FAST)
    assert "fidelity 'physics'" in refused("run", "--fault", "drop:during=transfer:1", *FAST)
    assert "kit_m2l1" in refused("run", "--order", "kit_m9", *FAST)
    assert "kitting papers" in refused("run", "--order", "a2b1c1", *FAST)
    assert "not a stored world" in refused("run", "--resume")
    assert "goes on with the run as it was begun: leave --order out" in refused(
        "run", "--resume", "--order", "kit_m2l1"
    )
    assert "leave a cell out" in refused("run", "aprs", "--resume")
    assert "no run to resume: out/b.world does not exist" in refused("run", "--resume", "--database", "out/b.db")
    assert "is not a database" in refused("run", "--overwrite", *FAST)
    assert "out/run.mcap exists, and is not overwritten" in refused("run", "--record", "out/run.mcap", *FAST)
    for name in ("run.mcap", "run.db", "run.world"):
        assert Path("out", name).read_text(encoding="utf-8") == "earlier"


@pytest.mark.slow
def test_kits_that_nobody_could_build_are_summed_up(cellwright):
    """Two trays are there: five kits of seven are missing, by one name everywhere, in short lines."""
    out = cellwright("run", "--quantity", 7, "--fidelity", "kinematic", "--no-picture").out
    five = "5 kits (kit_m2l1_1, kit_m2l1_2, kit_m2l1_3, ...)"
    lines = [line for line in out.splitlines() if line.startswith("not to be had")]
    lost = "10 of sku_part_medium_gear, 5 of sku_part_large_gear"
    assert lines == [f"not to be had: {lost}: {five}: no kit tray sku_kit_m2l1_vessel left in the cell"]
    assert f"{five}: the tray is not there" in out
    assert "gone" not in out
    assert max(map(len, out.splitlines())) < 320


@pytest.mark.slow
def test_two_runs_in_one_folder_keep_their_files_and_say_where_they_are(cellwright, refused):
    first = cellwright("run", "--json", *FAST).json
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    second = cellwright("run", "--seed", 5, *FAST)
    assert (first["log"], first["database"]) == ("out/run.mcap", "out/run.db")
    assert "log out/run-2.mcap, database out/run-2.db" in second.out
    assert {path.name: path.read_bytes() for path in Path("out").iterdir() if path.name in before} == before
    assert read_log(Path("out/run-2.mcap")).metadata["seed"] == "5"
    assert WorldState.read(Path("out/run-2.world")).header["seed"] == 5
    for option, name in (("--record", "out/run.mcap"), ("--database", "out/run-2.db")):
        assert "exists, and is not overwritten: choose another name, or add --overwrite" in refused(
            "run", option, name, *FAST
        )
    third = cellwright("run", "--seed", 6, "--overwrite", "--json", *FAST).json
    assert third["log"] == "out/run.mcap"
    assert read_log(Path("out/run.mcap")).metadata["seed"] == "6"
    assert not Path("out/run-3.mcap").exists()


def test_files_are_taken_at_once_and_given_back_unused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with run_files(None, None, None) as one, run_files(None, None, None) as two, run_files(None, None, "a.db") as three:
        names = [(str(files.log), str(files.picture), files.database) for files in (one, two, three)]
        with pytest.raises(BadInput, match=r"a\.db exists"), run_files(None, None, "a.db"):
            pass
        Path(two.log).write_bytes(b"written")
    assert names == [
        ("out/run.mcap", "out/run.png", "out/run.db"),
        ("out/run-2.mcap", "out/run-2.png", "out/run-2.db"),
        ("out/run-3.mcap", "out/run-3.png", "a.db"),
    ]
    assert [path.name for path in Path("out").iterdir()] == ["run-2.mcap"]
    assert not Path("a.db").exists()
    Path("out/run-2.world").write_bytes(b"world")
    assert latest_database() == "out/run-2.db"
    with run_files(None, None, latest_database(), Path("out/run-2.world")) as resumed:
        assert (str(resumed.log), resumed.database) == ("out/run-2-resumed.mcap", "out/run-2.db")
    with run_files(Path("out/run-2.mcap"), None, latest_database(), Path("out/run-2.world")) as resumed:
        assert str(resumed.log) == "out/run-2-resumed.mcap", "what was recorded before stays"
        resumed.log.write_bytes(b"written")
        with run_files(Path("out/run-2.mcap"), None, latest_database(), Path("out/run-2.world")) as again:
            assert str(again.log) == "out/run-2-resumed-2.mcap"
        with run_files(resumed.log, None, latest_database(), Path("out/run-2.world")) as again:
            assert str(again.log) == "out/run-2-resumed-2.mcap", "of a run that was resumed before"


def test_what_has_one_number_is_of_one_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with run_files(Path("elsewhere.mcap"), None, None) as one:
        Path(one.database).write_bytes(b"of the first")
    with run_files(None, None, "mine.db", draw=False) as two:
        assert (one.database, str(two.log)) == ("out/run.db", "out/run-2.mcap")
        two.log.write_bytes(b"of the second")
    with run_files(Path("another.mcap"), None, None) as three:
        assert (three.database, str(three.picture)) == ("out/run-3.db", "out/run-3.png")


def test_many_runs_that_start_at_once_get_files_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begin, logs = threading.Barrier(12), []

    def start():
        begin.wait()
        with run_files(None, None, None) as files:
            logs.append(files.log)
            begin.wait()

    threads = [threading.Thread(target=start) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(logs)) == 12


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--robots", "fanuk"], "--robots: unknown robot 'fanuk'; did you mean 'fanuc'? (available: fanuc, motoman)"),
        (["--robots", ","], "--robots: no robot is to work; name at least one of fanuc, motoman"),
        (["--fault", "blackhole:at=1"], "unknown kind of fault 'blackhole'; did you mean 'blackout'?"),
        (["--recovery", "ful"], "unknown recovery 'ful'"),
        (["--planner", "sequenzer"], "unknown planner 'sequenzer'; did you mean 'sequencer'?"),
        (["--fidelity", "real"], "unknown fidelity 'real' (available: kinematic, physics)"),
        (["--source", "pixels"], "unknown source 'pixels' (available: camera, state)"),
        (["kitting", "--source", "camera"], "is a logical_detector, which takes no pictures"),
    ],
)
def test_a_bad_option_is_told_alone(cellwright, options, told):
    ended = cellwright("run", *options)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert told in line


@pytest.mark.slow
def test_what_is_built_is_said_before_the_laboratory_is(tmp_path):
    """Whoever waits knows at once what for."""
    command = [sys.executable, "-m", "cellwright", "run", "--no-picture"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stderr.readline() == "aprs, seed 0: kit_m2l1 by all robots\n"
            assert not (tmp_path / "out").exists()
            loaded = Path(f"/proc/{child.pid}/maps").read_text() if Path("/proc/self/maps").exists() else ""
            assert "libmujoco" not in loaded, "nothing heavy comes before it"
        finally:
            child.kill()


PAPER = """1 (take-part robot_1 medium_gear_1 fanuc_medium_tray fanuc_tool)
2 (put-part robot_1 medium_gear_1 fanuc_kit_m2l1 fanuc_cart fanuc_medium_tray)
3 (take-part robot_1 large_gear_1 fanuc_large_tray fanuc_tool)
4 (put-part robot_1 large_gear_1 fanuc_kit_m2l1 fanuc_cart fanuc_large_tray)
5 (take-part robot_1 medium_gear_2
     fanuc_medium_tray fanuc_tool)
6 (put-part robot_1 medium_gear_2 fanuc_kit_m2l1 fanuc_cart fanuc_medium_tray)
"""


@pytest.mark.slow
def test_plan_file_of_somebody_else_is_carried_out(cellwright):
    Path("plan.txt").write_text(PAPER, encoding="utf-8")
    report = cellwright("run", "--plan", "plan.txt", "--rename", "robot_1=fanuc", "--json", *FAST).json
    assert (report["done"], report["order"]["plans"]) == (True, 1)
    done = [action["action"] for action in report["order"]["actions"]]
    placed = [words.split()[3] for words in done if words.startswith("(place-part")]
    assert placed == ["sku_part_medium_gear", "sku_part_large_gear", "sku_part_medium_gear"]  # in its order
    assert sum(words.startswith("(look-for-slot") for words in done) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            PAPER,
            [],
            "names no robot of the cell (available: fanuc, motoman); say what is meant, as in --rename robot_1=f",
        ),
        (
            PAPER,
            ["--rename", "robot_9=fanuc"],
            "--rename robot_9=fanuc: unknown name in plan.txt 'robot_9'; did you mean",
        ),
        (
            PAPER,
            ["--rename", "robot_1=fanuk"],
            "=fanuk: unknown name in the cell 'fanuk'; did you mean 'fanuc'? (avail",
        ),
        (PAPER.split("5 ")[0], ["--rename", "robot_1=fanuc"], "lacks 1 of sku_part_medium_gear"),
        (PAPER, ["--rename", "robot_1"], "allowed is NAME_IN_THE_PLAN=NAME_IN_THE_CELL"),
        ("no plan", [], "plan.txt, line 1: 'no plan' is no step"),
        ("; nothing", [], "plan.txt: no step in it"),
    ],
)
def test_plan_file_that_does_not_do_the_order_is_refused(cellwright, text, options, words):
    Path("plan.txt").write_text(text, encoding="utf-8")
    ended = cellwright("run", "--plan", "plan.txt", *options, *FAST)
    assert ended.code == 2
    assert words in ended.err.splitlines()[-1]
