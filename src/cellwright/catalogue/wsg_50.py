"""The Schunk WSG 50: a servo-electric parallel gripper, with the long padded fingers of the ROVI project.

The ROVI project's own gripper frame has y out of the flange; ours has z out of it. The jaws move along x in both.
"""

from __future__ import annotations

from types import MappingProxyType

from cellwright.catalogue.grippers import GripperFigures

__all__ = ["WSG_50"]

_OPEN_M, _CLOSED_M = 0.051, 0.001
_JAW_SPEED_MPS = 0.420 / 2  # the catalogue counts both jaws
_ROVI = "the gripper of the ROVI project (rb-rovi): dimensions of its meshes and joints"
_CATALOGUE = "the maker's catalogue figures for the WSG 50-110, by two secondary sources"

WSG_50 = GripperFigures(
    name="wsg_50",
    title="Schunk WSG 50 with the ROVI project's fingers",
    tcp_xyz_m=(0.0, 0.0, 0.1507),
    open_m=_OPEN_M,
    closed_m=_CLOSED_M,
    grip_force_n=50.0,
    force_limits_n=(5.0, 80.0),
    stiffness_npm=4.0e4,
    closing_time_s=(_OPEN_M - _CLOSED_M) / _JAW_SPEED_MPS,
    finger_armature_kg=0.05,
    coupling_time_s=0.004,
    pad_size_m=(0.0113, 0.0193, 0.0530),
    pad_offset_m=-0.0076,
    finger_size_m=(0.020, 0.030, 0.073),
    body_size_m=(0.146, 0.050, 0.0717),
    mount_radius_m=0.0315,
    mount_height_m=0.0,
    body_mass_kg=1.10,
    finger_mass_kg=0.050,
    colours=MappingProxyType(
        {
            "aluminium": (0.66, 0.67, 0.69),
            "anodised": (0.16, 0.17, 0.19),
            "steel": (0.60, 0.61, 0.63),
            "blue": (0.05, 0.28, 0.52),
            "rubber": (0.05, 0.05, 0.055),
            "black": (0.045, 0.045, 0.05),
        }
    ),
    sources=MappingProxyType(
        {
            "tcp_xyz_m": "rb-rovi: 0.1507 m from the flange",
            "open_m": "rb-rovi: an opening of 2 to 102 mm, the room for 11 mm of error on either side of the bottle",
            "closed_m": "rb-rovi: an opening of 2 to 102 mm",
            "grip_force_n": "rb-rovi's controller: 50 N per finger, of which ODE, with friction 10, needs little",
            "force_limits_n": _CATALOGUE + ": 5 to 80 N",
            "stiffness_npm": "estimated: stalls at its limit 2.5 mm before its stop",
            "closing_time_s": _CATALOGUE + ": 420 mm/s between the jaws",
            "finger_armature_kg": "estimated: a spindle drive of some 50 g per finger; also steadies the contact",
            "coupling_time_s": "estimated: a spindle without play, as stiff as the contacts",
            "pad_size_m": _ROVI,
            "pad_offset_m": _ROVI
            + ": pads from 116.6 to 169.6 mm, so their middle is 7.6 mm short of the centre point",
            "finger_size_m": _ROVI,
            "body_size_m": _ROVI + "; 146 x 72.5 x 50 mm in two other models",
            "mount_radius_m": "estimated: a flange of ISO 9409-1-50; the housing sits on it directly",
            "mount_height_m": _ROVI + ": none",
            "body_mass_kg": _CATALOGUE + ": 1.2 kg in all; rb-rovi has 0.7 for the housing",
            "finger_mass_kg": "Drake's model of the gripper; the 1.5 kg of each finger in rb-rovi is no finger's mass",
            "colours": "estimated: by eye; bare aluminium, dark guide",
        }
    ),
)
