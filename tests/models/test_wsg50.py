"""The WSG 50 as a model: it holds a bottle from the side by friction alone, and lets go of it."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import PARTS, ObjectFigures
from cellwright.catalogue.wsg_50 import WSG_50
from cellwright.models import build
from cellwright.models.contact_settings import PLASTIC, make_collision
from cellwright.sim.physics import apply_options

STEP_S = 0.002
HEIGHT_M = 0.5  # of the tool centre point


def _spec() -> Any:
    """The gripper looking along +y, its jaws along x, the tool centre point over the origin."""
    spec = build(WSG_50)
    apply_options(spec, STEP_S, sleep=False)
    spec.body("tool").pos = [0, -WSG_50.tcp_xyz_m[2], HEIGHT_M]
    spec.body("tool").quat = [np.sqrt(0.5), -np.sqrt(0.5), 0, 0]
    return spec


def _with_object(name: str, off_xy_m: tuple[float, float], force_n: float) -> tuple[Any, Any]:
    """An object on a table that can be taken away, off the middle; its handle, if any, points away."""
    item = PARTS.get(name)
    assert isinstance(item, ObjectFigures)
    spec, foot_m = _spec(), HEIGHT_M - item.grasp_height_m
    turn = {"pos": [*off_xy_m, foot_m], "quat": [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]}
    part = spec.worldbody.add_frame(**turn).attach_body(build(item).body("part"), "object/", "")
    part.add_freejoint(name="object")
    table = spec.worldbody.add_body(name="table", mocap=True, pos=[0, 0, foot_m + item.bottom_m - 0.01])
    make_collision(table.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.2, 0.2, 0.01]), PLASTIC)
    model = spec.compile()
    model.actuator_forcerange[model.actuator("grip").id] = [-2 * force_n, 2 * force_n]
    data = mujoco.MjData(model)
    data.ctrl[0] = WSG_50.open_m
    mujoco.mj_step(model, data, 100)
    return model, data


def _pad_forces(model: Any, data: Any) -> dict[str, float]:
    total = {"pad_left": 0.0, "pad_right": 0.0}
    force = np.zeros(6)
    for k, contact in enumerate(data.contact):
        for geom in contact.geom:
            if model.geom(geom).name in total:
                mujoco.mj_contactForce(model, data, k, force)
                total[model.geom(geom).name] += force[0]
    return total


def test_it_is_as_long_and_as_wide_as_the_projects() -> None:
    model = _spec().compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.site("tcp").xpos == pytest.approx([0, 0, HEIGHT_M])
    assert data.site("tcp").xmat.reshape(3, 3)[:, 2] == pytest.approx([0, 1, 0])
    left, right = data.geom("pad_left").xpos, data.geom("pad_right").xpos
    assert left[0] - right[0] - WSG_50.pad_size_m[0] == pytest.approx(0.102)
    assert (left[1] + right[1]) / 2 == pytest.approx(0.1431 - 0.1507)
    assert sum(model.body_mass) == pytest.approx(1.2)
    box = model.geom("tool_hull_1").size
    assert 2 * box == pytest.approx([0.146, 0.050, 0.0717])
    assert data.ncon == 0


def test_it_closes_on_nothing_at_the_makers_speed() -> None:
    model = _spec().compile()
    data = mujoco.MjData(model)
    data.ctrl[0] = WSG_50.closed_m
    path = []
    for _ in range(300):
        mujoco.mj_step(model, data)
        path.append(data.qpos.copy())
        assert data.ncon == 0
    widths = np.array(path).sum(axis=1)
    assert (-np.diff(widths)).max() / STEP_S == pytest.approx(0.420, rel=0.05)
    assert STEP_S * np.argmax(widths < 2 * WSG_50.closed_m + 0.001) == pytest.approx(WSG_50.closing_time_s, rel=0.2)
    assert (np.diff(widths) < 1e-6).all()
    assert widths[-1] == pytest.approx(0.002, abs=4e-5)


@pytest.mark.parametrize("off_mm", [(0, 0), (4, 2), (-9, -4)])
def test_it_holds_the_bottle_from_the_side_and_lets_go(off_mm: tuple[float, float]) -> None:
    force_n = 30.0
    model, data = _with_object("bottle", (off_mm[0] / 1000, off_mm[1] / 1000), force_n)
    data.ctrl[0] = WSG_50.closed_m
    mujoco.mj_step(model, data, 400)
    data.mocap_pos[0, 2] -= 0.4
    mujoco.mj_step(model, data, 100)
    bottle = data.body("object/part")
    place, turn = bottle.xpos.copy(), bottle.xquat.copy()
    assert abs(place[0]) < 0.0005, "closing centres it between the jaws"
    assert abs(2 * np.hypot(*turn[1:3])) < 0.002, "it stands upright"
    mujoco.mj_step(model, data, 1000)
    assert np.abs(bottle.xpos - place).max() < 3e-5, "creep over two seconds"
    assert abs(turn @ bottle.xquat) > np.cos(0.0005)
    for force in _pad_forces(model, data).values():
        assert force == pytest.approx(force_n, rel=0.03)
    assert data.qpos[:2].sum() == pytest.approx(0.080, abs=0.001)

    height = float(bottle.xpos[2])
    data.ctrl[0] = WSG_50.open_m
    mujoco.mj_step(model, data, 100)
    assert data.ncon == 0
    assert height - bottle.xpos[2] == pytest.approx(0.5 * 9.81 * 0.2**2, rel=0.05)


@pytest.mark.parametrize("name", ["mug", "milk_carton", "cube"])
def test_it_holds_the_other_objects_too(name: str) -> None:
    model, data = _with_object(name, (0.001, 0.0), WSG_50.grip_force_n)
    data.ctrl[0] = WSG_50.closed_m
    mujoco.mj_step(model, data, 400)
    data.mocap_pos[0, 2] -= 0.4
    mujoco.mj_step(model, data, 100)
    place = data.body("object/part").xpos.copy()
    mujoco.mj_step(model, data, 500)
    assert np.abs(data.body("object/part").xpos - place).max() < 1e-4
    data.ctrl[0] = WSG_50.open_m
    mujoco.mj_step(model, data, 100)
    assert data.body("object/part").xpos[2] < place[2] - 0.15


def test_a_weak_grip_drops_the_can_where_coulomb_says() -> None:
    """Two pads of friction 0.8 carry ``1.6 F``: the knob of the 1.424 kg can slips below 8.7 N, holds above."""
    needed_n = 1.424 * 9.81 / 1.6
    for share, held in ((0.85, False), (1.2, True)):
        model, data = _with_object("coffee_can", (0.0, 0.0), WSG_50.grip_force_n)
        data.ctrl[0] = WSG_50.closed_m
        mujoco.mj_step(model, data, 400)
        model.actuator_forcerange[model.actuator("grip").id] = np.array([-2, 2]) * share * needed_n
        mujoco.mj_step(model, data, 100)
        before = float(data.body("object/part").xpos[2])
        data.mocap_pos[0, 2] -= 0.4
        mujoco.mj_step(model, data, 250)
        assert (before - data.body("object/part").xpos[2] < 0.001) == held
