"""Eqn 1 of the APRS paper and its inverse, on the paper's own table, made-up offsets and the lab's calibrations."""

import csv
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cellwright.core import OffsetMap, Pose, rotation
from cellwright.core.errors import BadInput

# Table 1 of the paper, Motoman, in millimetres.
POINTS = np.array([[535.9, 157.7], [723.1, -400.3], [523.8, -106.7], [747.3, 155.4]])
OFFSETS = np.array([[0.0, 5.0], [-9.0, -7.0], [-4.0, 0.0], [5.0, 0.0]])
MOTOMAN = OffsetMap(POINTS, OFFSETS)
CALIBRATIONS = Path(__file__).parents[3] / "shared/aprs/calibration"

in_the_cell = st.tuples(st.floats(400, 900), st.floats(-500, 300))


def literal_eqn_1(points, offsets, p):
    distance = [float(np.hypot.reduce(np.subtract(p, q))) for q in points]
    products = [prod(d for j, d in enumerate(distance) if j != i) for i in range(len(points))]
    return sum(product * np.asarray(offset) for product, offset in zip(products, offsets, strict=True)) / sum(products)


def read_calibration(name):
    path = CALIBRATIONS / name
    if not path.exists():
        pytest.skip(f"the lab's calibration data is not here: {path}")
    with path.open() as file:
        return list(csv.DictReader(file, skipinitialspace=True))


@given(in_the_cell)
def test_equals_the_product_form_of_the_paper(p):
    assume(min(np.hypot(*(np.array(p) - q)) for q in POINTS) > 1e-6)
    assert MOTOMAN.offset_at(p) == pytest.approx(literal_eqn_1(POINTS, OFFSETS, p), rel=1e-12, abs=1e-12)


def test_is_exact_at_the_registration_points_and_continuous_beside_them():
    for point, offset in zip(POINTS, OFFSETS, strict=True):
        assert MOTOMAN.offset_at(point).tolist() == offset.tolist()
        assert MOTOMAN.offset_at(point + 1e-9) == pytest.approx(offset, abs=1e-9)


def test_stays_within_the_offsets_and_far_away_becomes_their_mean():
    far = MOTOMAN.offset_at([1e12, -1e12])
    assert far == pytest.approx(OFFSETS.mean(axis=0), abs=1e-6)
    many = OffsetMap(np.arange(300.0)[:, None], np.sin(np.arange(300.0))[:, None])  # products would overflow
    assert abs(many.offset_at([1e5])[0]) <= 1


def test_works_for_offset_orientations_as_rotation_vectors():
    tilts = [Pose.from_xyz_rpy((0, 0, 0), rpy) for rpy in ((0.02, 0, 0), (0, -0.01, 0), (0, 0, 0.03))]
    vectors = np.array([rotation.vector_from_quaternion(tilt.quaternion) for tilt in tilts])
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    turn = OffsetMap(corners, vectors)
    assert turn.offset_at([0.3, 0.3]) == pytest.approx(literal_eqn_1(corners, vectors, [0.3, 0.3]))
    centre = turn.offset_at([0.5, 0.5])  # as far from all three
    assert centre == pytest.approx(vectors.mean(axis=0))
    with pytest.raises(BadInput, match="offsets of 3 numbers cannot be added to points of 2"):
        turn.to_robot([0.5, 0.5])


@given(in_the_cell)
def test_inverse_undoes_the_paper_map(p):
    robot = MOTOMAN.to_robot(p)
    assert MOTOMAN.to_vision(robot) == pytest.approx(p, abs=1e-9)
    assert MOTOMAN.to_robot(MOTOMAN.to_vision(p)) == pytest.approx(p, abs=1e-9)


@given(
    st.lists(st.tuples(*[st.floats(-0.01, 0.01)] * 3), min_size=4, max_size=4),
    st.tuples(*[st.floats(-0.2, 0.8)] * 3),
)
def test_inverse_undoes_offsets_of_a_centimetre(offsets, p):
    corners = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, 0.0], [0.0, 0.6, 0.0], [0.6, 0.6, 0.1]])
    lab = OffsetMap(corners, np.array(offsets))
    assert lab.to_vision(lab.to_robot(p)) == pytest.approx(p, abs=1e-9)


@given(in_the_cell, in_the_cell)
def test_the_sum_over_pairs_bounds_the_slope(p, q):
    pairs = [(i, j) for i in range(4) for j in range(i)]
    bound = sum(np.hypot(*(OFFSETS[i] - OFFSETS[j])) / np.hypot(*(POINTS[i] - POINTS[j])) for i, j in pairs)
    assert bound < 1  # so the inverse of the paper's map is unique
    change = np.hypot(*(MOTOMAN.offset_at(p) - MOTOMAN.offset_at(q)))
    assert change <= bound * np.hypot(*np.subtract(p, q)) + 1e-12


def test_inverse_is_exact_at_the_touched_points():
    for point, offset in zip(POINTS, OFFSETS, strict=True):
        assert MOTOMAN.to_vision(point + offset) == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize("name", ["fanuc_july_12_2019_calib.csv", "fanuc_oct_8_2019.csv"])
def test_round_trip_with_the_labs_calibrations(name):
    rows = read_calibration(name)
    vision = np.array([[float(row[f"Db_{axis}"]) for axis in "XYZ"] for row in rows])
    robot = np.array([[float(row[f"Robot_{axis}"]) for axis in "XYZ"] for row in rows])
    fanuc = OffsetMap(vision, robot - vision)
    # The file states vision minus robot, rounded to a tenth of a millimetre in the coordinates.
    stated = np.array([[float(row[f"Offset_{axis}"]) for axis in "XYZ"] for row in rows])
    assert fanuc.offsets == pytest.approx(-stated, abs=0.06)
    for touched, reported in zip(robot, vision, strict=True):
        assert fanuc.to_robot(reported) == pytest.approx(touched, abs=1e-9)
    for x in np.linspace(200, 700, 11):
        for y in np.linspace(-200, 200, 9):
            p = np.array([x, y, -138.0])
            assert fanuc.to_vision(fanuc.to_robot(p)) == pytest.approx(p, abs=1e-9)


def test_frames_that_are_turned_against_each_other_cannot_be_registered_by_offsets():
    """Motoman to Fanuc is a quarter turn: offsets change as fast as positions, which needs a fitted transform."""
    rows = read_calibration("motomanInToFanucOut4pts.csv")
    points, out = ([[float(row[f"{axis}{end}"]) for axis in "XY"] for row in rows] for end in ("in", "out"))
    turned = OffsetMap(np.array(points), np.subtract(out, points))
    for touched in out:  # each has a preimage, but also others, and the iteration would end at one of those
        with pytest.raises(BadInput, match="offsets change as fast as the position"):
            turned.to_vision(touched)


def test_a_quarter_turn_cannot_be_registered_by_offsets():
    turned = np.stack([-POINTS[:, 1], POINTS[:, 0]], axis=1)
    quarter = OffsetMap(POINTS, turned - POINTS)
    for touched in turned:
        with pytest.raises(BadInput, match="offsets change as fast as the position"):
            quarter.to_vision(touched)


def test_the_inverse_gives_up_where_the_iteration_does_not_settle():
    with pytest.raises(BadInput, match="cannot be inverted at"):
        MOTOMAN.to_vision([600.0, 0.0], iterations=1)


def test_a_single_point_is_a_constant_offset():
    shift = OffsetMap([[1.0, 2.0]], [[0.1, -0.1]])
    assert shift.to_robot([7.0, 8.0]) == pytest.approx([7.1, 7.9])
    assert shift.to_vision([7.1, 7.9]) == pytest.approx([7.0, 8.0])


@pytest.mark.filterwarnings("error")
def test_a_point_touched_twice_counts_with_its_mean():
    twice = OffsetMap([[0.0], [0.0], [1.0]], [[0.1], [0.3], [0.0]])
    assert twice.offset_at([0.0]) == pytest.approx([0.2])


def test_keeps_its_own_copy():
    points, offsets = POINTS.copy(), OFFSETS.copy()
    kept = OffsetMap(points, offsets)
    points[:] = offsets[:] = 0
    assert kept.points.tolist() == POINTS.tolist()
    with pytest.raises(ValueError, match="read-only"):
        kept.offsets[0] = 1


@pytest.mark.parametrize(
    ("points", "offsets", "message"),
    [
        ([[1, 2], [3, 4]], [[0, 0]], "2 points and 1 offsets"),
        ([], [], "one or more rows"),
        ([[1, 2], [3]], [[0, 0], [0, 0]], "rows of as many numbers"),
        ([[1, np.nan]], [[0, 0]], "finite"),
        ([[1, 2]], [[np.inf, 0]], "finite"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2)), "one or more rows"),
        ([["a", "b"]], [[0, 0]], "numbers"),
    ],
)
def test_bad_tables_are_refused(points, offsets, message):
    with pytest.raises(BadInput, match=message):
        OffsetMap(points, offsets)


@pytest.mark.parametrize("point", [[1.0], [1.0, 2.0, 3.0], POINTS, [1.0, np.nan]])
def test_bad_points_are_refused(point):
    for use in (MOTOMAN.offset_at, MOTOMAN.to_robot, MOTOMAN.to_vision):
        with pytest.raises(BadInput, match="a point has 2 finite numbers"):
            use(point)
