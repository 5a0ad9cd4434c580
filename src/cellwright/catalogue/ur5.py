"""The Universal Robots UR5: six axes, 5 kg, 850 mm.

Frames: z of a link runs along its tube, y along the joint that carries it. The base frame is ROS-Industrial's
`base_link`, in which the stretched arm of zero angles points along +x; the maker's own `base`, in which the
Denavit-Hartenberg rows are written, is that frame turned by half a turn about z.
"""

from __future__ import annotations

from math import pi
from types import MappingProxyType

from cellwright.catalogue.arms import ArmFigures, JointFigures, LinkFigures, Vector3

__all__ = ["UR5"]

_SPEED_RADPS = pi
_RAMP_S = 0.80  # from rest to full speed
_JERK_RAMP_S = 0.20  # from no acceleration to full acceleration
_QUARTER = pi / 2


def _joint(
    number: int, name: str, origin: Vector3, axis: Vector3, effort_nm: float, rotor_kgm2: float, driven_kgm2: float
) -> JointFigures:
    limit = pi if name == "elbow" else 2 * pi
    return JointFigures(
        name=f"joint_{number}",
        maker_name=name,
        origin_xyz_m=origin,
        origin_rpy_rad=(0.0, _QUARTER, 0.0) if number in (2, 4) else (0.0, 0.0, 0.0),
        axis=axis,
        position_limits_rad=(-limit, limit),
        velocity_limit_radps=_SPEED_RADPS,
        acceleration_limit_radps2=_SPEED_RADPS / _RAMP_S,
        jerk_limit_radps3=_SPEED_RADPS / _RAMP_S / _JERK_RAMP_S,
        effort_limit_nm=effort_nm,
        rotor_inertia_kgm2=rotor_kgm2,
        gear_ratio=101.0,
        driven_inertia_kgm2=driven_kgm2,
        viscous_damping_nms_per_rad=0.05 * effort_nm / _SPEED_RADPS,
    )


def _link(name: str, mass_kg: float, com: Vector3, across_kgm2: float, along_kgm2: float, axis: int) -> LinkFigures:
    """Returns a link as a cylinder along that axis of its frame."""
    moments = [across_kgm2] * 3
    moments[axis] = along_kgm2
    x, y, z = moments
    return LinkFigures(name=name, mass_kg=mass_kg, com_xyz_m=com, inertia_diagonal_kgm2=(x, y, z))


_URDF = "ur_description of ros-industrial/universal_robot, checked against the Denavit-Hartenberg rows of the paper"
_MASSES = "ur_description of ros-industrial/universal_robot"
_CYLINDERS = _MASSES + ", turned into frames whose z runs along the tubes"

UR5 = ArmFigures(
    name="ur5",
    title="Universal Robots UR5",
    joints=(
        _joint(1, "base", (0.0, 0.0, 0.089159), (0, 0, 1), 150.0, 1.0e-4, 4.6),
        _joint(2, "shoulder", (0.0, 0.13585, 0.0), (0, 1, 0), 150.0, 1.0e-4, 4.4),
        _joint(3, "elbow", (0.0, -0.1197, 0.425), (0, 1, 0), 150.0, 1.0e-4, 0.98),
        _joint(4, "wrist 1", (0.0, 0.0, 0.39225), (0, 1, 0), 28.0, 2.0e-5, 0.061),
        _joint(5, "wrist 2", (0.0, 0.093, 0.0), (0, 0, 1), 28.0, 2.0e-5, 0.038),
        _joint(6, "wrist 3", (0.0, 0.0, 0.09465), (0, 1, 0), 28.0, 2.0e-5, 0.0012),
    ),
    links=(
        _link("base", 4.0, (0.0, 0.0, 0.0), 0.00443, 0.0072, 2),
        _link("link_1", 3.7, (0.0, 0.0, 0.0), 0.01497, 0.01041, 2),
        _link("link_2", 8.393, (0.0, 0.0, 0.2125), 0.1339, 0.0151, 2),
        _link("link_3", 2.275, (0.0, 0.0, 0.1961), 0.03122, 0.0041, 2),
        _link("link_4", 1.219, (0.0, 0.093, 0.0), 0.00201, 0.00219, 1),
        _link("link_5", 1.219, (0.0, 0.0, 0.09465), 0.00183, 0.00219, 2),
        _link("link_6", 0.1879, (0.0, 0.06705, 0.0), 8.06e-5, 1.32e-4, 1),
    ),
    flange_xyz_m=(0.0, 0.0823, 0.0),
    flange_rpy_rad=(-_QUARTER, 0.0, 0.0),
    maker_base_rpy_rad=(0.0, 0.0, pi),
    payload_kg=5.0,
    reach_m=0.850,
    mass_kg=20.99,
    joint_coupling="",
    servo_period_s=0.002,
    servo_effort_share=0.4,
    servo_damping_ratio=1.0,
    home_rad=(0.0, -_QUARTER, _QUARTER, -_QUARTER, -_QUARTER, 0.0),
    colours=MappingProxyType(
        {
            "silver": (0.74, 0.75, 0.77),
            "blue": (0.43, 0.65, 0.82),
            "black": (0.07, 0.07, 0.08),
            "steel": (0.62, 0.63, 0.65),
        }
    ),
    sources=MappingProxyType(
        {
            "joints.maker_name": "the maker's pendant",
            "joints.origin_xyz_m": _URDF,
            "joints.origin_rpy_rad": _URDF,
            "joints.axis": _URDF,
            "joints.position_limits_rad": "ur_description: 360 degrees either way, the elbow 180",
            "joints.velocity_limit_radps": "data sheet: 180 deg/s",
            "joints.acceleration_limit_radps2": (
                "estimated: full speed within 0.80 s: stretched out with its payload it has torque for half of that, "
                "a fifth to spare"
            ),
            "joints.jerk_limit_radps3": "estimated: full acceleration within 0.20 s",
            "joints.effort_limit_nm": "ur_description: 150 and 28 Nm",
            "joints.rotor_inertia_kgm2": "estimated: frameless motors of this torque with the drive's wave generator",
            "joints.gear_ratio": "estimated: harmonic drives of about 1:100",
            "joints.driven_inertia_kgm2": (
                "estimated: largest diagonal of the mass matrix over random poses, without drives, with a 1 kg tool"
            ),
            "joints.viscous_damping_nms_per_rad": "estimated: 5 % of the effort limit is lost at full speed",
            "links.mass_kg": _MASSES,
            "links.com_xyz_m": _CYLINDERS,
            "links.inertia_diagonal_kgm2": (
                _CYLINDERS
                + "; the ROVI project's own wrists are a hundred times too heavy to turn: 0.6 m typed for 0.06"
            ),
            "flange_xyz_m": _URDF,
            "flange_rpy_rad": _URDF + "; as `tool0`, z out of the flange",
            "maker_base_xyz_m": _URDF,
            "maker_base_rpy_rad": _URDF,
            "payload_kg": "data sheet",
            "reach_m": "data sheet",
            "mass_kg": "sum of the links; the data sheet says 18.4: the base, which is bolted down, is 2.6 too heavy",
            "joint_coupling": "none: all joints are driven directly",
            "servo_period_s": "estimated: the usual cycle of a joint servo",
            "servo_effort_share": "estimated: chosen: leaves 60 % of the torque for weight and acceleration",
            "servo_damping_ratio": "estimated: critical, no overshoot",
            "home_rad": "estimated: chosen: upper arm upright, forearm level, flange down",
            "colours": "estimated: by eye; silver tubes and light-blue caps",
        }
    ),
)
