"""The place of a sensor: fixed in the cell, on a robot's flange, or on a mobile robot."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from cellwright.core.config import Cfg
from cellwright.core.pose import Pose
from cellwright.sim import World

__all__ = ["MountCfg", "mount_pose"]

Coordinate = Annotated[float, Field(ge=-100, le=100)]
Vector = tuple[Coordinate, Coordinate, Coordinate]


class MountCfg(Cfg):
    """A place in the cell, or on a robot.

    Attributes:
        robot: The robot on whose flange it is, or the mobile robot that carries it; none for one that is fixed.
        xyz_m: Its place: in the frame of that flange or of that robot, or else in the cell's.
        rpy_deg: Its turn there.
    """

    robot: str | None = None
    xyz_m: Vector
    rpy_deg: tuple[float, float, float] = (0.0, 0.0, 0.0)


def mount_pose(world: World, cfg: MountCfg) -> Pose:
    """Returns where a sensor really is at this moment."""
    own = Pose.from_xyz_rpy(cfg.xyz_m, np.radians(cfg.rpy_deg))
    if cfg.robot is None:
        return own
    return (world.pose_of(cfg.robot) if cfg.robot in world.mobiles else world.flange_pose(cfg.robot)) @ own
