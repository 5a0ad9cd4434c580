"""The Jacobian against differences of poses; manipulability where it must vanish."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.motion import ArmKinematics

ARMS = {name: ArmKinematics(ROBOTS.get(name)) for name in ("lr_mate_200id", "sia20f", "ur5")}
STEP_RAD = 1e-6


@pytest.mark.parametrize("name", list(ARMS))
@given(data=st.data())
def test_columns_are_the_flanges_motion_per_joint(name, data):
    arm = ARMS[name]
    count = len(arm.lower_rad)
    shares = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    joints = arm.lower_rad + shares * (arm.upper_rad - arm.lower_rad)
    jacobian = arm.jacobian(joints)
    assert jacobian.shape == (6, count)
    for column, step in zip(jacobian.T, np.eye(count) * STEP_RAD, strict=True):
        before, after = arm.forward(joints - step), arm.forward(joints + step)
        moved = (after.position - before.position) / (2 * STEP_RAD)
        turn = after.rotation_matrix @ before.rotation_matrix.T
        turned = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
        assert column[:3] == pytest.approx(moved, abs=1e-8)
        assert column[3:] == pytest.approx(turned / (2 * STEP_RAD), abs=1e-8)


@pytest.mark.parametrize("name", list(ARMS))
def test_manipulability_is_the_root_of_the_determinant(name):
    arm = ARMS[name]
    jacobian = arm.jacobian(arm.arm.home_rad)
    expected = np.sqrt(np.linalg.det(jacobian @ jacobian.T))
    assert arm.manipulability(arm.arm.home_rad) == pytest.approx(expected, rel=1e-9)
    assert expected > 1e-3


@pytest.mark.parametrize(
    ("name", "joints"),
    [
        ("lr_mate_200id", [0.2, 0.3, 0.1, 0.4, 0.0, 0.5]),
        ("sia20f", [0.0] * 7),
        ("ur5", [0.3, -1.0, 0.0, 0.4, 1.0, 0.2]),
        ("ur5", [0.3, -1.0, 0.8, 0.4, 0.0, 0.2]),
    ],
    ids=["straight wrist", "stretched up", "straight elbow", "parallel wrist"],
)
def test_manipulability_vanishes_where_the_arm_is_singular(name, joints):
    assert ARMS[name].manipulability(joints) < 1e-9
