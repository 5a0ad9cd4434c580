"""How a part is taken and let go: which way round the fingers, along which axis, held as it is seen to hang."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue import TOOLS, tool_grasp_xyz_m
from cellwright.core.pose import Pose
from cellwright.execution.arm import tool_down
from cellwright.execution.grasps import GraspChoice, free_grasps, release_pose
from cellwright.knowledge import BelievedPart
from cellwright.knowledge.held_pose import hanging_part

from .conftest import SKUS

GRIPPER = "aprs_fanuc_gripper"


def gear(name, x_m, y_m=0.0, z_m=0.0, tilt_rad=0.0):
    matrix = np.eye(4)
    matrix[1:3, 1:3] = [[np.cos(tilt_rad), -np.sin(tilt_rad)], [np.sin(tilt_rad), np.cos(tilt_rad)]]
    matrix[:3, 3] = [x_m, y_m, z_m]
    return BelievedPart(name, SKUS["s"], matrix, 0.0002)


def test_fingers_turn_until_they_fit_between_neighbours():
    alone = gear("a", 0.0)
    assert free_grasps(alone, [alone], GRIPPER)[0].yaw_rad == 0.0
    pegs = [gear("b", 0.018), gear("c", -0.018)]  # where the fingers would go down
    ways = free_grasps(alone, [alone, *pegs], GRIPPER)
    assert ways
    assert abs(ways[0].yaw_rad - np.pi / 2) < 1e-9
    ring = [gear(f"n{i}", 0.02 * np.cos(a), 0.02 * np.sin(a)) for i, a in enumerate(np.linspace(0, 2 * np.pi, 16))]
    assert free_grasps(alone, [alone, *ring], GRIPPER) == []


def test_a_part_that_was_lost_somewhere_near_is_no_neighbour():
    alone, beside = gear("a", 0.0), gear("b", 0.0, 0.001, z_m=0.03)
    assert free_grasps(alone, [alone, beside], GRIPPER) == []
    assert free_grasps(alone, [alone, replace(beside, sd_m=0.05)], GRIPPER)


def test_a_disc_at_the_height_of_the_finger_tips_is_in_the_way_and_one_below_is_not():
    alone = gear("a", 0.0)
    level = [gear("b", 0.035)]
    raised = [gear("b", 0.035, z_m=0.005)]
    assert free_grasps(alone, level, GRIPPER)[0].yaw_rad == 0.0
    assert free_grasps(alone, raised, GRIPPER)[0].yaw_rad != 0.0


def test_of_two_half_turns_that_are_the_same_to_the_fingers_the_nearer_is_taken():
    alone = gear("a", 0.0)
    first = [free_grasps(alone, [alone], GRIPPER, near)[0].yaw_rad for near in (0.3, 3.0, -3.0, 1.4)]
    assert np.allclose(first, [0.0, np.pi, -np.pi, 0.0])
    ways = free_grasps(alone, [alone], GRIPPER, near_rad=2.9)
    assert max(abs(way.yaw_rad - 2.9) for way in ways) <= np.pi / 2 + 1e-9


@pytest.mark.parametrize("tilt_rad", [0.0, 0.3, 0.6])
def test_the_tool_comes_along_the_peg_and_its_fingers_are_level(tilt_rad):
    part = gear("a", 0.1, 0.2, 0.9, tilt_rad)
    pose = free_grasps(part, [part], GRIPPER)[0].pose_tool(part)
    assert np.allclose(pose.position, part.pose_in_world.apply(tool_grasp_xyz_m(part.figures, TOOLS.get(GRIPPER))))
    assert np.allclose(pose.rotation_matrix[:, 2], -part.matrix[:3, 2])
    assert abs(pose.rotation_matrix[2, 0]) < 1e-9
    assert hanging_part(pose, part.figures, GRIPPER).distance_m(part.pose_in_world) < 1e-9


def test_a_part_that_hardly_leans_is_taken_from_straight_above():
    part = gear("a", 0.0, tilt_rad=0.03)
    assert np.allclose(GraspChoice(0.4).pose_tool(part).rotation_matrix[:, 2], [0, 0, -1])


def test_a_part_is_let_go_upright_above_its_seat_however_it_hangs():
    part = gear("a", 0.0)
    tool = tool_down(np.array([0.3, 0.1, 1.2]), 0.5)
    seat = np.array([0.1, 0.0, 0.9])
    meant = release_pose(tool, hanging_part(tool, part.figures), seat)
    assert meant.is_close(tool_down(seat + [0, 0, part.figures.grasp_height_m], 0.5))
    slipped = hanging_part(tool, part.figures) @ Pose.from_xyz_rpy([0.004, 0.0, -0.013], [0.2, -0.1, 0.0])
    pose = release_pose(tool, slipped, seat)
    there = pose @ (tool.inverse() @ slipped)
    assert np.allclose(there.position, seat)
    assert np.allclose(there.rotation_matrix[:, 2], [0, 0, 1])
