"""The Fanuc LR Mate 200iD: six axes, 7 kg, 717 mm."""

from __future__ import annotations

from math import radians
from types import MappingProxyType

from cellwright.catalogue.arms import ArmFigures, JointFigures, LinkFigures, Vector3

__all__ = ["LR_MATE_200ID"]

_MASS_KG = 25.0
_SOLID_KG = 26.38  # the six yellow links and the base as solids of 1000 kg/m3
_RAMP_S = 0.40  # from rest to full speed
_JERK_RAMP_S = 0.12  # from no acceleration to full acceleration
_MOTOR_RPM = 6000.0


def _joint(
    number: int,
    origin: Vector3,
    axis: Vector3,
    limits_deg: tuple[float, float],
    speed_degps: float,
    effort_nm: float,
    rotor_kgm2: float,
    driven_kgm2: float,
) -> JointFigures:
    speed = radians(speed_degps)
    return JointFigures(
        name=f"joint_{number}",
        maker_name=f"J{number}",
        origin_xyz_m=origin,
        axis=axis,
        position_limits_rad=(radians(limits_deg[0]), radians(limits_deg[1])),
        velocity_limit_radps=speed,
        acceleration_limit_radps2=speed / _RAMP_S,
        jerk_limit_radps3=speed / _RAMP_S / _JERK_RAMP_S,
        effort_limit_nm=effort_nm,
        rotor_inertia_kgm2=rotor_kgm2,
        gear_ratio=_MOTOR_RPM * 6.0 / speed_degps,
        driven_inertia_kgm2=driven_kgm2,
        viscous_damping_nms_per_rad=0.05 * effort_nm / speed,
    )


def _link(name: str, solid_kg: float, com: Vector3, solid_inertia: Vector3) -> LinkFigures:
    scale = _MASS_KG / _SOLID_KG
    x, y, z = solid_inertia
    return LinkFigures(
        name=name, mass_kg=solid_kg * scale, com_xyz_m=com, inertia_diagonal_kgm2=(x * scale, y * scale, z * scale)
    )


_URDF = "lrmate200id_macro.xacro of ros-industrial/fanuc, checked against its Denavit-Hartenberg rows"
_SOLID = "estimated: the public link meshes as solids of 1000 kg/m3, scaled to 25 kg in all; the maker publishes none"

LR_MATE_200ID = ArmFigures(
    name="lr_mate_200id",
    title="Fanuc LR Mate 200iD",
    joints=(
        _joint(1, (0.0, 0.0, 0.330), (0, 0, 1), (-170, 170), 450, 240.0, 3.4e-5, 3.2),
        _joint(2, (0.050, 0.0, 0.0), (0, 1, 0), (-100, 145), 380, 280.0, 3.4e-5, 2.6),
        _joint(3, (0.0, 0.0, 0.330), (0, -1, 0), (-70, 205), 520, 160.0, 3.4e-5, 0.62),
        _joint(4, (0.0, 0.0, 0.035), (-1, 0, 0), (-190, 190), 550, 45.0, 1.0e-5, 0.085),
        _joint(5, (0.335, 0.0, 0.0), (0, -1, 0), (-125, 125), 545, 45.0, 1.0e-5, 0.081),
        _joint(6, (0.080, 0.0, 0.0), (-1, 0, 0), (-360, 360), 1000, 25.0, 1.0e-5, 0.002),
    ),
    links=(
        _link("base", 5.58, (-0.004, 0.0, 0.085), (0.032, 0.032, 0.036)),
        _link("link_1", 6.47, (0.029, 0.0, -0.055), (0.0479, 0.0348, 0.0370)),
        _link("link_2", 8.54, (-0.008, -0.001, 0.151), (0.1484, 0.1225, 0.0412)),
        _link("link_3", 2.48, (0.009, 0.0, 0.017), (0.0067, 0.0077, 0.0077)),
        _link("link_4", 2.77, (0.222, 0.0, 0.002), (0.0045, 0.0195, 0.0195)),
        _link("link_5", 0.54, (0.019, 0.003, 0.0), (0.0004, 0.0007, 0.0007)),
        LinkFigures(
            name="link_6", mass_kg=0.060, com_xyz_m=(-0.003, 0.0, 0.0), inertia_diagonal_kgm2=(1.2e-5, 6.2e-6, 6.2e-6)
        ),
    ),
    flange_xyz_m=(0.0, 0.0, 0.0),
    flange_rpy_rad=(radians(180.0), radians(-90.0), 0.0),
    maker_base_xyz_m=(0.0, 0.0, 0.330),
    payload_kg=7.0,
    reach_m=0.717,
    mass_kg=_MASS_KG,
    joint_coupling=(
        "the controller counts J3 from the horizontal, not from the lower arm: J3 (controller) = joint_3 - joint_2 "
        "when sent, joint_3 = J3 + J2 when read back"
    ),
    servo_period_s=0.002,
    servo_effort_share=0.4,
    servo_damping_ratio=1.0,
    home_rad=(0.0, 0.0, 0.0, 0.0, radians(-90.0), 0.0),
    colours=MappingProxyType(
        {
            "yellow": (1.0, 0.82, 0.0),
            "dark": (0.20, 0.205, 0.215),
            "grey": (0.55, 0.56, 0.57),
            "black": (0.045, 0.045, 0.05),
            "steel": (0.72, 0.73, 0.75),
        }
    ),
    sources=MappingProxyType(
        {
            "joints.maker_name": "Fanuc's pendant",
            "joints.origin_xyz_m": _URDF,
            "joints.origin_rpy_rad": _URDF,
            "joints.axis": _URDF,
            "joints.position_limits_rad": "ROS-Industrial's URDF; joint_3 counted from the lower arm",
            "joints.velocity_limit_radps": "ROS-Industrial's URDF: 450, 380, 520, 550, 545, 1000 deg/s",
            "joints.acceleration_limit_radps2": (
                "estimated: full speed within 0.40 s, a brisk small robot; the 1.57 to 3.49 rad/s2 "
                "of the MoveIt configuration are placeholders, a fifth of each speed"
            ),
            "joints.jerk_limit_radps3": "estimated: full acceleration within 0.12 s",
            "joints.effort_limit_nm": (
                "estimated: unpublished; holds the rated payload, 0.1 m out of and "
                "beside the flange, and accelerates it at half the limit in any pose, a fifth to spare"
            ),
            "joints.rotor_inertia_kgm2": "estimated: servo motors of the 400 W (J1 to J3) and 100 W (J4 to J6) class",
            "joints.gear_ratio": "estimated: 6000 rpm, the top speed of such motors, over the joint's top speed",
            "joints.driven_inertia_kgm2": (
                "estimated: largest diagonal of the mass matrix over random poses, without drives, with a 1 kg tool"
            ),
            "joints.viscous_damping_nms_per_rad": "estimated: 5 % of the effort limit is lost at full speed",
            "links.mass_kg": _SOLID,
            "links.com_xyz_m": _SOLID + "; base: middle of its box",
            "links.inertia_diagonal_kgm2": _SOLID + "; base: as its box; link_6: a steel disc of 40 x 6 mm",
            "flange_xyz_m": _URDF,
            "flange_rpy_rad": _URDF,
            "maker_base_xyz_m": _URDF + "; Fanuc's World, where axes 1 and 2 cross",
            "maker_base_rpy_rad": _URDF,
            "payload_kg": "Fanuc's product page and the kitting ontology",
            "reach_m": "Fanuc's product page",
            "mass_kg": "Fanuc's data sheet class, without controller",
            "joint_coupling": "documentation of ros-industrial/fanuc, coupling factor 1",
            "servo_period_s": "estimated: the usual cycle of a joint servo",
            "servo_effort_share": "estimated: chosen: leaves 60 % of the torque for weight and acceleration",
            "servo_damping_ratio": "estimated: critical, no overshoot",
            "home_rad": "estimated: chosen: forearm level, flange down",
            "colours": "estimated: by eye; base dark, links yellow as in ROS-Industrial's URDF",
        }
    ),
)
