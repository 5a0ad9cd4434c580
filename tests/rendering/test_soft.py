"""The renderer in compiled code: geometry by optics, light by rays, bits by repetition."""

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from cellwright.rendering import DEPTH, GEOM, RGB, RayRenderer, SoftRenderer, View, add_environment
from cellwright.rendering import soft as soft_module

pytest.importorskip("numba", reason="the extra `cameras` is not installed")

SIZE = (320, 180)
BALL, BOX, PLANE = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
FROM_ABOVE = View(eye_in_world_m=(0, 0, 10), target_in_world_m=(0, 0, 0), fovy_rad=2 * math.atan(0.1))  # 2 m high


def ambient_only(spec, level: float = 1.0) -> None:
    spec.visual.headlight.ambient = (level,) * 3
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)


def shoot(scene, view, size=SIZE, **options):
    return SoftRenderer().shoot(*scene, view.resolve(*scene), size, **options)


def test_same_scene_gives_same_bits_with_any_number_of_bands(table, view, monkeypatch):
    first, again = (SoftRenderer().render(*table, view, SIZE) for _ in range(2))
    assert first.shape == (180, 320, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, again)
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 500  # a picture, not a blank
    monkeypatch.setattr(soft_module, "BANDS", 3)
    assert np.array_equal(first, SoftRenderer().render(*table, view, SIZE))


def test_one_renderer_draws_one_scene_after_the_other(table, plain_table, view):
    renderer = SoftRenderer()
    first = renderer.render(*table, view, SIZE)
    renderer.render(*plain_table, view, (64, 36))
    assert np.array_equal(first, renderer.render(*table, view, SIZE))


def test_every_geom_has_its_colour_and_its_number(plain_table, view, colours):
    shot = shoot(plain_table, view, layers=(RGB, GEOM))
    model = plain_table[0]
    for name, colour in colours.items():
        mine = shot.geom == model.geom(name).id
        inner = mine & np.roll(mine, 1, 0) & np.roll(mine, -1, 0) & np.roll(mine, 1, 1) & np.roll(mine, -1, 1)
        assert inner.sum() > 20, name
        assert np.abs(shot.rgb[inner] / 255 - colour).max() < 0.01, name
    assert not (shot.geom == model.geom("hidden").id).any(), "what is touched is not seen"


def test_it_draws_what_rays_draw(table, view):
    by_soft = SoftRenderer().render(*table, view, SIZE).astype(float)
    by_ray = RayRenderer().render(*table, view, SIZE).astype(float)
    difference = np.abs(by_soft - by_ray)
    assert difference.mean() < 8  # rays shade corners as well
    assert (difference.max(axis=2) > 60).mean() < 0.02


def test_depth_is_that_of_rays(table, view):
    frustum = view.resolve(*table)
    by_soft, by_ray = (one().shoot(*table, frustum, SIZE, layers=(DEPTH,)) for one in (SoftRenderer, RayRenderer))
    assert (by_soft.geom == by_ray.geom).mean() > 0.999
    alike = (by_soft.geom == by_ray.geom) & (by_ray.geom >= 0)
    assert np.abs(by_soft.depth_m - by_ray.depth_m)[alike].max() < 1e-4
    assert np.isnan(by_soft.depth_m[by_soft.geom < 0]).all()


def test_depth_of_a_wall_is_along_the_axis(make_scene):
    def fill(spec):
        spec.worldbody.add_geom(type=BOX, size=[0.1, 5, 5], pos=[0.1, 0, 0])

    view = View(eye_in_world_m=(-2, 0, 0), target_in_world_m=(0, 0, 0), fovy_rad=1.2)
    shot = shoot(make_scene(fill), view, (64, 48), layers=(DEPTH,))
    assert np.abs(shot.depth_m - 2.0).max() < 1e-5  # not the distance: that would be more towards the corners


def test_what_reaches_behind_the_eye_is_cut(make_scene):
    def fill(spec):
        spec.worldbody.add_geom(type=BOX, size=[5, 5, 0.1], pos=[0, 0, -0.6])

    scene = make_scene(fill)
    shot = shoot(
        scene, View(eye_in_world_m=(0, 0, 0), target_in_world_m=(1, 0, 0), fovy_rad=1.0), (40, 40), layers=(DEPTH,)
    )
    rows = np.arange(40)
    slopes = (rows + 0.5 - 20) / 20 * math.tan(0.5)
    expected = np.where(slopes > 0.1, 0.5 / np.maximum(slopes, 1e-9), np.nan)  # the box ends 5 m ahead
    assert np.allclose(shot.depth_m[:, 20], expected, rtol=1e-4, equal_nan=True)


def test_silhouette_is_that_of_a_pinhole_camera(make_scene):
    def fill(spec):
        spec.worldbody.add_geom(type=BALL, size=[0.1, 0, 0])

    view = View(eye_in_world_m=(0, -1, 0), target_in_world_m=(0, 0, 0), fovy_rad=0.5)
    seen = shoot(make_scene(fill), view, (200, 200), layers=(GEOM,)).geom == 0
    radius_px = math.tan(math.asin(0.1)) / math.tan(0.25) * 100
    y, x = np.mgrid[:200, :200] - 99.5
    expected = np.hypot(x, y) < radius_px
    assert (seen & expected).sum() / (seen | expected).sum() > 0.985


def test_a_part_of_the_picture_is_cut_out_of_it(table, view):
    frustum = view.resolve(*table)
    whole = SoftRenderer().shoot(*table, frustum, (320, 180), layers=(RGB, DEPTH))
    slope = math.tan(frustum.fovy_rad / 2) / 90  # per pixel
    part = replace(
        frustum, fovy_rad=2 * math.atan(slope * 30), middle=((200 + 40 - 160) * slope, (90 - 50 - 30) * slope)
    )
    cut = SoftRenderer().shoot(*table, part, (80, 60), layers=(RGB, DEPTH))
    assert np.allclose(cut.depth_m, whole.depth_m[50:110, 200:280], atol=1e-4, equal_nan=True)
    assert (np.abs(cut.rgb.astype(int) - whole.rgb[50:110, 200:280]).max(axis=2) > 12).mean() < 0.01


def test_edges_are_smooth(make_scene):
    def fill(spec):
        ambient_only(spec)
        turned = [math.cos(0.05), 0, 0, math.sin(0.05)]
        spec.worldbody.add_geom(type=BOX, size=[0.5, 0.5, 0.5], quat=turned, rgba=[0, 0, 0, 1])

    picture = SoftRenderer().render(*make_scene(fill), FROM_ABOVE, (200, 200))
    assert len(np.unique(picture[..., 0])) >= 5  # dark, bright and three steps between them


@pytest.mark.parametrize("spot", [False, True])
def test_shadow_falls_where_the_light_says(make_scene, spot):
    def fill(spec):
        ambient_only(spec, 0.3)
        spec.worldbody.add_geom(type=PLANE, size=[3, 3, 0.1], rgba=[1, 1, 1, 1])
        spec.worldbody.add_geom(type=BALL, size=[0.1, 0, 0], pos=[0, 0, 0.5], rgba=[1, 0, 0, 1])
        kind = mujoco.mjtLightType.mjLIGHT_SPOT if spot else mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
        light = spec.worldbody.add_light(type=kind, pos=[-4.5, 0, 5], dir=[1, 0, -1], diffuse=[0.7] * 3)
        light.exponent = 0

    picture = SoftRenderer().render(*make_scene(fill), FROM_ABOVE, (200, 200)).astype(int)  # 1 cm per pixel
    assert picture[100, 150].max() < 90  # the ball is 0.5 m up, the light falls at 45 degrees
    assert picture[100, 50].min() > 110
    assert picture[150, 100].min() > 110


def test_nothing_shades_itself(make_scene):
    def fill(spec):
        ambient_only(spec, 0.2)
        spec.worldbody.add_geom(type=BOX, size=[0.8, 0.8, 0.1], pos=[0, 0, -0.1], rgba=[1, 1, 1, 1])
        spec.worldbody.add_geom(type=BOX, size=[0.05, 0.05, 0.5], pos=[0.9, 0.9, 0.5])  # a shadow map must hold it, too
        spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[20, 3, -1], diffuse=[1] * 3)

    picture = SoftRenderer().render(*make_scene(fill), FROM_ABOVE, (200, 200)).astype(int)
    lit = 255 * (0.2 + 1 / math.sqrt(410))  # the light grazes: front faces in a shadow map would speckle
    assert np.abs(picture[30:170, 30:170] - lit).max() <= 2, "acne"


def test_glass_mixes_with_what_is_behind_and_is_looked_through(make_scene):
    def fill(spec):
        ambient_only(spec)
        spec.worldbody.add_geom(type=PLANE, size=[3, 3, 0.1], rgba=[1, 0, 0, 1])
        spec.worldbody.add_geom(type=BOX, size=[0.3, 0.3, 0.01], pos=[0, 0, 0.5], rgba=[0, 0, 1, 0.25])

    shot = shoot(make_scene(fill), FROM_ABOVE, (200, 200), layers=(RGB, DEPTH))
    assert np.allclose(shot.rgb[100, 100], [191, 0, 64], atol=2)
    assert np.allclose(shot.rgb[100, 10], [255, 0, 0], atol=2)
    assert shot.depth_m[100, 100] == pytest.approx(10.0)


def test_light_is_scaled_before_it_is_cut_off(make_scene):
    def fill(spec):
        ambient_only(spec, 1.6)
        spec.worldbody.add_geom(type=PLANE, size=[3, 3, 0.1], rgba=[1, 0.5, 0.25, 1])

    scene = make_scene(fill)
    clipped = shoot(scene, FROM_ABOVE, (16, 16)).rgb[8, 8]
    exposed = shoot(scene, FROM_ABOVE, (16, 16), exposure=0.5).rgb[8, 8]
    assert clipped.tolist() == [255, 204, 102]
    assert exposed.tolist() == [204, 102, 51]  # a picture of half the clipped values would have 128 in red


def test_plane_texture_lies_as_rays_see_it(make_scene):
    def fill(spec):
        ambient_only(spec)
        pixels = np.full((64, 64, 3), 200, dtype=np.uint8)
        pixels[:, :8] = 0
        texture = spec.add_texture(name="t", type=mujoco.mjtTexture.mjTEXTURE_2D, width=64, height=64, nchannel=3)
        texture.data = pixels.tobytes()
        material = spec.add_material(name="t", specular=0, texuniform=True)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "t"
        spec.worldbody.add_geom(type=PLANE, size=[2, 1, 0.1], material="t")

    scene = make_scene(fill)
    view = View(eye_in_world_m=(0, 0, 10), target_in_world_m=(0, 0, 0), fovy_rad=2 * math.atan(0.09))
    soft, ray = (one().render(*scene, view, (320, 180)).astype(int) for one in (SoftRenderer, RayRenderer))
    assert np.abs(soft - ray).mean() < 2
    assert soft.min() < 30


def test_sky_without_geoms(make_scene):
    soft, ray = (one().render(*make_scene(add_environment), View(), (64, 36)) for one in (SoftRenderer, RayRenderer))
    assert np.abs(soft.astype(int) - ray).max() <= 3
    shot = shoot(make_scene(add_environment), View(), (64, 36), layers=(DEPTH, GEOM))
    assert (shot.geom == -1).all()
    assert np.isnan(shot.depth_m).all()
