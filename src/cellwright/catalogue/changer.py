"""The tool changer: its half on the robot's flange, its half on every tool, and the holders that tools hang in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from types import MappingProxyType

from cellwright.catalogue.arms import Vector3
from cellwright.catalogue.figures import Figures
from cellwright.catalogue.furniture_kinds import FurnitureFigures

__all__ = ["TOOL_CHANGER", "TOOL_HOLDER", "ChangerFigures", "ToolHolderFigures"]


@dataclass(frozen=True, kw_only=True)
class ChangerFigures(Figures):
    """A pneumatic changer: a plate on the flange, and a coupling on the tool that it locks.

    The coupling's frame is where its upper face is, with the axes of the flange; the tool is mounted at its lower
    face. It has two wings, along y, by which a holder carries it.

    Attributes:
        radius_m: Of both halves.
        plate_height_m: From the flange to the lower face of the robot's half.
        plate_mass_kg: Of the robot's half.
        coupling_height_m: Of the tool's half.
        coupling_mass_kg: The same, with its wings.
        wing_size_m: Extent of the wings along x, from tip to tip along y, and their thickness.
        gap_m: Between the two faces when locked.
        lateral_m: Largest distance of the halves' axes at which the lock catches: its pins draw them together.
        axial_m: Largest distance of the faces.
        tilt_rad: Largest angle between the faces.
        turn_rad: Largest rotation of the halves about their axis.
        lock_s: Duration of the lock, to close and to open.
        colours: Finish name -> red, green, blue, 0 to 1.
    """

    radius_m: float
    plate_height_m: float
    plate_mass_kg: float
    coupling_height_m: float
    coupling_mass_kg: float
    wing_size_m: Vector3
    gap_m: float
    lateral_m: float
    axial_m: float
    tilt_rad: float
    turn_rad: float
    lock_s: float
    colours: Mapping[str, Vector3]

    @property
    def coupling_in_flange_m(self) -> Vector3:
        """The place of the coupling when it is locked."""
        return (0.0, 0.0, self.plate_height_m + self.gap_m)

    def tcp_in_flange_m(self, tcp_in_tool_m: Vector3) -> Vector3:
        """Returns the centre point of a tool that hangs on the changer."""
        x, y, z = tcp_in_tool_m
        return (x, y, z + self.coupling_in_flange_m[2] + self.coupling_height_m)


@dataclass(frozen=True, kw_only=True)
class ToolHolderFigures(FurnitureFigures):
    """Two rails between which a tool hangs by its wings. Origin: the middle of its foot, z up; rails along x.

    Attributes:
        rail_top_m: Height of the rails' upper faces.
        rail_gap_m: Between the rails.
        rail_size_m: Length, width and thickness of each.
        post_m: Side of the posts' section.
        foot_size_m: Extent of the foot along x and y, and its thickness.
    """

    rail_top_m: float
    rail_gap_m: float
    rail_size_m: Vector3
    post_m: float
    foot_size_m: Vector3

    def coupling_xyz_rpy(self, changer: ChangerFigures) -> tuple[Vector3, Vector3]:
        """Returns the pose of the coupling of a tool that hangs here, pointing down."""
        return (0.0, 0.0, self.rail_top_m + changer.wing_size_m[2]), (pi, 0.0, 0.0)

    def flange_xyz_rpy(self, changer: ChangerFigures, up_m: float = 0.0) -> tuple[Vector3, Vector3]:
        """Returns the pose of a robot's flange that takes a tool here or leaves it, or a height above that place."""
        (x, y, z), turn = self.coupling_xyz_rpy(changer)
        return (x, y, z + changer.coupling_in_flange_m[2] + up_m), turn


TOOL_CHANGER = ChangerFigures(
    name="tool_changer",
    title="Pneumatic tool changer",
    radius_m=0.040,
    plate_height_m=0.022,
    plate_mass_kg=0.18,
    coupling_height_m=0.016,
    coupling_mass_kg=0.12,
    wing_size_m=(0.036, 0.150, 0.008),
    gap_m=0.0002,
    lateral_m=0.003,
    axial_m=0.003,
    tilt_rad=0.035,
    turn_rad=0.035,
    lock_s=0.25,
    colours=MappingProxyType(
        {"aluminium": (0.70, 0.71, 0.73), "anodised": (0.13, 0.14, 0.16), "steel": (0.62, 0.63, 0.65)}
    ),
    sources=MappingProxyType(
        {
            "radius_m": "estimated: changers for 5 to 20 kg",
            "plate_height_m": "estimated: the same",
            "plate_mass_kg": "estimated: the same",
            "coupling_height_m": "estimated: the same",
            "coupling_mass_kg": "estimated: the same, with the wings",
            "wing_size_m": "estimated: reach over the rails of the holder",
            "gap_m": "by choice: the faces of a locked changer do not press on each other",
            "lateral_m": "estimated: tapered pins catch that much",
            "axial_m": "estimated: makers let changers lock without touch over some 2 to 3 mm",
            "tilt_rad": "estimated: 2 degrees",
            "turn_rad": "estimated: 2 degrees",
            "lock_s": "NIST's lab programs dwell 0.25 s after a change",
            "colours": "estimated: by choice",
        }
    ),
)

TOOL_HOLDER = ToolHolderFigures(
    name="tool_holder",
    title="Holder for a tool of the changing station",
    rail_top_m=0.340,
    rail_gap_m=0.112,
    rail_size_m=(0.080, 0.024, 0.010),
    post_m=0.024,
    foot_size_m=(0.080, 0.180, 0.010),
    colours=MappingProxyType({"silver": (0.74, 0.75, 0.77), "black": (0.07, 0.07, 0.08)}),
    sources=MappingProxyType(
        {
            "rail_top_m": "estimated: the longest tool hangs clear of the foot",
            "rail_gap_m": "estimated: the widest tool passes between the rails",
            "rail_size_m": "NIST's kitting workstation of 2012: holders of 80 mm; estimated: width and thickness",
            "post_m": "estimated: usual profiles",
            "foot_size_m": "estimated: carries the posts",
            "colours": "estimated: usual materials",
        }
    ),
)
