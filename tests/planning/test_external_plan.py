"""Plan files of other people, in the forms of 2012, 2014 and 2016: read as steps of ours that build the same kit."""

import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput, UnknownName
from cellwright.drawings.database import planning_database
from cellwright.knowledge import belief_state_of
from cellwright.knowledge.pddl import planning_files, read_steps, write_plan
from cellwright.orders import find_order
from cellwright.planning import PlanResult, PlanStatus, plan, validate_sequence
from cellwright.planning.belief import request_of
from cellwright.planning.external_plan import ExternalPlan, translate_plan
from cellwright.planning.pddl_steps import count_taken_parts, steps_of

ORDER = find_order("kit_m2l1")


@pytest.fixture(scope="module", params=["aprs", "kitting"])
def planned(request):
    """A cell with trays that stay and one with tools, trays and boxes: what is known, asked and planned."""
    cell = load_cell(request.param)
    database, _ = planning_database(cell, [ORDER])
    asked = request_of(database, [ORDER], robots=list(cell.robots)[:1])
    yield database, belief_state_of(database), asked, plan(asked)
    database.close()


def text_of(planned, vocabulary, parts):
    database, _, asked, result = planned
    kits = [(job.name, job.design) for job in asked.jobs]
    taken = count_taken_parts(result.actions)
    files = planning_files(database, [ORDER], vocabulary=vocabulary, parts=parts, kits=kits, taken=taken)
    return write_plan(steps_of(result.actions, files.problem))


def read(planned, text, **renamed):
    _, facts, asked, _ = planned
    given = ExternalPlan("plan.txt", tuple(read_steps(text)), renamed)
    new = [job.name for job in asked.jobs if job.name not in facts.objects]
    return translate_plan(given, facts, new, asked.durations)


@pytest.mark.parametrize("parts", ["counted", "named"])
@pytest.mark.parametrize("vocabulary", ["2012", "2014", "2016"])
def test_plan_in_any_words_is_the_plan_that_it_was_written_from(planned, vocabulary, parts):
    *_, result = planned
    assert read(planned, text_of(planned, vocabulary, parts).upper()) == result.actions


def test_shortest_form_of_the_papers_and_names_of_their_own_are_understood(planned):
    """Fig. 5 of the kitting paper: no step looks for anything, a part is taken without a kit, `endeffectector`."""
    _, _, asked, result = planned
    robot = result.actions[0].robot
    lines = []
    for line in text_of(planned, "2012", "named").replace("endeffector ", "endeffectector ").splitlines():
        words = line.split()
        if words[0] == "(take-part":
            line = " ".join(words[:5]) + ")"
        if words[0] != "(look-for-part":
            line = line.replace(f" {robot} ", " robot_1 ").replace("kit_m2l1_1", "my_kit")
            lines.append(line.replace("m2l1_tray_1", "my_tray"))
    actions = read(planned, "\n".join(lines), robot_1=robot)
    assert validate_sequence(asked, PlanResult(status=PlanStatus.SOLVED, planner="file", actions=actions)).valid
    assert [action.verb for action in actions] == [action.verb for action in result.actions]


def test_published_plan_that_skips_a_look_gets_it(planned):
    *_, result = planned
    lines = text_of(planned, "2016", "named").splitlines()
    second = [number for number, line in enumerate(lines) if line.startswith("(look-for-slot")][1]
    assert read(planned, "\n".join(lines[:second] + lines[second + 1 :])) == result.actions


@pytest.mark.parametrize(
    ("line", "error", "words"),
    [
        ("(fly robot_1)", UnknownName, "plan.txt, line 1: unknown action 'fly'"),
        ("(take-part robot_9 medium_gear_1 medium_tray)", BadInput, "names no robot of the cell (available:"),
        ("(take-part)", BadInput, "names no robot"),
    ],
)
def test_step_that_cannot_be_meant_is_named(planned, line, error, words):
    with pytest.raises(error) as caught:
        read(planned, line)
    assert words in str(caught.value)
