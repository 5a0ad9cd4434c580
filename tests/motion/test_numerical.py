"""Inverse kinematics of an arm without a closed form, and of known arms against their closed forms."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS, ArmFigures
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics, LineMove, LineSpeed, Unreachable


def crooked(name: str = "ur5") -> ArmFigures:
    """An arm whose axes meet nowhere and are nowhere parallel: each joint's frame is turned and moved a little."""
    arm = ROBOTS.get(name)
    rng = np.random.default_rng(2)
    joints = []
    for joint in arm.joints:
        offset, turn = rng.uniform(-0.03, 0.03, 3), rng.uniform(-0.3, 0.3, 3)
        xyz = tuple(float(v) for v in np.array(joint.origin_xyz_m) + offset)
        rpy = tuple(float(v) for v in np.array(joint.origin_rpy_rad) + turn)
        joints.append(replace(joint, origin_xyz_m=xyz, origin_rpy_rad=rpy))
    return replace(arm, name=f"crooked_{name}", joints=tuple(joints))


@cache
def arm(name: str = "ur5") -> ArmKinematics:
    return ArmKinematics(crooked(name))


def random_joints(kinematics: ArmKinematics, count: int) -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.uniform(kinematics.lower_rad, kinematics.upper_rad, (count, len(kinematics.lower_rad)))


def test_the_method_is_named():
    assert arm().method == "numerical"
    assert ArmKinematics(ROBOTS.get("ur5")).method == "analytic"
    assert arm("sia20f").method == "numerical"


@pytest.mark.parametrize("name", ["ur5", "sia20f"])
def test_poses_of_an_arm_without_a_closed_form_are_found_within_the_limits(name):
    kinematics = arm(name)
    for joints in random_joints(kinematics, 25):
        pose = kinematics.forward(joints)
        found = kinematics.nearest(pose, kinematics.arm.home_rad)
        assert kinematics.forward(found).is_close(pose, tolerance_m=1e-6, tolerance_rad=1e-6)
        assert (found >= kinematics.lower_rad - 1e-9).all()
        assert (found <= kinematics.upper_rad + 1e-9).all()


def test_several_branches_are_found_and_are_different():
    kinematics = arm()
    pose = kinematics.forward([0.3, -1.2, 1.1, 0.4, 0.9, 0.2])
    solutions = np.array(kinematics.inverse(pose, np.zeros(6)))
    within_a_turn = {tuple(row) for row in np.round(np.mod(solutions, 2 * np.pi), 4)}
    assert len(within_a_turn) >= 4


def test_near_by_it_stays_in_its_branch():
    kinematics = arm()
    start = np.array([0.3, -1.2, 1.1, 0.4, 0.9, 0.2])
    pose = kinematics.forward(start)
    line = LineMove(kinematics, start, Pose(pose.position + np.array([0.02, 0.0, 0.0]), pose.quaternion), LineSpeed())
    assert np.abs(line.at(line.duration_s)[0] - start).max() < 0.3


def test_out_of_reach_and_beyond_a_limit_are_told_apart():
    kinematics = arm()
    with pytest.raises(Unreachable, match=r"out of reach, 2\.02347 m from its first joint \(allowed: 1\.24 m\)"):
        kinematics.nearest(Pose.from_xyz_rpy([2.0, 0.0, 0.3]), np.zeros(6))
    narrow = tuple(replace(j, position_limits_rad=(-0.5, 0.5)) for j in kinematics.arm.joints)
    shut = ArmKinematics(replace(kinematics.arm, joints=narrow, home_rad=(0.0,) * 6))
    with pytest.raises(Unreachable, match=r"joint_\d would be at .* deg, allowed -28\.65 to 28\.65 deg$"):
        shut.nearest(kinematics.forward([0.3, -1.2, 1.1, 0.4, 0.9, 0.2]), np.zeros(6))
