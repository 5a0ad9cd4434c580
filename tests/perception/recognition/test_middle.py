"""Medians are those of NumPy, to the bit."""

import numpy as np
import pytest

from cellwright.perception.recognition.middle import middle_of


@pytest.mark.parametrize("count", [1, 2, 3, 71, 72])
def test_it_is_the_median(count):
    for seed in range(20):
        values = np.random.default_rng([seed, count]).normal(size=count)
        assert middle_of(values) == np.median(values)
