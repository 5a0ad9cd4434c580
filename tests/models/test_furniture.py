"""Furniture: it stands where the figures say, never moves, and its pieces do not run into each other."""

from itertools import combinations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue.furniture import CAMERA_POST, FANUC_CART, FURNITURE, OPTICAL_TABLE, SHARED_TABLE
from cellwright.catalogue.kitting_furniture import KIT_BOX
from cellwright.core.errors import BadInput
from cellwright.models.contact_settings import GeomGroup
from cellwright.models.furniture import build_furniture
from cellwright.shapes.furniture import furniture_shape

PLACES_M = {
    "optical_table": (0.155, 0.4115),
    "fanuc_cart": (0.04, -1.16),
    "shared_table": (0.0, -0.63),
    "fence": (0.155, -0.25),
    "camera_post": (0.031, -0.690),
    "fanuc_camera_post": (0.359, -1.157),
}


def drop_ray(model, data, x, y):
    """Height of what a ray from above hits first."""
    hit = np.zeros(1, np.int32)
    groups = np.zeros(6, np.uint8)
    groups[GeomGroup.COLLISION] = 1
    distance = mujoco.mj_ray(model, data, np.array([x, y, 3.0]), np.array([0.0, 0, -1]), groups, 1, -1, hit)
    return 3.0 - distance if distance >= 0 else None


def compiled(name):
    model = build_furniture(FURNITURE[name]).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("name", FURNITURE)
def test_it_is_one_static_body_with_things_to_see_and_to_touch(name):
    model, _ = compiled(name)
    assert model.nbody == 2
    assert model.body(1).name == "furniture"
    assert model.nv == 0
    groups = set(model.geom_group.tolist())
    assert groups == {GeomGroup.VISUAL, GeomGroup.COLLISION}
    touched = model.geom_group == GeomGroup.COLLISION
    assert (model.geom_contype[touched] == 1).all()
    assert (model.geom_contype[~touched] == 0).all()
    assert model.nmeshface < 12_000


@pytest.mark.parametrize(
    ("figures", "at", "height_m"),
    [
        (OPTICAL_TABLE, (0.9, 0.3), 0.845),
        (OPTICAL_TABLE, (1.215, 0.608), 0.845),
        (OPTICAL_TABLE, (-0.155, -0.4115), 0.910),
        (OPTICAL_TABLE, (-0.155 + 0.17, -0.4115 + 0.17), 0.883),
        (FANUC_CART, (0.3, 0.1), 0.916),
        (FANUC_CART, (0.554, -0.303), 0.916),
        (FANUC_CART, (-0.209, 0.020), 0.934),
        (SHARED_TABLE, (0.0, 0.0), 0.890),
        (SHARED_TABLE, (0.545, -0.205), 0.890),
    ],
)
def test_tops_are_at_the_labs_heights(figures, at, height_m):
    model, data = compiled(figures.name)
    assert drop_ray(model, data, *at) == pytest.approx(height_m, abs=1e-9)


@pytest.mark.parametrize("figures", [OPTICAL_TABLE, SHARED_TABLE])
def test_nothing_is_beyond_a_tables_edge(figures):
    model, data = compiled(figures.name)
    x, y = figures.size_m[0] / 2 + 1e-3, figures.size_m[1] / 2 + 1e-3
    assert drop_ray(model, data, x, 0.0) is None
    assert drop_ray(model, data, 0.0, y) is None


@pytest.mark.parametrize("name", ["camera_post", "fanuc_camera_post"])
def test_the_camera_looks_straight_down_with_the_labs_angle_of_view(name):
    model, data = compiled(name)
    figures = FURNITURE[name]
    camera = data.camera("camera")
    assert camera.xpos == pytest.approx([0, 0, figures.camera_m])
    assert camera.xmat.reshape(3, 3)[:, 2] == pytest.approx([0, 0, 1])
    assert np.radians(model.camera("camera").fovy[0]) == pytest.approx(0.837)
    assert model.cam_resolution[model.camera("camera").id].tolist() == [2048, 2048]
    assert drop_ray(model, data, 0.0, 0.0) > figures.camera_m
    seen_m = 2 * (CAMERA_POST.camera_m - 0.89) * np.tan(0.837 / 2)
    assert seen_m == pytest.approx(0.99, abs=0.01)


def test_the_cells_furniture_does_not_run_into_itself():
    boxes = []
    for name, (x, y) in PLACES_M.items():
        for hull in (*furniture_shape(FURNITURE[name]).hulls, *furniture_shape(FURNITURE[name]).panes):
            half = np.array(hull.size_m if hull.kind == "box" else (hull.size_m[0], *hull.size_m))
            centre = hull.pose.position + np.array([x, y, 0.0])
            boxes.append((name, centre - half, centre + half))
    for (a, low_a, high_a), (b, low_b, high_b) in combinations(boxes, 2):
        if a != b:
            overlap = np.minimum(high_a, high_b) - np.maximum(low_a, low_b)
            assert (overlap < 1e-6).any(), (a, b, overlap)


def test_a_box_is_open_and_has_its_places_between_its_walls():
    model = build_furniture(KIT_BOX).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for x, y, z in KIT_BOX.places_xyz_m:
        half_x, half_y = (side / 2 - 1e-4 for side in KIT_BOX.inner_size_m)
        for dx, dy in ((0, 0), (half_x, half_y), (-half_x, half_y), (half_x, -half_y)):
            assert drop_ray(model, data, x + dx, y + dy) == pytest.approx(z)
    edge_x, edge_y = (side / 2 - KIT_BOX.wall_m / 2 for side in KIT_BOX.outer_size_m)
    for x, y in ((0.0, 0.05), (edge_x, 0.05), (-edge_x, 0.05), (0.1, edge_y), (0.1, -edge_y)):
        assert drop_ray(model, data, x, y) == pytest.approx(KIT_BOX.height_m), "a wall"


def test_a_kind_without_a_shape_is_refused():
    with pytest.raises(BadInput, match="no shape is known"):
        furniture_shape(FURNITURE["floor"])
