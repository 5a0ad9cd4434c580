"""Wrong pairs are found and named, good ones kept, and what cannot be decided is refused."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core import Pose
from cellwright.core.errors import BadInput
from cellwright.perception.calibration import fit_pairs, fit_plane

CALIBRATIONS = Path(__file__).parents[4] / "shared/aprs/calibration"
# As the lab's four places on the shared table lie.
PLACES = np.array([[0.722, -0.391, -0.288], [0.546, 0.178, -0.288], [0.522, -0.101, -0.288], [0.758, 0.183, -0.288]])
TRUE = Pose.from_xyz_rpy([0.244, 1.150, 0.149], [0.0, 0.0, -np.pi / 2])
NAMES = ("a", "b", "c", "d")
directions = st.floats(0, 2 * np.pi).map(lambda angle: np.array([np.cos(angle), np.sin(angle), 0.0]))


def measured(seed, sd_m=5e-4):
    return TRUE.apply(PLACES) + np.random.default_rng(seed).normal(0, sd_m, PLACES.shape)


@given(st.integers(0, 3), directions, st.floats(0.03, 0.2), st.integers(0, 2**32 - 1))
def test_one_wrong_pair_of_four_is_named_and_left_out(which, direction, away_m, seed):
    pairs = measured(seed)
    pairs[which] += away_m * direction
    fit = fit_pairs(PLACES, pairs, NAMES)
    assert list(fit.rejected) == [NAMES[which]]
    assert "mm off where the other 3 have it" in fit.rejected[NAMES[which]]
    assert np.abs(fit.pose.apply(PLACES) - TRUE.apply(PLACES)).max() < 0.02
    assert fit.residuals_m[which] > 0.02
    assert fit.rms_m < 0.003


@given(st.integers(0, 2**32 - 1), st.floats(0, 4e-4))
def test_good_pairs_are_all_kept(seed, sd_m):
    assert fit_pairs(PLACES, measured(seed, sd_m), scaled=True).rejected == {}


@given(st.sets(st.integers(0, 7), min_size=2, max_size=2), directions, st.integers(0, 2**32 - 1))
def test_two_wrong_pairs_of_eight_are_found(which, direction, seed):
    rng = np.random.default_rng(seed)
    places = np.array([[x, y, 0.0] for x in (0.0, 0.2, 0.4, 0.6) for y in (0.0, 0.45)])
    pairs = TRUE.apply(places) + rng.normal(0, 3e-4, places.shape)
    first, second = sorted(which)
    pairs[first] += 0.05 * direction
    pairs[second] -= [0.0, 0.08, 0.0]
    assert list(fit_pairs(places, pairs).rejected) == [str(first + 1), str(second + 1)]


def test_a_slip_within_the_tolerance_is_found_where_the_others_agree_well():
    places = np.array([[x, y, 0.0] for x in (0.0, 0.3, 0.6) for y in (0.0, 0.5)])
    pairs = places + np.random.default_rng(1).normal(0, 5e-5, places.shape)
    pairs[4, 0] += 0.005
    assert list(fit_pairs(places, pairs).rejected) == ["5"]


def test_three_pairs_that_contradict_each_other_are_refused():
    pairs = measured(0)[:3]
    pairs[1, 0] += 0.065
    with pytest.raises(BadInput, match=r"contradicting pairs: .* three pairs cannot tell which of them is wrong"):
        fit_pairs(PLACES[:3], pairs)


def test_what_could_be_either_of_two_is_refused():
    """On a square, two neighbours are farther apart than they should be: either of them may be the wrong one."""
    square = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.0]])
    pairs = square.copy()
    pairs[:2, 0] += [-0.012, 0.012]
    with pytest.raises(BadInput, match=r"ambiguous pairs: .*: a; b; measure them again, or a place more"):
        fit_pairs(square, pairs, NAMES)


def test_pairs_of_which_most_are_wrong_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(BadInput, match="contradicting pairs: no transform fits them within 6 mm"):
        fit_pairs(PLACES, PLACES + rng.normal(0, 0.05, PLACES.shape))


def test_names_belong_to_pairs():
    for names in (("a", "b"), ("a", "b", "c", "c")):
        with pytest.raises(BadInput, match="as many names"):
            fit_pairs(PLACES, PLACES, names)


def lab_pairs(name):
    path = CALIBRATIONS / name
    if not path.exists():
        pytest.skip(f"the lab's calibration data is not here: {path}")
    with path.open() as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    return [np.array([[float(row[f"{axis}{end}"]) for axis in "XYZ"] for row in rows]) / 1e3 for end in ("in", "out")]


def test_the_labs_registration_of_its_robots_is_consistent():
    """A rigid motion keeps distances, and all six distances of the file agree within 5 mm: no pair is 65 mm off."""
    motoman, fanuc = lab_pairs("motomanInToFanucOut4pts.csv")
    distances = [np.linalg.norm(side[:, None] - side[None], axis=2) for side in (motoman, fanuc)]
    assert np.abs(distances[0] - distances[1]).max() < 0.005
    fit = fit_pairs(motoman, fanuc)
    assert fit.rejected == {}
    assert fit.rms_m == pytest.approx(0.00233, abs=5e-5)
    assert np.degrees(fit.pose.rpy[2]) == pytest.approx(90.09, abs=0.01)


@pytest.mark.parametrize("which", range(4))
def test_a_wrong_point_in_the_labs_registration_would_be_found(which):
    motoman, fanuc = lab_pairs("motomanInToFanucOut4pts.csv")
    for direction in ([1, 0, 0], [0, 1, 0], [-0.6, 0.8, 0]):
        wrong = fanuc.copy()
        wrong[which] += 0.065 * np.array(direction)
        assert list(fit_pairs(motoman, wrong).rejected) == [str(which + 1)]


slopes = st.floats(-0.02, 0.02)


@given(st.floats(0.5, 1.5), slopes, slopes)
def test_a_touched_plane_is_found_again(height_m, slope_x, slope_y):
    xy = np.array([[0.1, -1.3], [0.5, -1.3], [0.1, -0.9], [0.5, -0.95]])
    z = height_m + slope_x * xy[:, 0] + slope_y * xy[:, 1]
    plane = fit_plane(np.column_stack([xy, z]))
    assert (plane.slope_x, plane.slope_y) == pytest.approx((slope_x, slope_y), abs=1e-12)
    assert plane.height_m == pytest.approx(height_m + slope_x * plane.xy_m[0] + slope_y * plane.xy_m[1], abs=1e-12)
    # The normal of the tilted plane is up, turned about x and y by the tilt.
    about_x, about_y = np.radians(plane.tilt_deg)
    assert np.tan(about_x) == pytest.approx(slope_y, abs=1e-12)
    assert np.tan(about_y) == pytest.approx(-slope_x, abs=1e-12)


def test_a_plane_needs_three_points_aside_of_a_line_and_one_table():
    with pytest.raises(BadInput, match="too few touched points"):
        fit_plane([[0, 0, 0.9], [1, 0, 0.9]])
    with pytest.raises(BadInput, match="collinear touched points"):
        fit_plane([[0, 0, 0.9], [1, 0, 0.9], [2, 0, 0.5]])
    with pytest.raises(BadInput, match=r"number 2 is .* mm off the plane"):
        fit_plane([[0, 0, 0.9], [0.5, 0.5, 0.95], [0, 1, 0.9], [1, 0, 0.9], [1, 1, 0.9]])
