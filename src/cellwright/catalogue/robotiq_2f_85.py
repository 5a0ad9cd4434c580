"""The Robotiq 2F-85: two fingers on four-bar linkages, moved by one motor.

A pad swings on its knuckle and stays parallel to itself: while the jaws close it also moves away from the flange, by
up to 14 mm. The tool centre point does not move: it is the middle of the closed pads. A part that is `w` wide is
held `pad_lag_m(w / 2)` closer to the flange than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, atan2, cos, hypot, sin
from types import MappingProxyType

from cellwright.catalogue.arms import Vector3
from cellwright.catalogue.grippers import GripperFigures

__all__ = ["ROBOTIQ_2F_85", "LinkageGripperFigures"]


@dataclass(frozen=True, kw_only=True)
class LinkageGripperFigures(GripperFigures):
    """A gripper whose fingers hang on parallelograms; places are those of the finger on the +x side, x and z.

    Attributes:
        knuckle_xz_m: Pivot of the outer knuckle, which the drive turns.
        inner_xz_m: Pivot of the inner knuckle, which keeps the pad parallel.
        arm_xz_m: From either pivot to where its knuckle carries the finger, when open.
        pivot_in_pad_xz_m: The outer knuckle's pivot on the finger, from the middle of the pad's face.
        drive_limits_rad: Angle of the outer knuckle when open and when closed.
        knuckle_mass_kg: Of each outer knuckle with its finger.
        inner_mass_kg: Of each inner knuckle.
    """

    knuckle_xz_m: tuple[float, float]
    inner_xz_m: tuple[float, float]
    arm_xz_m: tuple[float, float]
    pivot_in_pad_xz_m: tuple[float, float]
    drive_limits_rad: tuple[float, float]
    knuckle_mass_kg: float
    inner_mass_kg: float

    @property
    def mass_kg(self) -> float:
        """The mass of the whole tool, its knuckles included."""
        return super().mass_kg + 2 * (self.knuckle_mass_kg + self.inner_mass_kg)

    @property
    def _arm(self) -> tuple[float, float]:
        """The length of a knuckle, and its angle outwards when open."""
        x, z = self.arm_xz_m
        return hypot(x, z), atan2(x, z)

    def pad_xz_m(self, angle_rad: float) -> tuple[float, float]:
        """Returns the middle of a pad's face at an angle of the drive: distance from the gripper's middle, height."""
        length, lean = self._arm
        x = self.knuckle_xz_m[0] + length * sin(lean - angle_rad) - self.pivot_in_pad_xz_m[0]
        return x, self.knuckle_xz_m[1] + length * cos(lean - angle_rad) - self.pivot_in_pad_xz_m[1]

    def angle_rad(self, half_width_m: float) -> float:
        """Returns the drive's angle at which each pad is so far from the middle."""
        length, lean = self._arm
        return lean - asin((half_width_m + self.pivot_in_pad_xz_m[0] - self.knuckle_xz_m[0]) / length)

    def pad_lag_m(self, half_width_m: float) -> float:
        """Returns the distance of the pads' middles before the tool centre point, at a distance from the middle."""
        return self.tcp_xyz_m[2] - self.pad_xz_m(self.angle_rad(half_width_m))[1]

    @property
    def rods(self) -> tuple[tuple[float, Vector3, Vector3], ...]:
        """The knuckles, as slender rods."""
        (ax, az), found = self.arm_xz_m, []
        for (x, z), mass in ((self.knuckle_xz_m, self.knuckle_mass_kg), (self.inner_xz_m, self.inner_mass_kg)):
            found += [(mass, (side * x, 0.0, z), (side * (x + ax), 0.0, z + az)) for side in (1.0, -1.0)]
        return tuple(found)

    def joints_at(self, half_width_m: float) -> dict[str, float]:
        """Returns positions of all joints, those of the linkages included."""
        angle_rad = self.angle_rad(half_width_m)
        lift_m = self.pad_xz_m(angle_rad)[1] - self.pad_xz_m(0.0)[1]
        one_side = {"finger": half_width_m, "lift": lift_m, "tilt": 0.0, "knuckle": angle_rad, "inner": angle_rad}
        return {f"{name}_{side}": value for side in ("left", "right") for name, value in one_side.items()}


_KNUCKLE, _INNER = (0.0306011, 0.054904), (0.0127, 0.06142)
_PAD = (0.00635, 0.022, 0.0375)
_PIVOT = (0.02202 + _PAD[0] / 2, -0.03242)
_OPEN_M = 0.0425
_ARM = (_OPEN_M + _PIVOT[0] - _KNUCKLE[0], 0.0471 - 0.0041)
_CLOSED_RAD = 0.7929
_LENGTH, _LEAN = hypot(*_ARM), atan2(*_ARM)
_CLOSED_M = _KNUCKLE[0] + _LENGTH * sin(_LEAN - _CLOSED_RAD) - _PIVOT[0]
_TCP_Z_M = _KNUCKLE[1] + _LENGTH * cos(_LEAN - _CLOSED_RAD) - _PIVOT[1]
_SPEED_MPS = 0.150 / 2  # the maker counts both jaws
_DESCRIPTION = "dimensions of the public descriptions of the gripper (ROS-Industrial, PickNik)"
_MASSES = "PickNik's description of the gripper"

ROBOTIQ_2F_85 = LinkageGripperFigures(
    name="robotiq_2f_85",
    title="Robotiq 2F-85 adaptive gripper",
    tcp_xyz_m=(0.0, 0.0, _TCP_Z_M),
    open_m=_OPEN_M,
    closed_m=_CLOSED_M,
    grip_force_n=50.0,
    force_limits_n=(20.0, 235.0),
    stiffness_npm=2.0e5,
    closing_time_s=(_OPEN_M - _CLOSED_M) / _SPEED_MPS,
    finger_armature_kg=0.05,
    coupling_time_s=0.004,
    pad_size_m=_PAD,
    pad_offset_m=0.0,
    finger_size_m=(0.0135, 0.022, 0.062),
    body_size_m=(0.085, 0.075, 0.090),
    mount_radius_m=0.0375,
    mount_height_m=0.0,
    body_mass_kg=0.663,
    finger_mass_kg=0.0427,
    knuckle_xz_m=_KNUCKLE,
    inner_xz_m=_INNER,
    arm_xz_m=_ARM,
    pivot_in_pad_xz_m=_PIVOT,
    drive_limits_rad=(0.0, _CLOSED_RAD),
    knuckle_mass_kg=0.0138 + 0.0426,
    inner_mass_kg=0.0297,
    colours=MappingProxyType(
        {
            "black": (0.055, 0.056, 0.06),
            "anodised": (0.16, 0.165, 0.175),
            "aluminium": (0.70, 0.71, 0.73),
            "steel": (0.60, 0.61, 0.63),
            "rubber": (0.04, 0.04, 0.045),
            "blue": (0.10, 0.35, 0.65),
        }
    ),
    sources=MappingProxyType(
        {
            "tcp_xyz_m": "the middle of the closed pads, from the linkage",
            "open_m": "the maker's manual: a stroke of 85 mm",
            "closed_m": "from the linkage at the closed drive angle",
            "grip_force_n": "estimated: a moderate setting of the maker's range",
            "force_limits_n": "the maker's manual: 20 to 235 N",
            "stiffness_npm": "estimated: stalls at the largest force 2.4 mm before its stop",
            "closing_time_s": "constants of the ROS drivers: 150 mm/s between the jaws, at the usual force",
            "finger_armature_kg": "estimated: the motor as each finger feels it; also steadies the contact",
            "coupling_time_s": "estimated: a worm gear without play, as stiff as the contacts",
            "pad_size_m": _DESCRIPTION,
            "pad_offset_m": "the tool centre point is the middle of the pads when closed",
            "finger_size_m": "estimated: by eye",
            "body_size_m": _DESCRIPTION + ": the box round the base",
            "mount_radius_m": "estimated: half the depth of the base",
            "mount_height_m": "no adapter counted: the base begins at its flange",
            "body_mass_kg": _MASSES + "; 0.777 in another model",
            "finger_mass_kg": _MASSES + ": the finger tip",
            "knuckle_xz_m": _DESCRIPTION,
            "inner_xz_m": _DESCRIPTION,
            "arm_xz_m": _DESCRIPTION + ": knuckle to finger and finger to tip; across, so that the stroke is 85 mm",
            "pivot_in_pad_xz_m": _DESCRIPTION,
            "drive_limits_rad": _DESCRIPTION + ": 0 open, 0.7929 closed",
            "knuckle_mass_kg": _MASSES + ": knuckle and finger",
            "inner_mass_kg": _MASSES,
            "colours": "estimated: by eye; dark anodised aluminium",
        }
    ),
)
