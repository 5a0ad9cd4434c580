"""Walls of exercises: random ones with room between them, and how far places are from all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.cells import Cell

__all__ = ["random_walls", "to_walls_m"]

Array = npt.NDArray[np.float64]
Wall = list[list[float]]

ROOM_M = 0.13  # between walls: an e-puck and its sensors' sight on both sides
TRIES = 500


def random_walls(rng: np.random.Generator, count: int, size_m: float) -> list[Wall]:
    """Returns walls within a square, apart from each other, from its border and from its middle."""
    walls: list[Wall] = []
    for _ in range(TRIES):
        middle, angle, half_m = rng.uniform(-0.5, 0.5, 2) * size_m, rng.uniform(0, np.pi), rng.uniform(0.05, 0.10)
        way = half_m * np.array([np.cos(angle), np.sin(angle)])
        points = middle + np.linspace(-1, 1, 9)[:, None] * way
        if np.abs(points).max() > size_m / 2 - ROOM_M or np.hypot(*points.T).min() < ROOM_M:
            continue
        if any(_to_segment_m(points, np.array(wall)).min() < ROOM_M for wall in walls):
            continue
        walls.append([[round(float(v), 3) for v in end] for end in (middle - way, middle + way)])
        if len(walls) == count:
            break
    return walls


def to_walls_m(cell: Cell, xy_m: Array) -> Array:
    """Returns the distance of places from the faces of the nearest walls of the arena."""
    assert cell.arena is not None
    half = np.array(cell.arena.size_m) / 2
    nearest = (half - np.abs(xy_m)).min(axis=1)
    for wall in cell.arena.inner_walls_m:
        nearest = np.minimum(nearest, _to_segment_m(xy_m, np.array(wall)) - cell.arena.wall_thickness_m / 2)
    return np.asarray(nearest)


def _to_segment_m(points: Array, wall: Array) -> Array:
    start, way = wall[0], wall[1] - wall[0]
    share = np.clip((points - start) @ way / (way @ way), 0.0, 1.0)
    return np.asarray(np.hypot(*(points - start - share[:, None] * way).T))
