"""Steps of quality: what is left out is left out by every renderer, and all else stays."""

import math

import mujoco
import numpy as np
import pytest

from cellwright.rendering import BEST, DEPTH, GEOM, RGB, Quality, RayRenderer, SoftRenderer, View

BOX, PLANE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
VIEW = View(eye_in_world_m=(0, 0, 10), target_in_world_m=(0, 0, 0), fovy_rad=2 * math.atan(0.1))  # 2 m high
SIZE = (120, 120)


@pytest.fixture(params=[SoftRenderer, RayRenderer], ids=["soft", "ray"])
def renderer(request):
    if request.param is SoftRenderer:
        pytest.importorskip("numba", reason="the extra `cameras` is not installed")
    return request.param()


@pytest.fixture(scope="module")
def lit_board(make_scene):
    """A turned board above white ground; light comes from the left, so that its shadow lies to its right."""

    def fill(spec):
        spec.visual.headlight.ambient = (0.2,) * 3
        spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)
        light = spec.worldbody.add_light(dir=[1, 0, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=True)
        light.diffuse, light.specular, light.ambient = (0.6,) * 3, (0, 0, 0), (0, 0, 0)
        turned = [math.cos(0.1), 0, 0, math.sin(0.1)]
        spec.worldbody.add_geom(type=PLANE, size=[5, 5, 0.1], rgba=[1, 1, 1, 1])
        spec.worldbody.add_geom(type=BOX, size=[0.2, 0.2, 0.01], pos=[-0.4, 0, 0.6], quat=turned, rgba=[0, 0, 0, 1])

    return make_scene(fill)


def drawn(renderer, scene, quality, layers=(RGB,)):
    return renderer.shoot(*scene, VIEW.resolve(*scene), SIZE, layers=layers, quality=quality)


def test_without_shadows_ground_is_lit_evenly(renderer, lit_board):
    full, flat = (drawn(renderer, lit_board, quality).rgb.astype(int) for quality in (BEST, Quality(shadows=False)))
    shadow = full[55:65, 70:75]  # 0.6 m from the board along the light: 0.2 m to the right of the middle
    open_ground = full[55:65, 100:110]
    assert shadow.max() < open_ground.min() - 40
    assert np.abs(flat[55:65, 70:75] - open_ground.mean()).max() < 12
    assert np.abs(flat[55:65, 100:110] - open_ground).max() <= 1


def test_with_one_sample_a_pixel_shows_one_thing(renderer, lit_board):
    smooth, jagged = (
        drawn(renderer, lit_board, Quality(shadows=False, samples=samples)).rgb[30:90, 15:60, 0].astype(int)
        for samples in (4, 1)
    )
    ground, board = np.median(smooth[:, -3:]), 0
    between = [((part > board + 15) & (part < 0.75 * ground)).sum() for part in (smooth, jagged)]
    assert between[0] > 40
    assert between[1] == 0
    assert np.abs(smooth - jagged).mean() < 6


def test_depths_and_geoms_do_not_depend_on_it(renderer, lit_board):
    best, least = (
        drawn(renderer, lit_board, quality, (RGB, DEPTH, GEOM)) for quality in (BEST, Quality(shadows=False, samples=1))
    )
    assert np.array_equal(best.depth_m, least.depth_m)
    assert np.array_equal(best.geom, least.geom)


def test_the_best_is_drawn_again_after_less(renderer, lit_board):
    first = drawn(renderer, lit_board, BEST).rgb
    drawn(renderer, lit_board, Quality(shadows=False, samples=1))
    assert np.array_equal(first, drawn(renderer, lit_board, BEST).rgb)
