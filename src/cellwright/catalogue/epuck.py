"""The e-puck: an educational robot of 7 cm with two stepper motors, eight proximity sensors and a ring of lamps.

Figures are those of the first e-puck, which the paper simulates. Where sources differ, the drivers of the real robot
come before other simulators.
"""

from __future__ import annotations

from math import cos, pi, radians, sin
from types import MappingProxyType

from cellwright.catalogue.cameras import CameraFigures
from cellwright.catalogue.mobiles import LedFigures, MobileFigures, ProximityFigures, SkidFigures

__all__ = ["EPUCK"]

_DRIVER = "the real robot's ROS 1 drivers"
_WEBOTS = "the Webots model of the e-puck"
_RED, _GREEN = (1.0, 0.10, 0.05), (0.15, 1.0, 0.20)
_SENSOR_Z_M = 0.034
_RIGHT = ((0.035, -0.010, -10.0), (0.025, -0.025, -40.0), (0.0, -0.030, -90.0), (-0.035, -0.020, -160.0))


def _proximity() -> tuple[ProximityFigures, ...]:
    """Returns the sensors clockwise from the front right: 0 to 3 on the right, 4 to 7 mirrored, back to front."""
    places = [*_RIGHT, *((x, -y, -yaw) for x, y, yaw in reversed(_RIGHT))]
    return tuple(
        ProximityFigures(name=f"prox{n}", xyz_m=(x, y, _SENSOR_Z_M), yaw_rad=radians(yaw))
        for n, (x, y, yaw) in enumerate(places)
    )


def _leds() -> tuple[LedFigures, ...]:
    """Returns the lamps: 0 to 7 in a ring, clockwise from the front; 8 lights up the body, 9 shines ahead."""
    ring = [
        LedFigures(name=f"led{n}", xyz_m=(0.034 * cos(n * pi / 4), -0.034 * sin(n * pi / 4), 0.0394), colour=_RED)
        for n in range(8)
    ]
    body = LedFigures(name="led8", xyz_m=(0.0, 0.0, 0.015), colour=_GREEN)
    front = LedFigures(name="led9", xyz_m=(0.0335, 0.006, 0.028), colour=_RED)
    return (*ring, body, front)


EPUCK = MobileFigures(
    name="epuck",
    title="e-puck",
    radius_m=0.037,
    height_m=0.050,
    underside_m=0.0045,
    body_mass_kg=0.150,
    body_com_xyz_m=(-0.002, 0.0, 0.015),
    body_inertia_diagonal_kgm2=(9.79e-5, 8.64e-5, 8.75e-5),
    wheel_radius_m=0.020,
    wheel_base_m=0.053,
    wheel_width_m=0.005,
    wheel_mass_kg=0.005,
    wheel_friction=0.8,
    wheel_radius_sd_m=0.00004,
    wheel_base_sd_m=0.0005,
    slip_m=1e-6,
    skids=tuple(SkidFigures(xy_m=(x, 0.0), radius_m=0.004, clearance_m=0.0002) for x in (0.030, -0.030)),
    steps_per_turn=1000,
    max_steps_per_s=1000,
    max_acceleration_radps2=80.0,
    motor_torque_nm=0.006,
    motor_stiffness_nm_per_rad=0.08,
    motor_damping_nms_per_rad=0.004,
    speed_ripple=0.004,
    rotor_inertia_kgm2=2e-5,
    proximity=_proximity(),
    proximity_range_m=(0.005, 0.05),
    proximity_fov_rad=0.26,
    camera=CameraFigures(
        name="camera",
        xyz_m=(0.030, 0.0, 0.028),
        rpy_rad=(0.0, 0.0, 0.0),
        resolution_px=(640, 480),
        fov_rad=0.84,
        rate_hz=2.5,
        range_m=(0.0055, 10.0),
    ),
    imu_xyz_m=(0.0, 0.0, 0.020),
    leds=_leds(),
    colours=MappingProxyType(
        {
            "clear": (0.80, 0.90, 0.84),
            "ring": (0.92, 0.94, 0.95),
            "board": (0.02, 0.30, 0.12),
            "upper_board": (0.03, 0.34, 0.15),
            "hub": (0.32, 0.72, 0.20),
            "rubber": (0.05, 0.05, 0.055),
            "black": (0.06, 0.06, 0.065),
            "steel": (0.70, 0.71, 0.73),
            "battery": (0.10, 0.12, 0.16),
            "gold": (0.83, 0.67, 0.25),
            "dark": (0.32, 0.06, 0.05),
        }
    ),
    sources=MappingProxyType(
        {
            "radius_m": _DRIVER + ": the ring round the body; 71 to 74 mm across in other sources",
            "height_m": _WEBOTS + ": 45 to 50 mm",
            "underside_m": "estimated: half of the lowest box of the Webots model",
            "body_mass_kg": _WEBOTS + ", first e-puck: 0.15 kg",
            "body_com_xyz_m": _WEBOTS + ": 15 mm high; the 2 mm behind the axle are estimated: it rests on a skid",
            "body_inertia_diagonal_kgm2": _WEBOTS,
            "wheel_radius_m": _DRIVER + ", and all others",
            "wheel_base_m": _DRIVER + ": 53 mm; 52 in Webots, 56.85 in the e-puck2's driver",
            "wheel_width_m": _WEBOTS,
            "wheel_mass_kg": _WEBOTS,
            "wheel_friction": "estimated: rubber on wood",
            "wheel_radius_sd_m": "estimated: 0.2 %, a drift of three degrees in a metre until it is calibrated",
            "wheel_base_sd_m": "estimated: one per cent; sources differ by more than that",
            "slip_m": "estimated: 1 mm after 1 m, an even floor",
            "skids": "estimated: the body's ends slide a fraction of a millimetre over the floor",
            "steps_per_turn": _DRIVER + ": 20 steps per turn of the motor, a gear of 50",
            "max_steps_per_s": _DRIVER,
            "max_acceleration_radps2": "estimated: full speed after 80 ms, for which the motors' torque is enough",
            "motor_torque_nm": "estimated: less than makes a wheel spin on the spot",
            "motor_stiffness_nm_per_rad": "estimated: no resonance; a real one is some 20 times as stiff, and rings",
            "motor_damping_nms_per_rad": "estimated: a stepper keeps its speed, so as stiff as steps of 10 ms carry",
            "speed_ripple": "estimated: with it the accelerometer shows what that of the real robot does along x",
            "rotor_inertia_kgm2": "estimated: a rotor of 8e-9 kg m2 behind a gear of 50",
            "proximity": _DRIVER + ": places and directions",
            "proximity_range_m": _DRIVER,
            "proximity_fov_rad": _DRIVER,
            "camera": _WEBOTS + ": place and angle of view; " + _DRIVER + ": the sensor's pixels, and its rate",
            "imu_xyz_m": "estimated: in the middle; so high, the floor shakes it along y and z as it does the real one",
            "leds": "the V-REP model: radius and height of the ring; " + _DRIVER + ": the numbers; the rest estimated",
            "colours": "estimated: by eye",
        }
    ),
)
