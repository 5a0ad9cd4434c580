"""Who has the drives: controllers come and go, and nothing of them stays behind."""

import gc
import weakref

import numpy as np

from cellwright.core.pose import Pose
from cellwright.motion import Payload


def test_replaced_controllers_leave_nothing_behind(lab):
    """The world calls one function per arm when its arrays are replaced, however often the controller was changed."""
    arm, world = lab.robots["arm"], lab.world
    bound = len(world._rebuilt)
    old = []
    for number in range(12):
        old.append(weakref.ref(arm._servo.controller))
        if number % 3:
            arm.use_controller(("pid", "computed_torque")[number % 2])
        else:
            arm.set_payload(Payload(0.1 * number))
        lab.advance(0.05)
    assert len(world._rebuilt) == bound
    gc.collect()
    assert not any(reference() for reference in old)


def test_the_present_controller_learns_where_the_drives_are_now(lab):
    arm, world = lab.robots["arm"], lab.world
    for _ in range(2):
        arm.use_controller("pid")
        arm.use_controller("computed_torque")
    lab.advance(0.2)
    here = arm.joints_rad
    world.add("gear", "medium_gear", Pose.from_xyz_rpy([0.8, 0.8, 0.02]))  # the world's arrays are replaced
    row = arm._servo.controller.row
    assert row["qpos"] == arm._servo.drive.qpos.ctypes.data
    lab.advance(0.5)
    assert np.abs(arm.joints_rad - here).max() < 1e-3
