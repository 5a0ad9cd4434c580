"""The play operator: what is true of every course that a motor may take."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.sim import take_up

HALF_RAD = 0.01
courses = st.lists(st.floats(-0.1, 0.1), min_size=1, max_size=30)


def at_rest() -> np.ndarray:
    return np.array([[HALF_RAD], [0.0], [0.0], [1.0], [0.0]])


def follow(course: list[float]) -> tuple[np.ndarray, list[float]]:
    """The state in the end, and where the link was after each step."""
    state, links = at_rest(), []
    for motor in course:
        take_up(state, np.array([motor]), np.zeros(1))
        links.append(float(state[1, 0] + state[2, 0]))
    return state, links


@settings(max_examples=100, deadline=None)
@given(courses)
def test_the_link_is_never_farther_from_the_motor_than_half_the_play(course):
    state, links = follow(course)
    assert np.abs(np.subtract(links, course)).max() <= HALF_RAD + 1e-12
    assert 0.0 <= state[3, 0] <= 1.0


@settings(max_examples=100, deadline=None)
@given(courses)
def test_the_link_moves_only_when_it_must_and_no_farther(course):
    links = [0.0, *follow(course)[1]]
    for motor, before, after in zip(course, links[:-1], links[1:], strict=True):
        if abs(motor - before) <= HALF_RAD - 1e-12:
            assert after == pytest.approx(before, abs=1e-12)
        else:
            assert abs(after - motor) == pytest.approx(HALF_RAD, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(courses, st.integers(2, 5))
def test_it_does_not_matter_in_how_many_steps_a_motor_goes(course, parts):
    stops = [0.0, *course]
    finer = [x for a, b in pairwise(stops) for x in np.linspace(a, b, parts + 1)[1:]]
    assert follow(finer)[1][-1] == pytest.approx(follow(course)[1][-1], abs=1e-12)


def test_the_share_that_gets_through():
    state = at_rest()
    take_up(state, np.array([0.02]), np.array([0.5]))  # the first half of the way is play
    assert state[3, 0] == pytest.approx(0.5)
    assert state[4, 0] == pytest.approx(0.25)
    take_up(state, np.array([0.02]), np.zeros(1))
    assert state[4, 0] == 0.0
    take_up(state, np.array([0.03]), np.array([0.5]))
    assert state[3:, 0] == pytest.approx([1.0, 0.0])
