"""One cloud found in another as the ROVI project did it: spin images, draws of three pairs, closest points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["closest_points", "kabsch", "nearest_images", "ransac", "spin_images"]

Array = npt.NDArray[np.float64]
Transform = tuple[Array, Array]
"""A rotation matrix (3, 3) and a shift (3,)."""
RADIUS_M = 0.15
WIDTH = 8  # (8 + 1) x (2 x 8 + 1) = 153 bins
BIN_M = RADIUS_M / WIDTH / np.sqrt(2)
DRAWS = 10_000
INLIER_M2 = 1e-5
ICP_STEPS, ICP_M, ICP_LEAST = 20, 0.005, 1e-9
CELL_M = 0.002
TOGETHER = 250  # draws that are tried at once


def spin_images(points: Array, normals: Array) -> Array:
    """Returns what each point has around it (n, 153): distance from its normal by height along it, summing to one."""
    images = np.zeros((len(points), (WIDTH + 1) * (2 * WIDTH + 1)))
    for number, (point, normal) in enumerate(zip(points, normals, strict=True)):
        away = points - point
        length = np.linalg.norm(away, axis=1)
        around = (length < RADIUS_M) & (length > 1e-9)
        height = away[around] @ normal
        aside = np.sqrt(np.maximum(length[around] ** 2 - height**2, 0.0))
        across, along = aside / BIN_M, height / BIN_M + WIDTH
        inside = (across < WIDTH) & (along >= 0) & (along < 2 * WIDTH)
        across, along = across[inside], along[inside]
        column, row = across.astype(int), along.astype(int)
        a, b = across - column, along - row
        place = column * (2 * WIDTH + 1) + row
        for shift, weight in (
            (0, (1 - a) * (1 - b)),
            (1, (1 - a) * b),
            (2 * WIDTH + 1, a * (1 - b)),
            (2 * WIDTH + 2, a * b),
        ):
            images[number] += np.bincount(place + shift, weight, images.shape[1])
    return np.asarray(images / np.maximum(images.sum(axis=1, keepdims=True), 1e-12))


def nearest_images(model: Array, scene: Array) -> npt.NDArray[np.intp]:
    """Returns for each image of a model the number of the scene's nearest one, by the sum of squares.

    The paper's text names the sum of absolute differences; the project's code has squares.
    """
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(model, scene, "sqeuclidean").argmin(axis=1), np.intp)


def kabsch(a: Array, b: Array) -> tuple[Array, Array]:
    """Returns the rotations (..., 3, 3) and shifts (..., 3) that bring points (..., n, 3) closest to others."""
    middle_a, middle_b = a.mean(axis=-2, keepdims=True), b.mean(axis=-2, keepdims=True)
    u, _, vt = np.linalg.svd(np.swapaxes(a - middle_a, -1, -2) @ (b - middle_b))
    v, ut = np.swapaxes(vt, -1, -2).copy(), np.swapaxes(u, -1, -2)
    v[..., 2] *= np.linalg.det(v @ ut)[..., None]  # no mirrors
    turn = v @ ut
    shift = middle_b[..., 0, :] - np.einsum("...ij,...j->...i", turn, middle_a[..., 0, :])
    return turn, shift


def ransac(
    model: Array, scene: Array, matches: npt.NDArray[np.intp], rng: np.random.Generator
) -> tuple[Transform, int]:
    """Returns, of 10,000 draws of three pairs, the transform that brings most of a model's points onto the scene.

    Args:
        model: Points (n, 3).
        scene: Points (m, 3).
        matches: For each point of the model the number of one of the scene.
        rng: Of the draws.

    Returns:
        The transform, and how many points it brings within 3.2 mm of one of the scene.
    """
    from scipy.spatial import cKDTree

    tree, near = cKDTree(scene), _NearCells(scene)
    drawn = rng.integers(0, len(model), (DRAWS, 3))
    turns, shifts = kabsch(model[drawn], scene[matches[drawn]])
    best, most = 0, -1
    for first in range(0, DRAWS, TOGETHER):
        part = slice(first, min(first + TOGETHER, DRAWS))
        moved = model @ np.swapaxes(turns[part], 1, 2) + shifts[part, None]
        draw, _ = maybe = np.nonzero(near.holds(moved))
        distance, _ = tree.query(moved[maybe], distance_upper_bound=np.sqrt(INLIER_M2))
        counts = np.bincount(draw[distance**2 < INLIER_M2], minlength=len(moved))
        if counts.max() > most:
            best, most = first + int(counts.argmax()), int(counts.max())
    return (turns[best], shifts[best]), most


class _NearCells:
    """Cells of a grid in which a point may be an inlier: asks few points more exactly."""

    def __init__(self, scene: Array) -> None:
        from scipy.spatial import cKDTree

        margin_m = np.sqrt(INLIER_M2) + np.sqrt(3) / 2 * CELL_M
        self._low = scene.min(axis=0) - 2 * margin_m
        count = np.ceil((np.ptp(scene, axis=0) + 4 * margin_m) / CELL_M).astype(int) + 1
        reach = int(np.ceil(margin_m / CELL_M)) + 1
        steps = np.arange(-reach, reach + 1)
        around = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
        cells = np.floor((scene - self._low) / CELL_M).astype(int)[:, None] + around
        cells = np.unique(np.clip(cells, 0, count - 1).reshape(-1, 3), axis=0)
        distance, _ = cKDTree(scene).query(self._low + (cells + 0.5) * CELL_M, distance_upper_bound=margin_m)
        self._cells = np.zeros(count, bool)
        self._cells[tuple(cells[np.isfinite(distance)].T)] = True

    def holds(self, points: Array) -> npt.NDArray[np.bool_]:
        places = np.floor((points - self._low) / CELL_M).astype(np.int64)
        count = np.array(self._cells.shape)
        inside = ((places >= 0) & (places < count)).all(axis=-1)
        places[~inside] = 0
        x, y, z = np.moveaxis(places, -1, 0)
        return np.asarray(inside & self._cells[x, y, z])


def closest_points(model: Array, scene: Array, start: Transform) -> tuple[Transform, Array, Array]:
    """Returns a transform refined by closest points, with its pairs of points, the model's where it puts them.

    At most 20 steps; pairs up to 5 mm apart count.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(scene)
    turn, shift = start
    for _ in range(ICP_STEPS):
        moved = model @ turn.T + shift
        distance, number = tree.query(moved, distance_upper_bound=ICP_M)
        own = np.isfinite(distance)
        if own.sum() < 3:
            break
        more_turn, more_shift = kabsch(moved[own], scene[number[own]])
        turn, shift = more_turn @ turn, more_turn @ shift + more_shift
        if max(np.abs(more_turn - np.eye(3)).max(), np.abs(more_shift).max()) ** 2 < ICP_LEAST:
            break
    moved = model @ turn.T + shift
    distance, number = tree.query(moved, distance_upper_bound=ICP_M)
    own = np.isfinite(distance)
    return (turn, shift), moved[own], scene[number[own]]
