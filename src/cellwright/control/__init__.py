"""The robot controller: servos that follow trajectories, and the gripper."""

from cellwright.control.gripper import Gripper
from cellwright.control.robot import RobotController
from cellwright.control.servo import FollowingError, JointServo

__all__ = ["FollowingError", "Gripper", "JointServo", "RobotController"]
