"""The robot controller: drives, control laws, motions and their ends, the gripper."""

from cellwright.control.controller import CONTROLLERS, Controller, ControllerContext
from cellwright.control.differential_drive import DifferentialDrive, DifferentialDrives, DriveEstimate
from cellwright.control.drive import CommandMode, Drive
from cellwright.control.gripper import GraspResult, GraspStatus, Gripper
from cellwright.control.io import DigitalIo
from cellwright.control.joint_stream import JointStream
from cellwright.control.model_based import CartesianController, ComputedTorqueController
from cellwright.control.pid import PidController
from cellwright.control.projector import ProjectorSwitch
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
from cellwright.control.tool import ToolController
from cellwright.control.tool_changer import NoToolThere, ToolChanger
from cellwright.control.tracking import TrackingResult, tracking_study
from cellwright.control.vacuum import Vacuum

__all__ = [
    "CONTROLLERS",
    "CartesianController",
    "Collision",
    "CollisionLimits",
    "CommandMode",
    "ComputedTorqueController",
    "Controller",
    "ControllerContext",
    "DifferentialDrive",
    "DifferentialDrives",
    "DigitalIo",
    "Drive",
    "DriveEstimate",
    "FollowingError",
    "GraspResult",
    "GraspStatus",
    "Gripper",
    "JointServo",
    "JointStream",
    "MotionStopped",
    "NoToolThere",
    "NotReady",
    "PidController",
    "ProjectorSwitch",
    "RobotController",
    "RobotState",
    "SafetyController",
    "StopCategory",
    "ToolChanger",
    "ToolController",
    "TrackingResult",
    "Vacuum",
    "tracking_study",
]
