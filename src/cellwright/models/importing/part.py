"""A part from a mesh file, or from a description of one body: mass, inertia, collision shapes, grasps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GripperFigures, PartGrasp, least_height_m
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.catalogue.objects import BoundedFigures, GraspPoint
from cellwright.core.errors import BadInput
from cellwright.models.contact_settings import PLASTIC, GeomGroup, make_collision, make_visual
from cellwright.models.importing.convex_decomposition import collision_pieces
from cellwright.models.importing.grasp_points import grasp_points
from cellwright.models.importing.mesh_files import load_mesh
from cellwright.models.importing.mesh_part import MeshPart, distinct_points
from cellwright.models.importing.meshes import add_surface, convex_hull, open_edges, simplified, solid_of
from cellwright.models.importing.notes import Note, Notes
from cellwright.models.meshes import add_hull, set_inertia
from cellwright.shapes.grasp_evaluation import best_top_grasp
from cellwright.shapes.mesh import Mesh, merge

__all__ = ["METRES", "ImportedPartFigures", "import_part", "metres_per_number", "offset_to_origin"]

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
PLASTIC_KGPM3 = 1200.0
SURELY_MM = 3.0  # a part of more than 3 m does not exist here: its numbers are millimetres
GIGANTIC_M = 3.0
MOST_SAMPLED = 8_000  # triangles among which grasps are looked for
Size3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class ImportedPartFigures(BoundedFigures):
    """A part that was imported from a mesh or a description file.

    Attributes:
        spec: Its model, as `models.build` gives it.
        notes: Notes of what importing changed, guessed and dropped.
    """

    spec: Any = field(repr=False, compare=False)
    notes: tuple[Note, ...] = field(repr=False, default=())
    _grasps: dict[str, tuple[GripperFigures, PartGrasp]] = field(repr=False, compare=False, default_factory=dict)

    def grasp_for(self, tool: object) -> PartGrasp:
        """Returns the best of its points for a gripper, from above; computed once for each."""
        if not isinstance(tool, GripperFigures):
            return PartGrasp(self.grasp_xyz_m, self.grasp_width_m)
        known = self._grasps.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._grasps[tool.name] = (tool, self._find_grasp(tool))
        return known[1]

    def _find_grasp(self, tool: GripperFigures) -> PartGrasp:
        tried = []
        for point in self.points:
            least_m = least_height_m(self, tool, min(point.width_m / 2, tool.open_m))
            pose, found = best_top_grasp(self.solids, tool, point, least_m)
            problem = found.problem(tool)
            tried.append(
                (
                    0.0 if problem else found.score,
                    PartGrasp(_three(pose.position), 2 * found.half_m, point.yaw_rad, problem),
                )
            )
        return max(tried, key=lambda pair: pair[0])[1]


def import_part(path: Path, name: str, settings: ModelSettings, notes: Notes) -> ImportedPartFigures:
    """Returns the part of a mesh file.

    Raises:
        BadInput: The mesh cannot be read, or is flat.
    """
    loaded = load_mesh(path, upright=True)
    for fact in loaded.facts:
        notes.changed(path.name, fact)
    whole = merge([part.mesh for part in loaded.parts])
    scale = metres_per_number(path, settings, whole, notes)
    offset = offset_to_origin(whole.vertices * scale, settings.origin)
    parts = [MeshPart(Mesh(p.mesh.vertices * scale + offset, p.mesh.faces), p.rgba, p.name) for p in loaded.parts]
    welded = _welded(merge([part.mesh for part in parts]))
    solid, fact = solid_of(welded)
    hull = convex_hull(welded.vertices)
    if solid is None or hull is None:
        raise BadInput(f"mesh {path}: {fact or 'is flat'}; a part needs a volume")
    if fact:
        notes.changed(path.name, fact)
    mass = settings.mass_kg
    if mass is None:
        mass = float(f"{PLASTIC_KGPM3 * solid.volume_m3:.3g}")
        notes.guessed("mass", f"{mass:g} kg: its volume filled with plastic of {PLASTIC_KGPM3:g} kg/m3 (--mass says)")
    touched = collision_pieces(path.name, solid, hull, settings.collision != "hull", notes)
    extent = np.ptp(welded.vertices, axis=0)
    if extent.max() > GIGANTIC_M:
        notes.guessed(path.name, f"is {extent.max():.4g} m large; --units mm, or another, may be meant")
    grasps = grasp_points(simplified(hull if len(touched) == 1 else solid, MOST_SAMPLED))
    if not grasps:
        notes.guessed("grasps", "none found: no two faces are opposite, upright and near enough to each other")
    spec = _spec(name, parts, solid, touched, mass, grasps, settings)
    spec.copy().compile()  # raises now what the engine does not accept
    low, high = welded.vertices.min(axis=0), welded.vertices.max(axis=0)
    figures = ImportedPartFigures(
        name=name,
        title=settings.title or path.stem,
        sku=settings.sku or f"sku_{name}",
        mass_kg=mass,
        grasp_feature=grasps[0].feature if grasps else "its middle",
        grasp_height_m=grasps[0].xyz_m[2] if grasps else float((low[2] + high[2]) / 2),
        friction=settings.friction,
        colours=MappingProxyType({"own": settings.rgba[:3]}),
        low_m=_three(low),
        high_m=_three(high),
        outer_radius_m=float(np.hypot(welded.vertices[:, 0], welded.vertices[:, 1]).max()),
        grasps=grasps,
        solids=tuple(touched),
        spec=spec,
        notes=tuple(notes),
        sources=MappingProxyType(_sources(path.name, settings)),
    )
    return figures


def metres_per_number(path: Path, settings: ModelSettings, whole: Mesh, notes: Notes) -> float:
    """Returns the unit of a mesh; COLLADA files contain it, for STL and OBJ the settings must."""
    largest = float(np.ptp(whole.vertices, axis=0).max())
    if settings.units is not None:
        return METRES[settings.units]
    if path.suffix.lower() == ".dae":
        return 1.0
    unit = "mm" if largest > SURELY_MM else "m"
    notes.guessed(path.name, f"no unit: {largest:.4g} is taken as {unit} (--units says otherwise)")
    return METRES[unit]


def offset_to_origin(points: npt.NDArray[np.float64], origin: str) -> npt.NDArray[np.float64]:
    """Returns the offset that moves a mesh so that its origin is where it shall be."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    match origin:
        case "bottom":
            return np.array([-middle[0], -middle[1], -low[2]])
        case "centre":
            return np.asarray(-middle)
    return np.zeros(3)


def _spec(
    name: str,
    parts: list[MeshPart],
    solid: Mesh,
    touched: list[Mesh],
    mass_kg: float,
    grasps: tuple[GraspPoint, ...],
    settings: ModelSettings,
) -> Any:
    """Returns one body `part`: convex pieces for collisions, a visual mesh, the site `grasp` at its best grasp."""
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name="part")
    set_inertia(body, solid, mass_kg)
    surface = replace(PLASTIC, friction=(settings.friction, *PLASTIC.friction[1:]))
    for number, piece in enumerate(touched):
        own = "hull" if len(touched) == 1 else f"piece_{number}"
        add_hull(spec, own, piece)
        make_collision(body.add_geom(name=own, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=own, mass=0.0), surface)
    for number, part in enumerate(parts):
        own = f"visual_{number}"
        add_surface(spec, own, part.mesh)
        spec.add_material(name=own, rgba=part.rgba or settings.rgba, specular=0.3, shininess=0.4)
        make_visual(body.add_geom(name=own, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=own, material=own))
    centre = solid.vertices.mean(axis=0)
    at = grasps[0].xyz_m if grasps else (0.0, 0.0, float(centre[2]))
    body.add_site(name="grasp", pos=at, group=GeomGroup.COLLISION)
    return spec


def _welded(mesh: Mesh) -> Mesh:
    unique, place = distinct_points(mesh.vertices)
    welded = Mesh(unique, place[mesh.faces])
    if open_edges(welded) == 0:
        return welded
    near, place = distinct_points(np.round(mesh.vertices, 7))  # 0.1 um: rounding of text
    return Mesh(near, place[mesh.faces])


def _three(values: Any) -> Size3:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def _sources(file: str, settings: ModelSettings) -> dict[str, str]:
    return {
        "sku": "given" if settings.sku else "estimated: its name",
        "mass_kg": "given" if settings.mass_kg else f"estimated: volume of plastic, {PLASTIC_KGPM3:g} kg/m3",
        "grasp_feature": f"{file}, by sampling",
        "grasp_height_m": f"{file}, by sampling",
        "friction": "estimated: plastic on a table",
        "colours": file,
        "low_m": file,
        "high_m": file,
        "outer_radius_m": file,
        "grasps": f"{file}, by sampling",
        "solids": file,
        "spec": file,
        "notes": file,
    }
