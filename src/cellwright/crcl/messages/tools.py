"""Commands to what the robot carries and what watches it: end effectors, tool changer, grippers, sensors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from cellwright.crcl.messages.commands import MiddleCommand
from cellwright.crcl.messages.data import ParameterSetting
from cellwright.crcl.types import AtLeast, Fraction, NmToken, Token

__all__ = [
    "CloseToolChanger",
    "DisableGripper",
    "DisableSensor",
    "EnableGripper",
    "EnableSensor",
    "OpenToolChanger",
    "SetEndEffector",
    "SetEndEffectorParameters",
]


@dataclass(frozen=True, slots=True)
class SetEndEffector(MiddleCommand):
    """Sets the end effector to a fraction of its full opening, force or power; above 0 means on where only two are."""

    setting: Fraction


@dataclass(frozen=True, slots=True)
class SetEndEffectorParameters(MiddleCommand):
    """Sets parameters that the mounted end effector knows."""

    parameter_setting: Annotated[tuple[ParameterSetting, ...], AtLeast(1)]


@dataclass(frozen=True, slots=True)
class OpenToolChanger(MiddleCommand):
    """Lets the end effector go, if the robot stands at a holder."""


@dataclass(frozen=True, slots=True)
class CloseToolChanger(MiddleCommand):
    """Takes the end effector of the holder at which the robot stands."""


@dataclass(frozen=True, slots=True)
class EnableGripper(MiddleCommand):
    """Begins to report a gripper."""

    gripper_name: NmToken
    _: KW_ONLY
    gripper_option: tuple[ParameterSetting, ...] = ()


@dataclass(frozen=True, slots=True)
class DisableGripper(MiddleCommand):
    """Ceases to report a gripper."""

    gripper_name: NmToken


@dataclass(frozen=True, slots=True)
class EnableSensor(MiddleCommand):
    """Begins to read and report a sensor."""

    sensor_id: Token
    _: KW_ONLY
    sensor_option: tuple[ParameterSetting, ...] = ()


@dataclass(frozen=True, slots=True)
class DisableSensor(MiddleCommand):
    """Ceases to read and report a sensor."""

    sensor_id: Token
