"""A person's hand that takes a part or a tray, moves it and lets it go: by forces, so that contacts matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.sim import World

__all__ = ["CarryMotion", "carry", "release"]

Array = npt.NDArray[np.float64]

PART_LIFT_M = 0.020  # out of a slot of 13 mm, below a gripper that waits 50 mm above
TRAY_LIFT_M = 0.006
DURATION_S = 0.4
STIFFNESS_RADPS = 60.0  # of the grip, as the natural frequency of what is held
LIMIT_N = 20.0


@dataclass(frozen=True)
class CarryMotion:
    """One motion of a part or a tray by a person's hand.

    Attributes:
        name: What is moved.
        start_s: When it began.
        pose_start: The pose at which it was taken.
        pose_end: The pose at which it is let go.
    """

    name: str
    start_s: float
    pose_start: Pose
    pose_end: Pose

    def pose_at(self, fraction: float, lift_m: float) -> Pose:
        """Returns the pose at a time: up, across and down, overlapping."""
        pose = self.pose_start.interpolate(self.pose_end, _smooth((fraction - 0.15) / 0.7))
        up_m = lift_m * min(_smooth(fraction / 0.3), _smooth((1 - fraction) / 0.3))
        return Pose(pose.position + np.array([0.0, 0.0, up_m]), pose.quaternion)


def carry(world: World, motion: CarryMotion) -> bool:
    """Pulls the thing towards where it should be now, until the next physics step; false when the motion is over."""
    fraction = (world.clock.time_s - motion.start_s) / DURATION_S
    if fraction >= 1:
        release(world, motion.name)
        return False
    item, model, data = world.objects[motion.name], world.model, world.data
    wanted = motion.pose_at(fraction, TRAY_LIFT_M if item.is_tray else PART_LIFT_M)
    pose, mass_kg = world.pose_of(motion.name), float(model.body_mass[item.body])
    turn = pose.rotation_matrix
    arm_m = turn @ model.body_ipos[item.body]
    spin_radps = turn @ data.qvel[item.dof + 3 : item.dof + 6]
    velocity_mps = data.qvel[item.dof : item.dof + 3] + np.cross(spin_radps, arm_m)
    error_m = wanted.apply(model.body_ipos[item.body]) - pose.position - arm_m
    pull = STIFFNESS_RADPS**2 * error_m - 2 * STIFFNESS_RADPS * velocity_mps
    force_n = np.clip(mass_kg * pull, -LIMIT_N, LIMIT_N) - mass_kg * model.opt.gravity
    twist = rotation.vector_from_quaternion(rotation.multiply(wanted.quaternion, pose.inverse().quaternion))
    spring = STIFFNESS_RADPS**2 * twist - 2 * STIFFNESS_RADPS * spin_radps
    data.xfrc_applied[item.body, :3] = force_n
    data.xfrc_applied[item.body, 3:] = float(model.body_inertia[item.body].max()) * spring
    return True


def release(world: World, name: str) -> None:
    """Lets go."""
    world.data.xfrc_applied[world.objects[name].body] = 0.0


def _smooth(fraction: float) -> float:
    """Returns a smooth step from 0 to 1, at rest at both ends."""
    x = min(max(fraction, 0.0), 1.0)
    return x * x * x * (10 + x * (6 * x - 15))
