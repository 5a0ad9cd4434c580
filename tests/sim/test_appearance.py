"""What is seen follows what is touched."""

import mujoco
import numpy as np

from cellwright.core import Pose
from cellwright.models import GeomGroup
from cellwright.sim import World


def body_poses(model, data):
    return {model.body(i).name: (data.xpos[i].copy(), data.xquat[i].copy()) for i in range(1, model.nbody)}


def assert_alike(world: World) -> None:
    mujoco.mj_kinematics(world.model, world.data)
    touched, seen = body_poses(world.model, world.data), body_poses(*world.appearance.now())
    assert touched.keys() == seen.keys()
    for name, (position, quaternion) in touched.items():
        np.testing.assert_array_equal(position, seen[name][0], err_msg=name)
        np.testing.assert_array_equal(quaternion, seen[name][1], err_msg=name)


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
