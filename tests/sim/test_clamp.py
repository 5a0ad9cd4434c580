"""Clamped trays: held by a weld, as hard as the walls of their slots."""

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.sim import World


def world_of(*, clamped):
    tray = {"model": "kit_m2l1_plug_tray", "pose": {"xyz_m": [0.4, 0.2, 0], "rpy_deg": [0, 0, 30]}, "clamped": clamped}
    floor = {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}}
    return World(Cell.model_validate({"name": "one", "title": "", "fixtures": floor, "trays": {"kit": tray}}))


def pulled_m(world, force_n):
    start = world.pose_of("kit")
    body = world.objects["kit"].body
    world.data.xfrc_applied[body, :3] = force_n
    world.engine.step(100)
    world.data.xfrc_applied[body] = 0.0
    return world.pose_of("kit").position - start.position


def test_a_clamped_tray_gives_way_by_micrometres_where_a_loose_one_is_carried_off():
    assert np.linalg.norm(pulled_m(world_of(clamped=False), [10.0, 0.0, 0.0])) > 0.05
    assert np.linalg.norm(pulled_m(world_of(clamped=True), [10.0, 0.0, 20.0])) < 1e-5


def test_a_clamped_tray_that_is_placed_elsewhere_is_clamped_there():
    world = world_of(clamped=True)
    there = Pose.from_xyz_rpy([0.7, 0.2, 0.0], [0, 0, 1.0])
    world.place("kit", there)
    assert np.linalg.norm(pulled_m(world, [10.0, 5.0, 20.0])) < 1e-5
    assert world.pose_of("kit").distance_m(there) < 5e-5
    world.add("other", "kit_m2l1_tray", Pose.from_xyz_rpy([-0.5, 0.0, 0.0]))  # makes the model anew
    world.engine.step(50)
    assert world.pose_of("kit").distance_m(there) < 5e-5
    world.remove("kit")
    assert world.model.neq == 0


def test_a_clamped_tray_comes_to_rest_and_sleeps():
    world = world_of(clamped=True)
    assert world.settle(1.0)
    assert world.pose_of("kit").position[2] == pytest.approx(0.0, abs=2e-5)
