"""Sensors: readings from the world with rate, delay, noise and dropout."""

from cellwright.sensors.base import (
    SENSORS,
    Sensor,
    SensorCfg,
    SensorContext,
    check_line,
    make_sensor,
    sensor_label,
)
from cellwright.sensors.beams import BreakBeamSensor, LightCurtainSensor
from cellwright.sensors.cameras import ColorCamera, DepthCamera, SegmentationCamera, StereoCamera
from cellwright.sensors.check import check_sensor, sensor_problems
from cellwright.sensors.detector import Detector, DetectorCfg
from cellwright.sensors.image_camera import ImageCamera, ImageCameraCfg
from cellwright.sensors.image_noise import PICTURE_NOISES, PictureNoise
from cellwright.sensors.imu import ImuSensor
from cellwright.sensors.laser import LaserRangeSensor
from cellwright.sensors.logical_detector import LogicalDetector, LogicalDetectorCfg
from cellwright.sensors.loose_mount import LooseMount
from cellwright.sensors.mobile_senses import BatterySensor, GroundSensor, TimeOfFlightSensor
from cellwright.sensors.noise import Noise, NoiseCfg
from cellwright.sensors.overhead_detector import OverheadDetector, OverheadDetectorCfg
from cellwright.sensors.proximity import ProximitySensor
from cellwright.sensors.robot import JointStateSensor, ToolStatusSensor, WrenchSensor
from cellwright.sensors.scanner import LaserScannerSensor
from cellwright.sensors.schedule import schedule
from cellwright.sensors.wheels import EncoderSensor

__all__ = [
    "PICTURE_NOISES",
    "SENSORS",
    "BatterySensor",
    "BreakBeamSensor",
    "ColorCamera",
    "DepthCamera",
    "Detector",
    "DetectorCfg",
    "EncoderSensor",
    "GroundSensor",
    "ImageCamera",
    "ImageCameraCfg",
    "ImuSensor",
    "JointStateSensor",
    "LaserRangeSensor",
    "LaserScannerSensor",
    "LightCurtainSensor",
    "LogicalDetector",
    "LogicalDetectorCfg",
    "LooseMount",
    "Noise",
    "NoiseCfg",
    "OverheadDetector",
    "OverheadDetectorCfg",
    "PictureNoise",
    "ProximitySensor",
    "SegmentationCamera",
    "Sensor",
    "SensorCfg",
    "SensorContext",
    "StereoCamera",
    "TimeOfFlightSensor",
    "ToolStatusSensor",
    "WrenchSensor",
    "check_line",
    "check_sensor",
    "make_sensor",
    "schedule",
    "sensor_label",
    "sensor_problems",
]
