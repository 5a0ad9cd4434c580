import math

import mujoco
import numpy as np
import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.rendering import RayRenderer, View, add_environment

SIZE = (320, 180)
BALL, BOX, PLANE = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
FROM_ABOVE = View(eye_in_world_m=(0, 0, 10), target_in_world_m=(0, 0, 0), fovy_rad=2 * math.atan(0.1))  # 2 m high


def ambient_only(spec, level: float = 1.0) -> None:
    spec.visual.headlight.ambient = (level,) * 3
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)


def test_same_scene_gives_same_pixels(table, view):
    first, again = (RayRenderer().render(*table, view, SIZE) for _ in range(2))
    assert first.shape == (180, 320, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, again)
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 500  # a picture, not a blank


def test_what_is_touched_is_not_seen(plain_table, view):
    picture = RayRenderer().render(*plain_table, view, SIZE).astype(int)
    assert not ((picture[..., 0] > 200) & (picture[..., 1] < 50) & (picture[..., 2] > 200)).any()


def test_every_geom_has_its_colour(plain_table, view, colours):
    picture = RayRenderer().render(*plain_table, view, SIZE).astype(float) / 255
    for name, colour in colours.items():
        # Only shade in corners may darken it, and the brightest of it is not shaded.
        alike = np.abs(picture - colour).max(axis=2) < 0.03
        assert alike.sum() > 20, name


def test_silhouette_is_that_of_a_pinhole_camera(make_scene):
    def fill(spec):
        ambient_only(spec)
        spec.worldbody.add_geom(type=BALL, size=[0.1, 0, 0], rgba=[1, 0, 0, 1])

    view = View(eye_in_world_m=(0, -1, 0), target_in_world_m=(0, 0, 0), fovy_rad=0.5)
    picture = RayRenderer().render(*make_scene(fill), view, (200, 200))
    seen = picture[..., 1] < 110
    radius_px = math.tan(math.asin(0.1)) / math.tan(0.25) * 100
    y, x = np.mgrid[:200, :200] - 99.5
    expected = np.hypot(x, y) < radius_px
    assert (seen & expected).sum() / (seen | expected).sum() > 0.985


def test_edges_are_smooth(make_scene):
    def fill(spec):
        ambient_only(spec)
        spec.worldbody.add_geom(
            type=BOX, size=[0.5, 0.5, 0.5], quat=[math.cos(0.05), 0, 0, math.sin(0.05)], rgba=[0, 0, 0, 1]
        )

    picture = RayRenderer().render(*make_scene(fill), FROM_ABOVE, (200, 200))
    values = np.unique(picture[..., 0])
    assert len(values) >= 6  # dark, bright and the steps between them


def test_shadow_falls_where_the_light_says(make_scene):
    def fill(spec):
        ambient_only(spec, 0.3)
        spec.worldbody.add_geom(type=PLANE, size=[3, 3, 0.1], rgba=[1, 1, 1, 1])
        spec.worldbody.add_geom(type=BALL, size=[0.1, 0, 0], pos=[0, 0, 0.5], rgba=[1, 0, 0, 1])
        spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[1, 0, -1], diffuse=[0.5] * 3)

    picture = RayRenderer().render(*make_scene(fill), FROM_ABOVE, (200, 200)).astype(int)  # 1 cm per pixel
    assert picture[100, 150].max() < 90  # the ball is 0.5 m up, the light falls at 45 degrees
    assert picture[100, 50].min() > 110
    assert picture[150, 100].min() > 110


def test_corners_are_darker_than_open_ground(make_scene):
    def fill(spec):
        ambient_only(spec)
        spec.worldbody.add_geom(type=PLANE, size=[3, 3, 0.1], rgba=[0.9, 0.9, 0.9, 1])
        spec.worldbody.add_geom(type=BOX, size=[0.4, 0.2, 0.3], pos=[0, 0, 0.3], rgba=[0.9, 0.9, 0.9, 1])

    scene = make_scene(fill)
    view = View(eye_in_world_m=(0, -2, 1), target_in_world_m=(0, -0.4, 0), fovy_rad=0.8)
    picture = RayRenderer().render(*scene, view, (200, 200)).astype(int)

    def brightness(x_m: float, y_m: float) -> int:
        frustum = view.resolve(*scene)
        x, y, z = (np.array([x_m, y_m, 0.0]) - frustum.eye_in_world_m) @ frustum.axes_in_world
        column, row = (100 * (1 + s * c / -z / math.tan(0.4)) for s, c in ((1, x), (-1, y)))
        return int(picture[int(row), int(column), 0])

    assert brightness(0, -0.23) < 0.88 * brightness(0, -1.0)
    assert brightness(0, -0.23) < brightness(0, -0.35) < brightness(0, -1.0)
    assert abs(brightness(0, -1.0) - 230) <= 2  # nothing shades the open floor


def test_glass_mixes_with_what_is_behind(make_scene):
    def fill(spec):
        ambient_only(spec)
        spec.worldbody.add_geom(type=PLANE, size=[3, 3, 0.1], rgba=[1, 0, 0, 1])
        spec.worldbody.add_geom(type=BOX, size=[0.3, 0.3, 0.01], pos=[0, 0, 0.5], rgba=[0, 0, 1, 0.25])
        spec.worldbody.add_geom(type=BOX, size=[0.3, 0.3, 0.01], pos=[0, 0, 0.8], rgba=[0, 1, 0, 0.0])

    picture = RayRenderer().render(*make_scene(fill), FROM_ABOVE, (200, 200)).astype(int)
    assert np.allclose(picture[100, 100], [191, 0, 64], atol=2)
    assert np.allclose(picture[100, 10], [255, 0, 0], atol=2)


@pytest.mark.parametrize(("size", "uniform", "first_line_m"), [([0, 0, 0.1], True, -1.0), ([2, 1, 0.1], True, -2.0)])
def test_plane_texture_lies_as_in_mujoco(make_scene, size, uniform, first_line_m):
    def fill(spec):
        ambient_only(spec)
        pixels = np.full((64, 64, 3), 200, dtype=np.uint8)
        pixels[:, :4] = 0
        texture = spec.add_texture(name="t", type=mujoco.mjtTexture.mjTEXTURE_2D, width=64, height=64, nchannel=3)
        texture.data = pixels.tobytes()
        material = spec.add_material(name="t", specular=0, texuniform=uniform)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "t"
        spec.worldbody.add_geom(type=PLANE, size=size, material="t")

    view = View(eye_in_world_m=(0, 0, 10), target_in_world_m=(0, 0, 0), fovy_rad=2 * math.atan(0.25))  # 5 m high
    row = RayRenderer().render(*make_scene(fill), view, (500, 100))[50, :, 0].astype(int)
    dark_m = (np.flatnonzero(row < 60) - 250) / 20
    expected = [x for x in np.arange(first_line_m, 2, 2.0) if -2 <= x < 2]  # a tile is 2 units wide
    for line_m in expected:
        assert np.any(np.abs(dark_m - line_m - 0.06) < 0.06), (line_m, dark_m)


def test_curved_mesh_looks_like_the_curve(make_scene, add_mesh_ball):
    def scene(kind, **shape):
        def fill(spec):
            add_environment(spec, shadows=False)
            add_mesh_ball(spec, "ball", 0.3)
            spec.worldbody.add_geom(type=kind, rgba=[0.6, 0.6, 0.6, 1], **shape)

        return make_scene(fill)

    view = View(eye_in_world_m=(1, -1, 0.7), target_in_world_m=(0, 0, 0), fovy_rad=0.3)
    true = RayRenderer().render(*scene(BALL, size=[0.3, 0, 0]), view, (160, 160)).astype(int)
    mesh = RayRenderer().render(*scene(mujoco.mjtGeom.mjGEOM_MESH, meshname="ball"), view, (160, 160)).astype(int)
    inner = np.abs(true - mesh)[50:110, 50:110].max(axis=2)
    assert np.percentile(inner, 99) <= 6, "facets show"


def test_sky_without_geoms(make_scene):
    picture = RayRenderer().render(*make_scene(add_environment), View(), (64, 36))
    assert picture.min() > 120


def test_camera_by_name_and_its_errors(table):
    model, data = table
    picture = RayRenderer().render(model, data, View(camera="front"), (96, 54))
    axes = data.cam_xmat[0].reshape(3, 3)
    eye = data.cam_xpos[0]
    target = eye - axes[:, 2]
    free = View(eye_in_world_m=tuple(eye), target_in_world_m=tuple(target), fovy_rad=math.radians(40))
    same = RayRenderer().render(model, data, free, (96, 54))
    assert np.abs(picture.astype(int) - same).mean() < 0.1
    with pytest.raises(UnknownName, match=r"unknown camera 'frnt'; did you mean 'front'"):
        View(camera="frnt").resolve(model, data)
    with pytest.raises(BadInput, match="eye and a target that differ"):
        View(eye_in_world_m=(1, 1, 1), target_in_world_m=(1, 1, 1)).resolve(model, data)
