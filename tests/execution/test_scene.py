"""What a controller makes of frames whose rows jump and whose numbers are noisy."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.execution import AveragedScene


def frame(*objects: tuple[str, Pose]) -> Detections:
    poses = [pose for _, pose in objects]
    return Detections(
        0, 0, "eye", "world", tuple(sku for sku, _ in objects),
        np.array([p.position for p in poses]).reshape(-1, 3), np.array([p.quaternion for p in poses]).reshape(-1, 4),
        np.zeros((len(poses), 4)), np.ones(len(poses)),
    )  # fmt: skip


def at(x: float, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Pose:
    return Pose.from_xyz_rpy([x, y, z], [0, 0, yaw])


def test_rows_that_lie_together_are_one_object_at_their_mean():
    scene = AveragedScene([frame(("gear", at(0.100))), frame(("gear", at(0.101))), frame(("gear", at(0.102)))])
    (seen,) = scene.sightings
    assert (seen.sku, seen.frames) == ("gear", 3)
    np.testing.assert_allclose(seen.pose_in_world.position, [0.101, 0, 0])


def test_order_of_rows_means_nothing():
    gears = [("gear", at(0.0)), ("gear", at(0.05)), ("tray", at(0.0))]
    scene = AveragedScene([frame(*gears), frame(*reversed(gears)), frame(gears[1], gears[2], gears[0])])
    assert [(s.sku, s.frames) for s in scene.of_sku("gear")] == [("gear", 3), ("gear", 3)]
    np.testing.assert_allclose([s.pose_in_world.position[0] for s in scene.of_sku("gear")], [0.0, 0.05])


def test_same_place_but_another_sku_is_another_object():
    assert len(AveragedScene([frame(("gear", at(0.0)), ("tray", at(0.0)))]).sightings) == 2


@pytest.mark.parametrize(("seen_in", "count"), [(5, 1), (3, 1), (2, 0), (1, 0)])
def test_what_less_than_half_of_the_frames_show_is_left_out(seen_in, count):
    frames = [frame(("gear", at(0.0))) if i < seen_in else frame() for i in range(5)]
    assert len(AveragedScene(frames).sightings) == count


def test_mean_turn_does_not_suffer_from_the_sign_of_quaternions():
    """A turn near pi may come as q or as -q; their plain mean would be nonsense."""
    turns = [np.pi - 0.02, -np.pi + 0.02, np.pi - 0.02, -np.pi + 0.02]
    (seen,) = AveragedScene([frame(("tray", at(0, yaw=turn))) for turn in turns]).sightings
    assert seen.pose_in_world.angle_rad(at(0, yaw=np.pi)) < 1e-9


def test_near_looks_in_the_plane_and_gives_the_nearest_first():
    scene = AveragedScene([frame(("gear", at(0.10, z=0.5)), ("gear", at(0.04)), ("gear", at(0.30)), ("tray", at(0.0)))])
    near = scene.near("gear", np.zeros(3), 0.2)
    np.testing.assert_allclose([s.pose_in_world.position[0] for s in near], [0.04, 0.10])
    assert len(scene.near("gear", np.zeros(3))) == 3


def test_no_frames_show_nothing():
    assert AveragedScene([]).sightings == []
