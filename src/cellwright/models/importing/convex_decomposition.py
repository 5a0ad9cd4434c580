"""Convex pieces of a hollow solid: a bowl that holds something, a bracket that hooks, a bin that is not a block.

The solid is cut along its own axes, each time the piece whose hull adds most, each time where the hulls of the two
halves add least: at flat faces, which are where walls begin, or in the middle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.models.importing.meshes import convex_hull, simplified
from cellwright.models.importing.notes import Notes
from cellwright.shapes.mesh import Mesh, cut

__all__ = ["collision_pieces", "convex_pieces"]

Array = npt.NDArray[np.float64]
MOST_PIECES = 24
HOLLOW = 1.3  # times its volume, from which on the hull of a solid is not its collision shape
ENOUGH = 0.02  # of the solid's volume: a piece whose hull adds less is not cut
GRID = 64  # cells along the longest side, by which the volume in a box is counted
FLAT = 0.999  # cosine, of a face that is square to an axis
FACES_PER_AXIS = 2
MOST_TRIANGLES = 8_000
THINNEST = 0.02  # share of a piece: no cut is nearer to its ends


def collision_pieces(file: str, solid: Mesh, hull: Mesh, in_pieces: bool, notes: Notes) -> list[Mesh]:
    """Returns the collision pieces of a solid, and a note where they are not the solid itself.

    Args:
        file: Its file.
        solid: A closed mesh.
        hull: Its convex hull.
        in_pieces: Whether a hollow one is decomposed.
        notes: Gets the note.
    """
    factor = hull.volume_m3 / solid.volume_m3
    if factor < HOLLOW:
        return [hull]
    if not in_pieces:
        text = f"is touched as its convex hull, which has {factor:.1f} times its volume (collision: pieces cuts it)"
        notes.changed(file, text)
        return [hull]
    pieces = convex_pieces(solid)
    share = sum(piece.volume_m3 for piece in pieces) / solid.volume_m3
    notes.changed(file, f"is hollow: touched as {len(pieces)} convex pieces, which have {share:.2f} times its volume")
    return pieces


def convex_pieces(solid: Mesh, most: int = MOST_PIECES) -> list[Mesh]:
    """Returns hulls that together approximate a closed mesh; one where it is almost convex itself."""
    thin = simplified(solid, MOST_TRIANGLES)
    inside = _filled(thin)
    enough = ENOUGH * solid.volume_m3
    done: list[tuple[float, Mesh, Array]] = []
    whole = _piece(thin.vertices[thin.faces], inside)
    waiting = [] if whole is None else [whole]
    while waiting and len(waiting) + len(done) < most:
        waiting.sort(key=lambda piece: piece[0])
        excess, hull, corners = waiting.pop()
        best = _halves(corners, inside) if excess > enough else None
        if best is None:
            done.append((excess, hull, corners))
        else:
            waiting += best
    return [hull for _, hull, _ in (*done, *waiting)]


def _piece(corners: Array, inside: tuple[Array, float]) -> tuple[float, Mesh, Array] | None:
    """Returns the volume that a hull adds, the hull, and the piece's triangles; None for one without volume."""
    points = corners.reshape(-1, 3)
    hull = convex_hull(np.unique(np.round(points, 9), axis=0)) if len(points) else None
    if hull is None:
        return None
    cells, volume = inside
    low, high = points.min(axis=0), points.max(axis=0)
    held = volume * int(((cells >= low) & (cells < high)).all(axis=1).sum())
    return hull.volume_m3 - held, hull, corners


def _halves(corners: Array, inside: tuple[Array, float]) -> list[tuple[float, Mesh, Array]] | None:
    """Returns the two pieces of the best cut; None where no cut is possible."""
    best: list[tuple[float, Mesh, Array]] | None = None
    for axis, at in _cuts(corners):
        sides = [_piece(side, inside) for side in cut(corners, axis, at)]
        halves = [side for side in sides if side is not None]
        if len(halves) == 2 and (best is None or _volume(halves) < _volume(best) * (1 - 1e-3)):
            best = halves
    return best


def _volume(pieces: list[tuple[float, Mesh, Array]]) -> float:
    return sum(hull.volume_m3 for _, hull, _ in pieces)


def _cuts(corners: Array) -> list[tuple[int, float]]:
    """Returns the cuts to try: the middle of each axis, longest first, and the largest faces that are square to it."""
    points = corners.reshape(-1, 3)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    found = []
    for axis in np.argsort(-size):
        found.append((int(axis), float(low[axis] + size[axis] / 2)))
        square = np.abs(normals[:, axis]) > FLAT * np.maximum(areas, 1e-30)
        places, place = np.unique(np.round(corners[square, 0, axis], 6), return_inverse=True)
        weights = np.bincount(place, areas[square], minlength=len(places))
        order = np.argsort(-weights)
        within = [p for p in places[order] if THINNEST < (p - low[axis]) / max(size[axis], 1e-12) < 1 - THINNEST]
        found += [(int(axis), float(p)) for p in within[:FACES_PER_AXIS]]
    return found


def _filled(mesh: Mesh) -> tuple[Array, float]:
    """Returns the middles of grid cells inside, and a cell's volume: lines along z, inside between two crossings."""
    corners = mesh.vertices[mesh.faces]
    low, size = mesh.vertices.min(axis=0), np.ptp(mesh.vertices, axis=0)
    cell = float(size.max()) / GRID
    counts = np.maximum(np.ceil(size / cell).astype(int), 1)
    shift = np.array([0.5013, 0.4987])  # off the middle, so that no line runs along an edge
    xs, ys = (low[i] + (np.arange(counts[i]) + shift[i]) * cell for i in (0, 1))
    flips = np.zeros((counts[0], counts[1], counts[2] + 1), bool)
    for a, b, c in corners:
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if abs(area) < 1e-18:
            continue
        spans = [
            np.searchsorted(line, (min(a[i], b[i], c[i]), max(a[i], b[i], c[i]))) for i, line in enumerate((xs, ys))
        ]
        if spans[0][0] == spans[0][1] or spans[1][0] == spans[1][1]:
            continue
        x, y = np.meshgrid(xs[slice(*spans[0])], ys[slice(*spans[1])], indexing="ij")
        v = ((x - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (y - a[1])) / area
        w = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / area
        hit = (v >= 0) & (w >= 0) & (v + w <= 1)
        height = a[2] + v * (b[2] - a[2]) + w * (c[2] - a[2])
        level = np.clip(np.ceil((height[hit] - low[2]) / cell - 0.5), 0, counts[2]).astype(int)
        columns = np.argwhere(hit) + (spans[0][0], spans[1][0])
        np.logical_xor.at(flips, (columns[:, 0], columns[:, 1], level), True)
    inside = np.logical_xor.accumulate(flips, axis=2)[:, :, :-1]
    at = np.argwhere(inside)
    return low + (at + 0.5) * cell, cell**3
