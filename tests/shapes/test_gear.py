"""Gears: real teeth to be seen, convex hulls to be touched."""

from collections import Counter

import numpy as np
import pytest

from cellwright.catalogue.gears import GEARS
from cellwright.shapes.gear import gear_cone_hull, gear_disc_hull, gear_mesh, gear_outline

gears = pytest.mark.parametrize("gear", GEARS.values(), ids=list(GEARS))


def is_closed(mesh):
    edges = Counter()
    for face in mesh.faces:
        for a, b in zip(face, np.roll(face, -1), strict=True):
            edges[(int(a), int(b))] += 1
    return all(count == 1 and edges[(b, a)] == 1 for (a, b), count in edges.items())


def is_convex(mesh):
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    heights = normals @ mesh.vertices.T - np.einsum("ij,ij->i", normals, corners[:, 0])[:, None]
    return heights.max() < 1e-9


@gears
def test_the_outline_has_the_teeth(gear):
    radii = np.linalg.norm(gear_outline(gear), axis=1)
    assert radii.min() == pytest.approx(gear.root_radius_m)
    assert radii.max() == pytest.approx(gear.tip_radius_m)
    middle = (gear.root_radius_m + gear.tip_radius_m) / 2
    rises = np.sum((radii < middle) & (np.roll(radii, -1) > middle))
    assert rises == gear.tooth_count


@gears
def test_a_tooth_is_as_wide_as_a_gap_on_the_pitch_circle(gear):
    outline = gear_outline(gear)
    radii, angles = np.linalg.norm(outline, axis=1), np.unwrap(np.arctan2(outline[:, 1], outline[:, 0]))
    pitch = gear.tip_radius_m - (gear.tip_radius_m - gear.root_radius_m) / 2.25
    fine = np.linspace(angles[0], angles[0] + 2 * np.pi, 200_000)
    loop_angles, loop_radii = np.append(angles, angles[0] + 2 * np.pi), np.append(radii, radii[0])
    share = np.mean(np.interp(fine, loop_angles, loop_radii) > pitch)
    assert share == pytest.approx(0.5, abs=0.03)


@gears
def test_the_solid_is_closed_and_has_the_cads_extent(gear):
    mesh = gear_mesh(gear)
    assert is_closed(mesh)
    assert mesh.vertices[:, 2].min() == 0.0
    assert mesh.vertices[:, 2].max() == pytest.approx(gear.height_m)
    assert np.linalg.norm(mesh.vertices[:, :2], axis=1).max() == pytest.approx(gear.tip_radius_m)
    assert len(mesh.faces) <= 6000


@gears
def test_mass_lies_on_the_axis_and_inertia_is_a_tops(gear):
    centre, inertia = gear_mesh(gear).inertia(gear.mass_kg)
    assert centre[:2] == pytest.approx([0, 0], abs=1e-7)
    assert gear.cone_height_m / 2 < centre[2] < gear.disc_top_m
    assert inertia - np.diag(np.diag(inertia)) == pytest.approx(0.0, abs=1e-10)
    assert inertia[0, 0] == pytest.approx(inertia[1, 1], rel=0.01)
    assert inertia[2, 2] < gear.mass_kg * gear.tip_radius_m**2 / 2


@gears
def test_hulls_are_convex_and_inside_the_gear(gear):
    cone, disc = gear_cone_hull(gear), gear_disc_hull(gear)
    assert is_convex(cone)
    assert is_convex(disc)
    assert np.linalg.norm(disc.vertices[:, :2], axis=1).max() == pytest.approx(gear.tip_radius_m)
    assert np.linalg.norm(cone.vertices[:, :2], axis=1).max() == pytest.approx(gear.cone_top_radius_m)
    assert cone.vertices[:, 2].min() == 0.0
    assert disc.vertices[:, 2].max() == pytest.approx(gear.disc_top_m)
