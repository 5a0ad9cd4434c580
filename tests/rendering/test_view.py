import math

import numpy as np
import pytest

from cellwright.core.errors import OutOfRange
from cellwright.rendering import View, auto_view
from cellwright.rendering.framing import _corners
from cellwright.rendering.view import VISIBLE_GROUPS


def project(points, view, model, data, aspect):
    """Picture coordinates, -1 to 1 inside the picture."""
    frustum = view.resolve(model, data)
    x, y, z = ((points - frustum.eye_in_world_m) @ frustum.axes_in_world).T
    slope = math.tan(frustum.fovy_rad / 2)
    assert (z < 0).all()
    return x / -z / slope / aspect, y / -z / slope


@pytest.mark.parametrize("aspect", [16 / 9, 1.0, 0.5])
def test_auto_view_shows_everything_and_little_else(table, aspect):
    model, data = table
    seen = np.isin(model.geom_group, VISIBLE_GROUPS) & (model.geom_rbound > 0)
    x, y = project(
        _corners(model, data, seen).reshape(-1, 3), auto_view(model, data, aspect=aspect), model, data, aspect
    )
    assert max(np.abs(x).max(), np.abs(y).max()) <= 1.0
    assert max(np.abs(x).max(), np.abs(y).max()) > 0.85


def test_auto_view_needs_no_data(table):
    model, data = table
    assert auto_view(model) == auto_view(model, data)


def test_z_is_up_and_the_target_in_the_middle(table):
    model, data = table
    view = View(eye_in_world_m=(1, -2, 1.5), target_in_world_m=(0.1, 0.2, 0.3))
    frustum = view.resolve(model, data)
    assert np.allclose(frustum.axes_in_world.T @ frustum.axes_in_world, np.eye(3))
    assert np.linalg.det(frustum.axes_in_world) > 0
    assert frustum.axes_in_world[2, 0] == pytest.approx(0)  # level horizon
    assert frustum.axes_in_world[2, 1] > 0
    x, y = project(np.array([[0.1, 0.2, 0.3]]), view, model, data, 1.0)
    assert np.allclose([x, y], 0, atol=1e-12)


def test_straight_down_has_y_up(table):
    frustum = View(eye_in_world_m=(0, 0, 3), target_in_world_m=(0, 0, 0)).resolve(*table)
    assert np.allclose(frustum.axes_in_world, np.eye(3))


def test_angle_of_view_is_checked(table):
    with pytest.raises(OutOfRange, match="angle of view"):
        View(fovy_rad=4.0).resolve(*table)
