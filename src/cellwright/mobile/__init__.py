"""Control programs of mobile robots, which know readings alone, and the robots over bus, rosbridge or rospy."""

from cellwright.mobile.behaviours import (
    BEHAVIOURS,
    AvoidObstacles,
    Behaviour,
    FollowByRange,
    FollowByTransform,
    FollowWall,
    SquareByOdometry,
    SquareByTime,
)
from cellwright.mobile.bus_robot import BusRobot
from cellwright.mobile.readings import FrameTree, RobotReadings
from cellwright.mobile.ros_robot import RosbridgeRobot, RospyRobot, RosRobot

__all__ = [
    "BEHAVIOURS",
    "AvoidObstacles",
    "Behaviour",
    "BusRobot",
    "FollowByRange",
    "FollowByTransform",
    "FollowWall",
    "FrameTree",
    "RobotReadings",
    "RosRobot",
    "RosbridgeRobot",
    "RospyRobot",
    "SquareByOdometry",
    "SquareByTime",
]
