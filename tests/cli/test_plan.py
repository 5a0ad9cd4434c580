"""`cellwright plan` and what `cell export` says of knowledge."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

from cellwright.orders import DESIGNS


@pytest.mark.parametrize("order", list(DESIGNS))
def test_every_order_has_a_valid_plan_that_nothing_can_beat(cellwright, order):
    cell = "aprs@tight" if order.endswith("_plug") else "aprs"
    ended = cellwright("plan", cell, "--order", order, "--json")
    found = ended.json
    assert (ended.code, found["status"], found["valid"], found["reasons"]) == (0, "optimal", True, [])
    assert found["cost"] == found["lower_bound"] == found["makespan_s"]
    placed = [action for action in found["actions"] if action["verb"] == "place-part"]
    assert len(placed) == len(DESIGNS.get(order).slots)
    assert bool(found["notes"]) == order.startswith("a")  # parts that the cell does not have


def test_two_robots_share_the_work(cellwright):
    alone = cellwright("plan", "aprs", "--order", "kit_m2l1", "--order", "kit_s2l2", "--json").json
    both = cellwright(
        "plan", "aprs", "--order", "kit_m2l1", "--order", "kit_s2l2", "--robots", "fanuc,motoman", "--json"
    ).json
    assert both["valid"]
    assert {action["robot"] for action in both["actions"]} == {"fanuc", "motoman"}
    assert both["makespan_s"] < alone["makespan_s"]


def test_for_people(cellwright):
    ended = cellwright("plan", "aprs", "--order", "kit_m2l1", "--pddl", "files", "--gantt", "chart.png")
    assert ended.code == 0
    assert "take-part" in ended.out
    assert "optimal by sequencer: 15 steps" in ended.out
    assert "; with these durations no plan takes less than" in ended.out
    assert "files/2016-numeric/plan.txt" in ended.out
    assert "chart.png" in ended.out


def test_what_cannot_be_completed_is_named_and_the_rest_is_planned(cellwright, tmp_path):
    (tmp_path / "five.yaml").write_text("order: five\nkits: {kit_m2l1: 5}\n", encoding="utf-8")
    ended = cellwright("plan", "aprs", "--order", "five.yaml", "--robots", "fanuc,motoman", "--json")
    found = ended.json
    assert (ended.code, found["valid"], len(found["kits"]), len(found["reasons"])) == (1, True, 2, 3)
    assert "kit" in found["reasons"][0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--order", "kit_m2l2"], "kit_m2l1"),
        (["--order", "kit_m2l1", "--robots", "fanuk"], "available: fanuc, motoman"),
        (["--order", "kit_m2l1", "--robots", "fanuc,fanuc"], "named twice"),
        (["--order", "kit_m2l1", "--order", "kit_m2l1"], "--quantity"),
        (["--order", "kit_m2l1", "--planner", "sequenzer"], "sequencer"),
        (["--order", "kit_m2l1", "--planner", "no-such-program {domain}"], "no-such-program"),
        (["--order", "kit_m2l1", "--planner", "x {domian}"], "{problem}"),
        (["--order", "kit_m2l1", "--form", "temporal", "--planner", "x y"], "classical"),
        (["--order", "kit_m2l1", "--quantity", "0"], "--quantity"),
        (["--order", "kit_m2l1", "--gantt", "/proc/chart.png"], "/proc/chart.png"),
        (["--order", "absent.yaml"], "does not exist"),
        ([], "Missing option '--order'"),
    ],
)
def test_bad_input_is_one_line(refused, arguments, words):
    assert words in refused("plan", "aprs", *arguments)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("order: o\nkits: {kit_m2l1: 0}\n", "kits.kit_m2l1"),
        ("order: o\nkits: {kitt: 1}\n", "kit_m2l1"),
        ("order: o\nkits: {mine: 1}\ndesigns: {mine: {tray: sku_kit_m2l1_vessel, parts: {sku_gear: 1}}}\n", "sku_gear"),
        (
            "order: o\nkits: {a2b1c1: 1}\ndesigns: {a2b1c1: {tray: sku_kit_tray, parts: {sku_part_a: 1}}}\n",
            "contradicts",
        ),
    ],
)
def test_bad_orders_are_one_line(refused, tmp_path, text, words):
    (tmp_path / "order.yaml").write_text(text, encoding="utf-8")
    assert words in refused("plan", "aprs", "--order", "order.yaml")


def test_a_planner_that_crashes_says_why(cellwright, tmp_path):
    script = tmp_path / "bad.py"
    script.write_text("import sys; sys.exit('I have no idea')", encoding="utf-8")
    ended = cellwright("plan", "aprs", "--order", "kit_m2l1", "--planner", f"{sys.executable} bad.py {{domain}}")
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "I have no idea" in ended.err


@pytest.mark.slow
def test_export_knowledge(cellwright):
    for form in ("owl", "xml"):
        files = cellwright("cell", "export", "aprs", "--format", form, "--out", form, "--json").json["files"]
        assert files == [f"{form}/initial.{form}", f"{form}/goal.{form}"]
    assert cellwright("db", "init", "--url", "again.db", "--instances", "xml/initial.xml").code == 0
    assert cellwright("cell", "export", "aprs", "--format", "sql", "--out", "cell.sql").code == 0
    with sqlite3.connect("made.db") as made:
        made.executescript(Path("cell.sql").read_text(encoding="utf-8"))
    listed = [cellwright("db", "show", "--url", url, "--json").json["objects"] for url in ("again.db", "made.db")]
    by_name = [sorted(objects, key=lambda entry: entry["name"]) for objects in listed]
    assert by_name[0] == by_name[1]
    files = cellwright("cell", "export", "aprs", "--format", "pddl", "--out", "pddl", "--json").json["files"]
    assert len(files) == 12


def test_the_schema_of_orders_is_printed_alone(cellwright, refused):
    assert cellwright("plan", "--schema").json["required"] == ["order", "kits"]
    assert "--schema plans nothing: leave CELL out" in refused("plan", "aprs", "--schema")
    assert "--check plans nothing: leave --schema out" in refused("plan", "--schema", "--check", "d", "p", "l")
