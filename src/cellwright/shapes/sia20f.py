"""The visuals and the hulls of the Motoman SIA20F: a slim arm of blue and silver elbows.

Every pitch joint is a drum across the arm. The link below owns one half of it, the link above the other, and each
link sweeps from its half back to the middle, where the next roll joint turns.
"""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import (
    ALONG_MINUS_X,
    ALONG_MINUS_Y,
    ALONG_Y,
    Section,
    bolt_circle,
    drum,
    lofted,
    placed,
    plate,
    ring,
    rod,
)

__all__ = ["SIA20F_SHAPE"]

_HALF_TURN = 3.141592653589793


def _elbow(
    link: str, finish: str, cap: str, radius_m: float, side: int, far_z_m: float, far_radius_m: float
) -> list[MeshPiece]:
    """Returns one link from its half of a pitch drum to the ring of a roll joint.

    Args:
        link: The body.
        finish: Of its casting.
        cap: Of the cover over its drive.
        radius_m: Of the drum.
        side: +1 or -1, the half of the drum along y.
        far_z_m: Height of the roll joint's ring; below the drum when negative.
        far_radius_m: Of that ring.
    """
    width, up = 1.02 * radius_m, abs(far_z_m)
    shift = 0.5 * width
    neck, end = 0.80 * radius_m, up - 0.014
    body = lofted(
        [
            Section(-0.30 * radius_m, 0.0, shift, 1.70 * radius_m, 0.90 * width, 3.5),
            Section(0.35 * radius_m, 0.0, shift, 1.96 * radius_m, 0.94 * width, 3.5),
            Section(neck, 0.0, 0.92 * shift, 1.90 * radius_m, 0.98 * width, 3.0),
            Section(neck + 0.40 * (end - neck), 0.0, 0.52 * shift, radius_m + far_radius_m, 1.45 * width, 2.4),
            Section(neck + 0.78 * (end - neck), 0.0, 0.08 * shift, 2.02 * far_radius_m, 2.0 * far_radius_m, 2.05),
            Section(end, 0.0, 0.0, 2.0 * far_radius_m, 2.0 * far_radius_m),
            Section(up - 0.006, 0.0, 0.0, 1.93 * far_radius_m, 1.93 * far_radius_m),
        ]
    )
    half = drum(radius_m, (0.003, width), (0.003, 0.22 * radius_m))
    cover = drum(0.80 * radius_m, (0.9 * width, 1.10 * width), (0.0, 0.08 * radius_m), segments=32, steps=3)
    lid = drum(0.36 * radius_m, (1.05 * width, 1.13 * width), (0.0, 0.02 * radius_m), segments=24, steps=2)
    groove = ring(0.84 * radius_m, 0.7 * radius_m, (0.9 * width, 1.005 * width), segments=32)
    screws = bolt_circle(0.62 * radius_m, 6, 0.04 * radius_m, (1.08 * width, 1.125 * width))
    seal = merge(
        [
            placed(drum(0.93 * far_radius_m, (up - 0.01, up + 0.001)), rpy_rad=_flip(far_z_m)),
            _across(drum(0.9 * radius_m, (-0.002, 0.004)), side),
        ]
    )
    mirrored = placed(body, rpy_rad=(0.0, 0.0, 0.0 if side > 0 else _HALF_TURN))
    if far_z_m < 0:
        mirrored = placed(body, rpy_rad=(0.0, _HALF_TURN, 0.0 if side > 0 else _HALF_TURN))
    return [
        MeshPiece(link, finish, merge([mirrored, _across(half, side)])),
        MeshPiece(link, cap, _across(merge([cover, lid]), side)),
        MeshPiece(link, "black", merge([seal, _across(groove, side)])),
        MeshPiece(link, "steel", _across(screws, side)),
    ]


def _flip(far_z_m: float) -> tuple[float, float, float]:
    return (0.0, 0.0 if far_z_m > 0 else _HALF_TURN, 0.0)


def _across(mesh: Mesh, side: int) -> Mesh:
    """Returns a mesh that stands on z, laid along y towards that side."""
    return placed(mesh, rpy_rad=ALONG_Y if side > 0 else ALONG_MINUS_Y)


def _base() -> list[MeshPiece]:
    foot = drum(0.178, (0.0, 0.022), (0.0, 0.005), segments=40)
    body = lofted(
        [
            Section(0.020, width_m=0.300, depth_m=0.300),
            Section(0.060, width_m=0.272, depth_m=0.272),
            Section(0.130, width_m=0.250, depth_m=0.250),
            Section(0.190, width_m=0.246, depth_m=0.246),
            Section(0.208, width_m=0.240, depth_m=0.240),
        ],
        points=40,
    )
    box = placed(
        plate(rounded_rectangle((0.11, 0.15), 0.012), (0.05, 0.172), (0.0, 0.005)), (0, 0, 0.088), ALONG_MINUS_X
    )
    sockets = [
        placed(drum(r, (0.165, 0.186), (0.0, 0.002), segments=20, steps=2), (0, y, z), ALONG_MINUS_X)
        for r, y, z in ((0.022, -0.036, 0.09), (0.018, 0.018, 0.1), (0.007, 0.054, 0.11), (0.007, 0.054, 0.085))
    ]
    cable = rod([(-0.18, -0.036, 0.09), (-0.215, -0.036, 0.084), (-0.25, -0.04, 0.05), (-0.29, -0.045, 0.014)], 0.012)
    return [
        MeshPiece("base", "blue", merge([foot, body])),
        MeshPiece("base", "silver", merge([box, drum(0.1262, (0.163, 0.172), segments=40)])),
        MeshPiece("base", "black", merge([*sockets, cable, drum(0.110, (0.20, 0.224))])),
        MeshPiece("base", "steel", bolt_circle(0.162, 8, 0.009, (0.018, 0.030), phase_rad=0.39)),
    ]


def _flange() -> list[MeshPiece]:
    body = drum(0.050, (-0.045, -0.012), (0.004, 0.003), steps=2)
    face = merge([ring(0.0475, 0.016, (-0.013, 0.0)), ring(0.016, 0.010, (-0.013, -0.004), segments=24)])
    holes = merge([bolt_circle(0.0355, 8, 0.0036, (-0.004, 0.0006)), drum(0.0105, (-0.012, -0.008), segments=20)])
    return [
        MeshPiece("link_7", "silver", body),
        MeshPiece("link_7", "steel", face),
        MeshPiece("link_7", "black", holes),
    ]


def _pieces() -> Sequence[MeshPiece]:
    return [
        *_base(),
        *_elbow("link_1", "silver", "blue", 0.118, -1, -0.188, 0.116),
        *_elbow("link_2", "blue", "silver", 0.118, +1, 0.268, 0.098),
        *_elbow("link_3", "silver", "blue", 0.092, +1, -0.222, 0.096),
        *_elbow("link_4", "blue", "silver", 0.092, -1, 0.205, 0.077),
        *_elbow("link_5", "silver", "blue", 0.070, -1, -0.215, 0.075),
        *_elbow("link_6", "blue", "silver", 0.070, +1, 0.138, 0.055),
        *_flange(),
    ]


SIA20F_SHAPE = BodyShape(
    hulls=(
        Hull.cylinder("base", 0.175, (0.0, 0.0, 0.0), (0.0, 0.0, 0.205)),
        Hull.cylinder("link_1", 0.118, (0.0, 0.0, -0.188), (0.0, 0.0, -0.02)),
        Hull.cylinder("link_1", 0.119, (0.0, -0.132, 0.0), (0.0, 0.132, 0.0)),
        Hull.cylinder("link_2", 0.108, (0.0, 0.02, 0.05), (0.0, 0.0, 0.266)),
        Hull.cylinder("link_3", 0.097, (0.0, 0.0, -0.220), (0.0, 0.0, -0.02)),
        Hull.cylinder("link_3", 0.093, (0.0, -0.104, 0.0), (0.0, 0.104, 0.0)),
        Hull.cylinder("link_4", 0.085, (0.0, -0.015, 0.04), (0.0, 0.0, 0.203)),
        Hull.cylinder("link_5", 0.076, (0.0, 0.0, -0.213), (0.0, 0.0, -0.02)),
        Hull.cylinder("link_5", 0.071, (0.0, -0.080, 0.0), (0.0, 0.080, 0.0)),
        Hull.cylinder("link_6", 0.064, (0.0, 0.010, 0.03), (0.0, 0.0, 0.136)),
        Hull.cylinder("link_7", 0.050, (0.0, 0.0, -0.045), (0.0, 0.0, 0.0)),
    ),
    pieces=_pieces,
)
