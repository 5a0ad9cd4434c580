"""Areas of tables and scenes for planners, by the drawings."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import UnknownName
from cellwright.drawings.planning_scene import planning_scene, table_area
from cellwright.drawings.prior import Drawings


@pytest.fixture(scope="module")
def drawings() -> Drawings:
    return Drawings.of(load_cell("rovi"))


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("pick_area", (0.0, 0.9018), (0.8, 1.2)), ("place_area", (0.6006, 0.0), (0.8, 0.2013))],
)
def test_the_areas_are_where_the_project_has_them(drawings, name, low, high):
    area = table_area(drawings.fixtures, name)
    corners = area.corners_in_world
    assert corners.min(axis=0) == pytest.approx([*low, 0.75])
    assert corners.max(axis=0) == pytest.approx([*high, 0.75])
    assert area.table == "table"


def test_room_is_the_distance_from_the_nearest_edge(drawings):
    area = table_area(drawings.fixtures, "pick_area")
    assert area.room_m(np.array([0.05, 1.05, 0.75])) == pytest.approx(0.05)
    assert area.room_m(np.array([0.40, 1.25, 0.75])) == pytest.approx(-0.05)


def test_an_area_that_no_table_has_is_named_with_those_there_are(drawings):
    with pytest.raises(UnknownName, match="pick_area"):
        table_area(drawings.fixtures, "pik_area")


def test_a_scene_has_all_that_is_drawn_but_what_is_looked_for(drawings):
    scene = planning_scene(drawings, "ur5", ["bottle"])
    names = {obstacle.name for obstacle in scene.obstacles}
    assert names == {"floor", "table", "stereo", "kinect", "can", "mug", "crate"}
    limits = [joint.position_limits_rad for joint in scene.robot.arm.joints]
    assert all(limit == pytest.approx((-np.pi, np.pi)) for limit in limits[:-1])
    assert limits[-1] == pytest.approx((-2 * np.pi, 2 * np.pi))
