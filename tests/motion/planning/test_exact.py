"""The exact checker: it names who touches whom, where the arm really is."""

import numpy as np
import pytest

from cellwright.catalogue import PARTS, ROBOTS, TOOLS
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics
from cellwright.motion.planning import (
    AttachedObject,
    Box,
    CatalogueModel,
    CollisionPair,
    ExactChecker,
    Obstacle,
    Scene,
    SceneRobot,
)

UR5 = SceneRobot(ROBOTS.get("ur5"), Pose.from_xyz_rpy([0.3, -0.2, 0.1], [0.1, 0.0, 1.0]), TOOLS.get("wsg_50"))
HOME = np.array(UR5.arm.home_rad)


def tool_pose(robot: SceneRobot, checker: ExactChecker, joints) -> Pose:
    return checker.bodies.ring.tool_in_world(ArmKinematics(robot.arm).forward(joints))


@pytest.mark.parametrize("arm", ["ur5", "lr_mate_200id", "sia20f"])
def test_a_marker_at_the_tool_is_touched_by_it_alone(arm):
    robot = SceneRobot(ROBOTS.get(arm), UR5.pose_base_in_world)
    bare = ExactChecker(Scene(robot))
    random = np.random.default_rng(4)
    limits = np.array([joint.position_limits_rad for joint in robot.arm.joints])
    seen = set()
    for joints in random.uniform(limits[:, 0], limits[:, 1], (30, len(limits))):
        if not bare.is_free(joints):
            continue
        pose = tool_pose(robot, bare, joints) @ Pose.from_xyz_rpy([0, 0, -0.005])
        marked = ExactChecker(Scene(robot, (Obstacle("marker", Box((0.002,) * 3), pose),)))
        touches = marked.touches(joints)
        assert {touch.second for touch in touches} <= {"marker"}
        seen |= {touch.first for touch in touches}
    assert seen <= {"link_5", "link_6", "link_7"}
    assert seen


def test_a_touch_names_both_and_the_distance():
    bare = ExactChecker(Scene(UR5))
    pose = tool_pose(UR5, bare, HOME) @ Pose.from_xyz_rpy([0, 0, 0.03])
    scene = Scene(UR5, (Obstacle("plate", Box((0.3, 0.3, 0.01)), pose),))
    assert ExactChecker(scene).touch(HOME) is None
    near = ExactChecker(scene, margin_m=0.04).touch(HOME)
    assert (near.first, near.second) == ("tool", "plate")
    tip_m = 0.1696 - 0.1507  # from the tool's centre point to the end of the pads, by the WSG-50's figures
    assert near.distance_m == pytest.approx(0.03 - 0.005 - tip_m, abs=2e-3)
    assert "tool touches plate (" in str(near)


def test_a_margin_concerns_obstacles_only_and_may_be_relaxed():
    pose = tool_pose(UR5, ExactChecker(Scene(UR5)), HOME) @ Pose.from_xyz_rpy([0, 0, 0.05])
    scene = Scene(UR5, (Obstacle("plate", Box((0.3, 0.3, 0.01)), pose),))
    assert ExactChecker(scene).is_free(HOME)
    assert {touch.second for touch in ExactChecker(scene, margin_m=0.1).touches(HOME)} == {"plate"}
    pair = frozenset(("tool", "plate"))
    relaxed = ExactChecker(scene, margin_m=0.04, relaxed={pair})
    assert not ExactChecker(scene, margin_m=0.04).is_free(HOME)
    assert relaxed.is_free(HOME)
    assert relaxed.first_blocked(HOME[None]) is None
    inside = scene.with_obstacles([Obstacle("plate", Box((0.3, 0.3, 0.01)), pose @ Pose.from_xyz_rpy([0, 0, -0.05]))])
    assert not ExactChecker(inside, margin_m=0.04, relaxed={pair}).is_free(HOME)


def test_what_may_touch_is_not_reported():
    pose = tool_pose(UR5, ExactChecker(Scene(UR5)), HOME)
    scene = Scene(UR5, (Obstacle("box", Box((0.14, 0.1, 0.1)), pose),))
    assert [touch.first for touch in ExactChecker(scene).touches(HOME)] == ["tool"]
    assert ExactChecker(scene.allowing("box", "tool")).is_free(HOME)


def test_the_robot_touches_itself_but_not_by_its_neighbours():
    checker = ExactChecker(Scene(UR5))
    folded = np.array([0.0, -1.0, 3.0, 0.0, 0.0, 0.0])
    pairs = {(touch.first, touch.second) for touch in checker.touches(folded)}
    assert pairs
    for first, second in pairs:
        assert first == "tool" or abs(int(first[-1]) - int(second.replace("base", "0")[-1])) > 1
    assert checker.is_free(HOME)


def test_the_table_under_the_base_is_no_collision():
    table = Obstacle("table", Box((1, 1, 0.1)), UR5.pose_base_in_world @ Pose.from_xyz_rpy([0, 0, -0.04]))
    assert ExactChecker(Scene(UR5, (table,))).is_free(HOME)


def test_a_held_thing_counts_against_obstacles_and_far_links_but_not_against_the_tool():
    held = AttachedObject("bar", Box((0.02, 0.02, 0.4)), Pose.identity())
    scene = Scene(UR5, held=held)
    pose = tool_pose(UR5, ExactChecker(scene), HOME) @ Pose.from_xyz_rpy([0, 0, 0.15])
    assert {touch.first for touch in ExactChecker(scene).touches(HOME)} <= {"bar"}
    blocked = scene.with_obstacles([Obstacle("plate", Box((0.3, 0.3, 0.01)), pose)])
    assert CollisionPair("bar", "plate", 0).second in {touch.second for touch in ExactChecker(blocked).touches(HOME)}


@pytest.mark.parametrize("thickness_m", [0.0005, 0.01])
def test_a_thin_plate_that_is_pierced_is_noticed(thickness_m):
    forearm = Pose.from_xyz_rpy([0, 0, 0.2])
    checker = ExactChecker(Scene(UR5))
    checker.is_free(HOME)
    body = checker._data.body("link_3")
    pose = Pose.from_matrix(np.column_stack([body.xmat.reshape(3, 3), body.xpos])) @ forearm
    scene = Scene(UR5, (Obstacle("plate", Box((0.6, 0.6, thickness_m)), pose),))
    assert ("link_3", "plate") in {(t.first, t.second) for t in ExactChecker(scene).touches(HOME)}


def test_models_are_solid_where_their_hulls_are():
    bare = ExactChecker(Scene(UR5))
    beside = tool_pose(UR5, bare, HOME) @ Pose.from_xyz_rpy([0.05, 0.0, 0.0])
    mug = Obstacle("mug", CatalogueModel(PARTS.get("mug")), beside)
    assert [touch.second for touch in ExactChecker(Scene(UR5, (mug,))).touches(HOME)] == ["mug"]


def test_wrong_numbers_of_joints_are_refused():
    with pytest.raises(BadInput, match="ur5 has 6 joints"):
        ExactChecker(Scene(UR5)).touch([0.0] * 7)
