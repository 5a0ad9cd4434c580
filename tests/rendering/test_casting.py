"""The rays of the picture meet what MuJoCo's own rays meet."""

import mujoco
import numpy as np
import pytest

from cellwright.rendering import View
from cellwright.rendering.casting import RayCaster, sees_light
from cellwright.rendering.facets import geom_facets
from cellwright.rendering.projection import ImagePlane
from cellwright.rendering.scene_mesh import SceneMesh

VISIBLE = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)


@pytest.fixture
def rays():
    """Directions within 35 degrees of the middle of the view, at random."""
    rng = np.random.default_rng(4)

    def make(axes, count):
        flat = rng.uniform(-0.5, 0.5, size=(count, 2))
        directions = np.column_stack([flat, -np.ones(count)]) @ axes.T
        return directions / np.linalg.norm(directions, axis=1, keepdims=True)

    return make


def eye_of(view, model, data):
    frustum = view.resolve(model, data)
    right, up, backwards = frustum.axes_in_world.T
    return frustum, ImagePlane(frustum.eye_in_world_m, np.column_stack([right, up, -backwards]))


@pytest.mark.parametrize("eye", [(0.75, -1.5, 1.35), (0.3, -0.35, 0.62), (-1.2, 0.4, 0.3)])
def test_same_hits_as_mujoco(table, rays, eye):
    model, data = table
    frustum, picture = eye_of(View(eye_in_world_m=eye, target_in_world_m=(0, 0, 0.55)), model, data)
    directions = rays(frustum.axes_in_world, 3000)
    hits = RayCaster(model, data, SceneMesh(model), picture).cast(directions)[0]
    geom, normal = np.zeros(1, dtype=np.int32), np.zeros(3)
    same = close = 0
    for index, direction in enumerate(directions):
        distance = mujoco.mj_ray(model, data, frustum.eye_in_world_m, direction, VISIBLE, 1, -1, geom, normal)
        if geom[0] == hits.geom[index]:
            same += 1
            if distance < 0:
                close += 1
                continue
            error_m = abs(distance - hits.distance_m[index])
            close += error_m < 2e-3 or (error_m < 0.02 * distance and abs(direction @ normal) < 0.2)
    assert same / len(directions) > 0.995  # the rest are on the edges of things that are round for MuJoCo
    assert close / same > 0.99


def test_same_shadows_as_mujoco(table):
    model, data = table
    _, picture = eye_of(View(), model, data)
    light = np.array([1.5, -2.0, 4.0])
    projection = RayCaster(model, data, SceneMesh(model), picture).shadow_casters(ImagePlane.along(light, -light))
    points = np.random.default_rng(1).uniform([-0.6, -0.5, 0.001], [0.6, 0.5, 0.9], size=(3000, 3))
    seen = sees_light(projection, points)
    expected = []
    for point in points:
        ray = point - light
        distance = mujoco.mj_ray(model, data, light, ray, VISIBLE, 1, -1, None)
        expected.append(not 0 <= distance < 1)
    assert 0.2 < np.mean(expected) < 0.95
    # The far sides throw the shadows here, so points inside a thing differ: they are never drawn.
    differ = np.flatnonzero(seen != expected)
    inside = [
        all(mujoco.mj_ray(model, data, points[i], d, VISIBLE, 1, -1, None) >= 0 for d in np.eye(3)) for i in differ
    ]
    assert (len(differ) - sum(inside)) / len(points) < 0.005


@pytest.mark.parametrize("name", ["sphere", "cylinder", "capsule", "ellipsoid", "box", "mesh"])
def test_facets_are_closed_and_turn_outwards(table, name):
    model, _ = table
    facets = geom_facets(model, model.geom(name).id)
    corners = facets.vertices_m[facets.faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    assert np.abs(area.sum(axis=0)).max() < 1e-9  # closed
    volume = np.einsum("ij,ij->i", corners[:, 0], area).sum() / 3
    assert volume > 0  # outwards
    a, b, c = model.geom_size[model.geom(name).id]
    exact = {
        "sphere": 4 / 3 * np.pi * a**3,
        "cylinder": 2 * np.pi * a**2 * b,
        "capsule": 2 * np.pi * a**2 * b + 4 / 3 * np.pi * a**3,
        "ellipsoid": 4 / 3 * np.pi * a * b * c,
        "box": 8 * a * b * c,
        "mesh": 4 / 3 * np.pi * 0.07**3,
    }[name]
    assert volume == pytest.approx(exact, rel=0.03 if name == "mesh" else 0.012)
    flat = area / np.linalg.norm(area, axis=1, keepdims=True)
    assert np.einsum("fcj,fj->fc", facets.corner_normals, flat).min() > 0.9


def test_things_that_reach_behind_the_eye_are_cut(make_scene):
    def fill(spec):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 5, 0.1], pos=[0, 0, -0.5])

    model, data = make_scene(fill)
    _, picture = eye_of(View(eye_in_world_m=(0, 0, 0), target_in_world_m=(0, 1, -0.5)), model, data)
    directions = np.array([[0.0, 0.5, -0.5], [0.0, 1.0, -0.25], [0.5, 0.5, -0.5]])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    hits = RayCaster(model, data, SceneMesh(model), picture).cast(directions)[0]
    assert hits.geom.tolist() == [0, 0, -1]
    assert np.allclose(hits.point_in_world_m[:2], [[0, 0.4, -0.4], [0, 1.6, -0.4]])
