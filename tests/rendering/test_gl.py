"""OpenGL, compiled code and rays draw the same scene alike."""

import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest

from cellwright.rendering import BEST, DEPTH, GEOM, Quality, RayRenderer, SoftRenderer, View
from cellwright.rendering.probe import GL_PLATFORMS, probe

pytestmark = pytest.mark.peer
SIZE = (480, 270)
VIEW = View(eye_in_world_m=(0.75, -1.5, 1.35), target_in_world_m=(0.0, -0.03, 0.5))

# A process can use one platform only, so each draws in its own. One renderer draws all, the first scene twice.
DRAW = """
import sys
import mujoco, numpy
from cellwright.rendering import GlRenderer, Quality, View
platform, folder = sys.argv[1:]
renderer = GlRenderer(platform)
view = View(eye_in_world_m=(0.75, -1.5, 1.35), target_in_world_m=(0.0, -0.03, 0.5))
scenes = {}
for name in ("lit", "plain"):
    model = mujoco.MjModel.from_binary_path(f"{folder}/{name}.mjb")
    scenes[name] = model, mujoco.MjData(model)
    mujoco.mj_forward(*scenes[name])
big = 480, 270
jobs = [("lit", "lit", big), ("small", "plain", (96, 54)), ("plain", "plain", big)]
for name, scene, size in jobs:
    numpy.save(f"{folder}/{name}.npy", renderer.render(*scenes[scene], view, size))
frustum = view.resolve(*scenes["lit"])
shot = renderer.shoot(*scenes["lit"], frustum, big, exposure=0.5, layers=("rgb", "depth", "geom"))
for name, layer in (("dim", shot.rgb), ("depth", shot.depth_m), ("geom", shot.geom)):
    numpy.save(f"{folder}/{name}.npy", layer)
for name, quality in (("shadowless", Quality(shadows=False)), ("jagged", Quality(samples=1))):
    numpy.save(f"{folder}/{name}.npy", renderer.shoot(*scenes["lit"], frustum, big, exposure=0.5, quality=quality).rgb)
numpy.save(f"{folder}/again.npy", renderer.render(*scenes["lit"], view, big))
"""


@pytest.fixture(scope="module", params=list(GL_PLATFORMS))
def drawn(request, table, plain_table, tmp_path_factory):
    """The pictures that a platform draws."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYOPENGL_PLATFORM", raising=False)  # MuJoCo sets it when a test of this worker has drawn
        answer = probe(request.param)
    if not answer.works:
        pytest.skip(f"{request.param}: {answer.reason}; Debian: {' '.join(GL_PLATFORMS[request.param])}")
    folder = tmp_path_factory.mktemp(request.param)
    for name, (model, _) in {"lit": table, "plain": plain_table}.items():
        mujoco.mj_saveModel(model, str(folder / f"{name}.mjb"), None)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("PYOPENGL_PLATFORM", None)
    command = [sys.executable, "-c", DRAW, request.param, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "the driver complains"
    return {path.stem: np.load(path) for path in folder.glob("*.npy")}


def masks(picture, colours):
    """Geom -> where it is seen, by its hue in the picture without light."""
    shares = picture.astype(float) / np.maximum(picture.max(axis=2, keepdims=True), 1)
    wanted = {name: np.array(colour) / max(colour) for name, colour in colours.items() if name != "table"}
    return {name: np.abs(shares - hue).max(axis=2) < 0.05 for name, hue in wanted.items()}


def test_silhouettes_agree(drawn, plain_table, colours):
    by_gl = masks(drawn["plain"], colours)
    by_ray = masks(RayRenderer().render(*plain_table, VIEW, SIZE), colours)
    for name, mask in by_gl.items():
        union = (mask | by_ray[name]).sum()
        assert union > 200, name
        assert (mask & by_ray[name]).sum() / union > 0.97, name


def test_light_and_colour_agree(drawn, table, colours):
    by_gl = drawn["lit"].astype(float)
    by_ray = RayRenderer().render(*table, VIEW, SIZE).astype(float)
    for name, mask in masks(drawn["plain"], colours).items():
        difference = np.abs(by_gl[mask].mean(axis=0) - by_ray[mask].mean(axis=0))
        assert difference.max() < 18, (name, difference)
    assert np.abs(by_gl - by_ray).mean() < 10


def test_compiled_code_draws_the_same(drawn, table):
    pytest.importorskip("numba", reason="not in Debian: the extra `cameras`")
    difference = np.abs(drawn["lit"].astype(float) - SoftRenderer().render(*table, VIEW, SIZE))
    assert difference.mean() < 6
    assert (difference.max(axis=2) > 40).mean() < 0.03


def test_depths_and_geoms_agree(drawn, table):
    by_ray = RayRenderer().shoot(*table, VIEW.resolve(*table), SIZE, layers=(DEPTH, GEOM))
    alike = drawn["geom"] == by_ray.geom
    assert alike.mean() > 0.995
    seen = alike & (by_ray.geom >= 0)
    assert np.nanpercentile(np.abs(drawn["depth"] - by_ray.depth_m)[seen], 99) < 0.005
    assert np.isnan(drawn["depth"][drawn["geom"] < 0]).all()


def test_light_is_scaled_before_it_is_cut_off(drawn):
    bright = (drawn["lit"] > 20) & (drawn["lit"] < 250)
    share = drawn["dim"][bright] / drawn["lit"][bright].astype(float)
    assert np.median(share) == pytest.approx(0.5, abs=0.02)


def test_shadows_can_be_left_out(drawn, table):
    dim, flat = drawn["dim"].astype(int), drawn["shadowless"].astype(int)
    by_ray, flat_by_ray = (
        RayRenderer().shoot(*table, VIEW.resolve(*table), SIZE, quality=quality).rgb.astype(int)
        for quality in (BEST, Quality(shadows=False))
    )
    shadow = ((flat_by_ray - by_ray) > 30).all(axis=2)
    assert shadow.sum() > 500
    assert np.median((flat - dim)[shadow]) > 15
    assert np.percentile(np.abs(flat - dim)[~shadow], 90) <= 2


def test_one_sample_leaves_edges_jagged(drawn):
    smooth, jagged = (np.abs(np.diff(drawn[name].astype(int), axis=1)).max(axis=2) for name in ("dim", "jagged"))
    assert 0 < (np.abs(drawn["dim"].astype(int) - drawn["jagged"]) > 2).any(axis=2).mean() < 0.1
    assert (jagged > 40).sum() > 1.1 * (smooth > 40).sum()


def test_drawing_again_gives_the_same(drawn):
    assert drawn["small"].shape == (54, 96, 3)
    assert drawn["lit"].shape == (270, 480, 3)
    assert np.array_equal(drawn["lit"], drawn["again"])
