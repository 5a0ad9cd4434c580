"""The object that is looked for: points all over it with normals, and how often it repeats about its axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures
from cellwright.catalogue.objects import BoundedFigures, ObjectFigures, TurnedFigures
from cellwright.core.errors import BadInput
from cellwright.shapes.mesh import Mesh, merge
from cellwright.shapes.objects import object_shape

__all__ = ["COARSE_STEP_M", "ROUND", "STEP_M", "SoughtModel", "model_of"]

Array = npt.NDArray[np.float64]
ROUND = 0
"""The number of repetitions of what looks the same however it is turned."""
STEP_M = 0.003
"""The distance between two points of a model's surface."""
COARSE_STEP_M = 0.007
"""The same for a first search."""
MOST_FACES = 400_000
REPEATS_M = 0.0015  # mean distance at which a turned surface counts as the same
SYMMETRY_POINTS = 600
TELLING_M = 0.006


@dataclass(frozen=True, eq=False)
class SoughtModel:
    """An object that stands upright, by its drawing.

    Attributes:
        name: In messages.
        mesh: Its surface, z up, its origin where its pose is told.
        repeats: How often it looks the same in one turn about z: 1, 2, ...; `ROUND` for what is turned. None where
            nothing is told: it is found from the shape, to the accuracy of a stereo camera.
        profile_rz_m: Radius and height of the outside of what is turned, bottom to top; empty for all else.
    """

    name: str
    mesh: Mesh
    repeats: int | None = None
    profile_rz_m: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        corners = self.mesh.vertices
        if not len(self.mesh.faces) or not np.isfinite(corners).all() or np.ptp(corners, axis=0).max() > 5.0:
            raise BadInput(f"{self.name}: a model to look for needs triangles, of at most 5 m, with finite corners")
        if len(self.mesh.faces) > MOST_FACES:
            raise BadInput(f"{self.name}: {len(self.mesh.faces)} triangles; at most {MOST_FACES} can be looked for")
        if np.ptp(corners[:, 2]) < 0.01:
            raise BadInput(f"{self.name}: lower than 10 mm; dense stereo does not tell it from the table")

    @property
    def bottom_m(self) -> float:
        """The height of its lowest point above its origin."""
        return float(self.mesh.vertices[:, 2].min())

    @property
    def height_m(self) -> float:
        """The height of the whole."""
        return float(np.ptp(self.mesh.vertices[:, 2]))

    @cached_property
    def radius_m(self) -> float:
        """The largest distance of any of its points from its z axis."""
        return float(np.hypot(*self.mesh.vertices[:, :2].T).max())

    @cached_property
    def surface(self) -> tuple[Array, Array]:
        """Points (n, 3) about 3 mm apart all over it, and the normals (n, 3) there, outwards."""
        corners = self.mesh.vertices[self.mesh.faces]
        crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(crossed, axis=1) / 2
        counts = np.ceil(4 * area / STEP_M**2).astype(int)
        counts[area < 1e-12] = 0
        if counts.sum() > 4_000_000:
            raise BadInput(f"{self.name}: its surface of {area.sum():.1f} m2 is too large to be looked for")
        owner = np.repeat(np.arange(len(corners)), counts)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        # the points of an additive recurrence fill a square evenly, whatever their number; folded, a triangle
        u, v = (0.5 + number * 0.7548776662) % 1.0, (0.5 + number * 0.5698402910) % 1.0
        u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
        a, b, c = np.moveaxis(corners[owner], 1, 0)
        points = a + u[:, None] * (b - a) + v[:, None] * (c - a)
        normals = crossed[owner] / (2 * area[owner, None])
        return _thinned(points, normals, STEP_M)

    @cached_property
    def coarse_surface(self) -> tuple[Array, Array]:
        """The same with fewer points, for a first search."""
        return _thinned(*self.surface, COARSE_STEP_M)

    @cached_property
    def telling(self) -> tuple[Array, Array]:
        """Points and normals of the surface by which its turn is known: where it is not, turned by a fraction."""
        from scipy.spatial import KDTree

        points, normals = self.surface
        tree = KDTree(points)
        turns = [self.period_rad * share for share in (0.25, 0.41, 0.5, 0.75)]
        away = np.mean([tree.query(points @ _turn(turn))[0] for turn in turns], axis=0)
        return points[away > TELLING_M], normals[away > TELLING_M]

    @cached_property
    def telling_faces(self) -> npt.NDArray[np.bool_]:
        """Flags of the triangles with a corner by which its turn is known."""
        from scipy.spatial import KDTree

        points = self.telling[0] if self.period_rad else np.zeros((0, 3))
        if not len(points):
            return np.zeros(len(self.mesh.faces), bool)
        away, _ = KDTree(points).query(self.mesh.vertices)
        return np.asarray((away < STEP_M)[self.mesh.faces].any(axis=1))

    @cached_property
    def period_rad(self) -> float:
        """The turn about z after which it looks the same; 0 for what is round."""
        repeats = self.repeats if self.repeats is not None else self._found_repeats()
        return 0.0 if repeats == ROUND else 2 * np.pi / repeats

    def _found_repeats(self) -> int:
        """Returns the largest number of repetitions that its surface has."""
        from scipy.spatial import KDTree

        points, _ = self.surface
        tree = KDTree(points)
        some = points[:: max(len(points) // SYMMETRY_POINTS, 1)]

        def same(turn_rad: float) -> bool:
            distance, _ = tree.query(some @ _turn(turn_rad))
            return bool(distance.mean() < REPEATS_M and np.quantile(distance, 0.99) < 3 * REPEATS_M)

        if all(same(turn) for turn in (0.31, 1.07, 2.2)):
            return ROUND
        return next((count for count in (12, 8, 6, 5, 4, 3, 2) if same(2 * np.pi / count)), 1)


def _turn(yaw_rad: float) -> Array:
    """Returns the matrix that turns rows of points about z."""
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    return np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _thinned(points: Array, normals: Array, step_m: float) -> tuple[Array, Array]:
    """Returns one point of each cell of a grid and of each rough direction."""
    cells = np.column_stack([np.round(points / step_m), np.round(normals)]).astype(np.int64)
    _, first = np.unique(cells, axis=0, return_index=True)
    first.sort()
    return points[first], normals[first]


def model_of(figures: PartFigures) -> SoughtModel:
    """Returns the model of a part of the catalogue, or of one that was imported.

    Raises:
        BadInput: No shape is known for its kind.
    """
    if isinstance(figures, BoundedFigures):
        return SoughtModel(figures.name, merge(figures.solids))
    if not isinstance(figures, ObjectFigures):
        raise BadInput(f"{figures.name}: dense stereo looks for objects; this is a {type(figures).__name__}")
    mesh = object_shape(figures).solid
    if isinstance(figures, TurnedFigures) and figures.is_round and not figures.wall_m:
        return SoughtModel(figures.name, mesh, ROUND, figures.profile_rz_m)
    return SoughtModel(figures.name, mesh, ROUND if figures.is_round else None)
