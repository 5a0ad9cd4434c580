"""Dense stereo of a bottle: where it is, how well that is known, and what there is to say about bad pictures."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue.rovi_objects import BOTTLE
from cellwright.core.pose import Pose
from cellwright.perception.pose_measurement import MeasurementStatus
from cellwright.perception.stereo import FastStereo, Workspace, model_of

from .conftest import BOTTLE_XY_M, TABLE, upright

pytest.importorskip("cv2", reason="the extra `vision` is not installed")


@pytest.fixture(scope="module")
def method():
    return FastStereo(model_of(BOTTLE), TABLE)


def off_mm(found, xy_m=BOTTLE_XY_M):
    return 1000 * float(np.hypot(*(found.pose_in_world.position[:2] - xy_m)))


def noisy(pair, sigma, seed=0):
    from cellwright.experiments.stereo_scenes import with_gaussian

    return with_gaussian(pair, sigma, np.random.default_rng(seed))


def test_a_bottle_is_found_to_a_millimetre(method, bottle_pair):
    found = method.locate(*bottle_pair)
    assert found.status is MeasurementStatus.FOUND, found.reason
    assert off_mm(found) < 1.0
    assert found.pose_in_world.position[2] == pytest.approx(TABLE.surface_m)
    assert found.quality > 0.6


def test_with_noise_it_scatters_more_and_says_so(method, bottle_pair):
    clear = method.locate(*bottle_pair)
    found = [method.locate(*noisy(bottle_pair, 30, seed)) for seed in range(3)]
    assert all(one.status is MeasurementStatus.FOUND for one in found)
    assert max(off_mm(one) for one in found) < 4.0
    assert max(one.quality for one in found) < clear.quality
    assert min(one.variances[:2].sum() for one in found) > clear.variances[:2].sum()


def test_the_turn_of_a_round_thing_is_not_known_and_its_height_is_that_of_the_table(method, bottle_pair):
    found = method.locate(*bottle_pair)
    assert np.isinf(found.variances[5])
    assert found.variances[2] == pytest.approx(TABLE.surface_sd_m**2)
    assert (np.sqrt(found.variances[:2]) < 0.002).all()


def test_the_result_does_not_depend_on_threads(method, bottle_pair):
    import cv2

    before = cv2.getNumThreads()
    try:
        places = []
        for threads in (1, 3):
            cv2.setNumThreads(threads)
            places.append(method.locate(*noisy(bottle_pair, 15)).pose_in_world.position)
    finally:
        cv2.setNumThreads(before)
    assert np.array_equal(*places)


def test_an_empty_table_has_no_bottle(method, empty_pair):
    for pair in (empty_pair, noisy(empty_pair, 15)):
        found = method.locate(*pair)
        assert found.status in (MeasurementStatus.NOT_SEEN, MeasurementStatus.POOR)
        assert found.reason


def test_a_missing_picture_is_named(method, bottle_pair):
    left, right = bottle_pair
    assert "right picture is missing" in method.locate(left, None).reason
    found = method.locate(None, right)
    assert (found.status, found.pose_in_world) == (MeasurementStatus.BAD_PAIR, None)


@pytest.mark.parametrize("sigma", [0, 15])
def test_swapped_cameras_are_told_by_their_calibration_and_swapped_cables_by_what_they_show(method, bottle_pair, sigma):
    left, right = noisy(bottle_pair, sigma)
    assert "swapped" in method.locate(right, left).reason
    crossed = method.locate(replace(left, pixels=right.pixels), replace(right, pixels=left.pixels))
    assert (crossed.status, crossed.pose_in_world) == (MeasurementStatus.BAD_PAIR, None)
    assert "swapped" in crossed.reason


def test_the_same_picture_twice_is_never_a_pose_to_grasp(method, bottle_pair):
    left, right = bottle_pair
    assert method.locate(left, replace(right, pixels=left.pixels)).status is not MeasurementStatus.FOUND
    assert method.locate(left, left).status is MeasurementStatus.BAD_PAIR


def test_pictures_of_two_moments_are_no_pair(method, bottle_pair):
    left, right = bottle_pair
    found = method.locate(left, replace(right, time_s=right.time_s + 0.03))
    assert found.status is MeasurementStatus.BAD_PAIR
    assert "two moments" in found.reason


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (np.zeros_like, "black"),
        (lambda pixels: np.full_like(pixels, 255), "saturated"),
        (lambda pixels: pixels[:0], "empty"),
        (lambda pixels: pixels[:500], "800"),
        (lambda pixels: pixels[:, :, 0], "shape"),
    ],
)
def test_a_bad_picture_has_a_named_status(method, bottle_pair, spoil, word):
    left, right = bottle_pair
    for pair in ((replace(left, pixels=spoil(left.pixels)), right), (left, replace(right, pixels=spoil(right.pixels)))):
        found = method.locate(*pair)
        assert found.status is MeasurementStatus.BAD_PICTURE
        assert word in found.reason


def test_a_half_black_picture_gives_no_pose_to_grasp(method, bottle_pair):
    left, right = bottle_pair
    pixels = right.pixels.copy()
    pixels[:450] = 0
    assert method.locate(left, replace(right, pixels=pixels)).status is not MeasurementStatus.FOUND


def test_pictures_of_other_sizes_are_no_pair(method, bottle_pair):
    left, right = (replace(picture, size_px=None) for picture in bottle_pair)
    found = method.locate(left, replace(right, pixels=right.pixels[:, :700]))
    assert found.status is MeasurementStatus.BAD_PAIR


def test_a_workspace_out_of_view_is_told(bottle_pair):
    for low, high in (((5.0, 0.9), (5.8, 1.2)), ((0.0, 2.5), (0.8, 3.0))):
        found = FastStereo(model_of(BOTTLE), Workspace(low, high, 0.75)).locate(*bottle_pair)
        assert found.status is MeasurementStatus.NOT_SEEN
        assert "out of view" in found.reason


@pytest.mark.slow
def test_where_the_pattern_does_not_reach_a_bottle_is_found_by_its_own_colours(method, scene):
    """Half of it is out of the left picture, and outside the projector's light."""
    from cellwright.experiments.stereo_scenes import with_gaussian

    scene.arrange({"bottle": upright(0.061, 1.10)})
    clear = scene.take()
    scene.arrange({"bottle": upright(0.3, 0.1)})
    found = [method.locate(*with_gaussian(clear, 5, np.random.default_rng(seed))) for seed in range(4)]
    assert [one.status for one in found] == [MeasurementStatus.FOUND] * 4
    assert all(np.hypot(*(one.pose_in_world.position[:2] - (0.061, 1.10))) < 0.006 for one in found)


def test_a_bottle_that_lies_is_not_taken_for_one_that_stands(method, scene):
    scene.arrange({"bottle": Pose.from_xyz_rpy([0.45, 1.05, 0.79], [np.pi / 2, 0, 0.7])})
    found = method.locate(*scene.take())
    assert found.status is not MeasurementStatus.FOUND


def test_a_pair_that_is_not_parallel_is_rectified(method, bottle_pair):
    import cv2

    left, right = bottle_pair
    turn = Pose.from_xyz_rpy([0, 0, 0], [0.01, -0.015, 0.02])  # the right camera, seen in its old frame
    half = np.array([[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]])
    matrix = right.matrix - half
    warp = matrix @ turn.rotation_matrix.T @ np.linalg.inv(matrix)
    pixels = cv2.warpPerspective(right.pixels, warp, (800, 800), flags=cv2.INTER_LINEAR)
    turned = replace(right, pixels=pixels, pose_camera_in_world=right.pose_camera_in_world @ turn)
    found = method.locate(left, turned)
    assert found.status is MeasurementStatus.FOUND, found.reason
    assert off_mm(found) < 1.5
