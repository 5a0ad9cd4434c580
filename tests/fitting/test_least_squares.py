"""Robust least squares: the plain answer where nothing is wrong, and nearly the same where something is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.fitting import solve_robust

X = np.linspace(-1, 1, 21)


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_a_line_is_found_from_anywhere(slope, offset):
    solution = solve_robust(lambda u: u[0] * X + u[1] - (slope * X + offset), [0.0, 0.0])
    assert solution.unknowns == pytest.approx([slope, offset], abs=1e-6)
    assert solution.cost == pytest.approx(0.0, abs=1e-10)


def test_a_curved_problem_is_solved():
    true = np.array([2.0, 0.7])
    solution = solve_robust(lambda u: u[0] * np.sin(u[1] * X * 3) - true[0] * np.sin(true[1] * X * 3), [1.0, 0.5])
    assert solution.unknowns == pytest.approx(true, abs=1e-6)


def test_wrong_measurements_pull_no_harder_than_their_sign():
    y = 3.0 * X + 1.0
    y[4] += 1000.0

    def residuals(unknowns):
        return (unknowns[0] * X + unknowns[1] - y) / 0.01

    robust, plain = (solve_robust(residuals, [0.0, 0.0], bend=bend).unknowns for bend in (2.0, 1e9))
    assert robust == pytest.approx([3.0, 1.0], abs=0.01)
    assert abs(plain[1] - 1.0) > 10.0
