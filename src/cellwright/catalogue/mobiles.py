"""The figures of a robot on two driven wheels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi

from cellwright.catalogue.cameras import CameraFigures
from cellwright.catalogue.figures import Figures

__all__ = ["LedFigures", "MobileFigures", "ProximityFigures", "SkidFigures"]

Colour = tuple[float, float, float]
Size2 = tuple[float, float]
Size3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class SkidFigures:
    """A round foot on which the robot slides; its height over the floor is that of a robot with level wheels."""

    xy_m: Size2
    radius_m: float
    clearance_m: float


@dataclass(frozen=True, kw_only=True)
class ProximityFigures:
    """The place of a proximity sensor, and its direction, counter-clockwise from straight ahead."""

    name: str
    xyz_m: Size3
    yaw_rad: float


@dataclass(frozen=True, kw_only=True)
class LedFigures:
    """A lamp: its place, and its colour when it is on."""

    name: str
    xyz_m: Size3
    colour: Colour


@dataclass(frozen=True, kw_only=True)
class MobileFigures(Figures):
    """A small round robot with two wheels on one axle. Its frame is on the floor below the axle's middle, x ahead.

    Attributes:
        radius_m: Largest radius, seen from above.
        height_m: From the floor to the top.
        underside_m: Height of the body's lower face over the floor.
        body_mass_kg: Of everything but the wheels.
        body_com_xyz_m: Centre of that mass.
        body_inertia_diagonal_kgm2: About it.
        wheel_radius_m: Nominal radius of the wheels: what controllers compute with.
        wheel_base_m: Nominal distance of the points where the wheels touch the floor.
        wheel_width_m: Width of a wheel.
        wheel_mass_kg: Mass of one wheel.
        wheel_friction: Of the tyres on the floor.
        wheel_radius_sd_m: By how much single wheels differ from the nominal radius.
        wheel_base_sd_m: By how much single robots differ from the nominal base.
        slip_m: Variance per metre of travel of a wheel's travel, in m.
        skids: The feet on which it stands besides its wheels.
        steps_per_turn: Steps of a motor in one turn of its wheel; the wheel's encoder counts them.
        max_steps_per_s: Fastest that the motors are driven.
        max_acceleration_radps2: How fast the drive changes the speed of a wheel.
        motor_torque_nm: Largest torque at a wheel.
        motor_stiffness_nm_per_rad: Torque of a motor for every rad that its wheel is behind the commanded angle.
        motor_damping_nms_per_rad: Torque of a motor for every rad/s that its wheel is off the commanded speed.
        speed_ripple: Amplitude by which a motor's speed ripples once per cycle of four steps, as a share.
        rotor_inertia_kgm2: Of motor and gear, as felt at the wheel.
        proximity: The proximity sensors, in the order of their numbers.
        proximity_range_m: Nearest and farthest that they tell apart.
        proximity_fov_rad: Angle of their cone.
        camera: The camera that looks ahead.
        imu_xyz_m: Place of accelerometer and gyroscope.
        leds: The lamps, in the order of their numbers.
        colours: Finish name -> red, green, blue, 0 to 1.
    """

    radius_m: float
    height_m: float
    underside_m: float
    body_mass_kg: float
    body_com_xyz_m: Size3
    body_inertia_diagonal_kgm2: Size3
    wheel_radius_m: float
    wheel_base_m: float
    wheel_width_m: float
    wheel_mass_kg: float
    wheel_friction: float
    wheel_radius_sd_m: float
    wheel_base_sd_m: float
    slip_m: float
    skids: tuple[SkidFigures, ...]
    steps_per_turn: int
    max_steps_per_s: int
    max_acceleration_radps2: float
    motor_torque_nm: float
    motor_stiffness_nm_per_rad: float
    motor_damping_nms_per_rad: float
    speed_ripple: float
    rotor_inertia_kgm2: float
    proximity: tuple[ProximityFigures, ...]
    proximity_range_m: Size2
    proximity_fov_rad: float
    camera: CameraFigures
    imu_xyz_m: Size3
    leds: tuple[LedFigures, ...]
    colours: Mapping[str, Colour]

    @property
    def step_rad(self) -> float:
        """The rotation of a wheel in one step."""
        return 2 * pi / self.steps_per_turn

    @property
    def max_speed_radps(self) -> float:
        """The highest speed of a wheel."""
        return self.max_steps_per_s * self.step_rad

    @property
    def max_speed_mps(self) -> float:
        """The highest speed straight ahead, by its nominal wheels."""
        return self.max_speed_radps * self.wheel_radius_m
