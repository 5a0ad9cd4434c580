"""Lines of sight past capsules: what is left out as far away, or taken as met at once, changes no answer."""

import numpy as np
import pytest

from cellwright.perception.sight_lines import hidden_by_capsules


@pytest.fixture(params=[0.0, 0.05, 1.0], ids=["as drawn", "a little grown", "anywhere"])
def scene(request):
    random = np.random.default_rng(5)
    points = random.uniform(-0.7, 0.7, (30, 3)) * [1.0, 1.0, 0.2]
    capsules = np.zeros((100, 7))
    capsules[:, :3] = random.uniform(-1.0, 1.0, (100, 3)) * [1.0, 1.0, 0.6] + [0.0, 0.0, 0.8]
    capsules[:, 3:6] = capsules[:, :3] + random.normal(size=(100, 3)) * 0.2 * (random.random((100, 1)) > 0.3)
    capsules[:, 6] = random.uniform(0.003, 0.08, 100) + request.param
    return np.array([0.1, -0.1, 2.0]), points, random.uniform(0.0, 0.04, 30), capsules


def test_all_capsules_together_hide_what_each_of_them_hides(scene):
    eye, points, radii, capsules = scene
    for some in (capsules[:5], capsules):
        each = [hidden_by_capsules(eye, points, radii, capsule[None]) for capsule in some]
        assert hidden_by_capsules(eye, points, radii, some).tolist() == np.any(each, axis=0).tolist()


def test_points_behind_a_capsule_are_hidden_by_it_and_those_far_from_all_are_not(scene):
    eye, points, radii, capsules = scene
    shares = np.linspace(0.0, 1.0, 200)[:, None, None]
    on_lines = eye + shares * (points - eye)  # 200 x n x 3
    nearest = np.full(len(points), np.inf)
    for capsule in capsules:
        start, axis = capsule[:3], capsule[3:6] - capsule[:3]
        along = np.clip((on_lines - start) @ axis / max(axis @ axis, 1e-12), 0.0, 1.0)
        apart_m = np.linalg.norm(on_lines - start - along[..., None] * axis, axis=2).min(axis=0)
        nearest = np.minimum(nearest, apart_m - capsule[6])
    hidden = hidden_by_capsules(eye, points, radii, capsules)
    assert hidden[nearest < 0.0].all()
    assert not hidden[nearest > radii + 0.01].any()
