"""Meshes as the viewer's page gets them: few bytes, exact to what an eye can see."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.viewing.packet import Blob

__all__ = ["encode_mesh", "pack_mesh"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]

STEPS = 65535  # of a position between the corners of its mesh's box


def pack_mesh(model: Any, mesh: int, blob: Blob) -> dict[str, Any]:
    """Returns the entry of a mesh of a MuJoCo model, its vertices split where it is drawn with several normals."""
    part = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    columns = [model.mesh_face[part].reshape(-1), model.mesh_facenormal[part].reshape(-1)]
    has_uvs = model.mesh_texcoordadr[mesh] >= 0
    if has_uvs:
        columns.append(model.mesh_facetexcoord[part].reshape(-1))
    corners, indices = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    # In the order in which triangles need them: neighbours have near numbers, and small ones compress well.
    _, first = np.unique(indices.reshape(-1), return_index=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    corners = corners[order]
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] + corners[:, 0]].astype(np.float64)
    normals = model.mesh_normal[model.mesh_normaladr[mesh] + corners[:, 1]].astype(np.float64)
    entry = encode_mesh(vertices, normals, place[indices.reshape(-1)].reshape(-1, 3), blob)
    if has_uvs:
        uvs = model.mesh_texcoord[model.mesh_texcoordadr[mesh] + corners[:, 2]]
        entry["uvs"] = blob.add(uvs.astype(np.float32))
    return entry


def encode_mesh(vertices_m: Array, normals: Array, triangles: Ids, blob: Blob) -> dict[str, Any]:
    """Returns the entry of a mesh, whose numbers go into the blob.

    Args:
        vertices_m: Positions, n x 3.
        normals: The surface's normals there, n x 3, of length 1.
        triangles: Numbers of three vertices each.
        blob: Takes positions, normals and indices.
    """
    low, high = vertices_m.min(axis=0), vertices_m.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    positions = np.round((vertices_m - low) / span * STEPS).astype(np.int64) - (STEPS + 1) // 2
    deltas = np.diff(triangles.reshape(-1).astype(np.int64), prepend=0)
    zigzag = np.where(deltas < 0, -2 * deltas - 1, 2 * deltas)
    return {
        "vertices": len(vertices_m),
        "triangles": len(triangles),
        "low": low.tolist(),
        "high": high.tolist(),
        "positions": blob.add(positions.astype(np.int16)),
        "normals": blob.add(np.round(normals * 127).astype(np.int8)),
        "indices": blob.add(zigzag.astype(np.uint32)),
    }
