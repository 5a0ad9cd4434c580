"""Poses as the database has them: a point and the directions of two axes."""

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.knowledge.pose_store import axes_of, matrices_from_axes, pose_from_axes


def test_many_poses_are_read_as_each_of_them_is_also_those_that_people_have_rounded():
    random = np.random.default_rng(3)
    poses = [Pose.from_xyz_rpy(random.normal(size=3), random.normal(size=3)) for _ in range(20)]
    exact = axes_of(np.array([pose.matrix for pose in poses]))
    numbers = np.concatenate([exact, exact.round(7)])
    read = matrices_from_axes(numbers)
    assert read == pytest.approx(np.array([pose_from_axes(row).matrix for row in numbers]), abs=1e-14)
    turns = read[:, :3, :3]
    assert turns @ turns.transpose(0, 2, 1) == pytest.approx(np.tile(np.eye(3), (40, 1, 1)), abs=1e-12)


def test_axes_that_are_none_are_refused():
    with pytest.raises(ValueError, match="not a rotation"):
        matrices_from_axes(np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.8]]))
    assert matrices_from_axes(np.zeros((0, 9))).shape == (0, 4, 4)
