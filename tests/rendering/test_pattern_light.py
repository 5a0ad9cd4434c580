"""Thrown patterns: where the light falls, what is in its shadow, how bright it gets."""

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.pose import Pose
from cellwright.core.projector import Projector
from cellwright.rendering import DEPTH, RGB, Frustum, RayRenderer, SoftRenderer, View
from cellwright.rendering.pattern_light import PatternLight, add_light

BOX, PLANE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
DOWN = np.diag([1.0, 1.0, 1.0])  # right is x, up is y, backwards is z: it looks down
HALF_RAD = 2 * math.atan(0.5)  # a cone as wide as it is long


def renderers():
    pytest.importorskip("numba", reason="the extra `cameras` is not installed")
    return [RayRenderer(), SoftRenderer()]


def grey_ground(level: float = 0.2, *, tile_m: float | None = None):
    """A ground with only ambient light on it, at z = 0; where given, a tile half a metre above its middle."""
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient = (1, 1, 1)
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)
    spec.worldbody.add_geom(type=PLANE, size=[5, 5, 0.1], rgba=[level, level, level, 1])
    if tile_m is not None:
        size = [tile_m / 2, tile_m / 2, 0.005]
        spec.worldbody.add_geom(type=BOX, size=size, pos=[0, 0, 0.5], rgba=[level, level, level, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def thrower(pattern, *, at=(0.0, 0.0, 1.0), light=(0.4, 0.0, 0.0), range_m=(0.05, 5.0)) -> PatternLight:
    return PatternLight(Frustum(np.array(at), DOWN, HALF_RAD), np.asarray(pattern, np.float32), light, range_m)


def taken(renderer, scene, lights, *, eye=(0.3, 0.0, 2.0), exposure=1.0, size=(200, 200)):
    """A picture from above, 2 m wide at the ground, and the same without lights."""
    frustum = Frustum(np.array(eye), DOWN, HALF_RAD)
    shot = renderer.shoot(*scene, frustum, size, exposure=exposure, layers=(RGB, DEPTH))
    return add_light(shot, frustum, tuple(light.throw(renderer, *scene) for light in lights), exposure), shot


def test_light_falls_where_the_geometry_says():
    """One bright pixel of 10 x 10, thrown from 1 m, is a square of 0.1 m on the ground; the camera is elsewhere."""
    pattern = np.zeros((100, 100))
    pattern[20:30, 70:80] = 1  # 0.2 to 0.3 m right of the axis, 0.2 to 0.3 m above it
    scene = grey_ground()
    for renderer in renderers():
        lit, dark = taken(renderer, scene, [thrower(pattern)])
        gain = lit.rgb.astype(int) - dark.rgb
        row, column = np.nonzero(gain[..., 0] > 51)
        # The camera sees a centimetre per pixel and has its axis at x = 0.3.
        assert (column.min(), column.max()) == (90, 99)
        assert (row.min(), row.max()) == (70, 79)
        assert len(row) == 100
        assert gain[75, 95, 0] == round(0.4 * 255)
        assert not gain[..., 1:].any()


def test_an_object_casts_a_shadow_in_the_pattern_and_takes_the_light_itself():
    """A tile of 0.2 m halfway between ground and projector has a shadow of 0.4 m."""
    scene = grey_ground(tile_m=0.2)
    for renderer in renderers():
        light = thrower(np.ones((400, 400)))
        lit, dark = taken(renderer, scene, [light], eye=(0.0, 0.0, 2.0), size=(400, 400))
        gain = lit.rgb[..., 0].astype(int) - dark.rgb[..., 0]
        on_ground = dark.depth_m > 1.9
        x = (np.arange(400) + 0.5 - 200) / 200  # on the ground, in m
        across = np.maximum(np.abs(x)[None], np.abs(x)[:, None])
        assert not gain[on_ground & (across < 0.193)].any()
        assert (gain[on_ground & (across > 0.213) & (across < 0.49)] == 102).all()
        assert (gain[~on_ground] == 102).all()
        assert not gain[across > 0.505].any()  # beside the cone


def test_steep_surfaces_do_not_shade_themselves(table, view):
    for renderer in renderers():
        frustum = view.resolve(*table)
        beside = Frustum(frustum.eye_in_world_m, frustum.axes_in_world, 1.5 * frustum.fovy_rad)
        light = PatternLight(beside, np.ones((400, 700), np.float32), (0.3, 0.3, 0.3), (0.1, 10.0))
        shot = renderer.shoot(*table, frustum, (320, 180), exposure=0.5, layers=(RGB, DEPTH))
        share = (add_light(shot, frustum, (light.throw(renderer, *table),), 0.5).rgb > shot.rgb).all(axis=2)
        near = np.isfinite(shot.depth_m) & (shot.depth_m < 9)
        assert share[near].mean() > 0.998  # what the eye sees, a light in the same place lights


def test_light_is_exposed_like_the_rest_and_cut_off_at_white():
    renderer, light = RayRenderer(), thrower(np.ones((50, 50)))
    scene = grey_ground(0.8)
    lit, dark = taken(renderer, scene, [light], exposure=0.5, size=(40, 40))
    assert lit.rgb.max() == 102 + round(0.2 * 255)
    assert dark.rgb.max() == 102
    assert taken(renderer, scene, [light], exposure=1.0, size=(40, 40))[0].rgb.max() == 255
    twice = taken(renderer, grey_ground(0.1), [light, light], size=(40, 40))[0].rgb
    assert twice[20, 14].tolist() == [round(25.5) + round(0.8 * 255), round(25.5), round(25.5)]


def test_nothing_is_lit_beyond_the_range_or_behind():
    renderer, scene = RayRenderer(), grey_ground()
    for light in (
        thrower(np.ones((50, 50)), range_m=(0.1, 0.9)),
        thrower(np.ones((50, 50)), range_m=(1.1, 3.0)),
        thrower(np.ones((50, 50)), at=(0, 0, -1.0)),  # below the ground, and looks away from it
    ):
        lit, dark = taken(renderer, scene, [light], size=(60, 60))
        assert np.array_equal(lit.rgb, dark.rgb)


def test_a_part_of_a_picture_is_lit_as_in_the_whole():
    pattern = Projector("p", Pose.identity(), 1.0, (100, 100)).pattern
    renderer, scene = RayRenderer(), grey_ground(tile_m=0.3)
    whole, _ = taken(renderer, scene, [thrower(pattern)])
    frustum = Frustum(np.array([0.3, 0.0, 2.0]), DOWN, 2 * math.atan(0.2), (0.1, 0.15))
    part = renderer.shoot(*scene, frustum, (120, 80), layers=(RGB, DEPTH))
    part = add_light(part, frustum, (thrower(pattern).throw(renderer, *scene),), 1.0)
    assert (np.abs(part.rgb.astype(int) - whole.rgb[30:110, 60:180]) > 2).mean() < 0.002


def test_the_view_of_the_plan_is_the_frustum_of_these_tests():
    scene = grey_ground()
    axes = View(eye_in_world_m=(0, 0, 2), target_in_world_m=(0, 0, 0)).resolve(*scene).axes_in_world
    assert np.allclose(axes, DOWN)


@given(columns=st.integers(16, 90), rows=st.integers(16, 90), dot_px=st.integers(1, 8))
def test_a_pattern_is_made_of_square_dots_and_always_the_same(columns, rows, dot_px):
    pattern = Projector("p", Pose.identity(), 1.0, (columns, rows), dot_px).pattern
    assert pattern.shape == (rows, columns)
    assert set(np.unique(pattern)) <= {0.0, 1.0}
    assert np.array_equal(pattern, Projector("q", Pose.identity(), 0.5, (columns, rows), dot_px).pattern)
    assert np.array_equal(pattern, pattern[::dot_px, ::dot_px].repeat(dot_px, 0).repeat(dot_px, 1)[:rows, :columns])


def test_half_of_the_dots_are_bright():
    assert Projector("p", Pose.identity(), 1.0, (900, 900)).pattern.mean() == pytest.approx(0.5, abs=0.01)
