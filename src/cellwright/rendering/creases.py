"""Normals of a mesh that are smooth over curves and sharp over edges."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cellwright.rendering.ragged import count_up

__all__ = ["corner_normals"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]

CREASE_COS = math.cos(math.radians(32.0))  # faces that turn by more meet at an edge, by less in a curve


def corner_normals(vertices_m: Array, faces: Ids) -> Array:
    """Returns normals (f, 3, 3): at each corner the mean of the faces round it that turn but little, weighted by area.

    Made from the shape itself, because MuJoCo's compiler merges vertices of equal place and with them their normals,
    so that those of a compiled mesh do not tell edges from curves.
    """
    corners = vertices_m[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    # Corners in the order of their vertices; every corner is paired with all corners at the same vertex.
    order = np.argsort(faces, axis=None, kind="stable")
    valence = np.bincount(faces.reshape(-1), minlength=len(vertices_m))
    first = np.cumsum(valence) - valence
    vertex = faces.reshape(-1)[order]
    corner = np.repeat(np.arange(len(order)), valence[vertex])
    other = first[vertex[corner]] + count_up(valence[vertex])
    face, near = order[corner] // 3, order[other] // 3
    curve = (np.einsum("ij,ij->i", unit[face], unit[near]) > CREASE_COS) | (face == near)
    total = np.empty((len(order), 3))
    for axis in range(3):
        total[:, axis] = np.bincount(corner[curve], weights=area[near[curve], axis], minlength=len(order))
    normals = np.empty_like(total)
    normals[order] = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30)
    return normals.reshape(-1, 3, 3)
