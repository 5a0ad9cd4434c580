"""Masses that a description leaves out, and moments that no body can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_matrix
from cellwright.models.description import (
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    Geometry,
    Inertial,
    JointKind,
    LinkDescription,
    MeshFile,
    ModelDescription,
    Shape,
    SphereGeometry,
)
from cellwright.models.importing.meshes import MeshStore
from cellwright.models.importing.notes import Notes, listed
from cellwright.models.importing.tree import collision_links, rigid_groups

__all__ = ["WATER_KGPM3", "complete_inertials", "shape_inertial"]

Array = npt.NDArray[np.float64]
WATER_KGPM3 = 1000.0
"""Density of what gives no mass: castings with hollows, motors and cables come to about that of water."""

DUMMY_MASS_KG = 0.001  # of a moving link that has neither mass nor shape
DUMMY_RADIUS_M = 0.01
LEAST_MASS_KG = 1e-7
LEAST_MOMENT_KGM2 = 1e-12
GIGANTIC_KG = 1e6
TOO_LARGE = 30.0  # times what the link's shape has: a typing error, such as 1, or 0.6 m for 0.06
LEAST_GYRATION = 0.02  # radius of gyration over reach: below it stands a placeholder
SHORTEST_ROD_M = 0.03
ROD_RADIUS_SHARE = 0.2
DENSEST_KGPM3 = 25_000.0  # denser than any metal: the shape is a placeholder, such as a ball of 1 mm, and not the link
LEAST_SHARE = 0.01  # of the visual volume: collision shapes of a link that have less are placeholders, too
ROUNDING = 1e-4  # share by which figures of few digits miss a body that can be


def complete_inertials(
    model: ModelDescription,
    store: MeshStore,
    notes: Notes,
    *,
    density_kgpm3: float = WATER_KGPM3,
    total_kg: float | None = None,
) -> ModelDescription:
    """Returns the model with an inertial for every link that moves or has a shape; frames stay without.

    Args:
        model: As it was read.
        store: Its meshes.
        notes: Gets a note for everything that was guessed or corrected.
        density_kgpm3: Of links without a mass of their own.
        total_kg: Mass of the whole, where it is known: guessed masses are scaled so that it comes out.
    """
    links, guessed = [], set()
    alone, rough = _moving_without_mass(model), collision_links(model)
    for doubled, what in ((True, "nor touched: that link has collision shapes of its own"), (False, "but touched")):
        if names := [name for name, link in rough.items() if link.doubled is doubled]:
            why = "only collision shapes, fixed to a link with mass or looks: neither weighed nor drawn"
            notes.guessed(f"link{'s' * (len(names) > 1)} {listed(names)}", f"{why}, {what}")
    for link in model.links:
        kept = None if link.inertial is None else _corrected(link, link.inertial, store, notes)
        if kept is None and link.name not in rough:
            rod = _rod(model, link) if link.name in alone or link.visuals or link.collisions else None
            kept = _estimated(link, store, notes, density_kgpm3, link.name in alone, rod)
            if kept is not None:
                guessed.add(link.name)
        links.append(replace(link, inertial=kept))
    if total_kg is not None and guessed:
        links = _scaled_to(links, guessed, total_kg, notes)
    return replace(model, links=tuple(links))


def shape_inertial(shape: Shape, store: MeshStore, density_kgpm3: float) -> Inertial | None:
    """Returns mass and inertia of a filled shape, in its link's frame; None for one without volume."""
    geometry = shape.geometry
    if isinstance(geometry, MeshFile):
        solid = store.solid(geometry)
        if solid is None:
            return None
        mass = density_kgpm3 * solid.volume_m3
        centre, tensor = solid.inertia(mass)
        return Inertial(mass_kg=mass, pose=shape.pose @ Pose.from_xyz_rpy(centre), inertia_kgm2=tensor)
    found = _primitive(geometry)
    if found is None:
        return None
    volume, second = found
    mass = density_kgpm3 * volume
    return Inertial(mass_kg=mass, pose=shape.pose, inertia_kgm2=np.diag(mass * (sum(second) - np.array(second))))


def _primitive(geometry: Geometry) -> tuple[float, tuple[float, float, float]] | None:
    """Returns volume, and the mean squares of x, y and z over it."""
    match geometry:
        case BoxGeometry(size_m=(x, y, z)):
            return x * y * z, (x**2 / 12, y**2 / 12, z**2 / 12)
        case CylinderGeometry(radius_m=r, length_m=length):
            return np.pi * r**2 * length, (r**2 / 4, r**2 / 4, length**2 / 12)
        case SphereGeometry(radius_m=r):
            return 4 / 3 * np.pi * r**3, (r**2 / 5,) * 3
        case EllipsoidGeometry(radii_m=(x, y, z)):
            return 4 / 3 * np.pi * x * y * z, (x**2 / 5, y**2 / 5, z**2 / 5)
        case CapsuleGeometry(radius_m=r, length_m=length):
            tube, ball = np.pi * r**2 * length, 4 / 3 * np.pi * r**3
            across = (tube * r**2 / 4 + ball * r**2 / 5) / (tube + ball)
            # each half ball's middle lies 3/8 r beyond the end of the tube
            along = ball * (r**2 / 5 + length**2 / 4 + 3 / 8 * r * length)
            return tube + ball, (across, across, (tube * length**2 / 12 + along) / (tube + ball))
    return None


def _moving_without_mass(model: ModelDescription) -> set[str]:
    """Returns one link of each rigid group that moves and has neither mass nor shape: physics needs something there."""
    groups = rigid_groups(model)
    moved = {groups[joint.child] for joint in model.joints if joint.kind is not JointKind.FIXED}
    heavy = {groups[link.name] for link in model.links if link.inertial or link.visuals or link.collisions}
    carries = {joint.parent for joint in model.joints if joint.kind is not JointKind.FIXED}
    chosen: dict[int, str] = {}
    for joint in model.joints:
        # a link between two joints needs none: both joints go to the next link
        if joint.kind is not JointKind.FIXED and groups[joint.child] in moved - heavy and joint.child not in carries:
            chosen.setdefault(groups[joint.child], joint.child)
    return set(chosen.values())


def _corrected(link: LinkDescription, given: Inertial, store: MeshStore, notes: Notes) -> Inertial | None:
    """Returns the inertial of the description, if a body can have it."""
    where = f"link {link.name}"
    if given.mass_kg < LEAST_MASS_KG:
        if given.mass_kg != 0 or link.visuals or link.collisions:
            notes.changed(where, f"a mass of {given.mass_kg:g} kg is none; taken as missing")
        return None
    if given.mass_kg > GIGANTIC_KG:
        notes.guessed(where, f"weighs {given.mass_kg:g} kg, as the file says; grams or millimetres may be meant")
    tensor = (given.inertia_kgm2 + given.inertia_kgm2.T) / 2
    moments, axes = np.linalg.eigh(tensor)
    shape = _shape_of(link, given, store)
    if moments[0] < LEAST_MOMENT_KGM2:
        why = "one is negative" if moments[0] < -LEAST_MOMENT_KGM2 else "one is zero"
        return _moments_of_shape(link, given, shape, notes, moments, why)
    small, middle, large = moments
    if shape is not None and (reach := _reach_m(link, given.pose.position, store)):
        most = float(np.linalg.eigvalsh(shape.inertia_kgm2)[-1]) * given.mass_kg / shape.mass_kg
        gyration = float(np.sqrt(large / given.mass_kg)) / reach
        why = ""
        if large > TOO_LARGE * most:
            why = f"{large / most:.0f} times those of its shape"
        elif not LEAST_GYRATION < gyration <= 1:
            why = f"its mass would be {gyration:.1%} of its reach away from its middle"
        if why:
            return _moments_of_shape(link, given, shape, notes, moments, why)
    if large >= small + middle:
        more = (large - small - middle) / 2 + 1e-9 * large
        text = ", ".join(f"{m:.4g}" for m in moments)
        if more > ROUNDING * large:
            notes.changed(where, f"moments {text} kg m2 cannot be (one exceeds the sum of the others); two are raised")
        moments = np.array([small + more, middle + more, large])
        tensor = axes @ np.diag(moments) @ axes.T
    return Inertial(mass_kg=given.mass_kg, pose=given.pose, inertia_kgm2=tensor)


def _shape_of(link: LinkDescription, given: Inertial, store: MeshStore) -> Inertial | None:
    """Returns the inertial of a link's shape, by which its moments are judged; None for a mere placeholder."""
    shape = _sum_of(link, store, WATER_KGPM3)
    if shape is None or given.mass_kg * WATER_KGPM3 / shape.mass_kg > DENSEST_KGPM3:
        return None
    return shape


def _moments_of_shape(
    link: LinkDescription, given: Inertial, shape: Inertial | None, notes: Notes, moments: Array, why: str
) -> Inertial:
    """Returns an inertial with the moments of the evenly filled shape where its own are those of no such body."""
    where, text = f"link {link.name}", ", ".join(f"{m:.3g}" for m in moments)
    if shape is not None:
        notes.guessed(where, f"moments {text} kg m2 cannot be ({why}); those of its shape are taken, for its mass")
        tensor = shape.inertia_kgm2 * (given.mass_kg / shape.mass_kg)
        turned = given.pose.rotation_matrix.T @ shape.pose.rotation_matrix
        return Inertial(mass_kg=given.mass_kg, pose=given.pose, inertia_kgm2=turned @ tensor @ turned.T)
    notes.guessed(where, f"moments {text} kg m2 cannot be ({why}); those of a steel ball of its mass are taken")
    radius = (given.mass_kg / 7850 * 3 / 4 / np.pi) ** (1 / 3)
    ball = np.eye(3) * max(0.4 * given.mass_kg * radius**2, 10 * LEAST_MOMENT_KGM2)
    return Inertial(mass_kg=given.mass_kg, pose=given.pose, inertia_kgm2=ball)


def _reach_m(link: LinkDescription, centre: Array, store: MeshStore) -> float:
    """Returns the largest distance of a link's shapes from its centre of mass; 0 without any."""
    reach = 0.0
    for shape in (*link.collisions, *link.visuals):
        match shape.geometry:
            case MeshFile():
                whole = store.whole(shape.geometry)
                if whole is None:
                    continue
                away = shape.pose.inverse().apply(centre)
                reach = max(reach, float(np.linalg.norm(whole.vertices - away, axis=1).max()))
                continue
            case BoxGeometry(size_m=size):
                own = float(np.linalg.norm(size)) / 2
            case CylinderGeometry(radius_m=radius, length_m=length):
                own = float(np.hypot(radius, length / 2))
            case CapsuleGeometry(radius_m=radius, length_m=length):
                own = radius + length / 2
            case SphereGeometry(radius_m=radius):
                own = radius
            case EllipsoidGeometry(radii_m=radii):
                own = max(radii)
            case _:
                return 0.0  # a plane is without end
        reach = max(reach, own + float(np.linalg.norm(shape.pose.position - centre)))
    return reach


def _sum_of(link: LinkDescription, store: MeshStore, density_kgpm3: float) -> Inertial | None:
    """Returns all of a link's solids together: collision shapes, or the visual ones where those are missing or tiny."""
    shapes = link.visuals if _is_placeholder(link, store, density_kgpm3) else link.collisions
    return _solid(shapes, store, density_kgpm3)


def _is_placeholder(link: LinkDescription, store: MeshStore, density_kgpm3: float) -> bool:
    """Returns whether the collision shapes of a link are nothing, or next to nothing of the visual ones."""
    touched, seen = (_solid(shapes, store, density_kgpm3) for shapes in (link.collisions, link.visuals))
    return seen is not None and (touched is None or touched.mass_kg < LEAST_SHARE * seen.mass_kg)


def _solid(shapes: Sequence[Shape], store: MeshStore, density_kgpm3: float) -> Inertial | None:
    parts = [part for shape in shapes if (part := shape_inertial(shape, store, density_kgpm3)) is not None]
    mass = sum(part.mass_kg for part in parts)
    if mass < LEAST_MASS_KG:
        return None
    centre = sum((part.mass_kg * part.pose.position for part in parts), np.zeros(3)) / mass
    tensor = np.zeros((3, 3))
    for part in parts:
        turn, arm = part.pose.rotation_matrix, part.pose.position - centre
        tensor += turn @ part.inertia_kgm2 @ turn.T + part.mass_kg * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    if np.linalg.eigvalsh(tensor)[0] < LEAST_MOMENT_KGM2:
        return None
    return Inertial(mass_kg=mass, pose=Pose.from_xyz_rpy(centre), inertia_kgm2=tensor)


def _rod(model: ModelDescription, link: LinkDescription) -> Shape | None:
    """Returns the longest rod from a link's origin to a joint that hangs on it: a shape where there is none."""
    ends = [joint.pose.position for joint in model.joints if joint.parent == link.name]
    end = max(ends, key=lambda position: float(np.linalg.norm(position)), default=np.zeros(3))
    length = float(np.linalg.norm(end))
    if length < SHORTEST_ROD_M:
        return None
    z = end / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    axes = np.column_stack([x / np.linalg.norm(x), np.cross(z, x / np.linalg.norm(x)), z])
    pose = Pose(end / 2, quaternion_from_matrix(axes))
    return Shape(pose=pose, geometry=CylinderGeometry(max(0.02, ROD_RADIUS_SHARE * length), length))


def _estimated(
    link: LinkDescription, store: MeshStore, notes: Notes, density: float, alone: bool, rod: Shape | None
) -> Inertial | None:
    where = f"link {link.name}"
    found = _sum_of(link, store, density)
    if found is not None:
        kind = "visual" if _is_placeholder(link, store, density) else "collision"
        what = f"no inertial: {found.mass_kg:.4g} kg from its {kind} geometry at {density:g} kg/m3"
        notes.guessed(where, what)
        if found.mass_kg > GIGANTIC_KG:
            notes.guessed(where, "that is gigantic; its meshes may be in millimetres")
        return found
    if rod is not None and isinstance(rod.geometry, CylinderGeometry):
        made = shape_inertial(rod, store, density)
        assert made is not None
        what = f"a rod of {rod.geometry.length_m:.3g} m to the next joint, at {density:g} kg/m3"
        notes.guessed(where, f"neither mass nor solid shape: {made.mass_kg:.3g} kg, {what}")
        return made
    if not alone and not (link.visuals or link.collisions):
        return None
    if link.visuals or link.collisions or alone:
        notes.guessed(where, f"neither mass nor solid shape: {DUMMY_MASS_KG * 1000:g} g, as a ball of 1 cm radius")
    moment = 0.4 * DUMMY_MASS_KG * DUMMY_RADIUS_M**2
    return Inertial(mass_kg=DUMMY_MASS_KG, pose=Pose.identity(), inertia_kgm2=np.eye(3) * moment)


def _scaled_to(links: list[LinkDescription], guessed: set[str], total_kg: float, notes: Notes) -> list[LinkDescription]:
    known = sum(link.inertial.mass_kg for link in links if link.inertial and link.name not in guessed)
    free = sum(link.inertial.mass_kg for link in links if link.inertial and link.name in guessed)
    if total_kg <= known:
        notes.guessed("mass", f"{total_kg:g} kg are less than the {known:g} kg that the file gives; not scaled")
        return links
    factor = (total_kg - known) / free
    notes.guessed("mass", f"guessed masses are multiplied by {factor:.3f}, so that the whole weighs {total_kg:g} kg")
    scaled = []
    for link in links:
        own = link.inertial
        if own is not None and link.name in guessed:
            own = replace(own, mass_kg=own.mass_kg * factor, inertia_kgm2=own.inertia_kgm2 * factor)
        scaled.append(replace(link, inertial=own))
    return scaled
