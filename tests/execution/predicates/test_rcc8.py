"""RCC8 on intervals: exactly one relation holds, it has a converse, and uncertainty only adds to what is possible."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.execution.predicates import Interval, Rcc8, Truth, possible_rcc8, rcc8
from cellwright.execution.predicates.truth import all_of, any_of

CONVERSE = {relation: relation for relation in Rcc8} | {
    Rcc8.TPP: Rcc8.TPPI,
    Rcc8.TPPI: Rcc8.TPP,
    Rcc8.NTPP: Rcc8.NTPPI,
    Rcc8.NTPPI: Rcc8.NTPP,
}
ENDS = st.integers(-12, 12).map(lambda n: n / 4)
INTERVALS = st.tuples(ENDS, st.integers(1, 12)).map(lambda pair: Interval(pair[0], pair[0] + pair[1] / 4))
TOLERANCES = st.sampled_from([0.0, 0.25, 0.375, 1.0])


def by_definition(a, b):
    """Which relations hold by their definitions on closed intervals, without a tolerance."""
    overlap = a.low < b.high and b.low < a.high
    inside, around = b.low <= a.low and a.high <= b.high, a.low <= b.low and b.high <= a.high
    same_end = a.low == b.low or a.high == b.high
    return {
        relation
        for relation, holds in {
            Rcc8.DC: a.high < b.low or b.high < a.low,
            Rcc8.EC: a.high == b.low or b.high == a.low,
            Rcc8.PO: overlap and not inside and not around,
            Rcc8.EQ: a == b,
            Rcc8.TPP: inside and same_end and a != b,
            Rcc8.NTPP: inside and not same_end,
            Rcc8.TPPI: around and same_end and a != b,
            Rcc8.NTPPI: around and not same_end,
        }.items()
        if holds
    }


@given(INTERVALS, INTERVALS)
def test_exactly_one_relation_holds_and_it_is_the_defined_one(a, b):
    assert by_definition(a, b) == {rcc8(a, b)}


@given(INTERVALS, INTERVALS, TOLERANCES)
def test_converse(a, b, tolerance):
    assert rcc8(b, a, tolerance) is CONVERSE[rcc8(a, b, tolerance)]


@given(INTERVALS, INTERVALS, TOLERANCES, st.sampled_from([0.0, 0.1, 0.6, 2.0]))
def test_possible_relations_are_those_of_all_shifts(a, b, tolerance, shift):
    steps = [shift * n / 64 for n in range(-64, 65)]
    tried = {rcc8(Interval(a.low + s, a.high + s), b, tolerance) for s in steps}
    found = possible_rcc8(a, b, tolerance, shift)
    assert tried <= found
    assert rcc8(a, b, tolerance) in found
    if shift == 0.0:
        assert found == {rcc8(a, b, tolerance)}


@pytest.mark.parametrize(
    ("first", "relation"),
    [
        ((-1.0, -0.1), "DC"), ((-1.0, 0.0), "EC"), ((-1.0, 0.5), "PO"), ((0.0, 0.5), "TPP"), ((0.2, 0.5), "NTPP"),
        ((0.0, 1.0), "EQ"), ((0.0, 2.0), "TPPi"), ((-1.0, 2.0), "NTPPi"),
    ],
)  # fmt: skip
def test_each_relation(first, relation):
    assert rcc8(Interval(*first), Interval(0.0, 1.0)) == relation


def test_tolerance_decides_what_touches():
    below = Interval(-1.0, -0.0015)
    assert rcc8(below, Interval(0.0, 1.0), 0.002) is Rcc8.EC
    assert rcc8(below, Interval(0.0, 1.0), 0.001) is Rcc8.DC
    assert possible_rcc8(below, Interval(0.0, 1.0), 0.002, 0.001) == {Rcc8.EC, Rcc8.DC}


@pytest.mark.parametrize("values", list(itertools.product(Truth, repeat=2)))
def test_three_values(values):
    a, b = values
    assert all_of(values) is (Truth.FALSE if Truth.FALSE in values else Truth.UNKNOWN if Truth.UNKNOWN in values else a)
    assert any_of(values) is ~all_of([~a, ~b])
    assert ~~a is a
