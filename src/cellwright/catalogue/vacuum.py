"""Vacuum tools: a suction cup on a tube, or several on a bar. They hold by the air's pressure while their lips seal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, pi, sin
from types import MappingProxyType

from cellwright.catalogue.objects import BlockFigures, TurnedFigures
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.tools import ToolFigures
from cellwright.core.gravity import GRAVITY_MPS2

__all__ = ["LARGE_VACUUM", "SMALL_VACUUM", "TRAY_VACUUM", "VACUUM_TOOLS", "VacuumFigures"]

EDGE_M = 0.005  # room for an error of the place
CARRIED_SHARE = 0.75  # of the rating: the rest is for acceleration


@dataclass(frozen=True, kw_only=True)
class VacuumFigures(ToolFigures):
    """Suction cups in the flange's frame: z out of the flange, the tool centre point in the middle of the free lips.

    Several cups are equal, have one pump, and stand evenly round the centre point, the first towards x; all must hold.

    Attributes:
        cup_diameter_m: Over the lip.
        cup_length_m: From the tube's end to the lip.
        load_kg: The load that the tool carries at rest, hanging below it: its rating. Heavier things come off.
        stiffness_npm: Of the cup along its axis.
        damping_nspm: The same.
        press_m: Largest compression of the lip.
        stretch_m: Largest extension of it.
        tilt_stiffness_nmprad: Resistance of the lip against tilting.
        tilt_damping_nmsprad: The same.
        tilt_limit_rad: Largest tilt of the lip.
        lip_friction: Sliding friction of the lip.
        lip_points: Number of points round the lip where contact is looked for: that is how finely the seal is known.
        seal_gap_m: Largest distance of a point of the lip from a surface that still seals: soft rubber closes that.
        leak_rad: The largest stretch of the lip without contact that still seals.
        evacuation_s: Time constant with which the vacuum builds up under a sealed cup.
        tube_radius_m: Of the tube between flange, or bar, and cup.
        mount_radius_m: Of the adapter and the force sensor at the flange.
        mount_height_m: The same.
        body_mass_kg: All but the cups.
        cup_mass_kg: One cup.
        array_number: Number of cups.
        array_radius_m: Distance of the cups' axes from the centre point.
        bar_size_m: Width and thickness of the bar that carries several cups, along x below the mount.
    """

    cup_diameter_m: float
    cup_length_m: float
    load_kg: float
    stiffness_npm: float
    damping_nspm: float
    press_m: float
    stretch_m: float
    tilt_stiffness_nmprad: float
    tilt_damping_nmsprad: float
    tilt_limit_rad: float
    lip_friction: float
    lip_points: int
    seal_gap_m: float
    leak_rad: float
    evacuation_s: float
    tube_radius_m: float
    mount_radius_m: float
    mount_height_m: float
    body_mass_kg: float
    cup_mass_kg: float
    array_number: int = 1
    array_radius_m: float = 0.0
    bar_size_m: tuple[float, float] = (0.0, 0.0)

    @property
    def holding_force_n(self) -> float:
        """The force of each cup at full vacuum: together, the weight of the rated load."""
        return self.load_kg * GRAVITY_MPS2 / self.array_number

    @property
    def cups_xy_m(self) -> tuple[tuple[float, float], ...]:
        """The cups' axes, beside the centre point."""
        angles = (2 * pi * k / self.array_number for k in range(self.array_number))
        return tuple((self.array_radius_m * cos(angle), self.array_radius_m * sin(angle)) for angle in angles)

    @property
    def turn_rad(self) -> float:
        """The angle of rotation about its axis after which it is the same; zero when any angle will do."""
        return 2 * pi / self.array_number if self.array_number > 1 else 0.0

    @property
    def carried_kg(self) -> float:
        """The largest mass that it is given to carry."""
        return CARRIED_SHARE * self.load_kg

    @property
    def clear_m(self) -> float:
        """The free height beside its cups: from the lips up to the mount or the bar."""
        return self.tcp_xyz_m[2] - self.mount_height_m - self.bar_size_m[1]

    def fits(self, part: PartFigures) -> bool:
        """Returns whether a part is flat on top where the cup comes, and light enough to be carried."""
        if isinstance(part, TurnedFigures) and not part.wall_m:
            flat_m = part.profile_rz_m[-1][0]
        elif isinstance(part, BlockFigures):
            flat_m = min(part.size_m[:2]) / 2
        else:
            return False
        reach_m = self.array_radius_m + self.cup_diameter_m / 2
        return flat_m >= reach_m + EDGE_M and part.mass_kg <= self.carried_kg

    @property
    def mass_kg(self) -> float:
        """The mass of the whole tool."""
        return self.body_mass_kg + self.array_number * self.cup_mass_kg


_NIST = "NIST's USARSim kitting workstation (2012)"
_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "tcp_xyz_m": "the cup's length, beyond an estimated adapter and tube",
        "cup_diameter_m": _NIST,
        "cup_length_m": _NIST,
        "load_kg": _NIST + ": load; taken as what it carries at rest, without reserve",
        "stiffness_npm": "estimated: yields 2 mm to its rated load",
        "damping_nspm": "estimated: rubber, near critical with its rated load",
        "press_m": "estimated: a quarter of the cup's length, at most 15 mm",
        "stretch_m": "estimated: a fold of the bellows",
        "tilt_stiffness_nmprad": "estimated: follows a surface that leans by some degrees",
        "tilt_damping_nmsprad": "estimated",
        "tilt_limit_rad": "estimated: 8 degrees",
        "lip_friction": "estimated: rubber on dry plastic",
        "lip_points": "by choice: every 30 degrees",
        "seal_gap_m": "estimated: soft lips close gaps of half a millimetre",
        "leak_rad": "by choice: at least three points, none of them 90 degrees from the next",
        "evacuation_s": "estimated: a small ejector close to the cup",
        "tube_radius_m": "estimated",
        "mount_radius_m": "estimated: a flange adapter and a six-axis force sensor",
        "mount_height_m": "estimated: the same",
        "body_mass_kg": "estimated: aluminium of these sizes",
        "cup_mass_kg": "estimated: rubber of this size",
        "colours": "estimated: by choice",
        "array_number": _NIST + ": one cup",
        "array_radius_m": "none: one cup",
        "bar_size_m": "none: one cup",
    }
)
_COLOURS = MappingProxyType(
    {
        "aluminium": (0.70, 0.71, 0.73),
        "anodised": (0.13, 0.14, 0.16),
        "steel": (0.62, 0.63, 0.65),
        "black": (0.045, 0.045, 0.05),
        "rubber": (0.46, 0.10, 0.06),
        "blue": (0.05, 0.28, 0.52),
    }
)

SMALL_VACUUM = VacuumFigures(
    name="small_vacuum",
    title="Small vacuum tool, one cup of 40 mm",
    tcp_xyz_m=(0.0, 0.0, 0.120),
    cup_diameter_m=0.040,
    cup_length_m=0.025,
    load_kg=0.4,
    stiffness_npm=2000.0,
    damping_nspm=30.0,
    press_m=0.006,
    stretch_m=0.003,
    tilt_stiffness_nmprad=1.0,
    tilt_damping_nmsprad=0.02,
    tilt_limit_rad=0.14,
    lip_friction=0.8,
    lip_points=12,
    seal_gap_m=0.0005,
    leak_rad=1.5707963267948966,
    evacuation_s=0.05,
    tube_radius_m=0.009,
    mount_radius_m=0.034,
    mount_height_m=0.046,
    body_mass_kg=0.35,
    cup_mass_kg=0.02,
    colours=_COLOURS,
    sources=_SOURCES,
)

LARGE_VACUUM = VacuumFigures(
    name="big_vacuum",
    title="Large vacuum tool, one cup of 80 mm",
    tcp_xyz_m=(0.0, 0.0, 0.160),
    cup_diameter_m=0.080,
    cup_length_m=0.100,
    load_kg=0.5,
    stiffness_npm=2500.0,
    damping_nspm=35.0,
    press_m=0.015,
    stretch_m=0.004,
    tilt_stiffness_nmprad=3.0,
    tilt_damping_nmsprad=0.06,
    tilt_limit_rad=0.14,
    lip_friction=0.8,
    lip_points=12,
    seal_gap_m=0.0005,
    leak_rad=1.5707963267948966,
    evacuation_s=0.08,
    tube_radius_m=0.014,
    mount_radius_m=0.040,
    mount_height_m=0.046,
    body_mass_kg=0.45,
    cup_mass_kg=0.08,
    colours=_COLOURS,
    sources=_SOURCES,
)

TRAY_VACUUM = VacuumFigures(
    name="tray_vacuum",
    title="Tray tool, two cups of 20 mm on a bar",
    tcp_xyz_m=(0.0, 0.0, 0.104),
    cup_diameter_m=0.020,
    cup_length_m=0.018,
    load_kg=1.4,
    stiffness_npm=3000.0,
    damping_nspm=50.0,
    press_m=0.0045,
    stretch_m=0.002,
    tilt_stiffness_nmprad=2.0,
    tilt_damping_nmsprad=0.02,
    tilt_limit_rad=0.14,
    lip_friction=0.8,
    lip_points=12,
    seal_gap_m=0.0005,
    leak_rad=1.5707963267948966,
    evacuation_s=0.05,
    tube_radius_m=0.004,
    mount_radius_m=0.034,
    mount_height_m=0.046,
    body_mass_kg=0.48,
    cup_mass_kg=0.006,
    array_number=2,
    array_radius_m=0.063,
    bar_size_m=(0.030, 0.016),
    colours=_COLOURS,
    sources=MappingProxyType(
        {
            **_SOURCES,
            "tcp_xyz_m": "estimated: adapter, bar, and 42 mm below it, more than the 22 mm by which pegs stand up",
            "cup_diameter_m": "estimated: fits beside seated gears on both kit trays with 6 mm to spare (tray_grasps)",
            "cup_length_m": "estimated: a cup of one and a half folds of this diameter, on a tube",
            "load_kg": "estimated: 60 kPa on 0.85 of the diameter is 13.6 N for each cup; a safety factor of two",
            "stiffness_npm": "estimated: yields 2.3 mm to its rated load",
            "tilt_stiffness_nmprad": "estimated: a kit that hangs 5 mm beside the cups leans by 0.4 degrees",
            "array_number": "the ontology's multi-cup effector has ArrayNumber; two are enough for a tray",
            "array_radius_m": "estimated: so that one tool takes both kit trays, empty or full (tray_grasps)",
            "bar_size_m": "estimated: passes between the rails of a holder",
        }
    ),
)

VACUUM_TOOLS: Mapping[str, VacuumFigures] = MappingProxyType(
    {tool.name: tool for tool in (SMALL_VACUUM, LARGE_VACUUM, TRAY_VACUUM)}
)
