"""The figures of a serial robot arm: joints, links, flange, drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import pi, sqrt

from cellwright.catalogue.figures import Figures

__all__ = ["ArmFigures", "DriveFigures", "JointFigures", "LinkFigures", "Vector3"]

Vector3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class DriveFigures:
    """The drive of one joint.

    Attributes:
        position_limits_rad: Lowest and highest angle.
        velocity_limit_radps: Highest speed.
        acceleration_limit_radps2: Highest acceleration that a controller should plan with.
        jerk_limit_radps3: Highest jerk that a controller should plan with.
        effort_limit_nm: Largest torque at the joint, the weight that the drive carries included.
        rotor_inertia_kgm2: Of the motor, on its own shaft.
        gear_ratio: Motor turns per joint turn.
        driven_inertia_kgm2: Of all that hangs on the joint, stretched out, about its axis: what the gains are set for.
        viscous_damping_nms_per_rad: Loss torque per speed, at the joint.
    """

    position_limits_rad: tuple[float, float]
    velocity_limit_radps: float
    acceleration_limit_radps2: float
    jerk_limit_radps3: float
    effort_limit_nm: float
    rotor_inertia_kgm2: float
    gear_ratio: float
    driven_inertia_kgm2: float
    viscous_damping_nms_per_rad: float


@dataclass(frozen=True, kw_only=True)
class JointFigures(DriveFigures):
    """One revolute joint and its drive.

    Attributes:
        name: `joint_1` and so on, from the base.
        maker_name: The name on the maker's pendant, such as `J2` or `L`.
        origin_xyz_m: Position of the joint's frame in its parent link's frame.
        origin_rpy_rad: Orientation there (roll, pitch, yaw about fixed axes).
        axis: Direction of a positive turn, in the joint's frame.
    """

    name: str
    maker_name: str
    origin_xyz_m: Vector3
    origin_rpy_rad: Vector3 = (0.0, 0.0, 0.0)
    axis: Vector3

    @property
    def armature_kgm2(self) -> float:
        """The rotor's inertia as the joint feels it: it grows with the square of the gear ratio."""
        return self.rotor_inertia_kgm2 * self.gear_ratio**2


@dataclass(frozen=True, kw_only=True)
class LinkFigures:
    """The inertia of one link, in the frame of the joint that moves it.

    Attributes:
        name: `base`, `link_1` and so on.
        mass_kg: Mass.
        com_xyz_m: Centre of mass.
        inertia_diagonal_kgm2: Moments about axes through the centre of mass, parallel to the link's frame.
    """

    name: str
    mass_kg: float
    com_xyz_m: Vector3
    inertia_diagonal_kgm2: Vector3


@dataclass(frozen=True, kw_only=True)
class ArmFigures(Figures):
    """A serial arm of revolute joints.

    Attributes:
        joints: From the base to the flange.
        links: The base, then one link per joint.
        flange_xyz_m: The flange (`tool0`, z out of it) in the last link's frame.
        flange_rpy_rad: Orientation there.
        payload_kg: Rated load at the flange, tool included.
        reach_m: From the first axis to the wrist centre, at full stretch.
        mass_kg: The whole arm with its base.
        joint_coupling: The difference between the maker's joint angles and ours, or an empty text when there is none.
        servo_period_s: Shortest time between two set points.
        servo_effort_share: Share of a joint's effort that the way to the next set point may ask for at full speed.
        servo_damping_ratio: Of each position loop, stretched out; 1 comes to rest fastest without overshoot.
        home_rad: A bent pose with the flange facing the floor, free of collisions.
        colours: Finish name -> red, green, blue, 0 to 1.
        maker_base_xyz_m: The frame that the maker's controller counts from (`base` in ROS), in the base's.
        maker_base_rpy_rad: Orientation there.
        flange_body: The name of the flange's body and site in the model; its base is called like the first link.
    """

    joints: tuple[JointFigures, ...]
    links: tuple[LinkFigures, ...]
    flange_xyz_m: Vector3
    flange_rpy_rad: Vector3
    payload_kg: float
    reach_m: float
    mass_kg: float
    joint_coupling: str
    servo_period_s: float
    servo_effort_share: float
    servo_damping_ratio: float
    home_rad: tuple[float, ...]
    colours: Mapping[str, Vector3]
    maker_base_xyz_m: Vector3 = (0.0, 0.0, 0.0)
    maker_base_rpy_rad: Vector3 = (0.0, 0.0, 0.0)
    flange_body: str = "flange"

    @property
    def base_body(self) -> str:
        """The name of the model's fixed body."""
        return self.links[0].name

    @property
    def stiffness_nm_per_rad(self) -> tuple[float, ...]:
        """Position gain of each joint: the drive must not saturate on the way from one set point to the next.

        The step ``v T`` between set points at full speed v asks for ``kp v T``, which is given a fixed share of the
        effort. A stiffer loop would spend its torque limit on the steps and follow worse, not better.
        """
        step = self.servo_period_s
        return tuple(self.servo_effort_share * j.effort_limit_nm / (j.velocity_limit_radps * step) for j in self.joints)

    @property
    def natural_frequency_hz(self) -> tuple[float, ...]:
        """The frequency of each position loop, ``sqrt(kp / I) / 2 pi``, with I the reflected and the driven inertia."""
        pairs = zip(self.stiffness_nm_per_rad, self.joints, strict=True)
        return tuple(sqrt(kp / (j.armature_kgm2 + j.driven_inertia_kgm2)) / (2 * pi) for kp, j in pairs)

    @property
    def damping_nms_per_rad(self) -> tuple[float, ...]:
        """Velocity gain of each joint, ``kv = 2 zeta kp / omega``."""
        pairs = zip(self.stiffness_nm_per_rad, self.natural_frequency_hz, strict=True)
        return tuple(2 * self.servo_damping_ratio * kp / (2 * pi * f) for kp, f in pairs)

    def unsourced(self) -> list[str]:
        """Returns fields without a source, those of the joints and links included (as `joints.axis`)."""
        nested = {f"joints.{f.name}" for f in fields(JointFigures)} | {f"links.{f.name}" for f in fields(LinkFigures)}
        nested -= {"joints.name", "links.name"}
        own = set(super().unsourced()) - {"joints", "links", "flange_body"}
        return sorted(own | (nested - set(self.sources)))
