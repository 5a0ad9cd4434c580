"""Cast and turned bodies: lathed drums with round edges, bevelled plates, lofts along smooth curves.

Everything is made standing on z and laid where it belongs by `placed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.shapes.mesh import Mesh, lathe, loft, merge

__all__ = [
    "ALONG_MINUS_X",
    "ALONG_MINUS_Y",
    "ALONG_X",
    "ALONG_Y",
    "Section",
    "bolt_circle",
    "drum",
    "lofted",
    "mirrored_y",
    "oval",
    "placed",
    "plate",
    "ring",
    "rod",
    "two_circles",
]

Array = npt.NDArray[np.float64]

_QUARTER = np.pi / 2
ALONG_X = (0.0, _QUARTER, 0.0)  # rpy that lays z along x
ALONG_MINUS_X = (0.0, -_QUARTER, 0.0)
ALONG_Y = (-_QUARTER, 0.0, 0.0)
ALONG_MINUS_Y = (_QUARTER, 0.0, 0.0)


def placed(mesh: Mesh, xyz_m: npt.ArrayLike = (0.0, 0.0, 0.0), rpy_rad: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """Returns the mesh turned by roll, pitch, yaw, then shifted."""
    return Mesh(Pose.from_xyz_rpy(xyz_m, rpy_rad).apply(mesh.vertices), mesh.faces)


def mirrored_y(mesh: Mesh) -> Mesh:
    """Returns the mirror image on the other side of the xz plane."""
    return Mesh(mesh.vertices * np.array([1.0, -1.0, 1.0]), mesh.faces[:, ::-1])


def _edge(radius_m: float, z_m: float, bevel_m: float, steps: int, upper: bool) -> list[tuple[float, float]]:
    """Returns a round edge of a lathed profile, bottom to top."""
    angles = np.linspace(0.0, _QUARTER, steps + 1)
    inward, rise = bevel_m * (1 - np.cos(angles)), bevel_m * (1 - np.sin(angles))
    points = [(radius_m - i, z_m - r if upper else z_m + r) for i, r in zip(inward, rise, strict=True)]
    return points if upper else points[::-1]


def drum(
    radius_m: float,
    z_m: tuple[float, float],
    bevel_m: float | tuple[float, float] = 0.0,
    *,
    top_radius_m: float | None = None,
    segments: int = 32,
    steps: int = 3,
) -> Mesh:
    """Returns a cylinder, or a cone, whose edges are rounded.

    Args:
        radius_m: At the bottom.
        z_m: Bottom and top.
        bevel_m: Radius of the edges, one for both or bottom and top.
        top_radius_m: At the top, when it differs.
        segments: Sides.
        steps: Facets of each rounded edge.
    """
    low, high = bevel_m if isinstance(bevel_m, tuple) else (bevel_m, bevel_m)
    top = radius_m if top_radius_m is None else top_radius_m
    bottom_edge = _edge(radius_m, z_m[0], low, steps, upper=False) if low else [(radius_m, z_m[0])]
    top_edge = _edge(top, z_m[1], high, steps, upper=True) if high else [(top, z_m[1])]
    return lathe(bottom_edge + top_edge, segments)


def ring(radius_m: float, hole_m: float, z_m: tuple[float, float], *, segments: int = 32) -> Mesh:
    """Returns a flat ring with a hole through it."""
    (a, b), outer, inner = z_m, radius_m, hole_m
    return lathe([(inner, a), (outer, a), (outer, b), (inner, b), (inner, a)], segments, closed=False)


def oval(width_m: float, depth_m: float, exponent: float = 2.0, points: int = 32) -> Array:
    """Returns corners (n, 2) of a superellipse: exponent 2 an ellipse, 4 and more a rectangle with soft corners."""
    angles = 2 * np.pi * (np.arange(points) + 0.5) / points
    c, s = np.cos(angles), np.sin(angles)
    radius = (np.abs(c) ** exponent + np.abs(s) ** exponent) ** (-1 / exponent)
    return np.column_stack([c * radius * width_m / 2, s * radius * depth_m / 2])


def two_circles(
    first: tuple[float, float, float],
    second: tuple[float, float, float],
    *,
    bow_m: float = 0.0,
    waist_m: float = 0.0,
    points: int = 12,
) -> Array:
    """Returns the outline (n, 2) of a belt round two circles, each as x, y, radius, the first below the second.

    Args:
        first: The lower circle.
        second: The upper circle.
        bow_m: Distance by which the middle of the belt is bent towards +x.
        waist_m: Distance by which each side of the belt is drawn in at the middle.
        points: Per round end and per side.
    """
    (x1, y1, r1), (x2, y2, r2) = first, second
    along = np.array([x2 - x1, y2 - y1])
    length = float(np.hypot(*along))
    heading, lean = np.arctan2(along[1], along[0]), np.arcsin((r1 - r2) / length)
    right = heading - _QUARTER + lean
    left = heading + _QUARTER - lean
    lower = np.linspace(left - 2 * np.pi, right, points)
    upper = np.linspace(right, left, points)
    ends = [
        np.column_stack([x + r * np.cos(a), y + r * np.sin(a)]) for (x, y, r), a in ((first, lower), (second, upper))
    ]
    t = np.linspace(0, 1, points + 2)[1:-1, None]
    sides = [ends[0][-1] * (1 - t) + ends[1][0] * t, ends[1][-1] * (1 - t) + ends[0][0] * t]
    outline = np.concatenate([ends[0], sides[0], ends[1], sides[1]])
    fraction = np.clip((outline - [x1, y1]) @ along / length**2, 0.0, 1.0)
    bulge = np.sin(np.pi * fraction) ** 2
    outline[:, 0] += bow_m * bulge
    outline[2 * points : 4 * points, 0] += waist_m * bulge[2 * points :] * (np.arange(2 * points) >= points)
    outline[points : 2 * points, 0] -= waist_m * bulge[points : 2 * points]
    return outline


def _inset(outline: Array, distance_m: float) -> Array:
    """Returns the outline moved inwards; its curves must be wider than the distance."""
    along = np.roll(outline, -1, axis=0) - np.roll(outline, 1, axis=0)
    normal = np.column_stack([-along[:, 1], along[:, 0]])
    return np.asarray(outline + distance_m * normal / np.linalg.norm(normal, axis=1, keepdims=True))


def plate(
    outline: Array, z_m: tuple[float, float], bevel_m: float | tuple[float, float] = 0.0, *, steps: int = 3
) -> Mesh:
    """Returns a plate of an outline (counter-clockwise, star-shaped about its middle), round edges bottom and top."""
    low, high = bevel_m if isinstance(bevel_m, tuple) else (bevel_m, bevel_m)
    profile = (_edge(0.0, z_m[0], low, steps, upper=False) if low else [(0.0, z_m[0])]) + (
        _edge(0.0, z_m[1], high, steps, upper=True) if high else [(0.0, z_m[1])]
    )
    return loft([np.column_stack([_inset(outline, -r), np.full(len(outline), z)]) for r, z in profile])


@dataclass(frozen=True)
class Section:
    """One cross-section of a loft: where its centre is and how wide it is there."""

    z_m: float
    x_m: float = 0.0
    y_m: float = 0.0
    width_m: float = 0.1
    depth_m: float = 0.1
    exponent: float = 2.0


def lofted(sections: Sequence[Section], *, steps: int = 3, points: int = 32) -> Mesh:
    """Returns a skin through the sections, smooth between them (Catmull-Rom), with flat ends.

    Args:
        sections: Bottom to top.
        steps: Rings per gap between two sections.
        points: Corners of each ring.
    """
    keys = np.array([[s.z_m, s.x_m, s.y_m, s.width_m, s.depth_m, s.exponent] for s in sections])
    knots = np.concatenate([[0.0], np.cumsum(np.maximum(np.linalg.norm(np.diff(keys[:, :5], axis=0), axis=1), 1e-6))])
    tangent = np.gradient(keys, knots, axis=0)
    rings = []
    for k in range(len(keys) - 1):
        gap = knots[k + 1] - knots[k]
        for t in np.linspace(0, 1, steps + 1)[(0 if k == 0 else 1) :]:
            h = np.array([2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, -2 * t**3 + 3 * t**2, t**3 - t**2])
            z, x, y, width, depth, exponent = h @ np.array(
                [keys[k], gap * tangent[k], keys[k + 1], gap * tangent[k + 1]]
            )
            outline = oval(width, depth, max(exponent, 1.5), points) + np.array([x, y])
            rings.append(np.column_stack([outline, np.full(points, z)]))
    return loft(rings)


def rod(path_m: Iterable[npt.ArrayLike], radius_m: float, *, points: int = 10, steps: int = 6) -> Mesh:
    """Returns a cable or pipe through the points, smoothly bent."""
    keys = np.array([np.asarray(p, float) for p in path_m])
    tangent = np.gradient(keys, axis=0)
    centres, headings = [], []
    for k in range(len(keys) - 1):
        for t in np.linspace(0, 1, steps + 1)[(0 if k == 0 else 1) :]:
            h = np.array([2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, -2 * t**3 + 3 * t**2, t**3 - t**2])
            d = np.array([6 * t**2 - 6 * t, 3 * t**2 - 4 * t + 1, 6 * t - 6 * t**2, 3 * t**2 - 2 * t])
            block = np.array([keys[k], tangent[k], keys[k + 1], tangent[k + 1]])
            centres.append(h @ block)
            headings.append(d @ block)
    side = np.cross(
        headings[0], [1.0, 0.0, 0.0] if abs(headings[0][0]) < 0.9 * np.linalg.norm(headings[0]) else [0, 1, 0]
    )
    angles = 2 * np.pi * np.arange(points) / points
    rings = []
    for centre, heading in zip(centres, headings, strict=True):
        ahead = heading / np.linalg.norm(heading)
        side = side - ahead * (side @ ahead)
        side = side / np.linalg.norm(side)
        up = np.cross(ahead, side)
        rings.append(centre + radius_m * (np.outer(np.cos(angles), side) + np.outer(np.sin(angles), up)))
    return loft(rings)


def bolt_circle(
    radius_m: float, count: int, bolt_radius_m: float, z_m: tuple[float, float], *, phase_rad: float = 0.0
) -> Mesh:
    """Returns screw heads on a circle about z."""
    head = drum(bolt_radius_m, z_m, (0.0, bolt_radius_m * 0.3), segments=8, steps=1)
    angles = phase_rad + 2 * np.pi * np.arange(count) / count
    return merge(placed(head, (radius_m * np.cos(a), radius_m * np.sin(a), 0.0)) for a in angles)
