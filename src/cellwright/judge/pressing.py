"""Pressing a gear upright: how it stands after its raised rim was pressed down, by the physics of the world.

A gear on its cone, or on the edge of a slot, may lean so that no hand gets along its peg. Closed fingers that press its
rim down set it upright, or less askew, unless it lies upside down or something is below it. A perfect controller does
that before it takes the gear.
"""

from __future__ import annotations

from copy import copy

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, GripperFigures
from cellwright.core.pose import Pose
from cellwright.judge.seating import lean_rad
from cellwright.sim import World

__all__ = ["Pressing"]

Array = npt.NDArray[np.float64]

RIM_SHARE = 0.8  # of the tip radius: where the fingers press
ABOVE_M = 0.001  # of the fingers over what they press
MOST_N = 4.0  # with which they press
RAMP_S = 0.5  # within which the force grows to that, on what does not give way
PRESS_MPS = 0.03  # at which fingers go down: what is faster is not pressed
PRESS_S = 1.0
SETTLE_S = 0.3  # for the gear to come to rest without fingers
UPRIGHT_RAD = np.radians(3.0)


class Pressing:
    """The gear of a world after a press, which the world itself does not see.

    Args:
        world: What is really there; it is left as it is.
        name: The gear.

    Attributes:
        data: All things as they are then.
        pose: How the gear stands then; None when pressing does not set it less askew.
    """

    def __init__(self, world: World, name: str) -> None:
        self._world, self._item = world, world.objects[name]
        self._start = world.pose_of(name)
        self.data = copy(world.data)
        self.pose: Pose | None = None
        gear = self._item.figures
        if isinstance(gear, GearFigures) and UPRIGHT_RAD < lean_rad(self._start) < np.pi / 2:
            self._point_in_gear = _raised_rim(self._start, gear)
            self._press()
            if lean_rad(self._pose()) < lean_rad(self._start) - UPRIGHT_RAD:
                self.pose = self._pose()

    def fingers(self, tool: GripperFigures) -> list[Pose]:
        """Returns the poses of a tool's centre point over the raised rim, when the press begins and when it ends."""
        assert self.pose is not None
        tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2  # below the tool's centre point
        points = [pose.apply(self._point_in_gear) for pose in (self._start, self.pose)]
        along_rad = float(np.arctan2(*(points[0] - self._start.position)[1::-1])) + np.pi / 2
        return [Pose.from_xyz_rpy(p + [0, 0, ABOVE_M + tips_m], [np.pi, 0, along_rad]) for p in points]

    def _press(self) -> None:
        """Presses until the gear is upright or the time is over, and lets go."""
        model, data, body = self._world.model, self.data, self._item.body
        flags, step_s = model.opt.enableflags, model.opt.timestep
        model.opt.enableflags = flags & ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        try:
            force_n, last_m = 0.0, np.inf
            for _ in range(round(PRESS_S / step_s)):
                pose = self._pose()
                if lean_rad(pose) < UPRIGHT_RAD / 2:
                    break
                point = pose.apply(self._point_in_gear)
                is_fast = last_m - point[2] > PRESS_MPS * step_s
                force_n = 0.0 if is_fast else min(force_n + MOST_N * step_s / RAMP_S, MOST_N)
                last_m, force = point[2], np.array([0.0, 0.0, -force_n])
                data.xfrc_applied[body] = [*force, *np.cross(point - data.xipos[body], force)]
                self._step()
            data.xfrc_applied[body] = 0.0
            for _ in range(round(SETTLE_S / step_s)):
                self._step()
            mujoco.mj_kinematics(model, data)
        finally:
            model.opt.enableflags = flags

    def _step(self) -> None:
        """Goes on by a step; the arms stay where they are, as nobody commands them here."""
        data, robots = self.data, self._world.robots.values()
        stand = [data.qpos[robot.qpos].copy() for robot in robots]
        mujoco.mj_step(self._world.model, data)
        for robot, joints_rad in zip(robots, stand, strict=True):
            data.qpos[robot.qpos], data.qvel[robot.dof] = joints_rad, 0.0

    def _pose(self) -> Pose:
        return Pose(self.data.xpos[self._item.body], self.data.xquat[self._item.body])


def _raised_rim(pose: Pose, gear: GearFigures) -> Array:
    """Returns the highest point of a gear's rim, where fingers press, in its own frame."""
    up = pose.rotation_matrix[2, :2]
    side = up / max(float(np.linalg.norm(up)), 1e-9)
    return np.array([*(RIM_SHARE * gear.tip_radius_m * side), gear.disc_top_m])
