"""Where an arm puts its elbow: away from limits, away from things."""

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics, Unreachable

SIA = ArmKinematics(ROBOTS.get("sia20f"))
START = np.array([0.1, 0.5, 0.3, -1.2, 0.2, -0.9, 0.4])


def test_every_choice_takes_the_pose_and_the_first_is_worth_most():
    pose = SIA.forward(START)
    choices = SIA.ranked(pose, START)
    assert len({round(c.joints_rad[2], 6) for c in choices}) > 6  # a fan of elbows
    for choice in choices:
        assert SIA.forward(choice.joints_rad).is_close(pose, tolerance_m=1e-6, tolerance_rad=1e-6)
        margin = np.minimum(choice.joints_rad - SIA.lower_rad, SIA.upper_rad - choice.joints_rad).min()
        assert choice.limit_distance_rad == pytest.approx(margin)
        assert choice.clearance_m == np.inf
    assert (np.diff([c.score for c in choices]) <= 0).all()
    best = [c for c in choices if c.score == choices[0].score]
    apart = [np.linalg.norm(c.joints_rad - START) for c in best]
    assert apart[0] == min(apart)


def test_an_arm_that_is_far_from_its_limits_stays_as_it_is():
    assert SIA.choose(SIA.forward(START), START) == pytest.approx(START, abs=1e-6)


def test_an_arm_near_a_limit_leaves_it():
    near = START.copy()
    near[4] = SIA.upper_rad[4] - 0.01
    pose = SIA.forward(near)
    assert SIA.nearest(pose, near) == pytest.approx(near, abs=1e-6)
    chosen = SIA.choose(pose, near)
    assert np.minimum(chosen - SIA.lower_rad, SIA.upper_rad - chosen).min() > 0.2


def test_a_thing_beside_the_elbow_moves_it_away():
    pose = SIA.forward(START)

    def side_m(joints: np.ndarray) -> float:
        """Distance from a wall that the elbow, which joint 3 swings about, has 20 mm of itself in."""
        return float(joints[2] - START[2]) * 0.2 - 0.02

    chosen = SIA.choose(pose, START, side_m)
    assert side_m(chosen) >= 0.05
    assert SIA.forward(chosen).is_close(pose, tolerance_m=1e-6, tolerance_rad=1e-6)
    assert all(c.clearance_m > 0 for c in SIA.ranked(pose, START, side_m))


def test_a_clearance_that_nothing_has_is_named_and_so_is_what_is_out_of_reach():
    with pytest.raises(Unreachable, match=r"every configuration touches something$"):
        SIA.choose(SIA.forward(START), START, lambda joints: -0.01)
    with pytest.raises(Unreachable, match=r"out of reach, 3\.02789 m from its first joint \(allowed: 1\.09 m\)$"):
        SIA.choose(Pose.from_xyz_rpy([3, 0, 0]), START, lambda joints: -0.01)


@pytest.mark.parametrize("name", ["sia20f", "lr_mate_200id"])
def test_configurations_along_a_way_are_those_of_one_point_after_the_other(name):
    arm = ArmKinematics(ROBOTS.get(name))
    start = np.array(ROBOTS.get(name).home_rad) + 0.1
    begin = arm.forward(start)
    between = begin.towards(Pose(begin.position + [0.05, -0.04, 0.06], begin.quaternion))
    poses, one_by_one = [between(number / 20) for number in range(1, 21)], [start]
    for pose in poses:
        one_by_one.append(arm.nearest(pose, one_by_one[-1]))
    assert np.array_equal(arm.nearest_along(poses, start), one_by_one[1:])
    assert np.allclose(arm.forward_of_many(np.array(one_by_one[1:])), [pose.matrix for pose in poses], atol=1e-6)
    far = Pose(begin.position + [9.0, 0.0, 0.0], begin.quaternion)
    with pytest.raises(Unreachable):
        arm.nearest_along([*poses, far], start)
