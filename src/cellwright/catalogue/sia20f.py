"""The Motoman SIA20F: seven axes, 20 kg, a slim arm with a redundant elbow."""

from __future__ import annotations

from math import pi
from types import MappingProxyType

from cellwright.catalogue.arms import ArmFigures, JointFigures, LinkFigures, Vector3

__all__ = ["SIA20F"]

_MASS_KG = 120.0
_SISTER_SCALE = 2.0  # this arm weighs twice the SIA10D, whose link masses are known
_SISTER_KG = {"S": 13.75, "L": 5.23, "E": 4.71, "U": 3.15, "R": 3.03, "B": 2.39, "T": 0.64}
_RAMP_S = 0.60  # from rest to full speed
_JERK_RAMP_S = 0.18  # from no acceleration to full acceleration
_MOTOR_RADPS = 360.0  # about 3400 rpm


def _joint(
    number: int,
    letter: str,
    height_m: float,
    axis: Vector3,
    limit_rad: float,
    speed_radps: float,
    effort_nm: float,
    rotor_kgm2: float,
    driven_kgm2: float,
) -> JointFigures:
    return JointFigures(
        name=f"joint_{number}",
        maker_name=letter,
        origin_xyz_m=(0.0, 0.0, height_m),
        axis=axis,
        position_limits_rad=(-limit_rad, limit_rad),
        velocity_limit_radps=speed_radps,
        acceleration_limit_radps2=speed_radps / _RAMP_S,
        jerk_limit_radps3=speed_radps / _RAMP_S / _JERK_RAMP_S,
        effort_limit_nm=effort_nm,
        rotor_inertia_kgm2=rotor_kgm2,
        gear_ratio=_MOTOR_RADPS / speed_radps,
        driven_inertia_kgm2=driven_kgm2,
        viscous_damping_nms_per_rad=0.05 * effort_nm / speed_radps,
    )


def _link(name: str, letter: str, z_m: tuple[float, float], radius_m: float) -> LinkFigures:
    """Returns a link as a solid cylinder from one height to the other."""
    mass, length = _SISTER_KG[letter] * _SISTER_SCALE, z_m[1] - z_m[0]
    across = mass * (3 * radius_m**2 + length**2) / 12
    return LinkFigures(
        name=name,
        mass_kg=mass,
        com_xyz_m=(0.0, 0.0, (z_m[0] + z_m[1]) / 2),
        inertia_diagonal_kgm2=(across, across, mass * radius_m**2 / 2),
    )


_URDF = "sia20d_macro.xacro of ros-industrial/motoman (same arm, other controller), checked against its DH rows"
_SISTER = (
    "estimated: the link masses of the sister SIA10D (ros-industrial/motoman#39) times the ratio of the arms' masses"
)

SIA20F = ArmFigures(
    name="sia20f",
    title="Yaskawa Motoman SIA20F",
    joints=(
        _joint(1, "S", 0.41, (0, 0, 1), 3.1415, 2.2689, 700.0, 1.6e-4, 16.0),
        _joint(2, "L", 0.0, (0, 1, 0), 1.9198, 2.2689, 700.0, 1.6e-4, 16.0),
        _joint(3, "E", 0.49, (0, 0, 1), 2.9670, 2.9670, 350.0, 8.0e-5, 3.0),
        _joint(4, "U", 0.0, (0, -1, 0), 2.2689, 2.9670, 350.0, 8.0e-5, 3.0),
        _joint(5, "R", 0.42, (0, 0, -1), 3.1415, 3.4906, 150.0, 3.0e-5, 0.22),
        _joint(6, "B", 0.0, (0, -1, 0), 1.9198, 3.4906, 150.0, 3.0e-5, 0.21),
        _joint(7, "T", 0.18, (0, 0, -1), 3.1415, 6.9813, 70.0, 3.0e-5, 0.005),
    ),
    links=(
        LinkFigures(
            name="base",
            mass_kg=_MASS_KG - _SISTER_SCALE * sum(_SISTER_KG.values()),
            com_xyz_m=(0.0, 0.0, 0.10),
            inertia_diagonal_kgm2=(0.53, 0.53, 0.69),
        ),
        _link("link_1", "S", (-0.19, 0.12), 0.118),
        _link("link_2", "L", (-0.11, 0.27), 0.108),
        _link("link_3", "E", (-0.22, 0.09), 0.094),
        _link("link_4", "U", (-0.09, 0.20), 0.085),
        _link("link_5", "R", (-0.21, 0.07), 0.073),
        _link("link_6", "B", (-0.07, 0.14), 0.062),
        _link("link_7", "T", (-0.045, 0.0), 0.050),
    ),
    flange_xyz_m=(0.0, 0.0, 0.0),
    flange_rpy_rad=(0.0, 0.0, -pi),
    maker_base_xyz_m=(0.0, 0.0, 0.410),
    payload_kg=20.0,
    reach_m=0.910,
    mass_kg=_MASS_KG,
    joint_coupling="",
    servo_period_s=0.002,
    servo_effort_share=0.4,
    servo_damping_ratio=1.0,
    home_rad=(0.0, 0.3, 0.0, -1.5, 0.0, -(pi - 1.8), 0.0),
    colours=MappingProxyType(
        {
            "blue": (0.0, 0.29, 0.60),
            "silver": (0.83, 0.84, 0.86),
            "black": (0.045, 0.045, 0.05),
            "steel": (0.62, 0.63, 0.65),
        }
    ),
    sources=MappingProxyType(
        {
            "joints.maker_name": "Yaskawa's pendant: S, L, E, U, R, B, T",
            "joints.origin_xyz_m": _URDF + "; NIST's simulation has 0.169 m for T, the DH rows and the reach say 0.18",
            "joints.origin_rpy_rad": _URDF,
            "joints.axis": _URDF,
            "joints.position_limits_rad": _URDF,
            "joints.velocity_limit_radps": _URDF,
            "joints.acceleration_limit_radps2": (
                "estimated: full speed within 0.60 s; the 1.0 rad/s2 of the MoveIt configuration is a placeholder"
            ),
            "joints.jerk_limit_radps3": "estimated: full acceleration within 0.18 s",
            "joints.effort_limit_nm": (
                "estimated: unpublished (100 in the URDF is a placeholder); holds the rated payload, 0.1 m out of and "
                "beside the flange, and accelerates it at half the limit in any pose, a fifth to spare"
            ),
            "joints.rotor_inertia_kgm2": "estimated: motors of the 1 kW (S, L), 500 W (E, U), 200 W (R, B, T) class",
            "joints.gear_ratio": "estimated: 3400 rpm, the top speed of such motors, over the joint's top speed",
            "joints.driven_inertia_kgm2": (
                "estimated: largest diagonal of the mass matrix over random poses, without drives, with a 1 kg tool"
            ),
            "joints.viscous_damping_nms_per_rad": "estimated: 5 % of the effort limit is lost at full speed",
            "links.mass_kg": _SISTER + "; base: the rest",
            "links.com_xyz_m": "estimated: middle of the link's cylinder",
            "links.inertia_diagonal_kgm2": "estimated: a solid cylinder of the link's radius and length",
            "flange_xyz_m": _URDF,
            "flange_rpy_rad": _URDF,
            "maker_base_xyz_m": _URDF,
            "maker_base_rpy_rad": _URDF,
            "payload_kg": "in the name; Yaskawa's SIA-series flyer",
            "reach_m": "sum of the URDF's lengths from shoulder to wrist, 0.49 + 0.42",
            "mass_kg": "estimated: Yaskawa's data sheet class, from memory",
            "joint_coupling": "none: all joints are driven directly",
            "servo_period_s": "estimated: the usual cycle of a joint servo",
            "servo_effort_share": "estimated: chosen: leaves 60 % of the torque for weight and acceleration",
            "servo_damping_ratio": "estimated: critical, no overshoot",
            "home_rad": "estimated: chosen: elbow bent, flange down in front of the base",
            "colours": "estimated: by eye; blue and silver links by turns as in ROS-Industrial's URDF",
        }
    ),
)
