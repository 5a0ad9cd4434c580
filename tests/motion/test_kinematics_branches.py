"""Every branch, in three ways: one by one as the closed form gives them, in numpy, and compiled."""

from itertools import product

import numpy as np
import pytest
from eaik.IK_HP import HPRobot

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics, Unreachable, closed_form
from cellwright.motion.chain import SerialChain

NAMES = ("lr_mate_200id", "sia20f", "ur5")
TOLERANCE_RAD = 1e-9


def make(name, compiled):
    """An arm that loads compiled code at once, or never."""
    arm = ArmKinematics(ROBOTS.get(name))
    if compiled:
        pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    arm._closed_form._asked = 10**9 if compiled else -(10**9)
    arm.inverse(arm.forward(arm.arm.home_rad))
    assert (arm._closed_form._kernel is not None) == compiled
    return arm


names = pytest.mark.parametrize("name", NAMES)
ways = pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])


def one_by_one(arm, pose, near):
    """All configurations, made in the plainest way; without those that only singular poses have."""
    chain, goal = SerialChain(arm.arm), pose.matrix
    goal[:3, :3] = goal[:3, :3] @ chain.flange_rotation.T
    fixed = [[]]
    if len(near) == 7:
        fan = [near[2], *np.arange(arm.lower_rad[2], arm.upper_rad[2], np.radians(15.0))]
        fixed = [[(2, float(value))] for value in fan]
    found = {}
    for axes in fixed:
        for row in HPRobot(chain.axes, chain.offsets, axes).IK(goal).Q:
            if not arm.forward(row).is_close(pose, tolerance_m=1e-6, tolerance_rad=1e-6):
                continue
            ways = []
            for angle, low, high in zip(row, arm.lower_rad, arm.upper_rad, strict=True):
                turned = (angle + turn for turn in (-2 * np.pi, 0.0, 2 * np.pi))
                ways.append([way for way in turned if low - 1e-9 <= way <= high + 1e-9])
            for way in product(*ways):
                found.setdefault(tuple(np.round(way, 6) + 0.0), np.array(way))
    return sorted(found.values(), key=lambda joints: float(np.linalg.norm(joints - near)))


def odd_poses(arm, count, seed=1):
    """Some within reach, with straight wrists, joints at zero, symmetric ones, and some anywhere; with some `near`."""
    random = np.random.default_rng(seed)
    for number in range(count):
        joints = random.uniform(arm.lower_rad, arm.upper_rad)
        if number % 5 == 1:
            joints[-2] = 0.0
        elif number % 5 == 2:
            joints[random.integers(len(joints))] = 0.0
        elif number % 5 == 3:
            joints = np.clip(np.round(joints / (np.pi / 4)) * np.pi / 4, arm.lower_rad, arm.upper_rad)
        pose = arm.forward(joints)
        if number % 5 == 4:
            pose = Pose.from_xyz_rpy(random.uniform(-1.2, 1.2, 3), random.uniform(-3, 3, 3))
        yield pose, (joints, np.zeros(len(joints)), random.uniform(arm.lower_rad, arm.upper_rad))[number % 3]


@names
def test_no_configuration_is_lost_or_invented(name):
    plain = make(name, compiled=False)
    random = np.random.default_rng(3)
    for joints in random.uniform(plain.lower_rad, plain.upper_rad, (12, len(plain.lower_rad))):
        pose, near = plain.forward(joints), random.uniform(plain.lower_rad, plain.upper_rad)
        expected, found = one_by_one(plain, pose, near), plain.inverse(pose, near)
        assert len(found) == len(expected) > 0
        assert np.allclose(found, expected, rtol=0, atol=TOLERANCE_RAD)


def nearest_or_reason(arm, pose, near):
    try:
        return arm.nearest(pose, near).tolist()
    except Unreachable as error:
        return str(error)


@names
def test_compiled_code_finds_the_same_to_the_last_bit(name):
    plain, fast = make(name, compiled=False), make(name, compiled=True)
    for pose, near in odd_poses(plain, 60 if len(plain.lower_rad) == 6 else 20):
        expected, found = plain.inverse(pose, near), fast.inverse(pose, near)
        assert len(found) == len(expected)
        assert np.array_equal(np.array(found), np.array(expected))
        assert nearest_or_reason(fast, pose, near) == nearest_or_reason(plain, pose, near)


@names
@ways
def test_many_at_once_are_the_same_as_one_by_one(name, compiled):
    arm = make(name, compiled)
    poses, nears = zip(*odd_poses(arm, 25 if len(arm.lower_rad) == 6 else 10), strict=True)
    for many, pose, near in zip(arm.inverse_of_many(poses, np.array(nears)), poses, nears, strict=True):
        alone = arm.inverse(pose, near)
        assert many.shape == (len(alone), len(near))
        assert np.allclose(many, np.array(alone).reshape(many.shape), rtol=0, atol=TOLERANCE_RAD)
    for many, pose in zip(arm.inverse_of_many(poses[:5], nears[0]), poses, strict=False):
        assert len(many) == len(arm.inverse(pose, nears[0]))
    assert [len(many) for many in arm.inverse_of_many(poses[:5])] == [len(arm.inverse(pose)) for pose in poses[:5]]


@pytest.mark.parametrize("name", ["lr_mate_200id", "ur5"])  # a seven-axis arm prefers to keep its elbow
@ways
def test_the_nearest_is_the_first_of_all(name, compiled):
    arm = make(name, compiled)
    for pose, near in odd_poses(arm, 25, seed=2):
        found = arm.inverse(pose, near)
        if found:
            assert np.array_equal(arm.nearest(pose, near), found[0])


@names
def test_any_array_of_angles_will_do_without_compiling_again(name):
    fast = make(name, compiled=True)
    from cellwright.motion import branch_kernel

    joints = np.tile(np.array(fast.arm.home_rad) + 0.1, (2, 1)).T[:, 0]  # neither contiguous nor writeable
    joints.flags.writeable = False
    pose = fast.forward(joints)
    assert np.allclose(fast.nearest(pose, joints), joints, atol=1e-6)
    fast.inverse(pose, joints.tolist())
    fast.inverse_of_many([pose], joints)
    assert len(branch_kernel.find.signatures) == 1


def test_compiled_code_is_loaded_when_it_pays(monkeypatch):
    pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    monkeypatch.setattr(closed_form, "WORTH_COMPILING", 3)
    arm = ArmKinematics(ROBOTS.get("ur5"))
    pose = arm.forward(arm.arm.home_rad)
    for _ in range(3):
        arm.inverse(pose)
        assert arm._closed_form._kernel is None
    arm.inverse(pose)
    assert arm._closed_form._kernel is not None


def test_no_poses_and_too_few_configurations():
    arm = ArmKinematics(ROBOTS.get("ur5"))
    assert arm.inverse_of_many([]) == []
    with pytest.raises(BadInput, match=r"^1 poses need 1 configurations to be near to, or one; got 2$"):
        arm.inverse_of_many([Pose.identity()], np.zeros((2, 6)))
    with pytest.raises(BadInput, match="ur5 has 6 joints"):
        arm.inverse_of_many([Pose.identity()], np.zeros(5))


def test_the_compiled_code_has_the_same_tolerances():
    kernel = pytest.importorskip("cellwright.motion.branch_kernel", reason="needs numba")
    assert (kernel.TOLERANCE, kernel.SINGULAR) == (closed_form.TOLERANCE, closed_form.SINGULAR)
    assert kernel.ROUNDING == 10**closed_form.DECIMALS
