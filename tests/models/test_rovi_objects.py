"""The ROVI workcell's objects as models: real inertias, hollow where they are hollow, at rest when they stand."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from cellwright.catalogue.objects import ObjectFigures
from cellwright.catalogue.rovi_objects import BOTTLE, COFFEE_CAN, CRATE, CUBE, MILK_CARTON, MUG, ROVI_OBJECTS
from cellwright.core.errors import BadInput
from cellwright.models import build
from cellwright.models.contact_settings import METAL, PLASTIC, GeomGroup, make_collision
from cellwright.shapes.objects import convex_runs, object_shape
from cellwright.sim.physics import apply_options

OBJECTS = pytest.mark.parametrize("item", ROVI_OBJECTS.values(), ids=lambda item: item.name)


def _on_table(item: ObjectFigures, ball: tuple[float, float, float] | None = None, yaw_rad: float = 0.3) -> Any:
    """The object standing on a table, perhaps with a 10 mm ball over it."""
    spec = mujoco.MjSpec()
    apply_options(spec, 0.002)
    make_collision(spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 0.05], pos=[0, 0, -0.05]), METAL)
    quat = [np.cos(yaw_rad / 2), 0, 0, np.sin(yaw_rad / 2)]
    part = spec.worldbody.add_frame(pos=[0, 0, -item.bottom_m], quat=quat).attach_body(
        build(item).body("part"), "it/", ""
    )
    part.add_freejoint(name="part")
    if ball is not None:
        body = spec.worldbody.add_body(name="ball", pos=ball)
        body.add_freejoint(name="ball")
        make_collision(body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.010, 0, 0], mass=0.005), PLASTIC)
    return spec.compile()


@OBJECTS
def test_inertia_is_that_of_the_solid(item: ObjectFigures) -> None:
    model = build(item).compile()
    moments = np.sort(model.body("part").inertia)
    assert model.body("part").mass[0] == pytest.approx(item.mass_kg)
    assert moments[0] > 0
    assert moments[2] < moments[0] + moments[1], "no body is harder to turn than its other two axes together"
    spread = item.mass_kg * (item.radius_m**2 + item.height_m**2)
    assert moments[2] < spread, "all mass lies inside the outline"


@pytest.mark.parametrize(
    ("item", "com_m", "moments"),
    [
        (MILK_CARTON, 0.1019, (3.84e-3, 3.83e-3, 8.4e-4)),
        (MUG, 0.0447, (4.69e-4, 4.88e-4, 4.52e-4)),
        (COFFEE_CAN, 0.0802, None),
        (BOTTLE, 0.0864, None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_it_balances_where_the_projects_mesh_does(item: ObjectFigures, com_m: float, moments: Any) -> None:
    """The project's inertias of carton and mug (its own script's) are right; bottle and can it has wrong."""
    centre, inertia = object_shape(item).solid.inertia(item.mass_kg)
    assert centre[2] == pytest.approx(com_m, abs=0.002)
    if moments is not None:
        assert np.diag(inertia) == pytest.approx(moments, rel=0.1)


def test_the_bottle_turns_like_a_bottle() -> None:
    """Seven to twenty times easier than in the project."""
    _, inertia = object_shape(BOTTLE).solid.inertia(BOTTLE.mass_kg)
    cylinder = BOTTLE.mass_kg * 0.04**2 / 2
    assert inertia[2, 2] == pytest.approx(cylinder, rel=0.1)
    assert 1.60e-3 / inertia[2, 2] > 15
    assert 2.44e-3 / inertia[0, 0] > 6


@OBJECTS
def test_it_stands_still_and_falls_asleep(item: ObjectFigures) -> None:
    model = _on_table(item)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    start = data.qpos.copy()
    mujoco.mj_step(model, data, 750)
    assert np.abs(data.qpos - start).max() < 1e-4
    assert data.tree_asleep[model.body_treeid[model.body("it/part").id]] >= 0
    assert data.ncon <= 16


@OBJECTS
def test_it_stays_up_when_nudged_and_slides_by_its_friction(item: ObjectFigures) -> None:
    """Pushed at 0.3 m/s it stops after ``v^2 / (2 mu g)``, upright."""
    model = _on_table(item)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 50)
    start = data.qpos[:2].copy()
    data.qvel[0] = 0.3
    mujoco.mj_step(model, data, 500)
    assert np.abs(data.qvel).max() < 1e-3
    assert data.qpos[0] - start[0] == pytest.approx(0.3**2 / (2 * item.friction * 9.81), rel=0.15)
    assert 2 * np.hypot(*data.qpos[4:6]) < 0.01


def _rays(model: Any, data: Any, starts: Any, ways: Any, group: GeomGroup) -> Any:
    groups = np.zeros(6, np.uint8)
    groups[group] = 1
    hit = np.zeros(1, np.int32)
    return np.array([mujoco.mj_ray(model, data, s, w, groups, 1, -1, hit) for s, w in zip(starts, ways, strict=True)])


@OBJECTS
def test_what_is_touched_is_what_is_seen(item: ObjectFigures) -> None:
    """Rays from all round and from above meet both skins at the same place."""
    model = build(item).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rng, middle = np.random.default_rng(4), np.array([0, 0, item.bottom_m + item.height_m / 2])
    angles, heights = rng.uniform(0, 2 * np.pi, 300), rng.uniform(-0.48, 0.48, 300) * item.height_m
    out = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(300)])
    starts = middle + out + np.column_stack([np.zeros((300, 2)), heights])
    spots = rng.uniform(-1, 1, (300, 2)) * item.radius_m * 0.9
    starts = np.concatenate([starts, np.column_stack([spots, np.full(300, 1.0)])])
    ways = np.concatenate([-out, np.tile([0.0, 0.0, -1.0], (300, 1))])
    seen = _rays(model, data, starts, ways, GeomGroup.VISUAL)
    touched = _rays(model, data, starts, ways, GeomGroup.COLLISION)
    both = (seen > 0) & (touched > 0)
    assert both.sum() > 350
    assert (both == ((seen > 0) | (touched > 0))).mean() > 0.98, "the rest graze an edge"
    apart = np.abs(seen - touched)[both]
    assert np.quantile(apart, 0.97) < 0.002


@pytest.mark.parametrize("item", [MUG, CRATE], ids=lambda item: item.name)
def test_a_ball_dropped_into_it_stays_inside(item: ObjectFigures) -> None:
    model = _on_table(item, (0.012, -0.008, item.height_m + 0.04))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    inside = data.body("it/part").xmat.reshape(3, 3).T @ (data.body("ball").xpos - data.body("it/part").xpos)
    assert inside[2] == pytest.approx(0.004 + 0.010, abs=0.001), "it lies on the floor, not on the rim"
    assert np.abs(data.body("it/part").xpos[:2]).max() < 0.01


@pytest.mark.parametrize("item", [BOTTLE, MILK_CARTON, CUBE, COFFEE_CAN], ids=lambda item: item.name)
def test_a_ball_dropped_on_a_filled_object_does_not_get_in(item: ObjectFigures) -> None:
    model = _on_table(item, (0.003, 0.011, item.height_m + 0.02))
    data = mujoco.MjData(model)
    for _ in range(40):
        mujoco.mj_step(model, data, 20)
        inside = data.body("it/part").xmat.reshape(3, 3).T @ (data.body("ball").xpos - data.body("it/part").xpos)
        assert not _is_within(item, inside), inside


def _is_within(item: ObjectFigures, point: Any) -> bool:
    """Whether a point is inside the solid: seen from there, its skin covers the whole sphere, once or more."""
    solid = object_shape(item).solid
    a, b, c = np.moveaxis(solid.vertices[solid.faces] - point, 1, 0)
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("ij,ij->i", p, q) for p, q in ((a, b), (b, c), (c, a)))
    angle = 2 * np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb).sum()
    return bool(angle > 2 * np.pi)


def test_the_measure_of_inside_works() -> None:
    assert _is_within(BOTTLE, np.array([0.01, 0.0, 0.1]))
    assert not _is_within(BOTTLE, np.array([0.041, 0.0, 0.1]))
    assert not _is_within(MUG, np.array([0.01, 0.0, 0.05]))
    assert _is_within(MUG, np.array([0.0, 0.0455, 0.05]))


def test_the_mug_hangs_by_its_handle() -> None:
    """A rod through the handle carries the mug: there is a hole between handle and wall."""
    spec = mujoco.MjSpec()
    apply_options(spec, 0.002)
    rod = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.002, 0.1, 0.002], pos=[0.0535, 0, 0.066])
    make_collision(rod, METAL)
    part = spec.worldbody.add_frame().attach_body(build(MUG).body("part"), "it/", "")
    part.add_freejoint(name="part")
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0
    mujoco.mj_step(model, data, 500)
    assert data.body("it/part").xpos[2] > -0.15


def test_a_profile_is_cut_where_it_turns_inwards() -> None:
    runs = convex_runs([(1.0, 0.0), (1.0, 1.0), (0.5, 2.0), (0.6, 2.5), (0.6, 3.0)])
    assert runs == [[(1.0, 0.0), (1.0, 1.0), (0.5, 2.0)], [(0.5, 2.0), (0.6, 2.5), (0.6, 3.0)]]
    assert [len(convex_runs(list(item.profile_rz_m))) for item in (BOTTLE, MUG)] == [2, 1]


def test_a_kind_without_a_shape_is_refused() -> None:
    with pytest.raises(BadInput, match="no shape is known for objects of kind str"):
        object_shape("bottle")  # type: ignore[arg-type]
