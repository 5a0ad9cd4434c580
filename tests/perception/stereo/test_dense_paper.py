"""The ROVI paper's dense stereo: clouds are found in clouds, and a bottle in pictures."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cv2", reason="the extra `vision` is not installed")
pytest.importorskip("scipy", reason="the extra `vision` is not installed")

from cellwright.catalogue.rovi_objects import BOTTLE
from cellwright.core.pose import Pose
from cellwright.perception.pose_measurement import MeasurementStatus
from cellwright.perception.stereo import DENSE_METHODS, model_of
from cellwright.perception.stereo.dense_paper_cloud import normals_towards, thinned_cloud
from cellwright.perception.stereo.dense_paper_registration import (
    closest_points,
    kabsch,
    nearest_images,
    ransac,
    spin_images,
)

from .conftest import BOTTLE_XY_M, TABLE

EYE = np.array([0.3, 0.4, 1.0])


def corner_cloud():
    """Returns a bent sheet without symmetry."""
    u, v = np.meshgrid(np.arange(0, 0.13, 0.01), np.arange(0, 0.09, 0.01))
    u, v = u.ravel(), v.ravel()
    sheet = np.column_stack([u, v, 0.6 * u * v / 0.1 + 2.5 * (u - 0.03) ** 2])
    return sheet + np.random.default_rng(0).uniform(-0.001, 0.001, sheet.shape)


def test_spin_images_do_not_change_with_the_pose_and_sum_to_one():
    cloud = corner_cloud()
    pose = Pose.from_xyz_rpy([0.5, 1.0, 0.8], [0.4, -0.2, 1.1])
    normals = normals_towards(cloud, EYE)
    here = spin_images(cloud, normals)
    there = spin_images(pose.apply(cloud), normals @ pose.rotation_matrix.T)
    assert here.shape == (len(cloud), 153)
    assert here.sum(axis=1) == pytest.approx(1.0)
    assert np.allclose(here, there, atol=1e-6)
    assert np.abs(here[0] - here[-1]).sum() > 0.1


def test_kabsch_finds_a_pose_and_never_a_mirror():
    cloud, pose = corner_cloud(), Pose.from_xyz_rpy([0.1, 0.2, 0.3], [1.0, 0.5, -2.0])
    turn, shift = kabsch(cloud, pose.apply(cloud))
    assert np.allclose(turn, pose.rotation_matrix)
    assert np.allclose(shift, pose.position)
    turn, _ = kabsch(cloud, cloud * [-1, 1, 1])
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_a_cloud_is_found_though_half_of_the_pairs_are_wrong():
    cloud, pose = corner_cloud(), Pose.from_xyz_rpy([0.5, 1.0, 0.8], [0.4, -0.2, 1.1])
    rng = np.random.default_rng(1)
    scene = pose.apply(cloud) + rng.normal(0, 0.0003, cloud.shape)
    features = [
        spin_images(points, normals_towards(points, eye))
        for points, eye in ((cloud, EYE), (scene, pose.apply(EYE[None])[0]))
    ]
    matches = nearest_images(*features)
    assert (matches == np.arange(len(cloud))).mean() > 0.5
    wrong = rng.permutation(len(cloud))[: len(cloud) // 2]
    matches[wrong] = rng.integers(0, len(cloud), len(wrong))
    start, inliers = ransac(cloud, scene, matches, rng)
    assert inliers > 0.9 * len(cloud)
    (turn, shift), own, others = closest_points(cloud, scene, start)
    assert np.allclose(turn, pose.rotation_matrix, atol=0.01)
    assert np.allclose(shift, pose.position, atol=0.001)
    assert np.linalg.norm(own - others, axis=1).max() < 0.003


def test_a_voxel_keeps_the_mean_of_its_points():
    points = np.array([[0.001, 0.001, 0.001], [0.003, 0.005, 0.007], [0.011, 0.001, 0.001]])
    assert np.allclose(thinned_cloud(points), [[0.002, 0.003, 0.004], [0.011, 0.001, 0.001]])


@pytest.mark.slow
def test_a_bottle_is_found_in_pictures_the_same_way_twice_and_none_on_an_empty_table(bottle_pair, empty_pair):
    method = DENSE_METHODS.get("paper")(model_of(BOTTLE), TABLE)
    found, again = method.locate(*bottle_pair), method.locate(*bottle_pair)
    assert found.status is MeasurementStatus.FOUND, found.reason
    assert np.hypot(*(found.pose_in_world.position[:2] - BOTTLE_XY_M)) < 0.011
    assert np.array_equal(found.pose_in_world.position, again.pose_in_world.position)
    assert np.isinf(found.variances[5])
    assert method.locate(*empty_pair).status is not MeasurementStatus.FOUND
    left, right = bottle_pair
    blank = [replace(picture, pixels=np.full_like(picture.pixels, 90)) for picture in (left, right)]
    assert method.locate(*blank).status is not MeasurementStatus.FOUND
