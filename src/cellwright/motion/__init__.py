"""Kinematics, dynamics and trajectories of arms, from their catalogue figures."""

from cellwright.motion.dynamics import ArmDynamics, DynamicsTerms, Load
from cellwright.motion.follower import JointSample, PathFollower, RunState, StopCategory
from cellwright.motion.interpolation import CartesianSample, CartesianTrajectory, blended, linear
from cellwright.motion.kinematics import ArmKinematics, Choice, Unreachable
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.profile import JointMove, LineMove, LineSpeed, Motion, PathMotion
from cellwright.motion.queue import MotionQueue
from cellwright.motion.timing import TimedPath

__all__ = [
    "ArmDynamics",
    "ArmKinematics",
    "CartesianSample",
    "CartesianTrajectory",
    "Choice",
    "DynamicsTerms",
    "JointLimits",
    "JointMove",
    "JointSample",
    "LineMove",
    "LineSpeed",
    "Load",
    "Motion",
    "MotionQueue",
    "PathFollower",
    "PathLimits",
    "PathMotion",
    "RunState",
    "StopCategory",
    "TimedPath",
    "Unreachable",
    "blended",
    "linear",
]
