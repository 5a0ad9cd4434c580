"""Names and plans survive the way through files."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import UnknownName
from cellwright.knowledge.pddl import Names, PddlError, PddlStep, read_plan, write_plan

LETTERS = string.ascii_letters
WORDS = st.builds("".join, st.tuples(st.sampled_from(LETTERS), st.text(LETTERS + string.digits + "_-", max_size=8)))
TIMES = st.none() | st.integers(0, 10**9).map(lambda micro: micro / 1e6)
STEPS = st.builds(PddlStep, WORDS, st.lists(WORDS, max_size=4).map(tuple), TIMES, TIMES)


@given(st.lists(st.text(max_size=12), unique=True, max_size=20))
def test_names_differ_in_any_case_and_lead_back(originals):
    names = Names(originals)
    written = [names.write(original) for original in originals]
    assert len({word.lower() for word in written}) == len(originals)
    for word, original in zip(written, originals, strict=True):
        assert word[0].isascii()
        assert word[0].isalpha()
        assert set(word) <= set(LETTERS + string.digits + "_-")
        assert names.read(word.upper()) == names.read(word.lower()) == original


def test_good_names_stay_as_they_are_and_unknown_ones_are_refused():
    names = Names(["medium_gear_3", "Medium_gear_3", "kit a", "7up", "object"])
    assert names.write("medium_gear_3") == "medium_gear_3"
    assert names.write("Medium_gear_3") == "Medium_gear_3_2"
    assert [names.write(word) for word in ("kit a", "7up", "object")] == ["kit_a", "x_7up", "x_object"]
    with pytest.raises(UnknownName, match="unknown name 'gear'"):
        names.read("gear")


@given(st.lists(STEPS, max_size=5))
def test_plans_are_read_as_they_were_written(steps):
    assert read_plan(write_plan(steps, cost=3.5)) == steps


def test_what_planners_print_is_read():
    text = """; Plan found by a planner, cost 12
(take-part robot_1 part_a_1 sku_part_a part_a_tray part_gripper kit_a2b1c1)  ; comment
; cost = 2 (unit cost)

0.00100: (ATTACH-ENDEFFECTOR robot_1 part_gripper holder_1 station)  [8.00000]
8.002: ( create-kit kit_1 tray_1 table_1 )
9.5: (place-kit robot_1)[D:6.0000; C:0.1]
"""
    steps = read_plan(text)
    assert [step.name for step in steps] == ["take-part", "ATTACH-ENDEFFECTOR", "create-kit", "place-kit"]
    assert steps[0].arguments[1] == "part_a_1"
    assert (steps[0].start_s, steps[0].duration_s) == (None, None)
    assert (steps[1].start_s, steps[1].duration_s) == (0.001, 8.0)
    assert (steps[2].start_s, steps[2].duration_s) == (8.002, None)
    assert steps[3].duration_s == 6.0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("take-part robot_1", "line 2: 'take-part robot_1' is no step"),
        ("(take-part robot_1", "is no step"),
        ("(take-part (robot_1))", "is no step"),
        ("()", "'' is no name"),
        ("(take-part 1robot)", "'1robot' is no name"),
        ("1.2.3: (a b)", "'1.2.3' is no time"),
        ("-4: (a b)", "a time of -4 s"),
        ("0: (a b) [1e999]", "a time of 1e999 s"),
        ("Segmentation fault", "is no step"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_line(line, words):
    with pytest.raises(PddlError, match=r"plan\.txt, line 2") as caught:
        read_plan(f"(a b)\n{line}\n", "plan.txt")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=200))
def test_no_text_makes_the_reader_stumble(text):
    try:
        read_plan(text)
    except PddlError as error:
        assert "line" in str(error)  # noqa: PT017
