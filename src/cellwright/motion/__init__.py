"""Kinematics and trajectories of arms, from their catalogue figures."""

from cellwright.motion.kinematics import ArmKinematics, Unreachable
from cellwright.motion.profile import JointMove, LineMove, LineSpeed, Motion

__all__ = ["ArmKinematics", "JointMove", "LineMove", "LineSpeed", "Motion", "Unreachable"]
