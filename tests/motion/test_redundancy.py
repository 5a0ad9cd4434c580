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
    assert (np.diff([c.worth for c in choices]) <= 0).all()
    best = [c for c in choices if c.worth == choices[0].worth]
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
    with pytest.raises(Unreachable, match=r"out of reach$"):
        SIA.choose(Pose.from_xyz_rpy([3, 0, 0]), START, lambda joints: -0.01)
