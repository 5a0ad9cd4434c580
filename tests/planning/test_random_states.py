"""Random orders from random states: every plan holds, and how near it comes to its bound."""

import pytest

from cellwright.bench.reach_states import reach_request
from cellwright.planning import Verb


def worst_of_one_robot(request_from, checked, seeds, wrong):
    """The largest ratio of cost to bound; every second state lacks parts or reach."""
    made = [checked(request_from(seed, harsh=bool(seed % 2), wrong=wrong)) for seed in seeds]
    assert any(result.actions for result in made)
    return max(result.cost / result.lower_bound for result in made if result.actions)


def far_from_the_bound(requests, checked):
    """Requests whose plan takes more than 1.1 of the bound."""
    far = []
    for request in requests:
        result = checked(request)
        assert result.makespan_s >= result.lower_bound - 1e-6
        proven = all(kit.proven for kit in result.unfinished)
        best = proven and result.makespan_s <= result.lower_bound + 1e-6
        assert (result.status == "optimal") == best or not result.actions
        if result.makespan_s > 1.1 * result.lower_bound:
            far.append(request)
    return far


def test_one_robot(request_from, checked):
    assert worst_of_one_robot(request_from, checked, range(40), 0.2) <= 1.02


def test_a_kit_is_not_its_own_stock(request_from, checked):
    """Too few parts for one kit with a wrong part in it: that part serves another kit, and not the same one twice."""
    result = checked(request_from(50, harsh=True, wrong=0.3))
    removed = [action.kit for action in result.actions if action.verb is Verb.REMOVE_PART]
    assert removed == ["old_3"]
    assert "old_3" in {kit.kit for kit in result.unfinished}


def test_two_robots_with_equal_kits(order_from, request_from, checked):
    requests = [order_from(seed) for seed in range(0, 200, 25)]
    requests += [request_from(seed, robots=2, equal=True, harsh=False, largest=2) for seed in range(6)]
    assert not far_from_the_bound(requests, checked)


def test_two_robots_with_mixed_kits_hold(request_from, checked):
    for seed in range(8):
        result = checked(request_from(seed, robots=2, harsh=bool(seed % 2), largest=1))
        assert result.makespan_s >= result.lower_bound - 1e-6


USES = (Verb.TAKE_PART, Verb.TAKE_TRAY, Verb.REMOVE_PART, Verb.TAKE_KIT)


def idle_tools(result):
    """Steps with which a robot takes up a tool that it does not use before it puts it down, or to the end.

    To carry a tool to a holder from which the other robot takes it is of use, and so is to make room in a holder
    for a tool that the other robot puts there.
    """
    found = []
    for robot in sorted({action.robot for action in result.actions}):
        own = [a for a in result.actions if a.robot == robot and a.verb in (*USES, Verb.ATTACH, Verb.DETACH)]
        after = [*own[1:], None]
        idle = [
            (a, b) for a, b in zip(own, after, strict=True) if a.verb is Verb.ATTACH and (not b or b.verb not in USES)
        ]
        found += [
            (a, b)
            for a, b in idle
            if b is None or (not made_room(result, a) and (a.place == b.place or not taken_up(result, b)))
        ]
    return found


def made_room(result, taken):
    """Whether the next tool that is put where this one was is put there by another robot."""
    later = (a for a in result.actions if a.start_s > taken.start_s and a.verb is Verb.DETACH)
    there = min((a for a in later if a.place == taken.place), key=lambda a: a.start_s, default=taken)
    return there.robot != taken.robot


def taken_up(result, put_down):
    """Whether another robot takes up the tool from where it was put down."""
    later = (
        a for a in result.actions if a.start_s > put_down.start_s and a.verb is Verb.ATTACH and a.tool == put_down.tool
    )
    return any(a.robot != put_down.robot and a.place == put_down.place for a in later)


def check_reach(seeds, checked, iterations):
    """Plans of two robots of different reach hold, respect their bounds and change no tool in vain."""
    made = [(seed, checked(reach_request(seed, iterations))) for seed in seeds]
    for seed, result in made:
        assert 0.0 <= result.lower_bound <= result.makespan_s + 1e-6, seed
        assert not idle_tools(result), seed
        assert all(kit.proven for kit in result.unfinished) or result.status in ("solved", "not found"), seed
    return [result for _, result in made if result.actions]


def test_a_robot_may_put_down_a_tool_for_the_other_before_that_one_has_put_down_its_own(checked):
    """The bound counts that way, too: a plan that goes it is not below its bound."""
    result = checked(reach_request(95))
    assert result.lower_bound <= result.makespan_s == 210.0
    assert result.status == "optimal"


def test_two_robots_of_different_reach(checked):
    assert len(check_reach(range(16), checked, 8)) >= 6


@pytest.mark.long
def test_two_robots_of_different_reach_in_200_states(checked):
    made = check_reach(range(200), checked, 400)
    assert sorted(result.ratio for result in made)[len(made) // 2] <= 1.1


@pytest.mark.long
@pytest.mark.parametrize(("wrong", "most"), [(0.0, 1.02), (0.3, 1.04)])
def test_one_robot_200_orders_from_orderly_and_from_harsh_states(request_from, checked, wrong, most):
    """A part in a wrong slot of an unwanted kit would be taken 1.5 s sooner than one in a tray, but stays there."""
    made = [checked(request_from(seed, harsh=harsh, wrong=wrong)) for seed in range(200) for harsh in (False, True)]
    assert max(result.cost / result.lower_bound for result in made if result.actions) <= most


@pytest.mark.long
def test_two_robots_200_orders_of_equal_kits_in_a_tidy_cell(order_from, checked):
    assert not far_from_the_bound([order_from(seed) for seed in range(200)], checked)


@pytest.mark.long
@pytest.mark.parametrize(("harsh", "most"), [(False, 6), (True, 8)])
def test_two_robots_200_orders_of_equal_kits_from_random_states(request_from, checked, harsh, most):
    requests = [request_from(seed, robots=2, equal=True, harsh=harsh) for seed in range(200)]
    assert len(far_from_the_bound(requests, checked)) <= most
