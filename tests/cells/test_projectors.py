"""The projectors of a cell's file: those of fixtures, those of their own, and mistakes."""

import numpy as np
import pytest

from cellwright.cells import Cell, actual_layout, load_cell, nominal_layout
from cellwright.core.errors import BadInput

FREE = {"pose": {"xyz_m": [0, 0, 1.0], "rpy_deg": [0, 90, 90]}, "fov_deg": 40}


@pytest.fixture(scope="module")
def rovi() -> Cell:
    return load_cell("rovi")


def test_the_projector_of_the_rovi_cell_is_that_of_its_figures(rovi):
    projector = nominal_layout(rovi, 0).projectors["stereo"]
    assert projector.pose_in_world.position == pytest.approx([0.44, 1.40, 1.50])
    assert (projector.fov_rad, projector.range_m) == (0.8, (0.1, 1.5))
    assert (projector.dot_px, projector.colour, projector.is_on) == (3, (1.0, 0.0, 0.0), False)


def test_it_is_off_its_place_with_its_cameras(rovi):
    layout = actual_layout(rovi, 3)
    camera, projector = layout.cameras["stereo_left"].pose_in_world, layout.projectors["stereo"].pose_in_world
    assert np.allclose(camera.position, projector.position, atol=1e-12)
    assert np.abs(camera.position - [0.44, 1.40, 1.50]).max() > 1e-5


def test_a_cell_may_change_a_projector_and_add_one(rovi):
    cell = rovi.changed({"projectors": {"stereo": {"on": True, "fov_deg": 60, "dot_px": 4}, "spot": FREE}})
    projectors = nominal_layout(cell, 0).projectors
    assert projectors["stereo"].is_on
    assert projectors["stereo"].dot_px == 4
    assert projectors["stereo"].fov_rad == pytest.approx(np.radians(60))
    assert projectors["stereo"].range_m == (0.1, 1.5)
    assert projectors["spot"].pose_in_world.position == pytest.approx([0, 0, 1.0])
    assert not projectors["spot"].is_on


@pytest.mark.parametrize(
    ("projectors", "words"),
    [
        ({"spot": {"fov_deg": 40}}, "projectors.spot: no fixture carries it, so it needs pose .*stereo"),
        ({"table": FREE}, "the fixture 'table' carries no projector"),
        ({"spot": {**FREE, "dot_px": 0}}, "projectors.spot.dot_px"),
        ({"spot": {**FREE, "strength": -1}}, "projectors.spot.strength"),
        ({"spot": {**FREE, "color": [2, 0, 0]}}, "projectors.spot.color"),
    ],
)
def test_mistakes_are_told_with_what_is_allowed(rovi, projectors, words):
    with pytest.raises(BadInput, match=words):
        nominal_layout(rovi.changed({"projectors": projectors}), 0)
