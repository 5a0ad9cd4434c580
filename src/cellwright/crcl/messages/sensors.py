"""The statuses of sensors, and of the guards that watch them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from cellwright.crcl.messages.base import DataThing
from cellwright.crcl.messages.data import Guard, ParameterSetting, Pose
from cellwright.crcl.types import Boolean, Double, Int, Long, Token

__all__ = [
    "CountSensorStatus",
    "ForceTorqueSensorStatus",
    "GuardsStatuses",
    "OnOffSensorStatus",
    "ScalarSensorStatus",
    "SensorStatus",
    "SensorStatuses",
]


@dataclass(frozen=True, slots=True)
class SensorStatus(DataThing):
    """The common part of sensor statuses: how often it was read, and when last in milliseconds since 1970."""

    sensor_id: Token
    read_count: Int
    last_read_time: Long
    _: KW_ONLY
    sensor_parameter_setting: tuple[ParameterSetting, ...] = ()


@dataclass(frozen=True, slots=True)
class OnOffSensorStatus(SensorStatus):
    """A switch."""

    on: Boolean


@dataclass(frozen=True, slots=True)
class ScalarSensorStatus(SensorStatus):
    """A sensor with one number; the element's name ends in a dot."""

    scalar_value: Double = field(metadata={"element": "ScalarValue."})


@dataclass(frozen=True, slots=True)
class CountSensorStatus(SensorStatus):
    """A counter; the element's name ends in a dot."""

    count_value: Int = field(metadata={"element": "CountValue."})


@dataclass(frozen=True, slots=True)
class ForceTorqueSensorStatus(SensorStatus):
    """Forces in newton and torques in newton metre, whatever the units of the session."""

    fx: Double
    fy: Double
    fz: Double
    tx: Double
    ty: Double
    tz: Double


@dataclass(frozen=True, slots=True)
class SensorStatuses(DataThing):
    """The sensors, by kind."""

    _: KW_ONLY
    on_off_sensor_status: tuple[OnOffSensorStatus, ...] = ()
    scalar_sensor_status: tuple[ScalarSensorStatus, ...] = ()
    count_sensor_status: tuple[CountSensorStatus, ...] = ()
    force_torque_sensor_status: tuple[ForceTorqueSensorStatus, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardsStatuses(DataThing):
    """The guards, how often one triggered, how long stopping took, and with which value and where it was."""

    _: KW_ONLY
    guard: tuple[Guard, ...] = ()
    trigger_count: Int
    trigger_stop_time_micros: Long
    trigger_value: Double | None = None
    trigger_pose: Pose | None = None
