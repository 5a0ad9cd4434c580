"""The visuals and the hulls of the UR5: silver tubes between barrels, each barrel closed by a light-blue cap.

The outer sizes follow the boxes of the links. Every joint is a barrel along its axis; the link on its far side has
a barrel of its own across the first, so that all but the last link are made of barrels and tubes.
"""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, merge
from cellwright.shapes.solids import (
    ALONG_MINUS_Y,
    ALONG_Y,
    Section,
    bolt_circle,
    drum,
    lofted,
    placed,
    ring,
    rod,
)

__all__ = ["UR5_SHAPE"]

Point = tuple[float, float, float]
_UPRIGHT: Point = (0.0, 0.0, 0.0)
_UPSIDE_DOWN: Point = (3.141592653589793, 0.0, 0.0)


def _barrel(link: str, at_m: Point, turn: Point, radius_m: float, open_m: float, cap_m: float) -> list[MeshPiece]:
    """Returns a joint's housing, made along z: the next link sits at its open lower end, a cap closes its upper end.

    Args:
        link: The body.
        at_m: Position of the joint's middle.
        turn: Orientation of the housing (roll, pitch, yaw).
        radius_m: Of the housing.
        open_m: From the middle down to the open end.
        cap_m: From the middle up to the outside of the cap.
    """
    thick = 0.30 * radius_m
    body = drum(radius_m, (-open_m + 0.0015, cap_m - thick - 0.0015), (0.0015, 0.002), segments=40, steps=2)
    cap = drum(0.985 * radius_m, (cap_m - thick, cap_m), (0.001, 0.6 * thick), segments=40, steps=4)
    seams = [
        drum(0.94 * radius_m, (-open_m, -open_m + 0.003), segments=40),
        drum(0.95 * radius_m, (cap_m - thick - 0.003, cap_m - thick + 0.002), segments=40),
    ]
    parts = {"silver": body, "blue": cap, "black": merge(seams)}
    return [MeshPiece(link, finish, placed(mesh, at_m, turn)) for finish, mesh in parts.items()]


def _tube(radius_m: float, end_radius_m: float, z_m: tuple[float, float], flare_m: float) -> Mesh:
    """Returns a tube that widens into the barrels at both ends."""
    a, b = z_m
    return lofted(
        [
            Section(a, width_m=2 * end_radius_m, depth_m=2 * end_radius_m),
            Section(a + flare_m, width_m=2 * radius_m, depth_m=2 * radius_m),
            Section(a + 1.6 * flare_m, width_m=2 * radius_m, depth_m=2 * radius_m),
            Section(b - 1.6 * flare_m, width_m=2 * radius_m, depth_m=2 * radius_m),
            Section(b - flare_m, width_m=2 * radius_m, depth_m=2 * radius_m),
            Section(b, width_m=2.06 * radius_m, depth_m=2.06 * radius_m),
        ],
        points=40,
    )


def _base() -> list[MeshPiece]:
    foot = drum(0.0745, (0.0, 0.011), (0.0, 0.003), segments=48)
    neck = drum(0.0700, (0.010, 0.0225), (0.0, 0.003), top_radius_m=0.0610, segments=48)
    cable = rod([(-0.062, 0.0, 0.012), (-0.095, 0.0, 0.012), (-0.130, -0.010, 0.008), (-0.170, -0.020, 0.007)], 0.006)
    socket = placed(drum(0.010, (-0.084, -0.060), 0.002, segments=20, steps=1), (0, 0, 0.0115), (0.0, 1.5707963, 0.0))
    return [
        MeshPiece("base", "silver", merge([foot, neck])),
        MeshPiece("base", "black", merge([drum(0.0575, (0.020, 0.026), segments=40), cable, socket])),
        MeshPiece("base", "steel", bolt_circle(0.0665, 4, 0.0042, (0.009, 0.0155), phase_rad=0.785)),
    ]


def _shoulder() -> list[MeshPiece]:
    body = drum(0.0605, (-0.0635, 0.0), (0.002, 0.0), segments=40, steps=2)
    return [
        MeshPiece("link_1", "silver", body),
        *_barrel("link_1", _UPRIGHT, ALONG_MINUS_Y, 0.0605, 0.0705, 0.0620),
    ]


def _upper_arm() -> list[MeshPiece]:
    end = (0.0, 0.0, 0.425)
    rings = [ring(0.0555, 0.050, (z, z + 0.004), segments=40) for z in (0.068, 0.353)]
    return [
        *_barrel("link_2", _UPRIGHT, ALONG_Y, 0.0605, 0.0650, 0.0690),
        *_barrel("link_2", end, ALONG_Y, 0.0600, 0.0645, 0.0690),
        MeshPiece("link_2", "silver", _tube(0.0530, 0.0570, (0.030, 0.395), 0.030)),
        MeshPiece("link_2", "black", merge(rings)),
    ]


def _forearm() -> list[MeshPiece]:
    end = (0.0, 0.0, 0.39225)
    rings = [ring(0.0425, 0.038, (z, z + 0.004), segments=40) for z in (0.095, 0.348)]
    return [
        *_barrel("link_3", _UPRIGHT, ALONG_MINUS_Y, 0.0580, 0.0545, 0.0570),
        *_barrel("link_3", end, ALONG_MINUS_Y, 0.0390, 0.0470, 0.0480),
        MeshPiece("link_3", "silver", _tube(0.0405, 0.0540, (0.030, 0.378), 0.050)),
        MeshPiece("link_3", "black", merge(rings)),
    ]


def _wrist() -> list[MeshPiece]:
    neck = drum(0.0385, (0.0490, 0.0930), (0.0015, 0.0), segments=40, steps=2)
    face = merge([ring(0.0312, 0.010, (0.0790, 0.0823)), drum(0.0372, (0.0500, 0.0795), (0.001, 0.003), segments=40)])
    holes = merge([bolt_circle(0.025, 4, 0.0030, (0.0800, 0.0826), phase_rad=0.785), drum(0.0101, (0.070, 0.081))])
    plug = placed(drum(0.0065, (0.030, 0.0425), 0.001, segments=16, steps=1), (0.0, 0.0640, 0.0))
    return [
        MeshPiece("link_4", "silver", placed(neck, rpy_rad=ALONG_Y)),
        *_barrel("link_4", (0.0, 0.093, 0.0), _UPSIDE_DOWN, 0.0390, 0.0475, 0.0570),
        MeshPiece("link_5", "silver", neck.moved((0.0, 0.0, 0.0015))),
        *_barrel("link_5", (0.0, 0.0, 0.09465), ALONG_MINUS_Y, 0.0390, 0.0475, 0.0570),
        MeshPiece("link_6", "black", merge([placed(drum(0.0350, (0.0470, 0.0510)), rpy_rad=ALONG_Y), plug])),
        MeshPiece("link_6", "silver", placed(face, rpy_rad=ALONG_Y)),
        MeshPiece("link_6", "black", placed(holes, rpy_rad=ALONG_Y)),
    ]


def _pieces() -> Sequence[MeshPiece]:
    return [*_base(), *_shoulder(), *_upper_arm(), *_forearm(), *_wrist()]


UR5_SHAPE = BodyShape(
    hulls=(
        Hull.cylinder("base", 0.0745, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0235)),
        Hull.cylinder("link_1", 0.061, (0.0, 0.0, -0.0640), (0.0, 0.0, 0.0)),
        Hull.cylinder("link_1", 0.061, (0.0, -0.0620, 0.0), (0.0, 0.0705, 0.0)),
        Hull.cylinder("link_2", 0.061, (0.0, -0.0650, 0.0), (0.0, 0.0690, 0.0)),
        Hull.cylinder("link_2", 0.056, (0.0, 0.0, 0.0), (0.0, 0.0, 0.425)),
        Hull.cylinder("link_2", 0.061, (0.0, -0.0645, 0.425), (0.0, 0.0690, 0.425)),
        Hull.cylinder("link_3", 0.058, (0.0, -0.0570, 0.0), (0.0, 0.0545, 0.0)),
        Hull.cylinder("link_3", 0.046, (0.0, 0.0, 0.0), (0.0, 0.0, 0.392)),
        Hull.cylinder("link_3", 0.039, (0.0, -0.0480, 0.39225), (0.0, 0.0470, 0.39225)),
        Hull.cylinder("link_4", 0.039, (0.0, 0.0475, 0.0), (0.0, 0.093, 0.0)),
        Hull.cylinder("link_4", 0.039, (0.0, 0.093, -0.0570), (0.0, 0.093, 0.0475)),
        Hull.cylinder("link_5", 0.039, (0.0, 0.0, 0.0490), (0.0, 0.0, 0.09465)),
        Hull.cylinder("link_5", 0.039, (0.0, -0.0570, 0.09465), (0.0, 0.0475, 0.09465)),
        Hull.cylinder("link_6", 0.0375, (0.0, 0.0470, 0.0), (0.0, 0.0823, 0.0)),
    ),
    pieces=_pieces,
)
