"""The meshes of one description: each file read once, scaled where it is used, its faults noted once."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.models.description import MeshFile
from cellwright.models.importing.mesh_files import LoadedMesh, load_mesh
from cellwright.models.importing.mesh_part import MeshError, MeshPart
from cellwright.models.importing.notes import Notes
from cellwright.shapes.mesh import Mesh, merge

__all__ = ["MeshStore", "convex_hull", "open_edges", "solid_of"]

GIGANTIC_M = 50.0
TINY_M = 1e-5


class MeshStore:
    """Reads and scales meshes; a file that cannot be used is noted, and gives no parts."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._files: dict[str, LoadedMesh | None] = {}

    def parts(self, mesh: MeshFile) -> tuple[MeshPart, ...]:
        """The pieces of a mesh, scaled; none where the file cannot be used."""
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
        """All of a mesh as one, or None."""
        parts = self.parts(mesh)
        return _welded(merge([part.mesh for part in parts])) if parts else None

    def solid(self, mesh: MeshFile) -> Mesh | None:
        """A closed mesh that stands for it: itself, turned inside out where it is so, or its convex hull."""
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


def solid_of(mesh: Mesh) -> tuple[Mesh | None, str]:
    """A closed mesh that stands for one, and what was done to it; None for one without any volume."""
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
    """How many edges do not join exactly two triangles that run round it the same way."""
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    count = len(mesh.vertices)
    forward = np.unique(edges[:, 0] * count + edges[:, 1], return_counts=True)
    backward = np.unique(edges[:, 1] * count + edges[:, 0], return_counts=True)
    both, at_forward, at_backward = np.intersect1d(forward[0], backward[0], return_indices=True)
    alike = int((forward[1][at_forward] == backward[1][at_backward]).sum())
    return int(len(np.union1d(forward[0], backward[0])) - alike + (len(both) - alike)) // 2


def convex_hull(points: npt.NDArray[np.float64]) -> Mesh | None:
    """The hull of points, or None where they lie in a plane."""
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    if size.min() <= 1e-6 * max(size.max(), 1e-12):
        return None
    spec = mujoco.MjSpec()
    # A unit cube suits the engine's single precision and its limits, whatever the points' unit is.
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


def _welded(mesh: Mesh) -> Mesh:
    unique, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    return Mesh(unique, place.reshape(-1)[mesh.faces])
