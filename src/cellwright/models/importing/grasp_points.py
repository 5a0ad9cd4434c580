"""Where two parallel fingers can hold a solid: opposite faces that are upright, found by sampling.

A grasp is a line through the part whose ends meet its surface almost squarely (antipodal points): friction then holds
it. Fingers come from above, so the line is level. Of all samples those count most that lie high enough to be reached,
near the centre of mass, on wide faces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.shapes.mesh import Mesh

__all__ = ["GraspPoint", "grasp_points"]

Array = npt.NDArray[np.float64]
SAMPLES = 400
CONE_RAD = np.radians(15.0)  # between finger and face: inside the friction cone of rubber
LEVEL_RAD = np.radians(20.0)
WIDEST_M = 0.15
MOST = 8
MOST_FACES = 20_000


@dataclass(frozen=True)
class GraspPoint:
    """A place for two fingers that come from above.

    Attributes:
        xyz_m: Between the fingers, in the part's frame.
        yaw_rad: Direction from one finger to the other, about z.
        width_m: Distance of the fingers when they touch.
        worth: 0 to 1; 1 is at the centre of mass with faces that are square to the fingers.
        feature: In words.
    """

    xyz_m: tuple[float, float, float]
    yaw_rad: float
    width_m: float
    worth: float
    feature: str


def grasp_points(solid: Mesh, seed: int = 0) -> tuple[GraspPoint, ...]:
    """The best grasps, each different from the others."""
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
    rng = np.random.default_rng(seed)
    chance = np.where(upright, areas, 0.0)
    found = []
    for face in rng.choice(len(areas), SAMPLES, p=chance / chance.sum()):
        u, v = np.sort(rng.uniform(size=2))
        start = corners[face].T @ np.array([u, v - u, 1 - v])
        inwards = -normals[face] * np.array([1.0, 1.0, 0.0])
        inwards /= np.linalg.norm(inwards)
        hit = _opposite(corners, normals, start, inwards)
        if hit is None:
            continue
        width, other = hit
        square = float(-normals[face] @ inwards), float(normals[other] @ inwards)
        if width > WIDEST_M or min(square) < np.cos(CONE_RAD):
            continue
        middle = start + inwards * width / 2
        away = float(np.linalg.norm(middle - centre)) / size
        worth = max(0.0, min(square) * (1 - away))
        yaw = float(np.arctan2(inwards[1], inwards[0]))
        found.append((worth, middle, (yaw + np.pi / 2) % np.pi - np.pi / 2, width))
    return _distinct(found, size)


def _opposite(corners: Array, normals: Array, start: Array, direction: Array) -> tuple[float, int] | None:
    """How far a ray runs inside the solid, and the face through which it leaves (Moeller and Trumbore)."""
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
    if not hits.any():
        return None
    best = int(np.flatnonzero(hits)[distance[hits].argmin()])
    return float(distance[best]), best


def _distinct(found: list[tuple[float, Array, float, float]], size: float) -> tuple[GraspPoint, ...]:
    chosen: list[GraspPoint] = []
    for worth, middle, yaw, width in sorted(found, key=lambda item: (-round(item[0], 6), *item[1].tolist())):
        if len(chosen) == MOST:
            break
        for other in chosen:
            near = np.linalg.norm(middle - np.array(other.xyz_m)) < 0.15 * size
            turn = abs((yaw - other.yaw_rad + np.pi / 2) % np.pi - np.pi / 2)
            if near and turn < np.radians(20):
                break
        else:
            x, y, z = (float(round(value, 6)) for value in middle)
            feature = f"two faces {1000 * width:.1f} mm apart"
            chosen.append(GraspPoint((x, y, z), round(yaw, 6), float(round(width, 6)), round(worth, 4), feature))
    return tuple(chosen)
