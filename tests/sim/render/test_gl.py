"""OpenGL and rays draw the same scene alike."""

import numpy as np
import pytest

from cellwright.sim.render import GlRenderer, RayRenderer
from cellwright.sim.render.probe import GL_PLATFORMS, probe

pytestmark = pytest.mark.peer
SIZE = (480, 270)


@pytest.fixture(scope="module", params=list(GL_PLATFORMS))
def gl(request):
    answer = probe(request.param)
    if not answer.works:
        pytest.skip(f"{request.param}: {answer.reason}; Debian: {' '.join(GL_PLATFORMS[request.param])}")
    renderer = GlRenderer(request.param)
    yield renderer
    renderer.close()


@pytest.fixture
def masks(plain_table, view, colours):
    """Geom -> where it is seen, by its colour in the picture without light; once by each renderer."""

    def find(renderer):
        picture = renderer.render(*plain_table, view, SIZE).astype(float) / 255
        hue = picture / np.maximum(picture.max(axis=2, keepdims=True), 1e-6)
        return {
            name: np.abs(hue - np.array(c) / max(c)).max(axis=2) < 0.05
            for name, c in colours.items()
            if name != "table"
        }

    return find


def test_silhouettes_agree(gl, masks):
    by_gl, by_ray = masks(gl), masks(RayRenderer())
    for name, mask in by_gl.items():
        union = (mask | by_ray[name]).sum()
        assert union > 200, name
        assert (mask & by_ray[name]).sum() / union > 0.97, name


def test_light_and_colour_agree(gl, masks, table, view):
    lit_by_gl = gl.render(*table, view, SIZE).astype(float)
    lit_by_ray = RayRenderer().render(*table, view, SIZE).astype(float)
    for name, mask in masks(gl).items():
        difference = np.abs(lit_by_gl[mask].mean(axis=0) - lit_by_ray[mask].mean(axis=0))
        assert difference.max() < 18, (name, difference)
    assert np.abs(lit_by_gl - lit_by_ray).mean() < 10


def test_drawing_again_gives_the_same(gl, table, plain_table, view):
    first = gl.render(*table, view, SIZE)
    other = gl.render(*plain_table, view, (96, 54))
    again = gl.render(*table, view, SIZE)
    assert other.shape == (54, 96, 3)
    assert np.array_equal(first, again)
