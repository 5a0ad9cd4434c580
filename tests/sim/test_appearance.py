"""What is seen follows what is touched."""

import mujoco
import numpy as np

from cellwright.core import Pose
from cellwright.models import GeomGroup
from cellwright.sim import World
from cellwright.sim.appearance import STEPS

WITHIN = 1e-5  # seven joints, each half a step of appearance off, and an arm of a metre and a half


def body_poses(model, data):
    return {model.body(i).name: (data.xpos[i].copy(), data.xquat[i].copy()) for i in range(1, model.nbody)}


def assert_alike(world: World) -> None:
    mujoco.mj_kinematics(world.model, world.data)
    touched, seen = body_poses(world.model, world.data), body_poses(*world.appearance.now())
    assert touched.keys() == seen.keys()
    for name, (position, quaternion) in touched.items():
        np.testing.assert_allclose(position, seen[name][0], atol=WITHIN, err_msg=name)
        np.testing.assert_allclose(quaternion, seen[name][1], atol=WITHIN, err_msg=name)


def test_physics_carries_nothing_that_is_only_seen(aprs):
    world = World(aprs, seed=1)
    seen, _ = world.appearance.now()
    assert (world.model.geom_group == GeomGroup.VISUAL).sum() == 0
    assert (seen.geom_group == GeomGroup.VISUAL).sum() > 100
    np.testing.assert_array_equal(world.model.body_mass, seen.body_mass)


def test_it_follows_motion_and_changes_of_the_model(aprs):
    world = World(aprs, seed=1)
    assert_alike(world)
    world.data.ctrl[world.robots["motoman"].ctrl_position] += 0.3
    world.engine.step(300)
    assert_alike(world)
    world.remove("medium_gear_2")
    world.add("extra", "large_gear", Pose.from_xyz_rpy([0.52, -1.40, 0.93]))
    world.engine.step(100)
    assert_alike(world)


def test_it_looks_the_same_until_something_moves_by_more_than_a_step_or_is_painted(aprs):
    world = World(aprs, seed=1)
    then = world.appearance.look()
    address = world.objects["medium_gear_2"].qpos
    world.data.qpos[address] = round(world.data.qpos[address] * STEPS) / STEPS
    settled = world.appearance.look()
    assert settled == then  # it was drawn there before
    world.data.qpos[address] += 0.2 / STEPS
    assert world.appearance.look() == then
    world.data.qpos[address] += 2 / STEPS
    moved = world.appearance.look()
    assert moved != then
    model, _ = world.appearance.now()
    model.light_diffuse[0] *= 0.5
    assert world.appearance.look() != moved
