"""Mixtures of normal distributions are found again, with their number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.errors import BadInput
from cellwright.core.mixture import best_mixture, fit_mixture


def drawn(shares, means, sds, count, seed):
    rng = np.random.default_rng(seed)
    which = rng.choice(len(shares), count, p=shares)
    return rng.normal(np.array(means)[which], np.array(sds)[which])


def test_three_clusters_are_found_where_they_are():
    fit = best_mixture(drawn([0.3, 0.45, 0.25], [-4.0, 0.0, 4.0], [1.0, 1.0, 1.0], 1600, 1))
    assert len(fit.means) == 3
    assert fit.means == pytest.approx([-4, 0, 4], abs=0.25)  # four standard deviations of the means, and overlap
    assert fit.sds == pytest.approx([1, 1, 1], abs=0.2)
    assert fit.shares == pytest.approx([0.3, 0.45, 0.25], abs=0.06)


@pytest.mark.parametrize(("means", "count"), [([0.0], 1), ([0.0, 6.0], 2), ([0.0, 6.0, 12.0, 18.0], 4)])
def test_the_number_of_clusters_is_told(means, count):
    shares = [1 / len(means)] * len(means)
    assert len(best_mixture(drawn(shares, means, [1.0] * len(means), 600, 7)).means) == count


def test_one_distribution_is_fitted_by_its_moments():
    values = np.random.default_rng(3).normal(2.0, 0.5, 500)
    fit = fit_mixture(values, 1)
    assert fit.means[0] == pytest.approx(values.mean())
    assert fit.sds[0] == pytest.approx(values.std())
    # The likelihood of a normal distribution at its own moments.
    assert fit.log_likelihood == pytest.approx(-250 * (np.log(2 * np.pi * values.var()) + 1))


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-4, 1e4), shift=st.floats(-1e3, 1e3), seed=st.integers(0, 99))
def test_units_do_not_matter(scale, shift, seed):
    values = drawn([0.5, 0.5], [-3.0, 3.0], [1.0, 1.0], 200, seed)
    one, other = fit_mixture(values, 2), fit_mixture(scale * (values + shift), 2)
    assert other.means == pytest.approx(scale * (one.means + shift), rel=1e-4, abs=1e-3 * scale)
    assert other.shares == pytest.approx(one.shares, abs=1e-3)


@pytest.mark.parametrize("values", [[1.0, 2.0], [5.0] * 30, [float("nan")] * 30, []])
def test_numbers_that_make_no_clusters_are_refused(values):
    with pytest.raises(BadInput, match="a mixture of 1 needs at least 3 finite numbers that differ"):
        best_mixture(values)
