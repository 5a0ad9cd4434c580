"""Rays: how far it is to the first surface, and what they go through."""

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, UnknownName
from cellwright.sim import World

CELL = {
    "name": "rays",
    "title": "An arm with a gripper looks at the floor",
    "fidelity": "kinematic",
    "robots": {
        "arm": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [0, 0, 0.5]},
            "tool": "aprs_fanuc_gripper",
            "home_deg": [0, 0, 0, 0, -90, 0],
        }
    },
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
    "parts": {"gear": {"model": "medium_gear", "pose": {"xyz_m": [2, 1, 0]}}},
}


@pytest.fixture(scope="module")
def world():
    return World(Cell.model_validate(CELL))


def test_the_distance_is_that_to_the_first_surface_whatever_the_length_of_the_direction(world):
    assert world.ray([3, 3, 0.7], [0, 0, -1]) == pytest.approx(0.7)
    assert world.ray([3, 3, 0.7], (0, 0, -20.0)) == pytest.approx(0.7)
    assert world.ray([3, 3, 0.7], [1, 0, -1]) == pytest.approx(0.7 * np.sqrt(2))
    assert 0.6 < world.ray([2, 1, 0.7], [0, 0, -1]) < 0.699  # the gear lies there


def test_it_is_none_where_nothing_is_as_near(world):
    assert world.ray([3, 3, 0.7], [0, 0, 1]) is None
    assert world.ray([3, 3, 0.7], [0, 0, -1], 0.69) is None
    assert world.ray([3, 3, 0.7], [0, 0, -1], 0.71) == pytest.approx(0.7)


def test_the_arm_that_bears_it_does_not_stop_it_and_its_tool_does(world):
    groups, flange = world.model.geom_group.copy(), world.flange_pose("arm")
    z = flange.rotation_matrix[:, 2]
    assert z == pytest.approx([0, 0, -1], abs=0.02)
    within = flange.apply([0.035, 0, -0.01])  # near the rim of the last link, beside what the gripper begins with
    assert world.ray(within, z) == pytest.approx(0.01)  # the link's own face, from inside
    assert world.ray(within, z, mounted_on="arm") == pytest.approx(0.057, abs=0.001)  # the gripper's body
    beside_m = world.ray(flange.apply([0.15, 0, 0]), z, mounted_on="arm")
    assert beside_m == pytest.approx(flange.apply([0.15, 0, 0])[2] / -z[2])
    base = world.data.body("arm/base").xpos
    above = base + [0, 0, 0.1]
    assert world.ray(above + [1, 0, 0], [-1, 0, 0]) < 1.0
    assert world.ray(above + [1, 0, 0], [-1, 0, 0], mounted_on="arm") is None
    assert np.array_equal(world.model.geom_group, groups)


def test_the_flange_is_where_the_tool_begins(world):
    flange, tcp = world.flange_pose("arm"), world.tcp_pose("arm")
    along = flange.inverse().apply(tcp.position)
    assert along == pytest.approx(world.robot("arm").tcp_in_flange_m, abs=1e-9)


def test_a_ray_looks_at_this_moment(world):
    start = world.snapshot()
    before = world.ray([0.3, 0, 5], [0, 0, -1])
    world.data.qpos[world.robot("arm").qpos[0]] += 1.0  # the arm swings away
    assert world.ray([0.3, 0, 5], [0, 0, -1]) > before + 0.3
    world.restore(start)


@pytest.mark.parametrize("direction", [[0, 0, 0], [0, 1], [np.inf, 0, 0], [np.nan, 0, 0]])
def test_a_direction_that_is_none_is_refused(world, direction):
    with pytest.raises(BadInput, match="direction of a ray should be three numbers"):
        world.ray([0, 0, 1], direction)


def test_an_unknown_robot_is_refused(world):
    for use in (lambda: world.flange_pose("leg"), lambda: world.ray([0, 0, 1], [0, 0, 1], mounted_on="leg")):
        with pytest.raises(UnknownName, match=r"unknown robot 'leg' \(available: arm\)"):
            use()
