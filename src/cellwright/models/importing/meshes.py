"""The meshes of one description: each file read once, scaled where it is used, its faults noted once."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.models.description import MeshFile
from cellwright.models.importing.mesh_files import LoadedMesh, load_mesh
from cellwright.models.importing.mesh_part import MeshError, MeshPart, distinct_points
from cellwright.models.importing.notes import Notes
from cellwright.shapes.mesh import Mesh, merge

__all__ = ["MeshStore", "add_surface", "convex_hull", "open_edges", "simplified", "solid_of"]

GIGANTIC_M = 50.0
TINY_M = 1e-5
MOST_DRAWN = 200_000  # triangles of one piece; more are thinned out, which is not visible
GRID = 150  # cells along the longest side, in which corners become one when a mesh is thinned out
MOST_POINTS = 20_000  # of which a hull is made as it is
HULL_GRID = 80  # cells, of which the outermost point is looked at
DIRECTIONS = 2000  # in which more points are looked at for the outermost: a ball is met to 0.02 % of its radius


class MeshStore:
    """Reads and scales meshes; a file that cannot be used is noted, and gives no parts."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._files: dict[str, LoadedMesh | None] = {}

    def parts(self, mesh: MeshFile) -> tuple[MeshPart, ...]:
        """Returns the pieces of a mesh, scaled; none where the file cannot be used."""
        loaded = self._load(mesh)
        if loaded is None:
            return ()
        chosen = loaded.parts
        if mesh.submesh:
            chosen = tuple(part for part in chosen if part.name == mesh.submesh)
            if not chosen:
                names = ", ".join(sorted({part.name for part in loaded.parts}))
                self._notes.dropped(loaded.path.name, f"has no submesh '{mesh.submesh}' (it has: {names})")
                return ()
        scale = np.array(mesh.scale)
        turned = scale.prod() < 0
        scaled = []
        for part in chosen:
            faces = part.mesh.faces[:, ::-1] if turned else part.mesh.faces
            scaled.append(MeshPart(Mesh(part.mesh.vertices * scale, faces), part.rgba, part.name))
        if mesh.centred:
            points = np.concatenate([part.mesh.vertices for part in scaled])
            middle = (points.min(axis=0) + points.max(axis=0)) / 2
            scaled = [MeshPart(part.mesh.moved(-middle), part.rgba, part.name) for part in scaled]
        self._note_size(loaded, scaled)
        return tuple(scaled)

    def whole(self, mesh: MeshFile) -> Mesh | None:
        """Returns all of a mesh as one, or None."""
        parts = self.parts(mesh)
        return _welded(merge([part.mesh for part in parts])) if parts else None

    def solid(self, mesh: MeshFile) -> Mesh | None:
        """Returns a closed mesh in its place: itself, turned inside out where needed, or its convex hull."""
        whole = self.whole(mesh)
        if whole is None or mesh.path is None:
            return None
        made, fact = solid_of(whole)
        if fact:
            self._notes.changed(mesh.path.name, fact)
        return made

    def _load(self, mesh: MeshFile) -> LoadedMesh | None:
        if mesh.path is None:
            return None
        key = str(mesh.path)
        if key not in self._files:
            try:
                self._files[key] = loaded = load_mesh(mesh.path)
            except MeshError as error:
                self._notes.dropped(mesh.path.name, str(error).removeprefix(f"mesh {mesh.path}: "))
                self._files[key] = None
                return None
            for fact in loaded.facts:
                self._notes.changed(mesh.path.name, fact)
        return self._files[key]

    def _note_size(self, loaded: LoadedMesh, parts: list[MeshPart]) -> None:
        points = np.concatenate([part.mesh.vertices for part in parts])
        largest = float(np.ptp(points, axis=0).max())
        if largest > GIGANTIC_M:
            what = f"is {largest:.4g} m large; if its numbers are millimetres, it needs the scale 0.001"
            self._notes.guessed(loaded.path.name, what)
        elif largest < TINY_M:
            self._notes.guessed(loaded.path.name, f"is only {largest:.3g} m large; its scale may be wrong")


def add_surface(spec: Any, name: str, mesh: Mesh) -> Any:
    """Returns a visual mesh as an asset; one that is finer than can be seen is thinned out."""
    drawn = simplified(mesh)
    asset = spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    asset.uservert = drawn.vertices.reshape(-1)
    asset.userface = drawn.faces.reshape(-1).astype(np.int32)
    return asset


def simplified(mesh: Mesh, most: int = MOST_DRAWN) -> Mesh:
    """Returns the mesh itself, or one of fewer triangles: corners in one cell of a grid become one, in their mean."""
    grid = float(GRID)
    while len(mesh.faces) > most and grid > 1:
        mesh = _clustered(mesh, grid)
        grid *= 0.7
    return mesh


def _clustered(mesh: Mesh, grid: float) -> Mesh:
    cells = _cells(mesh.vertices, grid)
    _, place, counts = np.unique(cells, return_inverse=True, return_counts=True)
    points = np.column_stack([np.bincount(place, mesh.vertices[:, axis]) for axis in range(3)]) / counts[:, None]
    faces = place[mesh.faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Mesh(points, faces[whole].astype(np.int64))


def _cells(points: npt.NDArray[np.float64], grid: float) -> npt.NDArray[np.int64]:
    """Returns the cell of a grid, so many along the longest side, that each point lies in."""
    low, size = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-12)
    cells = np.floor((points - low) / (size / grid)).astype(np.int64)
    return np.asarray(cells @ np.array([1, 1 << 20, 1 << 40]))


def solid_of(mesh: Mesh) -> tuple[Mesh | None, str]:
    """Returns a closed mesh in place of one, and what was done to it; None for one without any volume."""
    gaps = open_edges(mesh)
    if gaps == 0:
        if mesh.volume_m3 >= 0:
            return (mesh, "") if mesh.volume_m3 > 1e-15 else (None, "encloses no volume")
        return Mesh(mesh.vertices, mesh.faces[:, ::-1]), "is inside out; turned"
    hull = convex_hull(mesh.vertices)
    if hull is None:
        return None, f"is not closed ({gaps} open edges) and flat: it encloses no volume"
    return hull, f"is not closed ({gaps} open edges); where a solid is needed, its convex hull is taken"


def open_edges(mesh: Mesh) -> int:
    """Returns the number of edges that do not join exactly two triangles with the same orientation."""
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    keys = edges.min(axis=1) * len(mesh.vertices) + edges.max(axis=1)
    _, place = np.unique(keys, return_inverse=True)
    return int(np.count_nonzero(np.bincount(place, np.where(edges[:, 0] < edges[:, 1], 1.0, -1.0))))


def convex_hull(points: npt.NDArray[np.float64]) -> Mesh | None:
    """Returns the hull of points, or None where they lie in a plane."""
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    if size.min() <= 1e-6 * max(size.max(), 1e-12):
        return None
    if len(points) > MOST_POINTS:
        points = _outermost(points)
    spec = mujoco.MjSpec()
    # A unit cube suits the engine's single precision and its limits, for any unit of the points.
    asset = spec.add_mesh(name="points", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
    asset.uservert = ((points - low) / size.max()).reshape(-1)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="points")
    try:
        model = spec.compile()
    except ValueError:
        return None
    corners = np.zeros((model.mesh_vertnum[0], 3))
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.mesh_quat[0])
    corners[:] = model.mesh_vert @ rotation.reshape(3, 3).T + model.mesh_pos[0]
    graph = model.mesh_graph[model.mesh_graphadr[0] :]
    vertices, faces = int(graph[0]), int(graph[1])
    start = 2 + 2 * vertices + vertices + 3 * faces
    triangles = graph[start : start + 3 * faces].reshape(-1, 3).astype(np.int64)
    used, place = np.unique(triangles, return_inverse=True)
    hull = Mesh(corners[used] * size.max() + low, place.reshape(-1, 3).astype(np.int64))
    return hull if hull.volume_m3 > 0 else Mesh(hull.vertices, hull.faces[:, ::-1])


def _outermost(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the outermost points in many directions, spread evenly over the ball (a Fibonacci lattice)."""
    cells, middle = _cells(points, HULL_GRID), (points.min(axis=0) + points.max(axis=0)) / 2
    order = np.lexsort((np.linalg.norm(points - middle, axis=1), cells))
    last = np.append(np.flatnonzero(np.diff(cells[order])), len(order) - 1)  # of each cell the one farthest out
    points = points[order[last]]
    height = 1 - (2 * np.arange(DIRECTIONS) + 1) / DIRECTIONS
    angle = np.pi * (3 - np.sqrt(5)) * np.arange(DIRECTIONS)
    wide = np.sqrt(1 - height**2)
    ways = np.vstack([np.column_stack([wide * np.cos(angle), wide * np.sin(angle), height]), np.eye(3), -np.eye(3)])
    best = np.concatenate([(points @ ways[at : at + 100].T).argmax(axis=0) for at in range(0, len(ways), 100)])
    return np.asarray(points[np.unique(best)])


def _welded(mesh: Mesh) -> Mesh:
    unique, place = distinct_points(mesh.vertices)
    return Mesh(unique, place[mesh.faces])
