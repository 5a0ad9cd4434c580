"""A loose mount shifts pictures to a few places, by what it says, and the same with the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import BadInput
from cellwright.core.mixture import best_mixture
from cellwright.sensors.image_noise import make_noises
from cellwright.sensors.loose_mount import LAB_PIXEL_M, _shifted


def mount(**places):
    return make_noises([{"model": "loose_mount", **places}], "test", of_depth=False)[0]


def blob(size: int = 41) -> np.ndarray:
    """A bright spot on dark ground, in three colours."""
    x = np.arange(size) - size // 2
    spot = np.exp(-(x[None] ** 2 + x[:, None] ** 2) / 18.0)
    return np.repeat(spot[..., None], 3, axis=2).astype(np.float32)


def centre(picture: np.ndarray) -> np.ndarray:
    """Column and row of the middle of what is bright."""
    grey = picture.sum(axis=2).astype(float)
    y, x = np.mgrid[: grey.shape[0], : grey.shape[1]]
    return np.array([(x * grey).sum(), (y * grey).sum()]) / grey.sum()


@given(right=st.floats(-4, 4), down=st.floats(-4, 4))
def test_what_is_seen_moves_by_the_shift(right, down):
    moved = _shifted(_shifted(blob(), down, 0), right, 1)
    assert centre(moved) - centre(blob()) == pytest.approx([right, down], abs=2e-3)


def test_a_picture_goes_on_at_its_edges():
    picture = np.arange(5, dtype=np.float32)[None, :, None]
    assert _shifted(picture, 2.0, 1)[0, :, 0].tolist() == [0, 0, 0, 1, 2]
    assert _shifted(picture, -1.5, 1)[0, :, 0].tolist() == [1.5, 2.5, 3.5, 4, 4]


def test_centres_lie_in_three_clusters_per_axis_with_the_laboratorys_moments():
    model, picture = mount(), blob()
    places = np.array([centre(model.apply(picture, np.random.default_rng([1, k]))) for k in range(900)])
    off_mm = 1000 * LAB_PIXEL_M * (places - places.mean(axis=0))
    assert [len(best_mixture(off_mm[:, axis]).means) for axis in (0, 1)] == [3, 3]
    assert off_mm.std(axis=0) == pytest.approx([0.28, 0.33], rel=0.1)  # four standard deviations of a spread


def test_places_of_ones_own_and_the_same_ones_with_the_same_seed():
    model = mount(columns_px=[{"share": 1, "mean": 2.0, "sd": 0}], rows_px=[{"share": 1, "mean": -1.0, "sd": 0}])
    assert centre(model.apply(blob(), np.random.default_rng(0))) - centre(blob()) == pytest.approx([2, -1], abs=1e-3)
    one, again = (mount().apply(blob(), np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one, again)


def test_places_that_make_no_sense_are_refused():
    with pytest.raises(BadInput, match="one to five clusters, not 0"):
        mount(columns_px=[])
