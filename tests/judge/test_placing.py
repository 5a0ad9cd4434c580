"""The verdict on an object that was set down on an area: upright, at rest, inside, released."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.judge.placing import judge_placed
from cellwright.sim import World

CORNERS = np.array([[0.6006, 0.0, 0.75], [0.8, 0.0, 0.75], [0.8, 0.2013, 0.75], [0.6006, 0.2013, 0.75]])
MIDDLE = CORNERS.mean(axis=0)
BOTTLE_M = 0.04
FOOT_M = 0.0385


@pytest.fixture(scope="module")
def world() -> World:
    from cellwright.cells import load_cell

    return World(load_cell("rovi"))


def verdict(world: World, offset_m=(0.0, 0.0, 0.0), tilt_rad=0.0, speed_mps=0.0):
    world.place("bottle", Pose.from_xyz_rpy(MIDDLE + offset_m, (tilt_rad, 0, 0)))
    item = world.object("bottle")
    world.data.qvel[item.dof] = speed_mps
    found = judge_placed(world, "bottle", CORNERS)
    world.data.qvel[item.dof] = 0.0
    return found


def test_a_bottle_that_stands_in_the_middle_is_placed(world):
    found = verdict(world)
    assert found.placed
    assert found.error_m == pytest.approx(0.0, abs=1e-9)
    assert found.reason == "it stands on the area, 0.0 mm from its middle"
    assert found.as_dict()["placed"] is True


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("way", [-1, 1])
def test_the_whole_foot_must_be_on_the_area(world, axis, way):
    room_m = (CORNERS.max(axis=0) - CORNERS.min(axis=0))[axis] / 2 - FOOT_M
    for beyond_m, inside in ((-0.002, True), (0.002, False)):
        offset = np.zeros(3)
        offset[axis] = way * (room_m + beyond_m)
        found = verdict(world, offset)
        assert (found.inside, found.placed) == (inside, inside)
        assert inside or "it is not on the area" in found.reason


def test_one_that_leans_floats_or_moves_is_not_placed(world):
    leaning = verdict(world, (0, 0, 0.003), tilt_rad=np.radians(4.0))
    assert (leaning.upright, leaning.placed) == (False, False)
    assert "it leans by 4.0 deg" in leaning.reason
    assert not verdict(world, (0, 0, 0.01)).upright, "above the area"
    assert not verdict(world, speed_mps=0.1).at_rest
    assert "it moves at 0.10 m/s" in verdict(world, speed_mps=0.1).reason


def test_one_that_a_robot_still_touches_is_not_released(world):
    tool = world.tcp_pose("ur5")
    finger_m = tool.position + 0.05 * tool.rotation_matrix[:, 0]
    world.place("bottle", Pose(finger_m - [0, 0, 0.10], Pose.identity().quaternion))
    found = judge_placed(world, "bottle", CORNERS)
    assert not found.released
    assert "a robot touches it" in found.reason
