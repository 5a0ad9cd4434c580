"""Forward and inverse kinematics against published vectors, each other and their limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics, Unreachable

ARMS = {name: ArmKinematics(ROBOTS.get(name)) for name in ("lr_mate_200id", "sia20f", "ur5")}
arms = pytest.mark.parametrize("arm", ARMS.values(), ids=list(ARMS))


def random_joints(arm: ArmKinematics, count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(arm.lower_rad, arm.upper_rad, (count, len(arm.lower_rad)))


@pytest.mark.parametrize(
    ("name", "joints", "position"),
    [
        ("lr_mate_200id", [0] * 6, (0.465, 0, 0.695)),
        ("lr_mate_200id", [0.3, 0.4, -0.5, 0.6, -0.7, 0.8], (0.408770, 0.095987, 0.318922)),
        ("sia20f", [0] * 7, (0, 0, 1.5)),
        ("sia20f", [0.3, 0.4, -0.5, 0.6, -0.7, 0.8, 0.2], (-0.040437, 0.106529, 1.373198)),
    ],
)
def test_forward_gives_the_published_positions(name, joints, position):
    assert ARMS[name].forward(joints).position == pytest.approx(position, abs=1e-6)


def test_zero_flanges_look_along_their_published_directions():
    assert ARMS["lr_mate_200id"].forward([0] * 6).rotation_matrix[:, 2] == pytest.approx([1, 0, 0], abs=1e-12)
    assert ARMS["sia20f"].forward([0] * 7).rotation_matrix[:, 2] == pytest.approx([0, 0, 1], abs=1e-12)


@arms
def test_every_branch_takes_the_pose_and_the_first_is_the_original(arm):
    for joints in random_joints(arm, 30):
        pose = arm.forward(joints)
        solutions = arm.inverse(pose, joints)
        assert solutions[0] == pytest.approx(joints, abs=1e-6)
        for found in solutions:
            assert arm.forward(found).is_close(pose, tolerance_m=1e-6, tolerance_rad=1e-6)
            assert (found >= arm.lower_rad - 1e-8).all()
            assert (found <= arm.upper_rad + 1e-8).all()
        apart = np.linalg.norm(np.array(solutions) - joints, axis=1)
        assert (np.diff(apart) >= 0).all()
        rounded = np.round(solutions, 6)
        assert len(np.unique(rounded, axis=0)) == len(rounded)


def test_six_axes_have_the_branches_of_shoulder_elbow_and_wrist():
    arm = ARMS["lr_mate_200id"]
    solutions = np.array(arm.inverse(arm.forward([0.3, 0.4, 0.5, 0.6, -0.7, 0.8])))
    within_one_turn = solutions[(np.abs(solutions[:, [3, 5]]) <= np.pi).all(axis=1)]
    shoulders = {round(q, 6) for q in within_one_turn[:, 0]}
    assert len(shoulders) == 1  # the other one, turned by 180 deg, is beyond joint_1's limit
    assert {(round(e, 6), bool(w > 0)) for e, w in within_one_turn[:, [2, 4]]} >= {(0.5, False), (0.5, True)}


def test_turns_by_a_full_circle_within_the_limits_are_solutions_of_their_own():
    arm = ARMS["lr_mate_200id"]
    joints = np.array([0.1, 0.2, 0.3, 3.0, -0.5, 1.0])
    solutions = arm.inverse(arm.forward(joints), joints)
    assert any(np.allclose(q, joints - [0, 0, 0, 0, 0, 2 * np.pi], atol=1e-6) for q in solutions)
    assert any(np.allclose(q, joints - [0, 0, 0, 2 * np.pi, 0, 0], atol=1e-6) for q in solutions)
    far = joints - np.array([0, 0, 0, 0, 0, 2 * np.pi])
    assert arm.nearest(arm.forward(joints), far) == pytest.approx(far, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "joints"),
    [
        ("lr_mate_200id", [0.0] * 6),
        ("lr_mate_200id", [0.2, 0.3, 0.1, 0.4, 0.0, 0.5]),
        ("lr_mate_200id", [0.2, 0.3, 0.1, 0.4, 1e-8, 0.5]),
        ("sia20f", [0.0] * 7),
        ("sia20f", [0.1, 0.5, 0.2, 0.0, 0.3, 0.5, 0.3]),
        ("sia20f", [0.1, 0.5, 0.2, 0.7, 0.3, 0.0, 0.3]),
    ],
    ids=["zero", "straight wrist", "nearly straight wrist", "stretched up", "stretched elbow", "seven axes' wrist"],
)
def test_an_arm_finds_its_own_configuration_where_it_is_singular(name, joints):
    arm = ARMS[name]
    assert arm.nearest(arm.forward(joints), joints) == pytest.approx(joints, abs=1e-6)


@pytest.mark.parametrize("name", list(ARMS))
@given(data=st.data())
def test_forward_of_nearest_is_the_identity(name, data):
    arm = ARMS[name]
    share = data.draw(st.lists(st.floats(0, 1), min_size=len(arm.lower_rad), max_size=len(arm.lower_rad)))
    joints = arm.lower_rad + np.array(share) * (arm.upper_rad - arm.lower_rad)
    pose = arm.forward(joints)
    assert arm.forward(arm.nearest(pose, joints)).is_close(pose, tolerance_m=2e-6, tolerance_rad=2e-6)


@arms
def test_out_of_reach_says_so(arm):
    far = Pose.from_xyz_rpy([2.0, 0.0, 0.5])
    assert arm.inverse(far) == []
    assert arm.method == "analytic"
    with pytest.raises(Unreachable, match=rf"{arm.arm.name} cannot reach .*2\.0.*: out of reach") as caught:
        arm.nearest(far, np.zeros(len(arm.lower_rad)))
    assert isinstance(caught.value, JobFailed)
    assert "\n" not in str(caught.value)


def test_a_limit_in_the_way_is_named_with_its_range():
    arm = ARMS["lr_mate_200id"]
    behind = np.radians([175.0, 60.0, 30.0, 0.0, -60.0, 0.0])  # 5 deg beyond joint_1's limit
    with pytest.raises(Unreachable, match=r"joint_1 would be at 175\.00 deg, allowed -170\.00 to 170\.00 deg$"):
        arm.nearest(arm.forward(behind), behind)


def test_a_seven_axis_arm_keeps_its_elbow_where_it_can():
    arm = ARMS["sia20f"]
    start = np.array([0.1, 0.5, 0.3, -1.2, 0.2, -0.9, 0.4])
    goal = arm.forward(start) @ Pose.from_xyz_rpy([0.02, 0.01, 0.03], [0.05, 0.0, 0.1])
    assert arm.nearest(goal, start)[2] == pytest.approx(0.3, abs=1e-12)


def test_a_seven_axis_arm_moves_its_elbow_where_it_must():
    """Poses that the limits forbid with the elbow as it is, but not with another."""
    arm = ARMS["sia20f"]
    start = np.array([0.0, 0.5, 0.0, -1.5, 0.0, -1.0, 0.0])
    moved = 0
    for joints in random_joints(arm, 40, seed=5):
        pose = arm.forward(joints)
        found = arm.nearest(pose, start) if arm.inverse(pose, start) else None
        if found is not None and found[2] != 0.0:
            moved += 1
            assert arm.forward(found).is_close(pose, tolerance_m=1e-6, tolerance_rad=1e-6)
            assert not any(abs(q[2]) < 1e-9 for q in arm.inverse(pose, start))
    assert moved >= 3


@arms
@pytest.mark.parametrize("joints", [[0.0], [0.0] * 9, [np.nan] * 6, [np.nan] * 7, [[0.0] * 6]])
def test_a_wrong_number_of_angles_is_one_line(arm, joints):
    with pytest.raises(BadInput, match=rf"{arm.arm.name} has {len(arm.lower_rad)} joints"):
        arm.forward(joints)
