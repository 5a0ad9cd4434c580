"""The visuals and the hulls of the Robotiq 2F-85: a rounded base, knuckles beside it, tips with rubber pads.

A finger's frame sits in the middle of its pad's face; a knuckle's in its pivot, with the axes of the open gripper.
Frames on the -x side are turned half round z, so that one shape serves for both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cellwright.catalogue.grippers import GripperFigures
from cellwright.catalogue.robotiq_2f_85 import LinkageGripperFigures
from cellwright.core.pose import Pose
from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import (
    ALONG_MINUS_X,
    ALONG_MINUS_Y,
    ALONG_X,
    ALONG_Y,
    Section,
    bolt_circle,
    drum,
    lofted,
    placed,
    plate,
    two_circles,
)

__all__ = ["robotiq_shape"]

SIDES = ("left", "right")
ARM_WIDTH_M, INNER_WIDTH_M = 0.0130, 0.0090
ARM_DEPTH_M, INNER_DEPTH_M = 0.0300, 0.0140  # along y: the outer knuckle is a fork round the finger
TIP_START_M = -0.044  # from the pad's middle


def robotiq_shape(figures: GripperFigures) -> BodyShape:
    """Returns visuals and hulls on the bodies `tool`, and `finger_`, `knuckle_`, `inner_` with `left` and `right`."""
    assert isinstance(figures, LinkageGripperFigures)
    return BodyShape(hulls=_hulls(figures), pieces=lambda: [*_base(figures), *_limbs(figures)])


def _hulls(figures: LinkageGripperFigures) -> Sequence[Hull]:
    x, y = figures.body_size_m[0] / 2, figures.body_size_m[1] / 2
    thick, wide, _ = figures.finger_size_m
    pad, _, long = figures.pad_size_m
    arm_x, arm_z = figures.arm_xz_m
    lean, length = float(np.arctan2(arm_x, arm_z)), float(np.hypot(arm_x, arm_z))
    along = Pose.from_xyz_rpy((arm_x / 2, 0.0, arm_z / 2), (0.0, lean, 0.0))
    outer = (ARM_WIDTH_M / 2, ARM_DEPTH_M / 2, length / 2)
    return (
        Hull.cylinder("tool", figures.mount_radius_m, (0.0, 0.0, 0.0), (0.0, 0.0, 0.030)),
        Hull.box("tool", (-x, -0.7 * y, 0.030), (x, 0.7 * y, 0.070)),
        Hull.box("tool", (-0.6 * x, -0.7 * y, 0.070), (0.6 * x, 0.7 * y, figures.body_size_m[2])),
        *(Hull.box(f"finger_{s}", (pad, -wide / 2, TIP_START_M), (pad + thick, wide / 2, long / 2)) for s in SIDES),
        *(Hull(f"knuckle_{s}", "box", outer, along) for s in SIDES),
    )


def _base(figures: LinkageGripperFigures) -> list[MeshPiece]:
    long, _, high = figures.body_size_m
    foot = drum(figures.mount_radius_m, (0.0, 0.014), 0.0015, segments=40, steps=2)
    neck = drum(0.92 * figures.mount_radius_m, (0.013, 0.024), 0.001, segments=40, steps=1)
    trunk = lofted(
        [
            Section(0.020, width_m=0.070, depth_m=0.066, exponent=2.4),
            Section(0.032, width_m=0.080, depth_m=0.060, exponent=3.5),
            Section(0.056, width_m=long, depth_m=0.054, exponent=5.0),
            Section(0.070, width_m=0.080, depth_m=0.050, exponent=5.0),
            Section(0.082, width_m=0.054, depth_m=0.046, exponent=4.0),
            Section(high, width_m=0.038, depth_m=0.038, exponent=3.5),
        ],
        points=40,
    )
    lid = plate(rounded_rectangle((0.040, 0.030), 0.006, 4), (0.0, 0.0288), (0.0, 0.001), steps=1)
    band = plate(rounded_rectangle((0.030, 0.0045), 0.002, 3), (0.0, 0.0296), (0.0, 0.0004), steps=1)
    plug = placed(drum(0.0065, (0.030, 0.048), 0.001, segments=18, steps=1), (0.0, 0.0, 0.021), ALONG_MINUS_Y)
    pins = [
        placed(drum(0.0045, (-0.0285, 0.0285), 0.0008, segments=16, steps=1), (sign * px, 0.0, pz), ALONG_Y)
        for sign in (1, -1)
        for px, pz in (figures.knuckle_xz_m, figures.inner_xz_m)
    ]
    sides = (ALONG_Y, ALONG_MINUS_Y)
    return [
        MeshPiece("tool", "aluminium", merge([foot, *(placed(lid, (0.0, 0.0, 0.048), turn) for turn in sides)])),
        MeshPiece("tool", "anodised", trunk),
        MeshPiece("tool", "black", merge([neck, plug])),
        MeshPiece("tool", "blue", merge(placed(band, (0.0, 0.0, 0.048), turn) for turn in sides)),
        MeshPiece("tool", "steel", merge([*pins, bolt_circle(0.031, 4, 0.003, (0.0125, 0.0155), phase_rad=0.785)])),
    ]


def _limbs(figures: LinkageGripperFigures) -> list[MeshPiece]:
    arm = figures.arm_xz_m
    outer = [_bar(arm, ARM_WIDTH_M, y, y + 0.0035) for y in (-ARM_DEPTH_M / 2, ARM_DEPTH_M / 2 - 0.0035)]
    inner = _bar(arm, INNER_WIDTH_M, -INNER_DEPTH_M / 2, INNER_DEPTH_M / 2)
    px, pz = figures.pivot_in_pad_xz_m
    pins = [
        placed(drum(0.0036, (-0.0165, 0.0165), 0.0006, segments=14, steps=1), (x, 0.0, z), ALONG_Y)
        for x, z in ((px, pz), (px + figures.inner_xz_m[0] - figures.knuckle_xz_m[0], pz + _rise(figures)))
    ]
    pad_thick, pad_wide, pad_long = figures.pad_size_m
    thick, wide, _ = figures.finger_size_m
    back, tip = pad_thick + thick, pad_long / 2
    outline = np.array(
        [
            (pad_thick, TIP_START_M),
            (px + 0.007, TIP_START_M),
            (px + 0.007, pz + 0.008),
            (back, pz + 0.018),
            (back - 0.004, tip),
            (pad_thick, tip),
        ]
    )
    body = placed(plate(outline, (-wide / 2, wide / 2), 0.0008, steps=1), rpy_rad=ALONG_MINUS_Y)
    pad = placed(
        plate(rounded_rectangle((pad_long, pad_wide), 0.002, 3), (-pad_thick - 0.0005, 0.0), (0.0, 0.0006), steps=1),
        rpy_rad=ALONG_MINUS_X,
    )
    screws = [
        placed(drum(0.0020, (back - 0.002, back + 0.001), 0.0004, segments=10, steps=1), (0.0, y, 0.0), ALONG_X)
        for y in (-0.006, 0.006)
    ]
    pieces: list[tuple[str, str, Mesh]] = [
        ("knuckle", "anodised", merge(outer)),
        ("inner", "aluminium", inner),
        ("finger", "anodised", body),
        ("finger", "steel", merge([*pins, *screws])),
        ("finger", "rubber", pad),
    ]
    return [MeshPiece(f"{what}_{side}", finish, mesh) for side in SIDES for what, finish, mesh in pieces]


def _rise(figures: LinkageGripperFigures) -> float:
    """Returns the height of the inner pivots above the outer ones."""
    return figures.inner_xz_m[1] - figures.knuckle_xz_m[1]


def _bar(arm_xz_m: tuple[float, float], width_m: float, from_y_m: float, to_y_m: float) -> Mesh:
    """Returns a flat bar in the xz plane from the pivot to the arm's end."""
    x, z = arm_xz_m
    outline = two_circles((0.0, 0.0, width_m / 2), (x, z, width_m / 2))
    return placed(plate(outline, (-to_y_m, -from_y_m), 0.0006, steps=1), rpy_rad=ALONG_MINUS_Y)
