"""The robot controller: drives, control laws, motions and their ends, the gripper."""

from cellwright.control.control_block import Payload
from cellwright.control.controller import CONTROLLERS, Controller, ControllerSite
from cellwright.control.drive import CommandMode, Drive
from cellwright.control.gripper import Grasp, GraspStatus, Gripper
from cellwright.control.io import DigitalIo
from cellwright.control.model_based import CartesianController, ComputedTorqueController
from cellwright.control.pid import PidController
from cellwright.control.robot import RobotController
from cellwright.control.safety import SafetyController
from cellwright.control.servo import JointServo
from cellwright.control.state import (
    Collision,
    CollisionLimits,
    FollowingError,
    MotionStopped,
    NotReady,
    RobotState,
    StopCategory,
)
from cellwright.control.tracking import Tracking, tracking_study

__all__ = [
    "CONTROLLERS",
    "CartesianController",
    "Collision",
    "CollisionLimits",
    "CommandMode",
    "ComputedTorqueController",
    "Controller",
    "ControllerSite",
    "DigitalIo",
    "Drive",
    "FollowingError",
    "Grasp",
    "GraspStatus",
    "Gripper",
    "JointServo",
    "MotionStopped",
    "NotReady",
    "Payload",
    "PidController",
    "RobotController",
    "RobotState",
    "SafetyController",
    "StopCategory",
    "Tracking",
    "tracking_study",
]
