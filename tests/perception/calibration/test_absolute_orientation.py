"""Horn's absolute orientation against random transforms, mirror images and points that fix nothing."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cellwright.core import Pose, rotation
from cellwright.core.errors import BadInput
from cellwright.perception.calibration import absolute_orientation

coordinate = st.floats(-1, 1)
point = st.tuples(coordinate, coordinate, coordinate)
clouds = st.lists(point, min_size=3, max_size=8).map(np.array)
transforms = st.builds(Pose.exp, st.tuples(*[st.floats(-2, 2)] * 6))


def spread(points):
    """The second extent of a cloud: how far it is from a line."""
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(len(points), 1)].min()
    return extents[1] if extents[1] > 0.05 * extents[0] and apart > 0.01 else 0.0


@given(clouds, transforms, st.floats(0.5, 2.0))
def test_any_transform_is_found_again_with_its_scale(points, true, scale):
    assume(spread(points) > 0.05)
    found = absolute_orientation(points, true.apply(scale * points), scaled=True)
    assert found.pose.is_close(true, tolerance_m=1e-9, tolerance_rad=1e-7)
    assert found.scale == pytest.approx(scale, rel=1e-12)
    rigid = absolute_orientation(points, true.apply(points))
    assert rigid.pose.is_close(true, tolerance_m=1e-9, tolerance_rad=1e-7)
    assert rigid.scale == 1.0


@given(clouds, transforms, transforms, st.integers(0, 2**32 - 1))
def test_the_fit_does_not_depend_on_the_frames(points, first, second, seed):
    assume(spread(points) > 0.2)
    noisy = points + np.random.default_rng(seed).normal(0, 1e-3, points.shape)
    plain = absolute_orientation(points, noisy).pose
    moved = absolute_orientation(first.apply(points), second.apply(noisy)).pose
    assert moved.is_close(second @ plain @ first.inverse(), tolerance_m=1e-7, tolerance_rad=1e-6)


@given(clouds, st.integers(0, 2**32 - 1), st.tuples(*[st.floats(-0.05, 0.05)] * 6))
def test_no_transform_nearby_fits_better(points, seed, twist):
    assume(spread(points) > 0.05)
    noisy = points + np.random.default_rng(seed).normal(0, 1e-2, points.shape)
    pose = absolute_orientation(points, noisy).pose

    def squares(transform):
        return float(((transform.apply(points) - noisy) ** 2).sum())

    assert squares(pose) <= squares(Pose.exp(twist) @ pose) + 1e-12


@given(st.lists(st.tuples(coordinate, coordinate), min_size=4, max_size=6), transforms, st.integers(0, 99))
def test_nearly_coplanar_mirror_images_still_give_a_rotation(flat, true, seed):
    rng = np.random.default_rng(seed)
    points = np.column_stack([np.array(flat), rng.normal(0, 1e-4, len(flat))])
    assume(spread(points) > 0.05)
    mirrored = points * [1.0, 1.0, -1.0]  # noise that turns the set inside out: a reflection would fit exactly
    found = absolute_orientation(points, true.apply(mirrored)).pose
    assert np.linalg.det(rotation.matrix_from_quaternion(found.quaternion)) == pytest.approx(1.0)
    assert np.abs(found.apply(points) - true.apply(mirrored)).max() < 2e-3


def test_four_points_with_noise_are_as_good_as_in_the_reference():
    """Four points of a table, noise 0.3 mm: about 0.25 mm and 0.04 degrees."""
    corners = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.0]])
    rng, turns, shifts = np.random.default_rng(4), [], []
    for _ in range(300):
        pose = absolute_orientation(corners, corners + rng.normal(0, 3e-4, corners.shape)).pose
        turns.append(np.degrees(pose.angle_rad(Pose.identity())))
        shifts.append(np.linalg.norm(pose.apply(corners.mean(axis=0)) - corners.mean(axis=0)))
    assert 0.02 < np.mean(turns) < 0.08
    assert np.mean(shifts) == pytest.approx(3e-4 / 2 * np.sqrt(8 / np.pi), rel=0.1)  # mean of three normals, sd/sqrt(4)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 0, 0], [1, 0, 0]], "too few points: 2"),
        ([[0, 0, 0], [1, 0, 0], [2, 0.001, 0]], "collinear points"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0.0002, 0]], "repeated points: 2 and 4"),
        ([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], "finite"),
        ([[0, 0], [1, 0], [0, 1]], "3 finite numbers"),
    ],
)
def test_points_that_fix_no_transform_are_refused(points, message):
    with pytest.raises(BadInput, match=message):
        absolute_orientation(points, points)


def test_points_need_partners():
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])
    with pytest.raises(BadInput, match="4 points against 3"):
        absolute_orientation(square, square[:3])
