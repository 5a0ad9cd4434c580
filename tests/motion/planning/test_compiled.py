"""The compiled checker against the exact one: never free by mistake, and not much more cautious than it must be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS, TOOLS
from cellwright.core.pose import Pose
from cellwright.motion.planning import (
    AttachedObject,
    Box,
    CompiledChecker,
    ConvexMesh,
    Cylinder,
    ExactChecker,
    Obstacle,
    Scene,
    SceneRobot,
)

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")

BULGE_M = 0.005
UR5 = SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50"))


def states_of(robot: SceneRobot, count: int, seed: int = 0) -> np.ndarray:
    limits = np.clip([joint.position_limits_rad for joint in robot.arm.joints], -np.pi, np.pi)
    return np.random.default_rng(seed).uniform(limits[:, 0], limits[:, 1], (count, len(limits)))


def test_it_is_never_free_by_mistake_and_seldom_blocked_by_mistake(any_scene):
    exact, fast = ExactChecker(any_scene), CompiledChecker(any_scene)
    states = states_of(any_scene.robot, 4000)
    truly = np.array([exact.is_free(joints) for joints in states])
    believed = np.array([fast.is_free(joints) for joints in states])
    assert not (believed & ~truly).any()
    assert (truly & ~believed).mean() < 0.03
    assert 0.1 < truly.mean() < 0.9
    assert fast.checks == len(states)


def test_what_it_calls_touching_is_near(any_scene):
    """With a margin of a bulge and the width of a prism, the exact checker agrees on obstacles."""
    fast = CompiledChecker(any_scene)
    exact = ExactChecker(any_scene, margin_m=BULGE_M + 0.002)
    names = {obstacle.name for obstacle in any_scene.obstacles}
    looked = 0
    for joints in states_of(any_scene.robot, 1500, seed=1):
        touch = fast.touch(joints)
        if touch and touch.second in names:
            assert (touch.first, touch.second) in {(t.first, t.second) for t in exact.touches(joints)}
            looked += 1
    assert looked > 100


@pytest.mark.parametrize("margin_m", [0.01, 0.05])
def test_a_margin_means_the_same_to_both(any_scene, margin_m):
    exact, fast = ExactChecker(any_scene, margin_m), CompiledChecker(any_scene, margin_m)
    states = states_of(any_scene.robot, 800, seed=2)
    truly = np.array([exact.is_free(joints) for joints in states])
    believed = np.array([fast.is_free(joints) for joints in states])
    assert not (believed & ~truly).any()
    assert (truly & ~believed).mean() < 0.04


metres = st.floats(-0.7, 0.7)
angles = st.floats(-3, 3)
poses = st.builds(
    lambda x, y, z, r, p, w: Pose.from_xyz_rpy([x, y, z + 0.4], [r, p, w]), metres, metres, metres, *[angles] * 3
)
lengths = st.floats(0.005, 0.5)
corners = st.lists(st.tuples(*[st.integers(-5, 5)] * 3), min_size=5, max_size=12)
shapes = st.one_of(
    st.builds(Box, st.tuples(lengths, lengths, lengths)),
    st.builds(Cylinder, lengths, lengths),
    corners.filter(lambda points: np.linalg.matrix_rank(np.array(points) - points[0]) == 3).map(
        lambda points: ConvexMesh(tuple((0.05 * x, 0.05 * y, 0.05 * z) for x, y, z in points))
    ),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(shapes, poses), min_size=1, max_size=3), st.integers(0, 10**6))
def test_no_scene_fools_it(obstacles, seed):
    things = tuple(Obstacle(f"thing {n}", shape, pose) for n, (shape, pose) in enumerate(obstacles))
    scene = Scene(UR5, things)
    exact, fast = ExactChecker(scene), CompiledChecker(scene)
    for joints in states_of(UR5, 60, seed):
        if fast.is_free(joints):
            assert exact.is_free(joints)


def test_a_motion_is_free_when_all_its_states_are(any_scene):
    fast = CompiledChecker(any_scene)
    states = states_of(any_scene.robot, 400, seed=3)
    outcomes = set()
    for start, end in zip(states[::2], states[1::2], strict=True):
        end = start + 0.2 * (end - start)
        if fast.is_free(start):
            shares = np.linspace(0, 1, 1 + int(np.ceil(np.linalg.norm(end - start) / 0.05)))
            one_by_one = all(fast.is_free(start + (end - start) * share) for share in shares)
            assert fast.is_motion_free(start, end, 0.05) == one_by_one
            outcomes.add(one_by_one)
    assert outcomes == {True, False}


def test_a_held_thing_makes_the_robot_larger():
    bare = CompiledChecker(Scene(UR5, (Obstacle("box", Box((0.3, 0.3, 0.3)), Pose.from_xyz_rpy([0.5, 0.3, 0.4])),)))
    scene = bare.bodies.scene.holding(AttachedObject("bar", Box((0.03, 0.03, 0.5)), Pose.from_xyz_rpy([0, 0, 0.2])))
    laden = CompiledChecker(scene)
    states = states_of(UR5, 2000, seed=4)
    free = np.array([[checker.is_free(joints) for joints in states] for checker in (bare, laden)])
    assert not (free[1] & ~free[0]).any()
    assert (free[0] & ~free[1]).any()
    blocked = states[(free[0] & ~free[1]).argmax()]
    assert laden.touch(blocked).first == "bar"


def test_leave_to_touch_is_heeded():
    scene = Scene(UR5, (Obstacle("cloud", Box((2, 2, 2)), Pose.from_xyz_rpy([0, 0, 0.5])),))
    home = np.array(UR5.arm.home_rad)
    assert CompiledChecker(scene).touch(home).second == "cloud"
    for name in scene.names:
        if name not in ("base", "cloud"):
            scene = scene.allowing(name, "cloud")
    assert CompiledChecker(scene).is_free(home)
    assert ExactChecker(scene).is_free(home)
