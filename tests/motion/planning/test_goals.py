"""Goal configurations from poses, and grasps turned about what is grasped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics
from cellwright.motion.planning import ExactChecker, goals_from_poses, grasps_about

angles = st.floats(-3, 3)
poses = st.builds(lambda x, y, z, r, p, w: Pose.from_xyz_rpy([x, y, z], [r, p, w]), *[angles] * 6)


@given(poses, poses, st.integers(1, 12))
def test_turned_grasps_keep_their_place_on_the_axis(pose_object, pose_tool, count):
    grasps = grasps_about(pose_object, pose_tool, count)
    assert len(grasps) == count
    assert grasps[0].is_close(pose_object @ pose_tool, tolerance_m=1e-9, tolerance_rad=1e-7)
    local = [pose_object.inverse() @ grasp for grasp in grasps]
    for grasp in local:
        assert grasp.position[2] == pytest.approx(pose_tool.position[2], abs=1e-9)
        assert np.hypot(*grasp.position[:2]) == pytest.approx(np.hypot(*pose_tool.position[:2]), abs=1e-9)
        assert grasp.rotation_matrix[2] == pytest.approx(pose_tool.rotation_matrix[2], abs=1e-9)


def test_goals_are_free_take_the_pose_and_come_nearest_first(wall_scene):
    checker = ExactChecker(wall_scene)
    ring, kinematics = checker.bodies.ring, ArmKinematics(wall_scene.robot.arm)
    home = np.array(wall_scene.robot.arm.home_rad)
    poses = [Pose.from_xyz_rpy([0.45, y, 0.15], [np.pi, 0, 0]) for y in (0.3, -0.3)]
    goals = goals_from_poses(kinematics, ring, poses, checker, home, most=10)
    assert len(goals.free_rad) == 10 <= len(goals.reachable_rad)
    apart = np.linalg.norm(goals.free_rad - home, axis=1)
    assert (np.diff(apart) >= 0).all()
    for joints in goals.free_rad:
        assert checker.is_free(joints)
        reached = ring.tool_in_world(kinematics.forward(joints))
        assert any(reached.is_close(pose, tolerance_m=1e-5, tolerance_rad=1e-5) for pose in poses)


def test_blocked_and_unreachable_goals_are_told_apart(wall_scene):
    checker = ExactChecker(wall_scene)
    ring, kinematics = checker.bodies.ring, ArmKinematics(wall_scene.robot.arm)
    blocked = goals_from_poses(kinematics, ring, [Pose.from_xyz_rpy([0.45, 0, 0.2], [np.pi, 0, 0])], checker)
    assert len(blocked.reachable_rad) == len(blocked.touches) > 0
    assert len(blocked.free_rad) == 0
    assert "wall" in {touch.second for touch in blocked.touches}
    away = goals_from_poses(kinematics, ring, [Pose.from_xyz_rpy([3, 0, 0])], checker)
    assert (len(away.reachable_rad), len(away.free_rad), away.touches) == (0, 0, ())


def test_only_accepted_configurations_are_goals(wall_scene):
    checker = ExactChecker(wall_scene)
    ring, kinematics = checker.bodies.ring, ArmKinematics(wall_scene.robot.arm)
    pose = Pose.from_xyz_rpy([0.45, 0.3, 0.15], [np.pi, 0, 0])
    goals = goals_from_poses(kinematics, ring, [pose], checker, accept=lambda joints: bool(joints[0] > 2))
    assert (goals.free_rad[:, 0] > 2).all()
    assert (goals.reachable_rad[:, 0] < 2).any()
