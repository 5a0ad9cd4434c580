"""Places to feel for something: near ones first, and no gaps between."""

import numpy as np
import pytest

from cellwright.execution.search_pattern import hexagon


@pytest.mark.parametrize("pitch_m", [0.0045, 0.009])
def test_rings_leave_no_gaps(pitch_m):
    places = np.array([place for number in range(4) for place in hexagon(pitch_m, number)])
    assert len(places) == 1 + 6 + 12 + 18
    for number in range(4):
        np.testing.assert_allclose(
            np.max(np.linalg.norm(hexagon(pitch_m, number), axis=1)), number * pitch_m, atol=1e-12
        )
    for point in np.random.default_rng(2).uniform(-2 * pitch_m, 2 * pitch_m, (200, 2)):
        assert np.linalg.norm(places - point, axis=1).min() <= pitch_m / np.sqrt(3) + 1e-9


def test_each_place_of_a_ring_is_next_to_the_one_before():
    ring = np.array(hexagon(1.0, 3))
    np.testing.assert_allclose(np.linalg.norm(np.diff([*ring, ring[0]], axis=0), axis=1), 1.0)
