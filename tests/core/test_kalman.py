"""The filter's step: what is known grows with sights and wanes with time."""

import numpy as np
import pytest

from cellwright.core.kalman import gain, predicted_variances


def test_many_sights_are_their_mean():
    rng = np.random.default_rng(0)
    sights = rng.normal(2.0, 0.5, (200, 3))
    mean, variances = sights[0].copy(), np.full(3, 0.25)
    for sight in sights[1:]:
        share = gain(variances, np.full(3, 0.25))
        mean, variances = mean + share * (sight - mean), (1.0 - share) * variances
    assert mean == pytest.approx(sights.mean(axis=0))
    assert variances == pytest.approx(0.25 / 200)


def test_what_is_exact_stays_and_what_is_unknown_follows():
    assert gain(np.array([0.0, 1e12]), np.array([1.0, 1.0])) == pytest.approx([0.0, 1.0])
    assert np.isfinite(gain(np.zeros(2), np.zeros(2))).all()


def test_variances_grow_with_time_up_to_a_limit():
    drift, most = np.array([1.0, 2.0]), np.array([5.0, 5.0])
    known = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [9.0, 1.0]])
    after = predicted_variances(known, np.array([2.0, 100.0, -3.0, 1.0]), drift, most)
    assert after.tolist() == [[3.0, 5.0], [5.0, 5.0], [1.0, 1.0], [9.0, 3.0]]
