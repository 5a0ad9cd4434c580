"""Meshes: closed, outward, with the volume and inertia of the solids they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.shapes.mesh import Mesh, circle, cuboid, lathe, merge
from cellwright.shapes.polygon import fill, rounded_rectangle


def area(points, faces):
    a, b, c = np.moveaxis(points[faces], 1, 0)
    return 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])


def test_a_cuboids_inertia_is_the_textbooks():
    box = cuboid((-0.1, 0.2, 0.0), (0.3, 0.3, 0.5))
    centre, inertia = box.inertia(2.0)
    x, y, z = 0.4, 0.1, 0.5
    assert box.volume_m3 == pytest.approx(x * y * z)
    assert centre == pytest.approx([0.1, 0.25, 0.25])
    assert inertia == pytest.approx(2.0 / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]))


def test_a_fine_lathe_is_a_cylinder():
    cylinder = lathe([(0.02, 0.0), (0.02, 0.1)], 256)
    centre, inertia = cylinder.inertia(1.0)
    assert cylinder.volume_m3 == pytest.approx(np.pi * 0.02**2 * 0.1, rel=2e-4)
    assert centre == pytest.approx([0, 0, 0.05], abs=1e-9)
    assert inertia[2, 2] == pytest.approx(0.02**2 / 2, rel=2e-4)
    assert inertia[0, 0] == pytest.approx((3 * 0.02**2 + 0.1**2) / 12, rel=2e-4)


@given(st.tuples(*[st.floats(-1, 1)] * 3))
def test_moving_moves_the_centre_and_nothing_else(offset):
    solid = merge([cuboid((0, 0, 0), (0.1, 0.2, 0.3)), lathe([(0.05, 0.3), (0.02, 0.4)], 12)])
    (here, inertia), (there, moved) = solid.inertia(1.0), solid.moved(offset).inertia(1.0)
    assert there - here == pytest.approx(np.array(offset), abs=1e-9)
    assert moved == pytest.approx(inertia, abs=1e-9)


def test_normals_are_smooth_round_a_cylinder_and_sharp_at_its_rim():
    cylinder = lathe([(1.0, 0.0), (1.0, 1.0)], 48)
    corners, normals = cylinder.vertices[cylinder.faces], cylinder.corner_normals()
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    caps = np.abs(flat[:, 2]) > 0.5 * np.linalg.norm(flat, axis=1)
    assert np.abs(normals[caps][:, :, 2]) == pytest.approx(1.0)
    side = normals[~caps].reshape(-1, 3)
    at = corners[~caps].reshape(-1, 3)
    assert side[:, 2] == pytest.approx(0.0, abs=1e-9)
    assert side[:, :2] == pytest.approx(at[:, :2], abs=0.04)


def test_a_plate_with_holes_is_filled_but_for_the_holes():
    outline = rounded_rectangle((0.2, 0.1), 0.01)
    holes = [circle(r, 24) + np.array(at) for r, at in ((0.03, (-0.05, 0.0)), (0.02, (0.03, 0.01)), (0.01, (0.07, 0)))]
    points, faces = fill(outline, holes)
    signed = area(points, faces)
    own = area(*fill(outline)).sum()
    inner = sum(area(*fill(hole)).sum() for hole in holes)
    assert (signed > 0).all()
    assert signed.sum() == pytest.approx(own - inner, rel=1e-9)
    assert len(faces) == len(points) + 2 * len(holes) - 2


@given(st.integers(3, 40), st.integers(0, 2**32 - 1))
def test_any_star_shaped_outline_is_filled(corners, seed):
    rng = np.random.default_rng(seed)
    outline = circle(1.0, corners) * rng.uniform(0.3, 1.0, (corners, 1))
    signed = area(*fill(outline))
    x, y = outline.T
    shoelace = 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    assert (signed > 0).all()
    assert signed.sum() == pytest.approx(shoelace)


def test_a_hole_outside_is_refused():
    with pytest.raises(ValueError, match="outside"):
        fill(circle(1.0, 12), [circle(0.1, 6) + np.array([3.0, 0.0])])


def test_merging_keeps_all_triangles():
    parts = [cuboid((0, 0, 0), (1, 1, 1)), cuboid((2, 0, 0), (3, 1, 1))]
    both = merge(parts)
    assert isinstance(both, Mesh)
    assert len(both.faces) == sum(len(part.faces) for part in parts)
    assert both.volume_m3 == pytest.approx(2.0)
