"""Profiles of mobile robots: which of the drivers and simulation packages of one robot a laboratory behaves as.

A control program is written against a driver: its topics, types, units, gains, frames, rates. Those of the e-puck
disagree about nearly all of that, so each profile follows one of them. Inside the laboratory a topic is always
`/<robot>/<name>` in SI units; a profile's names, gains and signs are applied at the border to ROS programs alone. What
a profile says of sensors are lines as in a cell's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi
from types import MappingProxyType
from typing import Any, Literal

from cellwright.core.registry import Registry

__all__ = ["GROUND_TABLE", "MOBILE_PROFILES", "PROXIMITY_TABLE", "MobileProfile"]

PROXIMITY_TABLE = (
    (0.0, 4095.0, 0.002),
    (0.005, 2133.33, 0.003),
    (0.010, 1465.73, 0.007),
    (0.015, 601.46, 0.0406),
    (0.020, 383.84, 0.01472),
    (0.030, 234.93, 0.0241),
    (0.040, 158.03, 0.0287),
    (0.050, 120.0, 0.0423),
    (0.060, 104.09, 0.0307),
    (0.070, 67.19, 0.049),
)
"""Response of an infrared proximity sensor: distance in m, counts, standard deviation as a share of them. Measured on
a real e-puck; the table of the Webots model and, to 5 cm, of the ROS 2 driver."""
GROUND_TABLE = ((0.0, 1000.0, 0.1), (0.016, 300.0, 0.1))
"""Response of a ground sensor over a white floor, in the same form and from the same sources."""

Line = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class MobileProfile:
    """The conventions of one driver of a mobile robot.

    Attributes:
        name: The key under which cells refer to it.
        follows: The driver or package that it follows.
        sensors: Its sensors, as lines of a cell's file.
        topics: Name of a topic in the laboratory, without its robot -> that of the driver; others keep their names.
        frames: Name of a frame, without its robot -> that of the driver.
        velocity_topic: The topic of speeds.
        linear_gain: Metres a second of the robot for one unit of a Twist's `linear.x`.
        angular_gain: Radians a second for one unit of its `angular.z`.
        cuts_wheels_alone: Whether a wheel that is told more than it can is cut down by itself, so that an arc becomes
            another one; else both are.
        led_topic: The topic of an array with the states of LEDs; empty for none.
        led_numbers: The LEDs of that array, in its order.
        led_values: What a value means: `toggle` 0 off, 1 on, 2 the other one of the two; `one` on if it is 1; `nonzero`
            on if it is not 0.
        rgb_topic: The topic of an array with red, green and blue, 0 to 100, of the LEDs `rgb_numbers`; empty for none.
        rgb_numbers: The LEDs whose colour can be set.
        single_leds: Whether each LED has a topic `led<number>`: a Bool, or an Int32 `0xRRGGBB` for those of any colour.
        imu_signs: Sign with which the accelerations along x, y and z are told.
        has_gyroscope: Whether turn rates are told; else they are 0.
        imu_variance: The variance that is told for every axis, whatever the noise is; None for the sensor's own.
        imu_frame: The frame that is told.
    """

    name: str
    follows: str
    sensors: tuple[Line, ...]
    topics: Mapping[str, str] = field(default_factory=dict)
    frames: Mapping[str, str] = field(default_factory=dict)
    velocity_topic: str
    linear_gain: float
    angular_gain: float
    cuts_wheels_alone: bool = True
    led_topic: str = ""
    led_numbers: tuple[int, ...] = ()
    led_values: Literal["toggle", "one", "nonzero"] = "toggle"
    rgb_topic: str = ""
    rgb_numbers: tuple[int, ...] = ()
    single_leds: bool = False
    imu_signs: tuple[float, float, float] = (1.0, 1.0, 1.0)
    has_gyroscope: bool = True
    imu_variance: float | None = None
    imu_frame: str = "base_link"


MOBILE_PROFILES: Registry[MobileProfile] = Registry("profile of mobile robots", "cellwright.mobile_profiles")
"""Name -> profile."""

SHARE_OF_NOISE, NOISE_MEAN_M, NOISE_SD_M = 0.16, 0.002, 0.001
"""Errors of ranges. The share is the paper's: 61 of 380 readings of a real e-puck's sensor 0, its worst, of nothing.
The paper gives neither mean nor standard deviation, and its script's default, 1 m, makes every error as large as the
range. 1 mm is what the response table gives at 5 cm: 4.2 % of the counts are 2.1 % of 0.5/sqrt(counts). Errors that
were seen all shortened the range; with a mean of two deviations 98 of 100 do."""
_PAPER_NOISE = {"probability": SHARE_OF_NOISE, "mean": NOISE_MEAN_M, "sd": NOISE_SD_M, "inward": True}
_VREP_PROXIMITY: Line = {
    "type": "proximity",
    "rate_hz": 20.0,  # V-REP steps 50 ms by default, and the package publishes in each
    "conversion": "distance",
    "range_m": (0.0015, 0.05),
    "fov_rad": 0.5236,
    "noise": _PAPER_NOISE,
}
_DRIVER_PROXIMITY: Line = {
    "type": "proximity",
    "rate_hz": 30.0,
    "conversion": "root",
    "range_m": (0.005, 0.05),
    "fov_rad": 0.26,
    "noise": _PAPER_NOISE,
    "scan": "front",
}
_ALL_LEDS = tuple(range(10))

MOBILE_PROFILES.add(
    "epuck1-si",
    MobileProfile(
        name="epuck1-si",
        follows="topics, frames and sensors of the paper's package for V-REP; units and signs of REP 103 and REP 145",
        sensors=(_VREP_PROXIMITY, {"type": "imu", "rate_hz": 20.0}),
        topics=MappingProxyType({"image_raw": "camera"}),
        velocity_topic="cmd_vel",
        linear_gain=1.0,
        angular_gain=1.0,
        cuts_wheels_alone=False,
        led_topic="cmd_led",
        led_numbers=_ALL_LEDS,
    ),
)
MOBILE_PROFILES.add(
    "epuck1-vrep",
    MobileProfile(
        name="epuck1-vrep",
        follows="the paper's package for V-REP, epuck_vrep_ros",
        sensors=(_VREP_PROXIMITY, {"type": "imu", "rate_hz": 20.0}),
        topics=MappingProxyType({"image_raw": "camera"}),
        velocity_topic="cmd_vel",
        # Its script divides 8.9 x - 26.5 z by 40 and takes that for rad/s of a wheel of 20 mm; 53 mm between wheels.
        linear_gain=8.9 / 40 * 0.020,
        angular_gain=0.5,
        led_topic="cmd_led",
        led_numbers=_ALL_LEDS[:9],
        led_values="one",
        imu_signs=(-1.0, -1.0, -1.0),  # the force on what carries the accelerometer's mass, not that on the mass
        imu_variance=0.01,
    ),
)
MOBILE_PROFILES.add(
    "epuck1-driver",
    MobileProfile(
        name="epuck1-driver",
        follows="the real robot's ROS 1 driver in C++, epuck_driver_cpp",
        sensors=(_DRIVER_PROXIMITY, {"type": "imu", "rate_hz": 30.0}),
        topics=MappingProxyType({"image_raw": "camera", "imu": "accel"}),
        velocity_topic="mobile_base/cmd_vel",
        # Steps a second of a wheel: (x - 2.65 z) / 3 / 4 * 1000, of which 1000 are a turn of 40 mm times pi.
        linear_gain=pi * 0.040 / 12,
        angular_gain=pi * 0.040 / 12 * 5.3 / 0.053,
        led_topic="mobile_base/cmd_led",
        led_numbers=_ALL_LEDS,
        has_gyroscope=False,
        imu_variance=0.01,
    ),
)
MOBILE_PROFILES.add(
    "epuck2",
    MobileProfile(
        name="epuck2",
        follows="the e-puck2's ROS 1 driver, the branch e-puck2 of epuck_driver_cpp",
        sensors=(
            _DRIVER_PROXIMITY,
            {"type": "imu", "rate_hz": 30.0},
            {"type": "ground", "rate_hz": 30.0},
            {"type": "time_of_flight", "rate_hz": 30.0, "range_m": (0.005, 2.0), "pitch_rad": -0.21, "fov_rad": 0.43},
            {"type": "battery", "rate_hz": 1.0},
        ),
        topics=MappingProxyType({"image_raw": "camera", "time_of_flight": "dist_sens"}),
        frames=MappingProxyType({"time_of_flight": "base_dist_sens"}),
        velocity_topic="mobile_base/cmd_vel",
        linear_gain=pi * 0.040 / 12,
        angular_gain=pi * 0.040 / 12 * 5.3 / 0.053,
        led_topic="mobile_base/cmd_led",
        led_numbers=(0, 2, 4, 6, 8, 9),
        led_values="nonzero",
        rgb_topic="mobile_base/rgb_leds",
        rgb_numbers=(1, 3, 5, 7),
        imu_variance=0.01,
    ),
)
_NUMBERS = range(8)
MOBILE_PROFILES.add(
    "epuck2-ros2",
    MobileProfile(
        name="epuck2-ros2",
        follows="the ROS 2 driver of an e-puck2 with a Pi-puck, epuck_ros2",
        sensors=(
            {
                "type": "proximity",
                "rate_hz": 15.625,
                "conversion": "table",
                "range_m": (0.009, 0.025),
                "fov_rad": 0.2618,
                "scan": "all_round",
            },
            {"type": "imu", "rate_hz": 15.625},
            {"type": "ground", "rate_hz": 15.625},
            {"type": "time_of_flight", "rate_hz": 15.625, "range_m": (0.005, 1.0), "fov_rad": 0.4363},
        ),
        topics=MappingProxyType(
            {
                "time_of_flight": "tof",
                **{f"proximity{n}": f"ps{n}" for n in _NUMBERS},
                **{f"ground{n}": f"gs{n}" for n in range(3)},
            }
        ),
        frames=MappingProxyType(
            {
                "time_of_flight": "tof",
                "base_laser": "laser_scanner",
                **{f"base_prox{n}": f"ps{n}" for n in _NUMBERS},
                **{f"base_ground{n}": f"gs{n}" for n in range(3)},
            }
        ),
        velocity_topic="cmd_vel",
        linear_gain=1.0,
        angular_gain=1.0,
        rgb_numbers=(1, 3, 5, 7),
        single_leds=True,
    ),
)
