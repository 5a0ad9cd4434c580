"""Scenes as values: what they refuse, how they change, how they travel."""

import numpy as np
import pytest
from hypothesis import strategies as st

from cellwright.catalogue import PARTS, ROBOTS, TOOLS
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.motion.planning import (
    AttachedObject,
    Box,
    CatalogueModel,
    ConvexMesh,
    Cylinder,
    ExactChecker,
    Obstacle,
    Scene,
    SceneRobot,
)

HERE = Pose.identity()
UR5 = SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50"), tool_joints={})
CRATE = Obstacle("crate", Box((0.2, 0.2, 0.2)), Pose.from_xyz_rpy([0.6, 0, 0.2]))
BOTTLE = AttachedObject("bottle", CatalogueModel(PARTS.get("bottle")), Pose.from_xyz_rpy([0, 0, -0.1]))


def test_every_thing_has_its_own_name():
    with pytest.raises(BadInput, match=r"twice: crate$"):
        Scene(UR5, (CRATE, CRATE))
    with pytest.raises(BadInput, match="twice: link_3"):
        Scene(UR5, (Obstacle("link_3", Box((1, 1, 1)), HERE),))


def test_only_what_is_there_may_be_touched():
    with pytest.raises(UnknownName, match=r"thing of the scene 'crat'; did you mean 'crate'\? .*available: base,"):
        Scene(UR5, (CRATE,)).allowing("tool", "crat")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box((0.1, 0.0, 0.1)), "length of a box is 0"),
        (lambda: Cylinder(-1.0, 1.0), "radius of a cylinder is -1"),
        (lambda: Cylinder(1.0, float("nan")), "length of a cylinder is nan"),
    ],
)
def test_a_shape_without_size_is_refused(make, message):
    with pytest.raises(OutOfRange, match=message):
        make()


@pytest.mark.parametrize("points", [((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)), ((0, 0), (1, 1)), ()])
def test_a_flat_mesh_is_refused(points):
    with pytest.raises(BadInput, match="a convex mesh needs"):
        ConvexMesh(points)


def test_a_scene_changes_into_another():
    scene = Scene(UR5, (CRATE,)).allowing("tool", "crate")
    moved = scene.with_obstacles(
        [Obstacle("crate", Box((0.2, 0.2, 0.2)), HERE), Obstacle("post", Cylinder(1, 1), HERE)]
    )
    assert [o.name for o in moved.obstacles] == ["crate", "post"]
    assert moved.obstacles[0].pose_in_world is HERE
    assert len(scene.obstacles) == 1
    assert scene.without("crate").allowed == frozenset()
    assert scene.holding(BOTTLE).allowing("bottle", "crate").holding(None).allowed == scene.allowed
    with pytest.raises(UnknownName, match=r"obstacle 'post' .*crate"):
        scene.without("post")


numbers = st.floats(-2, 2, allow_nan=False)
poses = st.builds(lambda xyz, rpy: Pose.from_xyz_rpy(xyz, rpy), st.tuples(*[numbers] * 3), st.tuples(*[numbers] * 3))
lengths = st.floats(0.01, 2)
shapes = st.one_of(
    st.builds(Box, st.tuples(lengths, lengths, lengths)),
    st.builds(Cylinder, lengths, lengths),
    st.builds(lambda a: ConvexMesh(((0.0, 0.0, 0.0), (a, 0.0, 0.0), (0.0, a, 0.0), (0.0, 0.0, a))), lengths),
    st.sampled_from(["large_gear", "bottle"]).map(lambda name: CatalogueModel(PARTS.get(name))),
)


def test_an_unknown_finger_is_refused():
    robot = SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50"), tool_joints={"thumb": 0.0})
    with pytest.raises(UnknownName, match="joint of wsg_50 'thumb'"):
        ExactChecker(Scene(robot))


def test_a_floor_cannot_be_carried():
    from cellwright.catalogue import FURNITURE
    from cellwright.motion.planning import CompiledChecker

    pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    with pytest.raises(BadInput, match="a plane has no end"):
        CompiledChecker(Scene(UR5, held=AttachedObject("floor", CatalogueModel(FURNITURE.get("floor")), HERE)))


def test_fingers_stand_where_the_scene_says():
    from cellwright.motion.planning.pieces import tool_pieces

    tool = TOOLS.get("aprs_fanuc_gripper")
    spread = []
    for finger_m in (0.002, 0.009):
        pieces, pose_tcp = tool_pieces(tool, {"finger_left": finger_m, "finger_right": finger_m})
        spread.append(max(piece.pose.position[0] for piece in pieces))
        assert pose_tcp.position == pytest.approx(tool.tcp_xyz_m)
    assert spread[1] - spread[0] == pytest.approx(0.007)
    assert np.isfinite(spread).all()
