"""Smooth normals of meshes: rays know only the flat face they hit, pictures want the curve that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MeshNormals"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

KEY = np.array([0.5257311, 0.8506508, 0.3141593, 1.6180340])  # any direction that no model is built along
KEY_TOLERANCE = 3e-6
MAX_CANDIDATES = 16  # faces in one plane; more are a flat region, which needs no smoothing


class MeshNormals:
    """Finds the face under a hit by its plane, then interpolates the normals of its corners.

    The plane (normal and offset) of every curved face is folded into one number; hits look theirs up in the sorted
    list, and the few faces that answer are told apart by their barycentric coordinates.
    """

    def __init__(self, model: Any, mesh: int) -> None:
        first, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(np.float64)
        normals = model.mesh_normal[model.mesh_normaladr[mesh] :][: model.mesh_normalnum[mesh]].astype(np.float64)
        corners = vertices[model.mesh_face[first : first + count]]
        corner_normals = normals[model.mesh_facenormal[first : first + count]]
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(flat, axis=1)
        flat /= np.maximum(area, 1e-300)[:, None]
        bend = np.einsum("fcj,fj->fc", corner_normals, flat).min(axis=1)
        curved = np.flatnonzero((area > 1e-14) & (bend < 0.99999) & (bend > 0.2))
        key = _key(flat[curved], np.einsum("fj,fj->f", flat[curved], corners[curved, 0]))
        order = np.argsort(key, kind="stable")
        self._key, self._corners, self._normals = key[order], corners[curved[order]], corner_normals[curved[order]]

    def smooth(self, points: Array, flat_normals: Array) -> Array:
        """Normals for hits in the mesh's own frame: interpolated where the mesh is curved, flat elsewhere."""
        smoothed = flat_normals.copy()
        key = _key(flat_normals, np.einsum("ij,ij->i", flat_normals, points))
        start = np.searchsorted(self._key, key - KEY_TOLERANCE)
        number = np.searchsorted(self._key, key + KEY_TOLERANCE) - start
        open_hits = np.flatnonzero((number > 0) & (number <= MAX_CANDIDATES))
        for step in range(MAX_CANDIDATES):
            open_hits = open_hits[number[open_hits] > step]
            if not len(open_hits):
                break
            face = start[open_hits] + step
            weight = _barycentric(self._corners[face], points[open_hits])
            inside = weight.min(axis=1) > -1e-4
            found = open_hits[inside]
            blend = np.einsum("nc,ncj->nj", weight[inside], self._normals[face[inside]])
            smoothed[found] = blend / np.linalg.norm(blend, axis=1, keepdims=True)
            open_hits = open_hits[~inside]
        return smoothed


def _key(normal: Array, offset: Array) -> Array:
    return np.asarray(normal @ KEY[:3] + offset * KEY[3])


def _barycentric(corners: Array, point: Array) -> Array:
    """Weights of the three corners for points in the plane of their triangle."""
    a, b, p = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], point - corners[:, 0]
    aa, ab, bb = (np.einsum("ij,ij->i", u, v) for u, v in ((a, a), (a, b), (b, b)))
    pa, pb = np.einsum("ij,ij->i", p, a), np.einsum("ij,ij->i", p, b)
    determinant = aa * bb - ab * ab
    v = (bb * pa - ab * pb) / determinant
    w = (aa * pb - ab * pa) / determinant
    return np.column_stack([1 - v - w, v, w])
