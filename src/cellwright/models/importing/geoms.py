"""The shapes of links as geoms: visual shapes as they are, collision shapes as convex solids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from cellwright.models.contact_settings import METAL, make_collision, make_visual
from cellwright.models.description import (
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    LinkDescription,
    Material,
    MeshFile,
    PlaneGeometry,
    Shape,
    SphereGeometry,
)
from cellwright.models.importing.convex_decomposition import collision_pieces
from cellwright.models.importing.meshes import MeshStore, add_surface, convex_hull, solid_of
from cellwright.models.importing.notes import Notes, listed
from cellwright.models.meshes import add_hull
from cellwright.shapes.mesh import Mesh, cuboid

__all__ = ["GeomBuilder"]

GREY = (0.7, 0.7, 0.72, 1.0)
FLAT_M = 0.001  # thickness of the collision shape of a flat mesh


class GeomBuilder:
    """Adds the geoms of links to a spec; two shapes never share a mesh, even where their files have the same name."""

    def __init__(self, spec: Any, store: MeshStore, notes: Notes, *, in_pieces: bool = False) -> None:
        self._spec = spec
        self._store = store
        self._notes = notes
        self._in_pieces = in_pieces
        self._finishes: dict[tuple[float, ...], str] = {}
        self._unseen: list[str] = []
        self._untouched: list[str] = []

    def add(self, body: Any, link: LinkDescription, *, drawn: bool = True) -> None:
        """Adds all shapes of a link; collision shapes are visible, too, unless they are not to be drawn."""
        seen = [self._add_visual(body, f"{link.name}_visual_{n}", shape) for n, shape in enumerate(link.visuals)]
        touched = [self._add_collision(body, f"{link.name}_collision_{n}", s) for n, s in enumerate(link.collisions)]
        if any(touched) and not any(seen) and drawn:
            self._unseen.append(link.name)
            for number, shape in enumerate(link.collisions):
                self._add_visual(body, f"{link.name}_visual_{number}", shape)
        elif any(seen) and not any(touched):
            self._untouched.append(link.name)

    def note_missing(self) -> None:
        """Notes links with collision shapes only, or visual ones only: one line each, for any number of links."""
        for names, what in (
            (self._unseen, "nothing to be seen: drawn as what is touched"),
            (self._untouched, "no collision shape: seen, but nothing can touch it"),
        ):
            if names:
                self._notes.guessed(f"link{'s' * (len(names) > 1)} {listed(names)}", what)

    def _add_visual(self, body: Any, name: str, shape: Shape) -> bool:
        """Adds a visual shape; returns whether there is something to see."""
        if not isinstance(shape.geometry, MeshFile):
            geom = body.add_geom(name=name, material=self._finish(shape.material, None), **_primitive(shape))
            make_visual(geom)
            return True
        made = False
        for number, part in enumerate(self._store.parts(shape.geometry)):
            own = name if number == 0 else f"{name}_{number}"
            points = part.mesh.vertices
            if len(part.mesh.faces) < 1 or len(points) < 4 or np.ptp(points, axis=0).max() <= 0:
                continue
            made = True
            add_surface(self._spec, own, part.mesh)
            geom = body.add_geom(
                name=own,
                type=mujoco.mjtGeom.mjGEOM_MESH,
                meshname=own,
                material=self._finish(shape.material, part.rgba),
                **_place(shape),
            )
            make_visual(geom)
        return made

    def _add_collision(self, body: Any, name: str, shape: Shape) -> bool:
        """Adds a collision shape; returns whether there is something to collide with."""
        surface = METAL
        if shape.friction is not None:
            surface = replace(METAL, friction=(shape.friction, *METAL.friction[1:]))
        if not isinstance(shape.geometry, MeshFile):
            make_collision(body.add_geom(name=name, mass=0.0, **_primitive(shape)), surface)
            return True
        whole = self._store.whole(shape.geometry)
        if whole is None:
            return False
        for number, piece in enumerate(self._collision_solids(whole, shape.geometry)):
            own = name if number == 0 else f"{name}_{number}"
            add_hull(self._spec, own, piece)
            geom = body.add_geom(
                name=own, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=own, mass=0.0, density=0.0, **_place(shape)
            )
            make_collision(geom, surface)
        return True

    def _collision_solids(self, mesh: Mesh, file: MeshFile) -> list[Mesh]:
        """Returns the convex collision solids of a mesh."""
        hull = convex_hull(mesh.vertices)
        assert file.path is not None
        if hull is None:
            self._notes.changed(file.path.name, f"is flat; touched as a box {FLAT_M * 1000:g} mm thick")
            low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
            thin = np.maximum(FLAT_M - (high - low), 0.0) / 2
            return [cuboid(low - thin, high + thin)]
        solid, fact = solid_of(mesh)
        if solid is None or "hull" in fact:
            self._notes.changed(file.path.name, fact)
            return [hull]
        return collision_pieces(file.path.name, solid, hull, self._in_pieces, self._notes)

    def _finish(self, material: Material, of_part: tuple[float, ...] | None) -> str:
        rgba = material.rgba or of_part or GREY
        if rgba not in self._finishes:
            name = f"finish_{len(self._finishes) + 1}"
            self._finishes[rgba] = name
            self._spec.add_material(name=name, rgba=rgba, specular=0.3, shininess=0.4)
        return self._finishes[rgba]


def _place(shape: Shape) -> dict[str, Any]:
    return {"pos": np.array(shape.pose.position), "quat": np.array(shape.pose.quaternion)}


def _primitive(shape: Shape) -> dict[str, Any]:
    kinds = mujoco.mjtGeom
    match shape.geometry:
        case BoxGeometry(size_m=(x, y, z)):
            return {"type": kinds.mjGEOM_BOX, "size": [x / 2, y / 2, z / 2], **_place(shape)}
        case CylinderGeometry(radius_m=radius, length_m=length):
            return {"type": kinds.mjGEOM_CYLINDER, "size": [radius, length / 2, 0.0], **_place(shape)}
        case CapsuleGeometry(radius_m=radius, length_m=length):
            return {"type": kinds.mjGEOM_CAPSULE, "size": [radius, length / 2, 0.0], **_place(shape)}
        case SphereGeometry(radius_m=radius):
            return {"type": kinds.mjGEOM_SPHERE, "size": [radius, 0.0, 0.0], **_place(shape)}
        case EllipsoidGeometry(radii_m=radii):
            return {"type": kinds.mjGEOM_ELLIPSOID, "size": list(radii), **_place(shape)}
        case PlaneGeometry(size_m=(x, y)):
            return {"type": kinds.mjGEOM_PLANE, "size": [x / 2, y / 2, 0.01], **_place(shape)}
        case MeshFile():
            raise TypeError("a mesh is no primitive")
