"""The places that robots reach: as drawn, and where a tray was pushed to."""

import numpy as np

from cellwright.core.pose import Pose
from cellwright.knowledge.believed_objects import BelievedObject
from cellwright.knowledge.reach import reached_places
from cellwright.knowledge.transform_tree import TransformTree, TreeNode

VOLUMES = {
    "left": np.array([[[x - 0.05, -0.05, 0.85], [x + 0.05, 0.05, 1.05]] for x in (0.0, 0.4)]),
    "right": np.array([[[0.75, -0.05, 0.85], [0.85, 0.05, 1.05]]]),
}


def who_reaches(x, y=0.0, z=0.9):
    robots = [BelievedObject(name, "Robot", "", None) for name in VOLUMES]
    tray = BelievedObject("tray", "PartsTray", "sku_medium_gear_vessel", None)
    nodes = {"tray": TreeNode(None, Pose.from_xyz_rpy([x, y, z]), 0.0)}
    tree = TransformTree({**nodes, **{robot.name: TreeNode(None, Pose.identity(), 0.0) for robot in robots}})
    found = reached_places([*robots, tray], tree, VOLUMES)
    return {robot for robot, places in found.items() if "tray" in places}


def test_a_tray_that_was_pushed_from_one_place_toward_another_is_still_reached():
    assert who_reaches(0.0) == {"left"}
    assert who_reaches(0.12) == {"left"}  # between two volumes
    assert who_reaches(0.8) == {"right"}


def test_a_tray_beyond_all_places_that_a_robot_reaches_is_not_reached():
    assert who_reaches(0.6) == set()
    assert who_reaches(0.12, y=0.2) == set()
    assert who_reaches(0.12, z=0.4) == set()


def test_what_stands_in_the_place_of_another_robot_is_left_to_that():
    volumes = {"left": VOLUMES["left"], "right": VOLUMES["right"] - [0.6, 0.0, 0.0]}
    tray = BelievedObject("tray", "PartsTray", "sku_medium_gear_vessel", None)
    robots = [BelievedObject(name, "Robot", "", None) for name in volumes]
    nodes = {name: TreeNode(None, Pose.identity(), 0.0) for name in volumes}
    tree = TransformTree({**nodes, "tray": TreeNode(None, Pose.from_xyz_rpy([0.2, 0.0, 0.9]), 0.0)})
    assert reached_places([*robots, tray], tree, volumes)["left"] == []
