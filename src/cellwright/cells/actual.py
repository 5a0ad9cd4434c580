"""Deviations of the actual layout of a cell from its drawings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from cellwright.core.config import Cfg, Number, draw
from cellwright.core.pose import Pose

__all__ = ["ActualCfg", "PoseErrorCfg", "draw_error"]


def _at_most(limit: float, least: float | None = None) -> Callable[[Number], Number]:
    """Returns a check that an error, or every figure of its distribution, is within a limit to both sides."""
    low = -limit if least is None else least

    def check(number: Number) -> Number:
        figures = [number] if isinstance(number, int | float) else number.model_dump(exclude={"distribution"}).values()
        for figure in figures:
            if not low <= figure <= limit:
                raise ValueError(f"should be between {low:g} and {limit:g}")
        return number

    return check


class PoseErrorCfg(Cfg):
    """The deviation of a pose from its drawing: numbers and standard deviations up to 1 m and 180 degrees.

    Attributes:
        x_m: Along the object's own x axis.
        y_m: Along its y axis.
        z_m: Along its z axis.
        yaw_deg: About its z axis.
    """

    x_m: Annotated[Number, AfterValidator(_at_most(1.0))] = 0.0
    y_m: Annotated[Number, AfterValidator(_at_most(1.0))] = 0.0
    z_m: Annotated[Number, AfterValidator(_at_most(1.0))] = 0.0
    yaw_deg: Annotated[Number, AfterValidator(_at_most(180.0))] = 0.0


Backlash = Annotated[Number, AfterValidator(_at_most(5.0, least=0.0))]


class ActualCfg(Cfg):
    """The errors from which the actual layout is drawn, once per seed; only the simulation knows the result.

    Attributes:
        robot_base: Of each robot's base.
        tool: Of each robot's tool on its flange.
        joint_zero_deg: Of the zero of each joint.
        backlash_deg: The whole play of a joint's gear, for every joint or one by one; a draw below zero counts as far
            above it.
        tray: Of each tray.
        camera: Of each camera.
        mobile: Of each mobile robot.
        wheel_radius_m: Of the radius of each wheel of a mobile robot.
        wheel_base_m: Of the distance of a mobile robot's wheels.
    """

    robot_base: PoseErrorCfg = PoseErrorCfg()
    tool: PoseErrorCfg = PoseErrorCfg()
    joint_zero_deg: Annotated[Number, AfterValidator(_at_most(10.0))] = 0.0
    backlash_deg: Backlash | tuple[Backlash, ...] = 0.0
    tray: PoseErrorCfg = PoseErrorCfg()
    camera: PoseErrorCfg = PoseErrorCfg()
    mobile: PoseErrorCfg = PoseErrorCfg()
    wheel_radius_m: Annotated[Number, AfterValidator(_at_most(0.1))] = 0.0
    wheel_base_m: Annotated[Number, AfterValidator(_at_most(0.1))] = 0.0


def draw_error(errors: PoseErrorCfg, rng: np.random.Generator) -> Pose:
    """Returns one draw of an object's deviation from its drawing, in its own frame."""
    xyz = [draw(errors.x_m, rng), draw(errors.y_m, rng), draw(errors.z_m, rng)]
    return Pose.from_xyz_rpy(xyz, [0, 0, np.radians(draw(errors.yaw_deg, rng))])
