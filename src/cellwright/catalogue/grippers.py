"""Parallel grippers; the two of the APRS lab have printed fingers slender enough to pass between gears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cellwright.catalogue.arms import Vector3
from cellwright.catalogue.tools import ToolFigures

__all__ = ["APRS_FANUC_GRIPPER", "APRS_MOTOMAN_GRIPPER", "BIG_GRIPPER", "GRIPPERS", "PINCHER", "GripperFigures"]


@dataclass(frozen=True, kw_only=True)
class GripperFigures(ToolFigures):
    """A two-finger parallel gripper in the flange's frame: jaws move along x, the centre point is between the pads.

    Attributes:
        open_m: Distance of each pad from the middle when open: how a finger's position is counted.
        closed_m: The same when closed on nothing.
        grip_force_n: Force of each finger; the drive pushes twice as hard, being shared by two fingers.
        force_limits_n: The least and the largest force that each finger can be commanded.
        stiffness_npm: Force of the drive per metre that a finger is off, until its limit is reached.
        closing_time_s: From open to closed on nothing.
        finger_armature_kg: Inertia of the drive as each finger feels it.
        coupling_time_s: Time constant of the gear that makes the fingers move alike.
        pad_size_m: Thickness along x, width along y, length along z of each rubber pad.
        pad_offset_m: Distance of the pads' middles beyond the tool centre point, along z.
        finger_size_m: The same as the pad's of the finger behind it, from its tip to the jaw.
        body_size_m: Of the housing along x, y, z.
        mount_radius_m: Of the adapter and the force sensor between flange and housing.
        mount_height_m: From the flange to the housing.
        body_mass_kg: All that does not move.
        finger_mass_kg: Of each finger with its jaw.
    """

    open_m: float
    closed_m: float
    grip_force_n: float
    force_limits_n: tuple[float, float]
    stiffness_npm: float
    closing_time_s: float
    finger_armature_kg: float
    coupling_time_s: float
    pad_size_m: Vector3
    pad_offset_m: float
    finger_size_m: Vector3
    body_size_m: Vector3
    mount_radius_m: float
    mount_height_m: float
    body_mass_kg: float
    finger_mass_kg: float

    @property
    def drive_force_n(self) -> float:
        """Limit of the one drive that moves both fingers: each gets half of it."""
        return 2 * self.grip_force_n

    @property
    def speed_mps(self) -> float:
        """Steady speed of each finger."""
        return (self.open_m - self.closed_m) / self.closing_time_s

    @property
    def finger_damping_nspm(self) -> float:
        """Loss of each finger that holds the drive, at its limit, to the steady speed."""
        return self.grip_force_n / self.speed_mps

    @property
    def losses(self) -> Mapping[str, float]:
        """Damping of the model's joints at the usual force; it scales with the force."""
        return dict.fromkeys(("finger_left", "finger_right"), self.finger_damping_nspm)

    @property
    def mass_kg(self) -> float:
        """The mass of the whole tool."""
        return self.body_mass_kg + 2 * self.finger_mass_kg

    @property
    def rods(self) -> tuple[tuple[float, Vector3, Vector3], ...]:
        """Slender rods that move with the fingers: mass and both ends, when open; usually none."""
        return ()

    def pad_lag_m(self, half_width_m: float) -> float:
        """Returns the pads' distance from their closed place, towards the flange, at a distance from the middle."""
        return 0.0

    def joints_at(self, half_width_m: float) -> dict[str, float]:
        """Returns positions of all joints of the model when each pad is that far from the middle."""
        return {"finger_left": half_width_m, "finger_right": half_width_m}


_COLOURS = MappingProxyType(
    {
        "anodised": (0.13, 0.14, 0.16),
        "aluminium": (0.70, 0.71, 0.73),
        "steel": (0.62, 0.63, 0.65),
        "printed": (0.93, 0.36, 0.08),
        "rubber": (0.05, 0.05, 0.055),
        "black": (0.045, 0.045, 0.05),
    }
)


def _sources(force: str, stiffness: str) -> Mapping[str, str]:
    twin = "the gripper of NIST's Gazebo model of the lab (gzaprsros)"
    return MappingProxyType(
        {
            "tcp_xyz_m": twin,
            "open_m": twin,
            "closed_m": twin,
            "grip_force_n": force,
            "force_limits_n": "estimated: one force, not to be set",
            "stiffness_npm": stiffness,
            "closing_time_s": "estimated: usual for small parallel grippers",
            "finger_armature_kg": "estimated: a geared drive of some 30 g per finger; also steadies the contact",
            "coupling_time_s": "estimated: a rack and pinion without play, as stiff as the contacts",
            "pad_size_m": "estimated: fits the 16 mm peg of a gear with 1 mm to spare at either end",
            "pad_offset_m": "estimated: the tool centre point is the middle of the pads",
            "finger_size_m": "estimated: printed fingers that pass between the pegs and teeth of neighbouring gears",
            "body_size_m": "estimated: grippers of this stroke on the market",
            "mount_radius_m": "estimated: a flange adapter and a six-axis force sensor",
            "mount_height_m": "estimated: the same",
            "body_mass_kg": "estimated: aluminium housing, adapter and force sensor of these sizes",
            "finger_mass_kg": "estimated: printed finger on a steel jaw",
            "colours": "estimated: by choice",
        }
    )


APRS_FANUC_GRIPPER = GripperFigures(
    name="aprs_fanuc_gripper",
    title="Parallel gripper of the APRS lab's Fanuc",
    tcp_xyz_m=(0.0, 0.0, 0.182),
    open_m=0.010,
    closed_m=0.001,
    grip_force_n=5.0,
    force_limits_n=(5.0, 5.0),
    stiffness_npm=1.0e4,
    closing_time_s=0.3,
    finger_armature_kg=0.03,
    coupling_time_s=0.004,
    pad_size_m=(0.002, 0.010, 0.014),
    pad_offset_m=0.0,
    finger_size_m=(0.005, 0.010, 0.066),
    body_size_m=(0.072, 0.044, 0.066),
    mount_radius_m=0.034,
    mount_height_m=0.046,
    body_mass_kg=0.62,
    finger_mass_kg=0.040,
    colours=_COLOURS,
    sources=_sources(
        "NIST's Gazebo model of the lab: 5 N, taken as what each finger presses with", "NIST's Gazebo model: kp 1e4"
    ),
)

APRS_MOTOMAN_GRIPPER = GripperFigures(
    name="aprs_motoman_gripper",
    title="Parallel gripper of the APRS lab's Motoman",
    tcp_xyz_m=(0.008, 0.0, 0.2643),
    open_m=0.030,
    closed_m=0.0023,
    grip_force_n=10.0,
    force_limits_n=(10.0, 10.0),
    stiffness_npm=3.0e4,
    closing_time_s=0.3,
    finger_armature_kg=0.03,
    coupling_time_s=0.004,
    pad_size_m=(0.002, 0.010, 0.014),
    pad_offset_m=0.0,
    finger_size_m=(0.006, 0.010, 0.086),
    body_size_m=(0.124, 0.058, 0.092),
    mount_radius_m=0.050,
    mount_height_m=0.075,
    body_mass_kg=1.10,
    finger_mass_kg=0.060,
    colours=_COLOURS,
    sources=_sources(
        "estimated: twice the Fanuc's, for the larger drive",
        "estimated: stalls at its limit on an 8 mm peg, only 1.7 mm short of its stop",
    ),
)

PINCHER = replace(APRS_FANUC_GRIPPER, name="pincher", title="Pincher: the Fanuc's gripper as a tool to be changed")
BIG_GRIPPER = replace(
    APRS_MOTOMAN_GRIPPER, name="big_gripper", title="Big gripper: the Motoman's gripper as a tool to be changed"
)

GRIPPERS: Mapping[str, GripperFigures] = MappingProxyType(
    {g.name: g for g in (APRS_FANUC_GRIPPER, APRS_MOTOMAN_GRIPPER, PINCHER, BIG_GRIPPER)}
)
