"""The visuals and the hulls of the Fanuc LR Mate 200iD: a compact yellow arm on a dark base.

The outer sizes follow the boxes of the links; the curves between them are our own.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    mirrored_y,
    placed,
    plate,
    ring,
    rod,
    two_circles,
)

__all__ = ["LR_MATE_200ID_SHAPE"]


def _both(mesh: Mesh) -> Mesh:
    """Returns the mesh and its mirror image on the other side of the arm."""
    return merge([mesh, mirrored_y(mesh)])


def _on_side(mesh: Mesh, x_m: float = 0.0, z_m: float = 0.0) -> Mesh:
    """Returns a mesh that stands on z, laid on both sides of the arm so that its z points outwards."""
    return _both(placed(mesh, (x_m, 0.0, z_m), ALONG_MINUS_Y))


def _base() -> list[MeshPiece]:
    body = lofted(
        [
            Section(0.010, width_m=0.176, depth_m=0.176, exponent=6.0),
            Section(0.045, -0.001, width_m=0.166, depth_m=0.168, exponent=5.0),
            Section(0.105, -0.001, width_m=0.166, depth_m=0.166, exponent=3.0),
            Section(0.150, width_m=0.172, depth_m=0.172, exponent=2.1),
            Section(0.163, width_m=0.172, depth_m=0.172),
        ]
    )
    foot = plate(rounded_rectangle((0.19, 0.19), 0.028), (0.0, 0.015), (0.0, 0.004))
    panel = placed(
        plate(rounded_rectangle((0.09, 0.118), 0.008), (0.06, 0.094), (0.0, 0.003)), (0, 0, 0.078), ALONG_MINUS_X
    )
    sockets = [
        placed(drum(r, (0.09, 0.103), (0.0, 0.002), segments=20, steps=2), (0, y, z), ALONG_MINUS_X)
        for r, y, z in ((0.019, -0.028, 0.088), (0.014, 0.012, 0.092), (0.006, 0.04, 0.1), (0.006, 0.04, 0.082))
    ]
    studs = [
        placed(drum(0.0085, (0.012, 0.021), (0.0, 0.002), segments=12, steps=1), (x, y, 0.0))
        for x in (-0.08, 0.08)
        for y in (-0.08, 0.08)
    ]
    cable = rod([(-0.1, -0.028, 0.088), (-0.135, -0.028, 0.082), (-0.165, -0.03, 0.045), (-0.2, -0.034, 0.012)], 0.0105)
    return [
        MeshPiece("base", "dark", merge([body, foot])),
        MeshPiece("base", "grey", panel),
        MeshPiece("base", "black", merge([*sockets, cable, drum(0.079, (0.15, 0.175))])),
        MeshPiece("base", "steel", merge(studs)),
    ]


def _turret() -> list[MeshPiece]:
    body = lofted(
        [
            Section(-0.160, width_m=0.168, depth_m=0.168),
            Section(-0.154, width_m=0.174, depth_m=0.176),
            Section(-0.128, 0.001, width_m=0.174, depth_m=0.200, exponent=2.3),
            Section(-0.098, 0.006, width_m=0.180, depth_m=0.212, exponent=2.8),
            Section(-0.076, 0.013, width_m=0.184, depth_m=0.176, exponent=3.2),
            Section(-0.055, 0.020, width_m=0.176, depth_m=0.150, exponent=3.8),
            Section(-0.015, 0.027, width_m=0.165, depth_m=0.146, exponent=4.5),
            Section(0.030, 0.030, width_m=0.138, depth_m=0.140, exponent=4.5),
            Section(0.052, 0.034, width_m=0.090, depth_m=0.124, exponent=4.0),
        ]
    )
    hub = placed(drum(0.064, (-0.0735, 0.0735), 0.006), (0.05, 0.0, 0.0), ALONG_Y)
    seal = placed(drum(0.052, (-0.08, 0.08)), (0.05, 0.0, 0.0), ALONG_Y)
    back = placed(
        plate(rounded_rectangle((0.07, 0.09), 0.012), (0.05, 0.0855), (0.0, 0.004)), (0, 0, -0.105), ALONG_MINUS_X
    )
    screws = [
        placed(drum(0.0032, (0.08, 0.0872), (0, 0.001), segments=8, steps=1), (0, y, z), ALONG_MINUS_X)
        for y in (-0.038, 0.038)
        for z in (-0.132, -0.078)
    ]
    return [
        MeshPiece("link_1", "yellow", merge([body, hub])),
        MeshPiece("link_1", "black", seal),
        MeshPiece("link_1", "yellow", back),
        MeshPiece("link_1", "steel", merge(screws)),
    ]


def _lower_arm() -> list[MeshPiece]:
    outline = two_circles((0.0, 0.0, 0.066), (0.0, 0.330, 0.056), bow_m=-0.014, waist_m=0.015)
    cheeks = _on_side(plate(outline, (0.0765, 0.1130), (0.003, 0.016), steps=4))
    web = lofted(  # hollowed in front, where the forearm folds down
        [
            Section(0.068, -0.0080, width_m=0.068, depth_m=0.148, exponent=6.0),
            Section(0.078, -0.0090, width_m=0.086, depth_m=0.156, exponent=6.0),
            Section(0.120, -0.0145, width_m=0.085, depth_m=0.160, exponent=6.0),
            Section(0.170, -0.0195, width_m=0.075, depth_m=0.160, exponent=6.0),
            Section(0.220, -0.0240, width_m=0.062, depth_m=0.160, exponent=6.0),
            Section(0.262, -0.0230, width_m=0.050, depth_m=0.156, exponent=6.0),
            Section(0.272, -0.0230, width_m=0.034, depth_m=0.148, exponent=6.0),
        ]
    )
    covers = merge(
        [
            _on_side(drum(0.047, (0.105, 0.1175), (0.0, 0.004), steps=3)),
            _on_side(drum(0.038, (0.105, 0.1170), (0.0, 0.004), steps=3), z_m=0.330),
        ]
    )
    grooves = merge(
        [_on_side(ring(0.0505, 0.044, (0.105, 0.1137))), _on_side(ring(0.0415, 0.035, (0.105, 0.1137)), z_m=0.330)]
    )
    stripe = _on_side(plate(rounded_rectangle((0.018, 0.12), 0.006, 4), (0.11, 0.1134)), x_m=-0.013, z_m=0.172)
    bolts = merge(
        [
            _on_side(bolt_circle(0.037, 6, 0.0032, (0.115, 0.1188))),
            _on_side(bolt_circle(0.029, 6, 0.0028, (0.115, 0.1182)), z_m=0.330),
        ]
    )
    return [
        MeshPiece("link_2", "yellow", merge([cheeks, web, covers])),
        MeshPiece("link_2", "black", merge([grooves, stripe])),
        MeshPiece("link_2", "steel", bolts),
    ]


def _elbow() -> list[MeshPiece]:
    body = lofted(
        [
            Section(-0.073, -0.026, width_m=0.074, depth_m=0.088, exponent=4.0),
            Section(-0.066, -0.026, width_m=0.094, depth_m=0.112, exponent=4.0),
            Section(-0.040, -0.026, width_m=0.116, depth_m=0.136, exponent=4.5),
            Section(0.005, -0.027, width_m=0.118, depth_m=0.139, exponent=4.5),
            Section(0.045, -0.033, width_m=0.106, depth_m=0.124, exponent=3.0),
            Section(0.075, -0.035, width_m=0.101, depth_m=0.104, exponent=2.1),
            Section(0.086, -0.035, width_m=0.098, depth_m=0.098),
        ]
    )
    hub = placed(drum(0.052, (-0.070, 0.070), 0.006), rpy_rad=ALONG_Y)
    panel = placed(
        plate(rounded_rectangle((0.066, 0.078), 0.010), (0.06, 0.0755), (0.0, 0.003)), (0, 0, 0.026), ALONG_MINUS_X
    )
    sockets = [
        placed(drum(r, (0.07, 0.083), (0.0, 0.002), segments=16, steps=2), (0, y, z), ALONG_MINUS_X)
        for r, y, z in ((0.011, -0.016, 0.032), (0.006, 0.012, 0.044), (0.006, 0.012, 0.022), (0.004, 0.028, 0.033))
    ]
    seals = [
        placed(drum(0.046, (0.08, 0.093)), (0, 0, 0.035), ALONG_X),
        placed(drum(0.045, (-0.078, 0.078)), rpy_rad=ALONG_Y),
    ]
    return [
        MeshPiece("link_3", "yellow", merge([placed(body, rpy_rad=ALONG_X), hub])),
        MeshPiece("link_3", "grey", panel),
        MeshPiece("link_3", "black", merge([*sockets, *seals])),
    ]


def _forearm() -> list[MeshPiece]:
    body = lofted(
        [
            Section(0.089, 0.0, width_m=0.098, depth_m=0.098),
            Section(0.095, -0.001, width_m=0.103, depth_m=0.1035),
            Section(0.130, -0.005, width_m=0.108, depth_m=0.104, exponent=2.3),
            Section(0.180, -0.007, width_m=0.102, depth_m=0.104, exponent=2.8),
            Section(0.235, -0.004, width_m=0.088, depth_m=0.1035, exponent=3.6),
            Section(0.275, 0.0, width_m=0.078, depth_m=0.102, exponent=5.0),
            Section(0.288, 0.0, width_m=0.070, depth_m=0.098, exponent=5.0),
        ]
    )
    outline = two_circles((0.268, 0.0, 0.029), (0.335, 0.0, 0.041))
    cheeks = _on_side(plate(outline, (0.0385, 0.0505), (0.002, 0.006), steps=3))
    caps = _on_side(drum(0.027, (0.045, 0.052), (0.0, 0.002), segments=28, steps=2), x_m=0.335)
    grooves = _on_side(ring(0.0295, 0.025, (0.045, 0.0509), segments=28), x_m=0.335)
    cover = placed(
        plate(rounded_rectangle((0.036, 0.105), 0.012), (0.03, 0.0615), (0.0, 0.006), steps=3),
        (0.168, 0, 0),
        (0, 0, 1.5707963),
    )
    stripe = _on_side(plate(rounded_rectangle((0.075, 0.016), 0.005, 4), (0.045, 0.0525)), x_m=0.168, z_m=0.006)
    bolts = _on_side(bolt_circle(0.021, 4, 0.0022, (0.05, 0.053), phase_rad=0.785), x_m=0.335)
    return [
        MeshPiece("link_4", "yellow", merge([placed(body, rpy_rad=ALONG_X), cheeks, cover])),
        MeshPiece("link_4", "yellow", caps),
        MeshPiece("link_4", "black", merge([grooves, stripe])),
        MeshPiece("link_4", "steel", bolts),
    ]


def _wrist() -> list[MeshPiece]:
    drum_5 = placed(drum(0.041, (-0.0365, 0.0365), 0.005, steps=3), rpy_rad=ALONG_Y)
    neck = lofted(
        [
            Section(0.0, width_m=0.072, depth_m=0.068, exponent=3.5),
            Section(0.035, width_m=0.070, depth_m=0.066, exponent=2.8),
            Section(0.058, width_m=0.064, depth_m=0.064, exponent=2.1),
            Section(0.071, width_m=0.058, depth_m=0.058),
        ]
    )
    seal = placed(drum(0.022, (0.06, 0.0755)), rpy_rad=ALONG_X)
    pins = _both(placed(drum(0.025, (-0.0395, 0.0), segments=24), rpy_rad=ALONG_Y))
    flange = merge([placed(ring(0.020, 0.0065, (-0.0065, 0.0)), rpy_rad=ALONG_X)])
    holes = merge(
        [
            placed(bolt_circle(0.01575, 4, 0.0024, (-0.004, 0.0004)), rpy_rad=ALONG_X),
            placed(drum(0.0066, (-0.006, -0.004), segments=20), rpy_rad=ALONG_X),
        ]
    )
    return [
        MeshPiece("link_5", "yellow", merge([drum_5, placed(neck, rpy_rad=ALONG_X)])),
        MeshPiece("link_5", "black", merge([seal, pins])),
        MeshPiece("link_6", "steel", flange),
        MeshPiece("link_6", "black", holes),
    ]


def _pieces() -> Sequence[MeshPiece]:
    return [*_base(), *_turret(), *_lower_arm(), *_elbow(), *_forearm(), *_wrist()]


LR_MATE_200ID_SHAPE = BodyShape(
    hulls=(
        Hull.box("base", (-0.103, -0.095, 0.0), (0.095, 0.095, 0.165)),
        Hull.cylinder("link_1", 0.098, (0.0, 0.0, -0.160), (0.0, 0.0, -0.060)),
        Hull.box("link_1", (-0.060, -0.075, -0.060), (0.114, 0.075, 0.060)),
        Hull.box("link_2", (-0.064, 0.0765, -0.060), (0.052, 0.1175, 0.380)),
        Hull.box("link_2", (-0.064, -0.1175, -0.060), (0.052, -0.0765, 0.380)),
        Hull.box("link_2", (-0.058, -0.0765, 0.068), (0.015, 0.0765, 0.272)),
        Hull.box("link_3", (-0.075, -0.072, -0.050), (0.089, 0.072, 0.086)),
        Hull.cylinder("link_4", 0.056, (0.090, 0.0, 0.005), (0.290, 0.0, 0.002)),
        Hull.box("link_4", (0.250, -0.052, -0.041), (0.376, 0.052, 0.041)),
        Hull.cylinder("link_5", 0.042, (0.0, -0.037, 0.0), (0.0, 0.037, 0.0)),
        Hull.cylinder("link_5", 0.036, (0.0, 0.0, 0.0), (0.080, 0.0, 0.0)),
    ),
    pieces=_pieces,
)
