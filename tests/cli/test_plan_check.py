"""`cellwright plan --check`, and what `plan --pddl` writes: each plan solves the problem beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROBOTS = ("--robots", "fanuc,motoman")


def folders(where: str) -> list[Path]:
    found = sorted(path.parent for path in Path(where).glob("*/plan.txt"))
    assert found
    return found


@pytest.mark.parametrize(("parts", "robots"), [("counted", ROBOTS), ("named", ())])
def test_plan_file_solves_the_problem_beside_it_in_every_vocabulary(cellwright, parts, robots):
    for words in ("2012", "2014", "2016"):
        asked = ("plan", "aprs", "--order", "a2b1c1", *robots, "--parts", parts, "--words", words, "--pddl", "files")
        assert cellwright(*asked, "--json").json["notes"][1:] == []
    made = folders("files")
    assert len(made) == 3
    for folder in made:
        files = [folder / name for name in ("domain.pddl", "problem.pddl", "plan.txt")]
        ended = cellwright("plan", "--check", *files)
        assert (ended.code, ended.out[:6]) == (0, "valid:"), ended.out
        lines = files[2].read_text(encoding="utf-8").splitlines()
        files[2].write_text("\n".join(lines[:4] + lines[5:]), encoding="utf-8")
        ended = cellwright("plan", "--check", *files, "--json")
        assert (ended.code, ended.json["valid"]) == (1, False)
        assert "is false" in ended.json["reason"]


def test_kits_that_are_left_out_are_not_in_the_goal_and_that_is_told(cellwright):
    asked = ("plan", "aprs", "--order", "kit_m2l1", "--quantity", "5", *ROBOTS, "--pddl", "files", "--json")
    ended = cellwright(*asked)
    assert (ended.code, len(ended.json["reasons"])) == (1, 3)
    assert "the planning files ask for what the plan does, 2 of 5 kits" in ended.json["notes"]
    for folder in folders("files"):
        problem = (folder / "problem.pddl").read_text(encoding="utf-8")
        assert problem.count("; left out: kit kit_m2l1_") == 3
        assert (
            cellwright("plan", "--check", *(folder / n for n in ("domain.pddl", "problem.pddl", "plan.txt"))).code == 0
        )


def test_the_plan_comes_out_in_the_words_that_are_asked_for(cellwright):
    named = cellwright("plan", "aprs", "--order", "kit_m2l1", "--words", "2012", "--parts", "named")
    assert named.code == 0
    assert named.out.splitlines()[:3] == [
        "(look-for-part fanuc medium_gear_1 fanuc_medium_tray fanuc_kit_m2l1 fanuc_cart fanuc_tool)",
        "(take-part fanuc medium_gear_1 fanuc_medium_tray fanuc_tool fanuc_cart fanuc_kit_m2l1)",
        "(put-part fanuc medium_gear_1 fanuc_kit_m2l1 fanuc_cart fanuc_medium_tray)",
    ]
    assert all(line.startswith(("(", ";")) for line in named.out.splitlines())  # what is printed is a plan file
    plan = cellwright("plan", "aprs", "--order", "kit_m2l1", "--words", "2016", "--parts", "named", "--json").json[
        "plan"
    ]
    assert plan[1] == "(set-grasp fanuc medium_gear_1 sku_part_medium_gear fanuc_tool)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["aprs", "--check", "d", "p", "x"], "leave CELL out"),
        (["--check", "d", "p", "x", "--order", "kit_m2l1"], "leave --order out"),
        (["--check", "absent", "p", "x"], "cannot read absent"),
        (["--check", "d", "p", "/"], "cannot read /"),
        (["--check", "bytes", "p", "x"], "bytes is no text in UTF-8"),
        (["--check", "p", "p", "x"], "no (define (domain ...) ...)"),
        (["--check", "d", "p", "d"], "d, line 1: '(define (domain"),
        (["--check", "d"], "--check"),
        (["--order", "kit_m2l1"], "Missing argument 'CELL'"),
        (["aprs", "--order", "kit_m2l1", "--words", "2013"], "2012, 2014, 2016"),
        (["aprs", "--order", "kit_m2l1", "--parts", "some"], "counted, named"),
    ],
)
def test_bad_input_is_one_line(refused, tmp_path, arguments, words):
    (tmp_path / "d").write_text("(define (domain a) (:predicates (b)))", encoding="utf-8")
    (tmp_path / "p").write_text("(define (problem c) (:domain a) (:goal (b)))", encoding="utf-8")
    (tmp_path / "x").write_text("", encoding="utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert words in refused("plan", *arguments)
