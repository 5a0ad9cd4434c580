"""The kinematics of the example arm: three sliding joints, then yaw, pitch and roll of a tool that points down."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from cellwright.core.pose import Pose
from cellwright.crcl.robot import BeyondLimit, JointFacts
from cellwright.crcl.units import Quantity

__all__ = ["GANTRY_JOINTS", "forward", "inverse"]

Joints: TypeAlias = "tuple[float, ...]"

GANTRY_JOINTS = (
    JointFacts("x", -0.2, 1.0, 1.0, 500.0, is_linear=True),
    JointFacts("y", -0.6, 0.6, 1.0, 500.0, is_linear=True),
    JointFacts("z", -0.2, 0.8, 1.0, 500.0, is_linear=True),
    JointFacts("yaw", math.radians(-170), math.radians(170), math.pi, 20.0),
    JointFacts("pitch", math.radians(-80), math.radians(80), math.pi, 20.0),
    JointFacts("roll", math.radians(-170), math.radians(170), math.pi, 20.0),
)
"""Limits and speeds; nothing that exists has them."""

_TOOL_DOWN = Pose.from_xyz_rpy((0.0, 0.0, 0.0), (math.pi, 0.0, 0.0))
_ROUNDING = 1e-9


def forward(joints: Joints) -> Pose:
    """Returns the tool in the base frame."""
    x, y, z, yaw, pitch, roll = joints
    return Pose.from_xyz_rpy((x, y, z), (roll, pitch, yaw)) @ _TOOL_DOWN


def inverse(pose_tool_in_base: Pose) -> Joints:
    """Returns the joints for a pose; there is one set of them.

    Raises:
        BeyondLimit: A joint would be outside its limits.
    """
    upright = pose_tool_in_base @ _TOOL_DOWN.inverse()
    roll, pitch, yaw = upright.rpy.tolist()
    joints = (*upright.position.tolist(), yaw, pitch, roll)
    for number, (facts, value) in enumerate(zip(GANTRY_JOINTS, joints, strict=True), 1):
        limit = float(np.clip(value, facts.min_position, facts.max_position))
        if abs(value - limit) > _ROUNDING:
            raise BeyondLimit(f"Joint {number}", value, limit, Quantity.JOINT, linear=facts.is_linear)
    return joints
