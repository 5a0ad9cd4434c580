"""Triangle meshes made of numbers: the base of lathes, lofts and merged solids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Mesh", "circle", "cuboid", "cut", "lathe", "loft", "merge"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles, counter-clockwise when seen from outside.

    Attributes:
        vertices: (n, 3) in metres.
        faces: (m, 3) indices into the vertices.
    """

    vertices: Array
    faces: Indices

    def moved(self, offset_m: npt.ArrayLike) -> Mesh:
        """Returns the mesh shifted."""
        return Mesh(self.vertices + np.asarray(offset_m, float), self.faces)

    @property
    def volume_m3(self) -> float:
        """Enclosed volume; solids that touch add up, solids that overlap count twice."""
        a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)

    def inertia(self, mass_kg: float) -> tuple[Array, Array]:
        """Returns centre of mass (3) and inertia about it (3, 3) of a solid with that mass, spread evenly.

        Sums tetrahedra from the origin: with s the sum of a tetrahedron's corners, its second moment is
        ``V / 20 (s s^T + a a^T + b b^T + c c^T)``.
        """
        corners = self.vertices[self.faces]
        a, b, c = np.moveaxis(corners, 1, 0)
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        s = corners.sum(axis=1)
        density = mass_kg / volumes.sum()
        centre = volumes @ s / 4 / volumes.sum()
        pairs = np.einsum("ni,nj->nij", s, s) + np.einsum("nki,nkj->nij", corners, corners)
        second = density * np.einsum("n,nij->ij", volumes, pairs) / 20 - mass_kg * np.outer(centre, centre)
        return centre, np.trace(second) * np.eye(3) - second

    def corner_normals(self, crease_rad: float = 0.35) -> Array:
        """Returns shading normals (m, 3, 3) for each corner of each face: smooth over curves, sharp over edges.

        A corner averages the faces that share its position and whose direction differs less than the crease
        angle from its own, weighted by area.
        """
        corners = self.vertices[self.faces]
        area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        unit = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
        _, place = np.unique(np.round(self.vertices, 9), axis=0, return_inverse=True)
        owners = place.reshape(-1)[self.faces]
        order = np.argsort(owners, axis=None, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(owners.reshape(-1)[order])) + 1)
        normals = np.empty((len(self.faces) * 3, 3))
        for group in groups:
            faces = group // 3
            near = unit[faces] @ unit[faces].T > np.cos(crease_rad)
            np.fill_diagonal(near, True)
            normals[group] = near @ area[faces]
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        return normals.reshape(-1, 3, 3)


def merge(meshes: Iterable[Mesh]) -> Mesh:
    """Returns all meshes as one; nothing is cut or welded."""
    parts = list(meshes)
    starts = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=True)]
    return Mesh(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))


def circle(radius_m: float, segments: int, phase_rad: float = 0.0) -> Array:
    """Returns corners (n, 2) of a regular polygon in that circle, counter-clockwise."""
    angles = phase_rad + 2 * np.pi * np.arange(segments) / segments
    return radius_m * np.column_stack([np.cos(angles), np.sin(angles)])


def loft(rings: Sequence[Array], *, closed: bool = True) -> Mesh:
    """Returns the skin over rings of equally many points (n, 3), bottom to top, each counter-clockwise from above.

    Args:
        rings: The rings; a star-shaped one may be capped.
        closed: Whether bottom and top get a cap, a fan about the ring's mean point.
    """
    n, count = len(rings[0]), len(rings)
    vertices = [np.concatenate(rings)]
    here = np.arange(n)
    after = np.roll(here, -1)
    faces = []
    for k in range(count - 1):
        low, high = k * n, (k + 1) * n
        faces.append(np.column_stack([low + here, low + after, high + after]))
        faces.append(np.column_stack([low + here, high + after, high + here]))
    if closed:
        top, bottom, last = n * count, n * count + 1, (count - 1) * n
        vertices.append(np.array([rings[-1].mean(axis=0), rings[0].mean(axis=0)]))
        faces.append(np.column_stack([last + here, last + after, np.full(n, top)]))
        faces.append(np.column_stack([after, here, np.full(n, bottom)]))
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


def lathe(profile_rz_m: Sequence[tuple[float, float]], segments: int, *, closed: bool = True) -> Mesh:
    """Returns the solid of revolution about z over a profile of (radius, height), bottom to top."""
    return loft([np.column_stack([circle(r, segments), np.full(segments, z)]) for r, z in profile_rz_m], closed=closed)


def cuboid(low_m: npt.ArrayLike, high_m: npt.ArrayLike) -> Mesh:
    """Returns a box from its lowest corner to its highest."""
    (x0, y0, z0), (x1, y1, z1) = np.asarray(low_m, float), np.asarray(high_m, float)
    corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    return loft([np.column_stack([corners, np.full(4, z)]) for z in (z0, z1)])


def cut(corners: Array, axis: int, at: float) -> tuple[Array, Array]:
    """Returns triangles (n, 3, 3) below and above a plane; those that it crosses are divided.

    Args:
        corners: The triangles.
        axis: That the plane is square to: 0, 1 or 2.
        at: The plane's position on that axis.
    """
    offset = corners[:, :, axis] - at
    below, above = (offset <= 0).all(axis=1), (offset >= 0).all(axis=1)
    crossed, level = corners[~below & ~above], offset[~below & ~above]
    alone = np.where((level > 0).sum(axis=1) == 1, (level > 0).argmax(axis=1), (level <= 0).argmax(axis=1))
    rows = np.arange(len(crossed))
    (a, b, c), (da, db, dc) = ([values[rows, (alone + turn) % 3] for turn in range(3)] for values in (crossed, level))
    ab = a + (b - a) * (da / (da - db))[:, None]
    ac = a + (c - a) * (da / (da - dc))[:, None]
    tips = np.stack([a, ab, ac], axis=1)
    rests = np.concatenate([np.stack([ab, b, c], axis=1), np.stack([ab, c, ac], axis=1)])
    up = da > 0
    twice = np.concatenate([up, up])
    low = np.concatenate([corners[below], tips[~up], rests[twice]])
    high = np.concatenate([corners[above & ~below], tips[up], rests[~twice]])
    return low, high
