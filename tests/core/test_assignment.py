"""Exact assignment, against trying every possibility."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.assignment import assign, squared_distances


def least_sum(costs, limit, row=0, used=frozenset()):
    if row == len(costs):
        return 0.0
    free = [c for c in range(costs.shape[1]) if c not in used and costs[row, c] <= limit]
    alone = limit + least_sum(costs, limit, row + 1, used)
    return min([alone, *(costs[row, c] + least_sum(costs, limit, row + 1, used | {c}) for c in free)])


@settings(max_examples=150)
@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32), st.sampled_from([0.5, 4.0, 9.0, 30.0]))
def test_assignment_has_the_least_sum(rows, columns, seed, limit):
    costs = np.random.default_rng(seed).integers(0, 10, (rows, columns)).astype(float)  # with many equal ones
    pairs = assign(costs, limit)
    assert len({r for r, _ in pairs}) == len({c for _, c in pairs}) == len(pairs)
    assert all(costs[pair] <= limit for pair in pairs)
    assert sum(costs[pair] for pair in pairs) + limit * (rows - len(pairs)) == pytest.approx(least_sum(costs, limit))


def test_large_assignments_are_exact_and_forbidden_pairs_stay_apart():
    rng = np.random.default_rng(3)
    hidden = rng.permutation(60)
    costs = rng.uniform(1.0, 9.0, (60, 60))
    costs[np.arange(60), hidden] = rng.uniform(0.0, 0.01, 60)
    costs[7] = np.inf
    assert assign(costs, 8.0) == [(r, int(hidden[r])) for r in range(60) if r != 7]


def test_distance_counts_both_uncertainties():
    place, sight = np.zeros((1, 3)), np.array([[0.003, 0.0, 0.0]])
    variances = np.array([[1e-6, 1e-6, 1e-6]])
    assert squared_distances(place, variances, sight, 2 * variances) == pytest.approx(3.0)
