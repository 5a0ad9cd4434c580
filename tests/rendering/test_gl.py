"""OpenGL and rays draw the same scene alike."""

import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest

from cellwright.rendering import RayRenderer, View
from cellwright.rendering.probe import GL_PLATFORMS, probe

pytestmark = pytest.mark.peer
SIZE = (480, 270)
VIEW = View(eye_in_world_m=(0.75, -1.5, 1.35), target_in_world_m=(0.0, -0.03, 0.5))

# A process can use one platform only, so each draws in its own. One renderer draws all four, the first scene twice.
DRAW = """
import sys
import mujoco, numpy
from cellwright.rendering import GlRenderer, View
platform, folder = sys.argv[1:]
renderer = GlRenderer(platform)
view = View(eye_in_world_m=(0.75, -1.5, 1.35), target_in_world_m=(0.0, -0.03, 0.5))
scenes = {}
for name in ("lit", "plain"):
    model = mujoco.MjModel.from_binary_path(f"{folder}/{name}.mjb")
    scenes[name] = model, mujoco.MjData(model)
    mujoco.mj_forward(*scenes[name])
big = 480, 270
jobs = [("lit", "lit", big), ("small", "plain", (96, 54)), ("plain", "plain", big), ("again", "lit", big)]
for name, scene, size in jobs:
    numpy.save(f"{folder}/{name}.npy", renderer.render(*scenes[scene], view, size))
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


def test_drawing_again_gives_the_same(drawn):
    assert drawn["small"].shape == (54, 96, 3)
    assert drawn["lit"].shape == (270, 480, 3)
    assert np.array_equal(drawn["lit"], drawn["again"])
