import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.planning.external import PlannerFailed, read_plan_file, read_printed_plan

STEPS = [("attach-endeffector", ("tray_gripper",)), ("clear-kit", ("a", "b-2"))]


def plain(lines):
    return [(line.name, line.arguments) for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        "(attach-endEffector tray_gripper)\n(clear-kit a b-2)\n; cost = 14000 (general cost)\n",
        "0.0: (ATTACH-ENDEFFECTOR TRAY_GRIPPER)\n1.0: (CLEAR-KIT A B-2)\n",
        "0.000: (attach-endeffector tray_gripper)  [8.000]\r\n8.001: (clear-kit a b-2)  [12.000]",
        "step 0: ATTACH-ENDEFFECTOR TRAY_GRIPPER\n     1: CLEAR-KIT A B-2\n",
        "( attach-endeffector   tray_gripper ) ; first\n\n(clear-kit a b-2) (12)\n",
    ],
    ids=["fast-downward", "enhsp", "popf", "ff", "comments"],
)
def test_every_habit_is_read_from_files_and_from_output(text):
    assert plain(read_plan_file(text, "test")) == STEPS
    assert plain(read_printed_plan(f"Parsing...\n(c) 2011 us\nNodes: 12\n{text}\nTotal time 0.3\n")) == STEPS


def test_of_several_printed_plans_the_last_counts():
    first = "0.0: (attach-endeffector x) [1]\n1.0: (detach-endeffector x) [1]\n; Cost: 16\n"
    last = "0.0: (attach-endeffector tray_gripper) [1]\n1.0: (clear-kit a b-2) [1]\n; Cost: 12\n"
    assert plain(read_printed_plan(first + last)) == STEPS


@pytest.mark.parametrize("row", ["{}", "Segmentation fault", "(unclosed", "\x00\x01", "()", "12"])
def test_a_file_with_anything_else_is_refused_by_line(row):
    with pytest.raises(PlannerFailed, match=r"planner test: line 2 of its plan is no step: "):
        read_plan_file(f"(attach-endeffector x)\n{row}\n", "test")


@pytest.mark.parametrize("row", ["(" + " " * 300_000, "0: a" + " b" * 150_000 + " (", "9" * 300_000])
def test_a_hostile_line_takes_no_time(row):
    assert read_printed_plan(row) == []


def test_a_long_line_is_not_shown_in_full():
    with pytest.raises(PlannerFailed) as failed:
        read_plan_file("x" * 10_000, "test")
    assert len(str(failed.value)) < 150


WORDS = st.text("abz09_-", max_size=6).map(lambda rest: f"x{rest}")


@given(st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=4).map(tuple)), max_size=8))
def test_what_is_written_is_read(steps):
    text = "\n".join(f"({' '.join((name, *arguments))})" for name, arguments in steps)
    assert plain(read_plan_file(text, "test")) == steps
    assert plain(read_printed_plan(text)) == steps


@given(st.text())
def test_any_text_is_a_plan_or_refused(text):
    read_printed_plan(text)
    with contextlib.suppress(PlannerFailed):
        read_plan_file(text, "test")
