"""Antipodal grasps of a solid for two parallel fingers: opposite upright faces, found by sampling.

A grasp is a line through the part whose ends meet its surface almost squarely (antipodal points): friction then holds
it. Fingers come from above, so the line is level. Of all samples those count most that lie high enough to be reached,
near the centre of mass, on wide faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TIP_FLOOR_M
from cellwright.catalogue.objects import GraspPoint
from cellwright.shapes.mesh import Mesh

__all__ = ["grasp_points"]

Array = npt.NDArray[np.float64]
SAMPLES = 300
CONE_RAD = np.radians(15.0)  # between finger and face: inside the friction cone of rubber
LEVEL_RAD = np.radians(20.0)
WIDEST_M = 0.15
WIDTH_SHARE = 0.25  # of its quality, that the widest loses: more grippers can do a narrow one
FINGER_M = 0.012  # as thick as a finger is, and a little more
MOST = 8
MOST_ALIKE = 5  # of one width: a gripper that does not open so far may find another
MOST_FACES = 20_000


def grasp_points(solid: Mesh, seed: int = 0) -> tuple[GraspPoint, ...]:
    """Returns the best grasps, each different from the others."""
    corners = solid.vertices[solid.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1) / 2
    good = areas > 1e-14
    corners, normals, areas = corners[good], normals[good] / (2 * areas[good, None]), areas[good]
    upright = np.abs(normals[:, 2]) < np.sin(LEVEL_RAD)
    if not upright.any():
        return ()
    if len(areas) > MOST_FACES:  # the largest ones are where fingers go
        upright &= areas >= np.sort(areas)[-MOST_FACES]
    centre, _ = solid.inertia(1.0)
    size = float(np.ptp(solid.vertices, axis=0).max())
    bottom, top = solid.vertices[:, 2].min(), solid.vertices[:, 2].max()
    least = bottom + min(TIP_FLOOR_M, (top - bottom) / 2)  # lower, fingers would be in what the part stands on
    rng = np.random.default_rng(seed)
    chance = np.where(upright, areas, 0.0)
    found = []
    for face in rng.choice(len(areas), SAMPLES, p=chance / chance.sum()):
        u, v = np.sort(rng.uniform(size=2))
        start = corners[face].T @ np.array([u, v - u, 1 - v])
        inwards = -normals[face] * np.array([1.0, 1.0, 0.0])
        inwards /= np.linalg.norm(inwards)
        if start[2] < least:
            continue
        for width, other in _exits(corners, normals, start, inwards):  # across a wall, and across all of it
            square = float(-normals[face] @ inwards), float(normals[other] @ inwards)
            if width > WIDEST_M or min(square) < np.cos(CONE_RAD):
                continue
            middle = start + inwards * width / 2
            away = float(np.linalg.norm(middle - centre)) / size
            quality = max(0.01, min(square) * (1 - away) * (1 - WIDTH_SHARE * width / WIDEST_M))
            yaw = float(np.arctan2(inwards[1], inwards[0]))
            found.append(_Candidate(quality, middle, (yaw + np.pi / 2) % np.pi - np.pi / 2, width, start, inwards))
    return _distinct(found, size, corners, normals)


class _Candidate(NamedTuple):
    quality: float
    middle: Array
    yaw: float
    width: float
    start: Array
    inwards: Array

    def has_room(self, corners: Array, normals: Array) -> bool:
        """Returns whether fingers fit on both sides."""
        ends = (self.start, -self.inwards), (self.start + self.inwards * self.width, self.inwards)
        return all(_has_room(corners, normals, place, outwards) for place, outwards in ends)


def _has_room(corners: Array, normals: Array, place: Array, outwards: Array) -> bool:
    """Returns whether a finger fits beside a face and gets there from above: a hole may be narrower than a finger."""
    beside = _ahead(corners, normals, place + 1e-5 * outwards, outwards)
    leaves = _exits(corners, normals, place + 1e-5 * outwards, outwards)
    if leaves and leaves[0][0] < beside:
        return False  # inside another of several solids
    finger = place + outwards * FINGER_M / 2
    return beside >= FINGER_M and not np.isfinite(_ahead(corners, normals, finger, np.array([0.0, 0.0, 1.0])))


def _ahead(corners: Array, normals: Array, start: Array, direction: Array) -> float:
    """Returns the distance to the first face that a ray meets from outside; infinite without one."""
    exits = _exits(corners, -normals, start, direction)
    return exits[0][0] if exits else np.inf


def _exits(corners: Array, normals: Array, start: Array, direction: Array) -> list[tuple[float, int]]:
    """Returns distance and face of the first and the last exit of a ray from the solid (Moeller and Trumbore)."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(direction, second)
    determinant = np.einsum("ij,ij->i", first, across)
    leaving = normals @ direction > 1e-6
    safe = np.where(np.abs(determinant) > 1e-15, determinant, np.inf)
    offset = start - corners[:, 0]
    u = np.einsum("ij,ij->i", offset, across) / safe
    turned = np.cross(offset, first)
    v = turned @ direction / safe
    distance = np.einsum("ij,ij->i", second, turned) / safe
    hits = leaving & (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 1e-6)
    met = np.flatnonzero(hits)
    met = met[np.argsort(distance[met], kind="stable")]
    return [(float(distance[face]), int(face)) for face in dict.fromkeys((*met[:1].tolist(), *met[-1:].tolist()))]


def _distinct(found: list[_Candidate], size: float, corners: Array, normals: Array) -> tuple[GraspPoint, ...]:
    chosen: list[GraspPoint] = []
    for grasp in sorted(found, key=lambda item: (-round(item.quality, 6), *item.middle.tolist())):
        if len(chosen) == MOST:
            break
        if sum(abs(grasp.width - other.width_m) < 0.05 * grasp.width for other in chosen) >= MOST_ALIKE:
            continue
        for other in chosen:
            near = np.linalg.norm(grasp.middle - np.array(other.xyz_m)) < 0.15 * size
            turn = abs((grasp.yaw - other.yaw_rad + np.pi / 2) % np.pi - np.pi / 2)
            if near and turn < np.radians(20):
                break
        else:
            if not grasp.has_room(corners, normals):
                continue
            x, y, z = (float(round(value, 6)) for value in grasp.middle)
            yaw, width = round(grasp.yaw, 6), float(round(grasp.width, 6))
            feature = f"two faces {1000 * width:.1f} mm apart"
            chosen.append(GraspPoint((x, y, z), yaw, width, round(grasp.quality, 4), feature))
    return tuple(chosen)
