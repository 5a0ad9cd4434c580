"""Kinematics, dynamics and trajectories of arms, from their catalogue figures."""

from cellwright.motion.cartesian_motion import CartesianMotion
from cellwright.motion.dynamics import ArmDynamics, DynamicsTerms, Payload
from cellwright.motion.follower import Follower, FollowerState, RunState, StopCategory
from cellwright.motion.grasps import Grasp, GraspKind, find_grasps
from cellwright.motion.interpolation import CartesianSample, CartesianTrajectory, blended, linear
from cellwright.motion.kinematics import ArmKinematics, IkSolution, Unreachable
from cellwright.motion.limits import JointLimits, PathLimits
from cellwright.motion.path import JointPath, LinePath, Path, PosePath
from cellwright.motion.path_follower import PathFollower
from cellwright.motion.profile import JointMove, LineMove, LineSpeed, Motion, PathMotion
from cellwright.motion.queue import MotionQueue
from cellwright.motion.sample import JointSample
from cellwright.motion.through import ThroughMove
from cellwright.motion.time_follower import TimeFollower, make_follower
from cellwright.motion.timing import TimedPath

__all__ = [
    "ArmDynamics",
    "ArmKinematics",
    "CartesianMotion",
    "CartesianSample",
    "CartesianTrajectory",
    "DynamicsTerms",
    "Follower",
    "FollowerState",
    "Grasp",
    "GraspKind",
    "IkSolution",
    "JointLimits",
    "JointMove",
    "JointPath",
    "JointSample",
    "LineMove",
    "LinePath",
    "LineSpeed",
    "Motion",
    "MotionQueue",
    "Path",
    "PathFollower",
    "PathLimits",
    "PathMotion",
    "Payload",
    "PosePath",
    "RunState",
    "StopCategory",
    "ThroughMove",
    "TimeFollower",
    "TimedPath",
    "Unreachable",
    "blended",
    "find_grasps",
    "linear",
    "make_follower",
]
