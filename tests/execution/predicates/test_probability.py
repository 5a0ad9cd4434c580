"""Probabilities of predicates: by the deviations of sensed poses, in accord with what is true, false or unknown."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.execution.predicates import Evaluator, Interval, Rcc8, Truth, rcc8
from cellwright.execution.predicates.counts import compare, counted
from cellwright.execution.predicates.rcc8 import probability_of
from cellwright.execution.predicates.truth import Likely, all_likely, any_likely

NUMBER = st.floats(-1.0, 1.0)
LENGTH = st.floats(0.05, 1.0)
IN_TRAY = ("part-has-physicalLocation-refObject-partsTray", "gear_1", "tray")


@given(NUMBER, LENGTH, NUMBER, LENGTH, st.floats(0.0, 0.1), st.floats(0.01, 0.5))
def test_the_probabilities_of_all_relations_are_one_and_those_of_many_draws(low, long, other, wide, tolerance, sd):
    first, second = Interval(low, low + long), Interval(other, other + wide)
    shares = {one: probability_of({one}, first, second, tolerance, sd) for one in Rcc8}
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-9)
    draws = np.random.default_rng(0).normal(0.0, sd, 400)
    found = [rcc8(Interval(low + d, low + long + d), second, tolerance) for d in draws]
    for one, share in shares.items():
        assert found.count(one) / 400 == pytest.approx(share, abs=0.13)


def test_without_a_deviation_a_relation_is_certain():
    assert probability_of({Rcc8.DC}, Interval(0, 1), Interval(2, 3), 0.1, 0.0) == 1.0
    assert probability_of({Rcc8.EC}, Interval(0, 1), Interval(2, 3), 0.1, 0.0) == 0.0


def test_a_part_becomes_less_probably_in_its_slot_the_farther_it_is_off(scene):
    found = []
    for _ in range(16):
        found.append(Evaluator(scene).evaluate(*IN_TRAY))
        scene.move("gear_1", x=0.001)
    probabilities = [one.probability for one in found]
    assert found[0].value is Truth.TRUE
    assert probabilities[0] > 0.95
    assert found[-1].value is Truth.FALSE
    assert probabilities[-1] < 0.05
    assert all(b <= a + 1e-9 for a, b in pairwise(probabilities))
    assert {one.value for one in found if 0.06 < one.probability < 0.94} <= {Truth.UNKNOWN}


def test_a_grown_variance_makes_it_less_probable_and_at_last_unknown(scene):
    before = Evaluator(scene).evaluate(*IN_TRAY)
    scene.things["gear_1"].variances = (4e-5,) * 6
    after = Evaluator(scene).evaluate(*IN_TRAY)
    assert (before.value, after.value) == (Truth.TRUE, Truth.UNKNOWN)
    assert 0.02 < after.probability < before.probability


def test_what_is_not_known_at_all_is_one_half_and_a_flag_is_certain(scene):
    scene.things["gear_1"].seen_s = None
    assert Evaluator(scene).evaluate(*IN_TRAY).probability == 0.5
    flag = Evaluator(scene).evaluate("part-is-found", "gear_1", "robot", flags={("part-is-found", "gear_1", "robot")})
    assert flag.probability == 1.0
    assert Evaluator(scene).evaluate("part-is-found", "gear_1", "robot").probability == 0.0


def test_values_and_probabilities_agree():
    sure, never, maybe = Likely.of(Truth.TRUE, 0.2), Likely.of(Truth.FALSE, 0.7), Likely.of(Truth.UNKNOWN, 0.7)
    assert (sure.probability, never.probability, maybe.probability) == (0.95, pytest.approx(0.05), 0.7)
    assert any_likely([never, maybe]).value is Truth.UNKNOWN
    assert any_likely([never, maybe]).probability == pytest.approx(1 - 0.95 * 0.3)
    assert all_likely([sure, maybe]).probability == pytest.approx(0.95 * 0.7)


def test_counts_have_the_probabilities_of_what_may_be_there():
    counts = counted(counted({0: 1.0}, Likely(Truth.TRUE, 1.0)), Likely(Truth.UNKNOWN, 0.25))
    assert counts == {1: 0.75, 2: 0.25}
    found = compare("greater", counts, {1: 1.0})
    assert (found.value, found.probability) == (Truth.UNKNOWN, pytest.approx(0.25))
    assert compare("less", counts, {3: 1.0}).value is Truth.TRUE
