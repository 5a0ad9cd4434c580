"""The silhouette of a cube of known size, fitted to the evidence of both pictures: x, y and yaw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
import numpy.typing as npt

from cellwright.perception.picture import Picture
from cellwright.perception.stereo.sparse_evidence import CAP, PlateEvidence
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.perception.stereo.sparse_projection import project

__all__ = ["Silhouette", "SilhouetteView", "cube_corners", "fit_silhouette"]

Array = npt.NDArray[np.float64]

CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
EDGES = np.array([(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1])
RING = 1.25  # edge of the larger cube whose silhouette, the cube's left out, must show the bare plate
COARSE = 2  # pixels of the evidence along each axis that become one for the search
STEP, STEPS_YAW = 0.375, 3  # of the grid that is searched first, in edges; turns in a quarter
EDGES_M = 0.045, 0.07, 0.10  # where the cube's is not known
LEAST_SD = np.array([0.0003, 0.0003, 0.003, 0.0003])  # of x, y, yaw and edge, whatever the pixels tell
STARTS = 6
QUARTER = np.pi / 2
MOVES = np.array(sorted((m for m in product((-1.0, 0.0, 1.0), repeat=4) if np.abs(m).sum() <= 2), key=np.any))


class SilhouetteView:
    """Sums of one picture's evidence over silhouettes, exact to parts of a pixel.

    A silhouette is convex: in each row of pixels it is one span, and the sum over a span is a difference of two running
    sums.

    Args:
        picture: The picture.
        evidence: Its evidence.
        coarse: How many of the evidence's pixels along each axis become one.
    """

    def __init__(self, picture: Picture, evidence: PlateEvidence, coarse: int = 1) -> None:
        self.picture = picture
        nats = evidence.nats
        if coarse > 1:
            size = nats.shape[1] // coarse, nats.shape[0] // coarse
            nats = cv2.resize(nats[: size[1] * coarse, : size[0] * coarse], size, interpolation=cv2.INTER_AREA)
        self._scale = evidence.binning * coarse
        self._origin = np.array(evidence.origin_px, float)
        self._running = np.zeros((nats.shape[0], nats.shape[1] + 1))
        np.cumsum(nats, axis=1, dtype=np.float64, out=self._running[:, 1:])

    def sums(self, corners_in_world_m: Array) -> tuple[Array, Array, Array]:
        """Returns sums of nats (k), areas inside the picture and whole areas of cubes (k, 8, 3), in its own pixels."""
        seen = (project(self.picture, corners_in_world_m) - self._origin) / self._scale
        seen = np.nan_to_num(seen, nan=-1e6)
        rows, columns = self._running.shape[0], self._running.shape[1] - 1
        x, y = seen[..., 0], seen[..., 1]
        first = np.floor(y.min(axis=1))
        count = min(int(np.ceil((y.max(axis=1) - first).max())) + 1, 4 * rows)
        row = first[:, None] + np.arange(count)
        low, high = np.maximum(row, y.min(axis=1)[:, None]), np.minimum(row + 1, y.max(axis=1)[:, None])
        share = np.maximum(high - low, 0.0)  # of the first and the last row only a part is inside
        level = ((low + high) / 2)[:, None, :]
        xa, xb, ya, yb = (values[:, EDGES[:, end], None] for values in (x, y) for end in (0, 1))
        rise = yb - ya
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (level - ya) / rise
            cut = xa + part * (xb - xa)
        hit = (part >= 0) & (part <= 1)
        left = np.where(hit, cut, np.inf).min(axis=1)
        right = np.where(hit, cut, -np.inf).max(axis=1)
        wide = np.where(right > left, right - left, 0.0)
        left, right = (np.clip(np.nan_to_num(end, posinf=0.0, neginf=0.0), 0, columns) for end in (left, right))
        inside = (row >= 0) & (row < rows) & (wide > 0)
        at = np.clip(row, 0, rows - 1).astype(np.intp)
        total = np.where(inside, share * (self._until(at, right) - self._until(at, left)), 0.0).sum(axis=1)
        area = np.where(inside, share * (right - left), 0.0).sum(axis=1)
        return total, area, (share * wide).sum(axis=1)

    def _until(self, row: npt.NDArray[np.intp], column: Array) -> Array:
        whole = np.minimum(column.astype(np.intp), self._running.shape[1] - 2)
        start = self._running[row, whole]
        return np.asarray(start + (column - whole) * (self._running[row, whole + 1] - start))


@dataclass(frozen=True)
class Silhouette:
    """A cube's silhouette that was fitted.

    Attributes:
        cube: x, y, yaw and the edge as it seems.
        covariance: (4, 4) of these.
        quality: 0 to 1, the worse picture's: 1 where all inside is something and all around it is the bare plate.
        in_view: Least share of its area that is inside a picture.
    """

    cube: Array
    covariance: Array
    quality: float
    in_view: float


def cube_corners(cubes: Array, plate_z_m: float, grown: float = 1.0, edge_m: float | None = None) -> Array:
    """Returns the corners (k, 8, 3) of cubes (k, 4): x, y, yaw, edge; each grown about its centre by a factor.

    Args:
        cubes: That lie on the plate.
        plate_z_m: Its height.
        grown: The factor.
        edge_m: The true edge, by which the centre's height is known; the others are apparent ones then.
    """
    x, y, yaw, edge = np.atleast_2d(cubes)[:, :, None].transpose(1, 0, 2)
    own = edge[..., None] * grown * CORNERS
    cos, sin = np.cos(yaw), np.sin(yaw)
    east, north = cos * own[..., 0] - sin * own[..., 1], sin * own[..., 0] + cos * own[..., 1]
    middle_m = edge / 2 if edge_m is None else edge_m / 2
    return np.stack([x + east, y + north, plate_z_m + middle_m + own[..., 2]], axis=-1)


@dataclass(frozen=True)
class _Scores:
    """Scores of cubes in all pictures."""

    views: Sequence[SilhouetteView]
    plate_z_m: float
    edge_m: float | None

    def corners(self, cubes: Array, grown: float = 1.0) -> Array:
        """Returns the corners of cubes."""
        return cube_corners(cubes, self.plate_z_m, grown, self.edge_m)

    def inside(self, cubes: Array) -> Array:
        """Returns the sums of nats over silhouettes."""
        corners = self.corners(cubes)
        return np.asarray(sum(view.sums(corners)[0] for view in self.views))

    def contrast(self, cubes: Array) -> Array:
        """Returns the sums over silhouettes without those over the rings around them."""
        corners = self.corners(cubes, RING)
        return np.asarray(2 * self.inside(cubes) - sum(view.sums(corners)[0] for view in self.views))


def fit_silhouette(
    pictures: Sequence[Picture], evidences: Sequence[PlateEvidence], task: CubeOnPlate, guess: Array | None = None
) -> Silhouette:
    """Fits the silhouette of a cube on the plate to all pictures: a grid of places and turns, then the best of them.

    In the end the edge is fitted even where it is known: noise and blur make a silhouette smaller or larger on all
    sides, and one of the wrong size could turn within the other.

    Args:
        pictures: Of one moment.
        evidences: One for each.
        task: The plate, and the cube's edge where it is known; else it is fitted, too.
        guess: x, y, yaw and edge of a start, in place of the grid.
    """
    pairs = list(zip(pictures, evidences, strict=True))
    facts = task.plate_z_m, task.edge_m
    coarse = _Scores([SilhouetteView(*pair, COARSE) for pair in pairs], *facts)
    fine = _Scores([SilhouetteView(*pair) for pair in pairs], *facts)
    if guess is None:
        grid = np.concatenate([_grid(task, edge) for edge in (EDGES_M if task.edge_m is None else (task.edge_m,))])
        starts = grid[_separate(grid, coarse.contrast(grid))]
    else:
        starts = guess[None]
    free = np.array([1, 1, 2 / starts[0, 3], 1])
    steps = free * [1, 1, 1, task.edge_m is None]
    for step_m in (0.012, 0.006):
        starts = np.array([_climb(coarse.contrast, start, step_m * steps, 3) for start in starts])
    best = starts[coarse.contrast(starts).argmax()]
    for step_m in (0.003, 0.001, 0.0003, 0.0001):
        best = _climb(fine.inside, best, step_m * free, 6)
    return _judged(fine, evidences, best, free)


def _grid(task: CubeOnPlate, edge_m: float) -> Array:
    low, high = np.array(task.min_xy_m) + edge_m / 2, np.array(task.max_xy_m) - edge_m / 2
    step_m = STEP * edge_m
    axes = [np.linspace(a, b, max(2, int(np.ceil((b - a) / step_m)) + 1)) for a, b in zip(low, high, strict=True)]
    return np.array(list(product(*axes, np.arange(STEPS_YAW) * QUARTER / STEPS_YAW, [edge_m])))


def _separate(grid: Array, scores: Array) -> list[int]:
    """Returns the best of the grid; of those that are close to each other at most two."""
    chosen: list[int] = []
    for number in np.argsort(-scores, kind="stable")[:100]:
        near = [np.abs(grid[number, :2] - grid[other, :2]).max() < grid[number, 3] / 2 for other in chosen]
        if sum(near) < 2:
            chosen.append(int(number))
        if len(chosen) == STARTS:
            break
    return chosen


def _climb(score: Callable[[Array], Array], start: Array, steps: Array, most: int) -> Array:
    """Returns the cube that is better than all its neighbours at a step, or the best after some steps."""
    moves = MOVES[(np.abs(MOVES) <= (steps > 0)).all(axis=1)] * steps
    for _ in range(most):
        cubes = start + moves
        best = int(score(cubes).argmax())
        if best == 0:
            break
        start = cubes[best]
    return start


def _judged(fine: _Scores, evidences: Sequence[PlateEvidence], best: Array, sizes: Array) -> Silhouette:
    inner, outer = fine.corners(best), fine.corners(best, RING)
    qualities, in_view = [], []
    for view in fine.views:
        (total, area, whole), (all_total, all_area, _) = view.sums(inner), view.sums(outer)
        within = total[0] / max(area[0], 1.0)
        around = (all_total[0] - total[0]) / max(all_area[0] - area[0], 1.0)
        qualities.append((within - around) / (2 * CAP))
        in_view.append(area[0] / max(whole[0], 1.0))
    together = np.mean([evidence.mean_px / evidence.binning**2 for evidence in evidences])
    values, vectors = np.linalg.eigh(_curvature(fine.inside, best, 0.002 * sizes))
    least = 1e-6 * max(float(values.max()), 1.0)
    covariance = (vectors / np.maximum(values, least)) @ vectors.T * together + np.diag(LEAST_SD**2)
    return Silhouette(best, covariance, float(np.clip(min(qualities), 0, 1)), float(min(in_view)))


def _curvature(score: Callable[[Array], Array], best: Array, steps: Array) -> Array:
    """Returns minus the second derivatives of a score, by differences."""
    moves = np.diag(steps)
    pairs = [sign_a * a + sign_b * b for a in moves for b in moves for sign_a in (1, -1) for sign_b in (1, -1)]
    scores = score(best + np.array(pairs)).reshape(4, 4, 4)
    change = scores[..., 0] - scores[..., 1] - scores[..., 2] + scores[..., 3]
    return np.asarray(-change / (4 * steps[:, None] * steps))
