"""The message types of the bus: the data contract between sensors, perception, planning and control."""

from cellwright.core.messages.base import Message
from cellwright.core.messages.camera import CameraInfo, CameraPose, Depth, Image, PointCloud, Segmentation
from cellwright.core.messages.command import LedCommand, VelocityCommand
from cellwright.core.messages.robot import IoState, JointState, SafetyStatus, ToolStatus
from cellwright.core.messages.sensing import (
    Battery,
    Beam,
    Encoder,
    Imu,
    InfraredReading,
    LaserScan,
    Odometry,
    Range,
    Wrench,
)
from cellwright.core.messages.targets import ShadowReport, TargetEvent, TargetStatus
from cellwright.core.messages.truth import FaultEvent, JointTruth, JudgeEvent, LookTruth, Verdict, WorldTruth
from cellwright.core.messages.vision import Detections, Tracks
from cellwright.core.messages.work import ActionEvent, BeliefChange, CrclCommand, CrclStatus, Order, Plan

__all__ = [
    "ActionEvent",
    "Battery",
    "Beam",
    "BeliefChange",
    "CameraInfo",
    "CameraPose",
    "CrclCommand",
    "CrclStatus",
    "Depth",
    "Detections",
    "Encoder",
    "FaultEvent",
    "Image",
    "Imu",
    "InfraredReading",
    "IoState",
    "JointState",
    "JointTruth",
    "JudgeEvent",
    "LaserScan",
    "LedCommand",
    "LookTruth",
    "Message",
    "Odometry",
    "Order",
    "Plan",
    "PointCloud",
    "Range",
    "SafetyStatus",
    "Segmentation",
    "ShadowReport",
    "TargetEvent",
    "TargetStatus",
    "ToolStatus",
    "Tracks",
    "VelocityCommand",
    "Verdict",
    "WorldTruth",
    "Wrench",
]
