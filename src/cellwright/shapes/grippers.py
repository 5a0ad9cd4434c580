"""The visuals and the hulls of a parallel gripper, made from its figures.

The body `tool` has the flange's frame; a finger's frame sits in the middle of its pad's face, with the axes of the
tool for the left finger and turned half round z for the right one, so that one finger serves for both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cellwright.catalogue.grippers import GripperFigures
from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, merge
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

__all__ = ["gripper_shape"]

FINGERS = ("finger_left", "finger_right")


def gripper_shape(figures: GripperFigures) -> BodyShape:
    """Returns visuals and hulls on the bodies `tool`, `finger_left`, `finger_right`."""
    return BodyShape(hulls=_hulls(figures), pieces=lambda: [*_housing(figures), *_fingers(figures)])


def _jaw_top_m(figures: GripperFigures) -> float:
    """Returns the height, above the pad's middle, where the finger meets its jaw; negative, towards the flange."""
    return figures.pad_size_m[2] / 2 - figures.finger_size_m[2]


def _hulls(figures: GripperFigures) -> Sequence[Hull]:
    x, y = figures.tcp_xyz_m[:2]
    long_x, long_y, _ = figures.body_size_m
    start, end = figures.mount_height_m, figures.tcp_xyz_m[2] + _jaw_top_m(figures)  # the jaws included
    thick, wide, _ = figures.finger_size_m
    pad = figures.pad_size_m[0]
    tip, top = figures.pad_size_m[2] / 2, _jaw_top_m(figures)
    fingers = [Hull.box(f, (pad, -wide / 2, top), (pad + thick, wide / 2, tip)) for f in FINGERS]
    return (
        Hull.cylinder("tool", figures.mount_radius_m, (0.0, 0.0, 0.0), (0.0, 0.0, start)),
        Hull.box("tool", (x - long_x / 2, y - long_y / 2, start), (x + long_x / 2, y + long_y / 2, end)),
        *fingers,
    )


def _housing(figures: GripperFigures) -> list[MeshPiece]:
    x, y = figures.tcp_xyz_m[:2]
    long_x, long_y, long_z = figures.body_size_m
    radius, start = figures.mount_radius_m, figures.mount_height_m
    end = start + long_z
    adapter = [
        drum(radius, (0.0, 0.22 * start), 0.0015, segments=36, steps=1),
        drum(0.94 * radius, (0.80 * start, start), 0.0015, segments=36, steps=1),
    ]
    sensor = drum(0.97 * radius, (0.24 * start, 0.78 * start), 0.003, segments=36, steps=2)
    socket = placed(
        drum(0.007, (0.8 * radius, 1.22 * radius), 0.001, segments=14, steps=1), (0, 0, 0.5 * start), ALONG_MINUS_X
    )
    lead = rod(
        [(-1.2 * radius, 0, 0.5 * start), (-1.5 * radius, 0, 0.45 * start), (-1.6 * radius, 0, 0.1 * start)],
        0.003,
        points=8,
    )
    body = placed(
        plate(rounded_rectangle((long_x, long_y), 0.006, 4), (start, end - 0.010), (0.003, 0.002), steps=2), (x, y, 0)
    )
    rail = placed(
        plate(rounded_rectangle((long_x, 0.55 * long_y), 0.003, 3), (end - 0.011, end), (0.0, 0.001), steps=1),
        (x, y, 0),
    )
    lids = [
        placed(
            plate(
                rounded_rectangle((0.6 * long_z, 0.72 * long_y), 0.004, 3),
                (0.49 * long_x, 0.5 * long_x + 0.0015),
                (0.0, 0.001),
                steps=1,
            ),
            (x, y, start + 0.45 * long_z),
            rpy,
        )
        for rpy in (ALONG_X, ALONG_MINUS_X)
    ]
    ports = [
        placed(
            drum(0.0045, (0.4 * long_y, 0.5 * long_y + 0.010), (0.0, 0.001), segments=14, steps=1),
            (x + dx, y, start + 0.3 * long_z),
            ALONG_Y,
        )
        for dx in (-0.2 * long_x, 0.2 * long_x)
    ]
    bolts = merge(
        [
            bolt_circle(0.82 * radius, 6, 0.0026, (0.2 * start, 0.22 * start + 0.002), phase_rad=0.5),
            placed(
                bolt_circle(0.3 * long_y, 4, 0.002, (0.5 * long_x, 0.5 * long_x + 0.0025), phase_rad=0.785),
                (x, y, start + 0.45 * long_z),
                ALONG_X,
            ),
        ]
    )
    return [
        MeshPiece("tool", "aluminium", merge([*adapter, rail])),
        MeshPiece("tool", "anodised", merge([sensor, body])),
        MeshPiece("tool", "aluminium", merge([*lids, *ports])),
        MeshPiece("tool", "black", merge([socket, lead])),
        MeshPiece("tool", "steel", bolts),
    ]


def _fingers(figures: GripperFigures) -> list[MeshPiece]:
    """Returns a printed finger that widens towards its steel jaw, and its pad."""
    thick, wide, _ = figures.finger_size_m
    pad_thick, pad_wide, pad_long = figures.pad_size_m
    tip, top = pad_long / 2, _jaw_top_m(figures)
    rail_top = figures.mount_height_m + figures.body_size_m[2] - figures.tcp_xyz_m[2]
    jaw_long = 0.20 * figures.body_size_m[0]
    root_thick = 0.75 * jaw_long
    blade = placed(
        plate(rounded_rectangle((thick, tip - top), 0.0012, 3), (-wide / 2, wide / 2), 0.0006, steps=1),
        (pad_thick + thick / 2, 0.0, (tip + top) / 2),
        ALONG_MINUS_Y,
    )
    outline = np.array([(0.2 * thick, top), (root_thick, top), (root_thick, 0.78 * top), (0.9 * thick, 0.30 * top)])
    gusset = placed(plate(outline, (-0.36 * wide, 0.36 * wide), 0.0006, steps=1), (pad_thick, 0.0, 0.0), ALONG_MINUS_Y)
    foot = placed(
        plate(rounded_rectangle((root_thick, 2.0 * wide), 0.0015, 3), (top, 0.90 * top), (0.0, 0.0008), steps=1),
        (pad_thick + root_thick / 2, 0.0, 0.0),
    )
    jaw = placed(
        plate(
            rounded_rectangle((jaw_long, 0.8 * figures.body_size_m[1]), 0.002, 3),
            (rail_top + 0.0008, top),
            (0.0008, 0.0008),
            steps=1,
        ),
        (pad_thick + 0.5 * jaw_long, 0.0, 0.0),
    )
    pad = placed(
        plate(rounded_rectangle((pad_long, pad_wide), 0.001, 3), (-pad_thick - 0.0005, 0.0), (0.0, 0.0004), steps=1),
        rpy_rad=ALONG_MINUS_X,
    )
    screws = [
        placed(
            drum(0.0018, (0.0, 0.0016), (0.0, 0.0005), segments=8, steps=1), (pad_thick + 0.5 * jaw_long, y, 0.90 * top)
        )
        for y in (-0.75 * wide, 0.75 * wide)
    ]
    parts: list[tuple[str, Mesh]] = [
        ("printed", merge([blade, gusset, foot])),
        ("steel", merge([jaw, *screws])),
        ("rubber", pad),
    ]
    return [MeshPiece(name, finish, mesh) for name in FINGERS for finish, mesh in parts]
