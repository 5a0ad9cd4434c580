"""The visuals and the hulls of the Schunk WSG 50: a flat block, two carriers on a guide, long fingers with pads.

A finger's frame sits at the height of the tool centre point on its pad's face; see `shapes.grippers`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cellwright.catalogue.grippers import GripperFigures
from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.grippers import FINGERS
from cellwright.shapes.mesh import cuboid, merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import (
    ALONG_MINUS_X,
    ALONG_MINUS_Y,
    ALONG_X,
    ALONG_Y,
    bolt_circle,
    drum,
    placed,
    plate,
    rod,
)

__all__ = ["wsg_50_shape"]

CARRIER_Z_M = (0.058, 0.095)  # from the flange
CARRIER_SIZE_M = (0.018, 0.030)
FINGER_START_M = 0.080  # where the finger's foot begins, from the flange
PAD_PROTRUSION_M = 0.0035  # how far a pad stands out of its finger


def wsg_50_shape(figures: GripperFigures) -> BodyShape:
    """Returns visuals and hulls on the bodies `tool`, `finger_left`, `finger_right`."""
    return BodyShape(hulls=_hulls(figures), pieces=lambda: [*_housing(figures), *_fingers(figures)])


def _hulls(figures: GripperFigures) -> Sequence[Hull]:
    x, y, z = figures.body_size_m[0] / 2, figures.body_size_m[1] / 2, figures.body_size_m[2]
    thick, wide, long = figures.finger_size_m
    foot, tcp = FINGER_START_M - figures.tcp_xyz_m[2], figures.tcp_xyz_m[2]
    across, deep = CARRIER_SIZE_M
    fingers = [
        Hull.box(f, (PAD_PROTRUSION_M, -wide / 2, foot), (PAD_PROTRUSION_M + thick, wide / 2, foot + long))
        for f in FINGERS
    ]
    carriers = [
        Hull.box(f, (PAD_PROTRUSION_M, -deep / 2, z - tcp), (PAD_PROTRUSION_M + across, deep / 2, CARRIER_Z_M[1] - tcp))
        for f in FINGERS
    ]
    return (
        Hull.box("tool", (-x, -y, 0.0), (x, y, z)),
        Hull.box("tool", (x, -0.010, 0.022), (x + 0.020, 0.010, 0.050)),
        *carriers,
        *fingers,
    )


def _housing(figures: GripperFigures) -> list[MeshPiece]:
    long, deep, high = figures.body_size_m
    block = plate(rounded_rectangle((long, deep), 0.005, 4), (0.0, high - 0.012), (0.001, 0.0015), steps=2)
    guide = plate(rounded_rectangle((long, deep - 0.002), 0.004, 4), (high - 0.0125, high), (0.0, 0.002), steps=2)
    slot = cuboid((-0.48 * long, -0.19 * deep, high - 0.001), (0.48 * long, 0.19 * deep, high + 0.0004))
    flank = plate(rounded_rectangle((0.78 * long, 0.40 * high), 0.004, 3), (0.49 * deep, 0.5 * deep + 0.0008))
    stripe = plate(rounded_rectangle((0.34 * long, 0.11 * high), 0.002, 3), (0.49 * deep, 0.5 * deep + 0.0014))
    sides = [(ALONG_Y, 0.42 * high), (ALONG_MINUS_Y, 0.42 * high)]
    plug = placed(drum(0.0095, (0.48 * long, 0.5 * long + 0.018), 0.0015, segments=20, steps=1), (0, 0, 0.036), ALONG_X)
    out = 0.5 * long
    lead = rod(
        [(out + 0.016, 0, 0.036), (out + 0.030, 0, 0.034), (out + 0.034, 0, 0.010), (out - 0.012, 0, -0.018)], 0.004
    )
    ends = [
        placed(
            bolt_circle(0.026, 4, 0.0022, (0.5 * long - 0.001, 0.5 * long + 0.001), phase_rad=0.6), (0, 0, 0.030), turn
        )
        for turn in (ALONG_X, ALONG_MINUS_X)
    ]
    return [
        MeshPiece("tool", "aluminium", block),
        MeshPiece("tool", "anodised", guide),
        MeshPiece("tool", "black", merge([slot, plug, lead])),
        MeshPiece("tool", "anodised", merge(placed(flank, (0, 0, z), turn) for turn, z in sides)),
        MeshPiece("tool", "blue", merge(placed(stripe, (0, 0, z), turn) for turn, z in sides)),
        MeshPiece("tool", "steel", merge(ends)),
    ]


def _fingers(figures: GripperFigures) -> list[MeshPiece]:
    """Returns a steel carrier, a finger that grows slimmer towards its tip, a rubber pad that reaches beyond it."""
    tcp = figures.tcp_xyz_m[2]
    thick, wide, long = figures.finger_size_m
    across, deep = CARRIER_SIZE_M
    foot = FINGER_START_M - tcp
    back, tip = PAD_PROTRUSION_M + thick, foot + long
    outline = np.array(
        [(PAD_PROTRUSION_M, foot), (back, foot), (back, foot + 0.45 * long), (PAD_PROTRUSION_M + 0.6 * thick, tip)]
    )
    outline = np.concatenate([outline, [(PAD_PROTRUSION_M, tip)]])
    finger = placed(plate(outline, (-wide / 2, wide / 2), 0.0008, steps=1), rpy_rad=ALONG_MINUS_Y)
    carrier = placed(
        plate(
            rounded_rectangle((across - 0.001, deep - 0.001), 0.0015, 3),
            (CARRIER_Z_M[0] - tcp, CARRIER_Z_M[1] - tcp),
            0.0008,
            steps=1,
        ),
        (PAD_PROTRUSION_M + across / 2, 0.0, 0.0),
    )
    pad_thick, pad_wide, pad_long = figures.pad_size_m
    pad = placed(
        plate(rounded_rectangle((pad_long, pad_wide), 0.003, 3), (-pad_thick, 0.0), (0.0008, 0.0008), steps=1),
        (0.0, 0.0, figures.pad_offset_m),
        ALONG_MINUS_X,
    )
    screws = [
        placed(
            drum(0.0022, (back - 0.001, back + 0.0015), (0, 0.0005), segments=10, steps=1),
            (0, y, foot + 0.008),
            ALONG_X,
        )
        for y in (-0.008, 0.008)
    ]
    parts = {"aluminium": finger, "steel": merge([carrier, *screws]), "rubber": pad}
    return [MeshPiece(name, finish, mesh) for name in FINGERS for finish, mesh in parts.items()]
