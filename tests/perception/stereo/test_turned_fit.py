"""The fit of a body of revolution to points on it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue.rovi_objects import BOTTLE
from cellwright.perception.stereo.sought_model import model_of
from cellwright.perception.stereo.turned_fit import ProfileField, fit_turned

MODEL = model_of(BOTTLE)
FIELD = ProfileField.of(MODEL)


def half_surface(xy_m, seed=0, sd_m=0.0):
    """Points of the side that is towards +y, as a camera there sees them."""
    points, normals = MODEL.surface
    seen = points[(normals[:, 1] + normals[:, 2] > 0.2) & (points[:, 2] > 0.01)]
    return seen + [*xy_m, 0.0] + np.random.default_rng(seed).normal(0, sd_m, seen.shape)


def test_distances_are_those_of_the_profile():
    radius = np.array([0.050, 0.040, 0.030, 0.0, 0.01])
    height = np.array([0.070, 0.100, 0.070, 0.208, 0.19])
    distance, _ = FIELD.at(radius, height)
    assert distance == pytest.approx([0.010, 0.0, -0.010, 0.010, -0.008], abs=2e-4)


@settings(max_examples=8, deadline=None)
@given(st.floats(-0.015, 0.015), st.floats(-0.015, 0.015))
def test_points_without_noise_give_the_place_from_any_start_nearby(x_m, y_m):
    fit = fit_turned(FIELD, half_surface((0.4, 1.0)), np.array([0.4 + x_m, 1.0 + y_m]))
    assert fit is not None
    assert fit[0] == pytest.approx([0.4, 1.0], abs=3e-4)


def test_points_of_another_thing_do_not_pull_it():
    wall = np.column_stack(
        [np.full(800, 0.45), *np.random.default_rng(1).uniform([0.95, 0.01], [1.05, 0.2], (800, 2)).T]
    )
    points = np.concatenate([half_surface((0.4, 1.0), sd_m=0.002), wall])
    fit = fit_turned(FIELD, points, np.array([0.405, 0.995]))
    assert fit is not None
    assert np.hypot(*(fit[0] - [0.4, 1.0])) < 0.001


def test_too_few_points_are_no_fit():
    assert fit_turned(FIELD, half_surface((0.4, 1.0))[:50], np.array([0.4, 1.0])) is None
