import heapq
import re
from dataclasses import replace
from itertools import count

import pytest

from cellwright.core.errors import BadInput
from cellwright.orders import KitDesign, Order, OrderLine, find_order
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


def cheapest(request):
    """The least cost of any plan, by trying every step that the rules allow, cheapest plans first."""
    from cellwright.planning import Action
    from cellwright.planning.rules import BrokenRule, World

    state = request.state
    parts = {tray.sku: tray.name for tray in state.parts_trays}
    steps = []
    (robot,) = state.robots
    for tool in state.tools:
        for holder in state.holders:
            steps += [Action(v, robot.name, tool.name, "", holder.name) for v in (Verb.ATTACH, Verb.DETACH)]
        for job in request.jobs:
            tray, stack = job.design.tray_sku, state.tray_stacks[0].name
            for table in state.tables:
                here = (robot.name, tool.name)
                steps.append(Action(Verb.TAKE_TRAY, *here, tray, stack, job.name, table))
                steps.append(Action(Verb.PLACE_TRAY, *here, tray, table, job.name))
                steps.append(Action(Verb.CREATE_KIT, *here, "", table, job.name))
                steps.append(Action(Verb.TAKE_KIT, *here, tray, table, job.name))
                for sku in job.design.parts:
                    steps.append(Action(Verb.LOOK_SLOT, *here, sku, table, job.name))
                    steps.append(Action(Verb.PLACE_PART, *here, sku, table, job.name))
            steps.append(Action(Verb.PLACE_KIT, robot.name, tool.name, tray, "outlet", job.name))
            for sku in job.design.parts:
                for verb in (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART):
                    steps.append(Action(verb, robot.name, tool.name, sku, parts[sku], job.name))
    ticket = count()
    frontier, seen = [(0.0, next(ticket), ())], set()
    while frontier:
        cost, _, done = heapq.heappop(frontier)
        world = World(request)
        for step in done:
            world.begin(step)
            world.finish(step)
        if not world.open_kits():
            return cost
        key = repr([vars(world)[name] for name in ("_robots", "_holders", "_stacks", "_parts", "_tables", "_kits")])
        if key in seen:
            continue
        seen.add(key)
        for step in steps:
            trial = World(request)
            try:
                for earlier in (*done, step):
                    trial.begin(earlier)
                    trial.finish(earlier)
            except BrokenRule:
                continue
            heapq.heappush(frontier, (cost + request.durations.of(step.verb), next(ticket), (*done, step)))
    raise BadInput("no plan")


@pytest.mark.long
def test_the_bound_is_what_an_exhaustive_search_finds(cell):
    design = KitDesign.of("tiny", "sku_kit_tray", {"sku_part_a": 1, "sku_part_d": 1})
    request = PlanRequest(cell(), (Order("tiny", (OrderLine(design, 1),)),))
    assert cheapest(request) == plan(request).lower_bound == plan(request).cost
