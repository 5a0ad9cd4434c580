import random
import re
from dataclasses import replace

import pytest

from cellwright.orders import find_order
from cellwright.planning import NEEDS, PlanRequest, Verb, plan, validate_sequence, validate_timed


@pytest.fixture(scope="module")
def good(cell):
    request = PlanRequest(cell(2, 2), (find_order("a2b3c3d1e1", 2),))
    return request, plan(request)


def test_every_verb_says_what_it_needs():
    assert set(NEEDS) == set(Verb)


def test_a_plan_without_one_of_its_steps_is_refused(good):
    request, result = good
    for index in range(len(result.actions)):
        broken = replace(result, actions=result.actions[:index] + result.actions[index + 1 :])
        for verdict in (validate_sequence(request, broken), validate_timed(request, broken)):
            assert not verdict.valid
            assert verdict.reason


@pytest.mark.parametrize(
    ("verb", "change", "words"),
    [
        (Verb.ATTACH, {"tool": "vacuum_gripper"}, "holds tray_gripper|holds part_gripper"),
        (Verb.TAKE_TRAY, {"place": "parts_a"}, "is no stack of"),
        (Verb.TAKE_TRAY, {"table": "outlet"}, "is no table"),
        (Verb.LOOK_PART, {"sku": "sku_part_e"}, "does not handle sku_part_e|is no parts tray of"),
        (Verb.SET_GRASP, {"sku": "sku_part_e"}, "has found sku_part_., not sku_part_e"),
        (Verb.TAKE_PART, {"place": "parts_e"}, "has not found"),
        (Verb.PLACE_PART, {"kit": "nobody"}, "has not found a slot in nobody"),
        (Verb.LOOK_SLOT, {"kit": "a2b3c3d1e1_2", "place": "table_1"}, "is not on table_1|does not exist"),
        (Verb.TAKE_KIT, {"robot": "nobody"}, "no robot nobody"),
        (Verb.PLACE_KIT, {"place": "table_1"}, "is no outlet"),
        (Verb.CREATE_KIT, {"place": "outlet"}, "is not on outlet"),
        (Verb.DETACH, {"place": "parts_a"}, "is no tool holder"),
    ],
)
def test_the_first_broken_condition_is_said_in_words(good, verb, change, words):
    request, result = good
    index = next(i for i, action in enumerate(result.actions) if action.verb is verb)
    steps = list(result.actions)
    steps[index] = steps[index]._replace(**change)
    verdict = validate_timed(request, replace(result, actions=tuple(steps)))
    assert verdict.step == index
    assert re.search(words, verdict.reason)
    assert "\n" not in verdict.reason


def test_times_are_checked(good):
    request, result = good
    last = len(result.actions) - 1
    for change, words in (
        ({"start_s": result.actions[last].start_s - 1.0}, "is busy until"),
        ({"duration_s": 0.5}, "it takes 0.5 s, not 6 s"),
    ):
        steps = (*result.actions[:last], result.actions[last]._replace(**change))
        assert words in validate_timed(request, replace(result, actions=steps)).reason


def test_two_robots_in_one_zone_are_refused(good):
    request, result = good
    crowded = replace(request.state, zones=tuple((place, "all") for place in sorted(request.state.places)))
    verdict = validate_timed(replace(request, state=crowded), result)
    assert not verdict.valid
    assert "is in zone all until" in verdict.reason


def test_a_part_that_is_not_wrong_is_not_taken_out(cell, good):
    request, result = good
    place = next(i for i, action in enumerate(result.actions) if action.verb is Verb.PLACE_PART)
    step = result.actions[place]
    undo = step._replace(verb=Verb.REMOVE_PART, start_s=step.end_s, duration_s=request.durations.remove_part_s)
    verdict = validate_sequence(request, replace(result, actions=(*result.actions[: place + 1], undo)))
    assert verdict.step == place + 1
    assert f"holds no {step.sku} in a wrong slot" in verdict.reason


def test_times_that_are_no_numbers_are_refused(good):
    request, result = good
    for change in ({"start_s": float("nan")}, {"duration_s": float("nan")}, {"start_s": -1.0}):
        steps = (result.actions[0]._replace(**change), *result.actions[1:])
        assert not validate_timed(request, replace(result, actions=steps)).valid


def test_five_steps_in_one_go_are_judged_as_one_by_one(cell):
    """One robot's parts are checked five steps at a time; whatever is changed in a plan, both ways find the same."""
    request = PlanRequest(cell(tables=2), (find_order("a2b3c3d1e1", 2),))
    result, rng = plan(request), random.Random(0)
    words = {word for action in result.actions for word in action[1:6] if word}
    refused = 0
    for _ in range(400):
        steps, at = list(result.actions), rng.randrange(len(result.actions))
        field = rng.choice(("robot", "tool", "sku", "place", "kit"))
        steps[at] = steps[at]._replace(**{field: rng.choice(sorted(words))})
        changed = replace(result, actions=tuple(steps))
        verdict = validate_timed(request, changed)
        assert verdict == validate_sequence(request, changed), (at, field)
        refused += not verdict.valid
    assert refused > 200
