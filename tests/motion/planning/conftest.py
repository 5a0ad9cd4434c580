"""Scenes and planners that several tests share; made once, they cost a second each."""

from collections.abc import Callable

import numpy as np
import pytest

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS
from cellwright.core.pose import Pose
from cellwright.motion.planning import (
    AttachedObject,
    Box,
    CatalogueModel,
    ConvexMesh,
    Cylinder,
    MotionPlanner,
    Obstacle,
    Scene,
    SceneRobot,
)

WEDGE = ConvexMesh(((0, 0, 0), (0.3, 0, 0), (0, 0.25, 0), (0.3, 0.25, 0), (0.02, 0, 0.3), (0.02, 0.25, 0.3)))
TABLE = Obstacle("table", Box((1.6, 1.6, 0.04)), Pose.from_xyz_rpy([0, 0, -0.03]))


def among_everything(arm: str, tool: str | None = None, held: str | None = None) -> Scene:
    """One obstacle of every kind around the robot, which stands askew."""
    robot = SceneRobot(ROBOTS.get(arm), Pose.from_xyz_rpy([0.1, -0.05, 0.0], [0, 0, 0.4]), tool and TOOLS.get(tool))
    part = held and AttachedObject(
        "part", CatalogueModel(PARTS.get(held)), Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 1.2, 0.0])
    )
    obstacles = (
        Obstacle("floor", CatalogueModel(FURNITURE.get("floor")), Pose.from_xyz_rpy([0, 0, -0.02])),
        Obstacle("box", Box((0.2, 0.3, 0.5)), Pose.from_xyz_rpy([0.6, 0.1, 0.3], [0.2, 0.1, 0.4])),
        Obstacle("post", Cylinder(0.06, 1.5), Pose.from_xyz_rpy([-0.3, 0.5, 0.6], [0.3, 0, 0])),
        Obstacle("plate", Box((0.5, 0.5, 0.004)), Pose.from_xyz_rpy([-0.5, -0.3, 0.6], [0, 0.4, 0])),
        Obstacle("wedge", WEDGE, Pose.from_xyz_rpy([0.1, -0.7, 0.5], [0.4, 0.2, 1.0])),
        Obstacle("gear", CatalogueModel(PARTS.get("large_gear")), Pose.from_xyz_rpy([0.35, 0.45, 0.4], [1.0, 0.5, 0])),
    )
    return Scene(robot, obstacles, part or None)


SCENES = {
    "ur5 with a bottle": lambda: among_everything("ur5", "wsg_50", "bottle"),
    "bare lr_mate_200id": lambda: among_everything("lr_mate_200id"),
    "sia20f with a gripper": lambda: among_everything("sia20f", "aprs_motoman_gripper"),
}


@pytest.fixture(scope="session", params=list(SCENES))
def any_scene(request) -> Scene:
    return SCENES[request.param]()


@pytest.fixture(scope="session")
def wall_scene() -> Scene:
    """A UR5 on a table, before a wall with a way over it."""
    wall = Obstacle("wall", Box((0.6, 0.04, 0.5)), Pose.from_xyz_rpy([0.5, 0.0, 0.25]))
    return Scene(SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50")), (TABLE, wall))


@pytest.fixture(scope="session")
def wall(wall_scene) -> MotionPlanner:
    pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    return MotionPlanner(wall_scene)


@pytest.fixture(scope="session")
def sides(wall) -> tuple[np.ndarray, np.ndarray]:
    """The tool pointing down on one side of the wall and on the other."""
    found = []
    for y in (0.3, -0.3):
        pose = Pose.from_xyz_rpy([0.45, y, 0.15], [np.pi, 0.0, 0.0])
        choices = wall.kinematics.inverse(wall.ring.flange_for_tool(pose), ROBOTS.get("ur5").home_rad)
        found.append(next(joints for joints in choices if wall.exact.is_free(joints)))
    return found[0], found[1]


@pytest.fixture(scope="session")
def post() -> MotionPlanner:
    """A UR5 on a table with a post before it: an easier task."""
    pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    thing = Obstacle("post", Box((0.1, 0.1, 0.5)), Pose.from_xyz_rpy([0.6, 0.1, 0.25]))
    return MotionPlanner(Scene(SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50")), (TABLE, thing)))


@pytest.fixture(scope="session")
def post_ends(post) -> Callable[[float], tuple[np.ndarray, np.ndarray]]:
    """The tool at some height pointing down, to the left and to the right of the post."""

    def ends(height_m: float) -> tuple[np.ndarray, np.ndarray]:
        poses = [Pose.from_xyz_rpy([0.45, y, height_m], [np.pi, 0, 0]) for y in (0.45, -0.25)]
        home = post.scene.robot.arm.home_rad
        first, second = (post.kinematics.nearest(post.ring.flange_for_tool(pose), home) for pose in poses)
        return first, second

    return ends
