"""Planning anew from any point of a plan."""

from collections import Counter
from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput
from cellwright.orders import find_order
from cellwright.planning import PlanRequest, PlanStatus, Verb, plan, state_after


def left_over(request, result, done):
    """What is left of a plan when its first steps are done, planned anew."""
    return replace(request, state=state_after(request, result.actions[:done]))


@pytest.mark.parametrize("robots", [1, 2])
def test_the_rest_can_be_planned_from_every_step(cell, checked, robots):
    request = PlanRequest(cell(robots, 2), (find_order("a2b3c3d1e1", 2),))
    result = plan(request)
    for done in range(0, len(result.actions), 3):
        again = checked(left_over(request, result, done))
        assert not again.unfinished
        placed = sum(action.verb is Verb.PLACE_PART for action in (*result.actions[:done], *again.actions))
        assert placed == 20
    assert checked(left_over(request, result, len(result.actions))).actions == ()


def test_one_robot_goes_on_as_it_was_planned(cell, checked):
    request = PlanRequest(cell(tables=2), (find_order("a2b3c3d1e1", 4),))
    result = plan(request)
    for done in range(0, len(result.actions), 7):
        if result.actions[done].verb not in (Verb.SET_GRASP, Verb.TAKE_PART, Verb.PLACE_PART, Verb.PLACE_TRAY):
            again = checked(left_over(request, result, done))
            spent_s = sum(action.duration_s for action in result.actions[:done])
            assert spent_s + again.cost == pytest.approx(result.cost)


def test_wrong_parts_and_hands_come_through(request_from, checked):
    compared = 0
    for seed in range(30):
        request = request_from(seed, harsh=False, largest=2, wrong=0.5)
        result = plan(request)
        if not result.actions:
            continue
        before, after = request.state, state_after(request, ())
        assert (after.robots, after.parts_trays, after.holders) == (before.robots, before.parts_trays, before.holders)
        wrong = [{kit.name: Counter(kit.wrong) for kit in state.kits} for state in (before, after)]
        assert wrong[0] == wrong[1]
        for done in (0, len(result.actions) // 2):
            again = checked(left_over(request, result, done))
            assert len(again.unfinished) <= len(result.unfinished)
            compared += again.status is PlanStatus.OPTIMAL
    assert compared > 20


def test_a_step_that_cannot_be_done_is_named(cell):
    request = PlanRequest(cell(), (find_order("a2b1c1"),))
    with pytest.raises(BadInput, match=r"step 1 \(detach-endEffector .* cannot be carried out: robot_1 has"):
        state_after(request, [a for a in plan(request).actions if a.verb is Verb.DETACH])
