"""The Robotiq 2F-85 as a model: its linkages stay closed, its pads stay parallel, and it holds by friction alone."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import PARTS, ObjectFigures
from cellwright.catalogue.robotiq_2f_85 import ROBOTIQ_2F_85
from cellwright.models import build
from cellwright.models.contact_settings import PLASTIC, make_collision
from cellwright.sim.physics import apply_options

STEP_S = 0.002
HEIGHT_M = 0.5


def _compiled() -> tuple[Any, Any]:
    spec = build(ROBOTIQ_2F_85)
    apply_options(spec, STEP_S, sleep=False)
    model = spec.compile()
    return model, mujoco.MjData(model)


def _joint(data: Any, name: str) -> float:
    return float(data.joint(name).qpos[0])


def test_its_figures_are_those_of_the_makers_linkage() -> None:
    figures = ROBOTIQ_2F_85
    assert figures.mass_kg == pytest.approx(0.921, abs=0.001)
    assert figures.pad_xz_m(0.0)[0] == pytest.approx(0.0425)
    assert figures.angle_rad(figures.closed_m) == pytest.approx(0.7929)
    assert figures.pad_lag_m(figures.closed_m) == pytest.approx(0.0)
    assert figures.pad_lag_m(figures.open_m) == pytest.approx(0.0136, abs=1e-4)
    for half_m in np.linspace(figures.closed_m, figures.open_m, 7):
        assert figures.pad_xz_m(figures.angle_rad(half_m))[0] == pytest.approx(half_m)


def test_the_loops_stay_closed_and_the_pads_parallel_while_it_closes() -> None:
    model, data = _compiled()
    assert sum(model.eq_type == mujoco.mjtEq.mjEQ_CONNECT) == 4
    assert model.nu == 1
    data.ctrl[0] = ROBOTIQ_2F_85.closed_m
    widths = []
    for _ in range(400):
        mujoco.mj_step(model, data)
        assert data.ncon == 0
        half_m = _joint(data, "finger_left")
        widths.append(half_m + _joint(data, "finger_right"))
        for name, position in ROBOTIQ_2F_85.joints_at(half_m).items():
            if name.endswith("left") and name != "finger_left":
                assert _joint(data, name) == pytest.approx(position, abs=5e-5), name
        for link in ("knuckle", "inner"):
            gap = data.site(f"{link}_pin_right").xpos - data.site(f"{link}_bush_right").xpos
            assert np.abs(gap).max() < 1e-5
    assert (-np.diff(widths)).max() / STEP_S == pytest.approx(0.150, rel=0.03)
    assert widths[-1] == pytest.approx(2 * ROBOTIQ_2F_85.closed_m, abs=4e-5)
    assert data.geom("pad_left").xpos[2] == pytest.approx(ROBOTIQ_2F_85.tcp_xyz_m[2], abs=2e-5)


def test_knuckle_torque_and_pad_force_are_one_freedom() -> None:
    """A torque at the knuckles holds the fingers against the drive where virtual work says so."""
    model, data = _compiled()
    half_m, force_n = 0.030, 20.0
    data.ctrl[0] = half_m
    mujoco.mj_step(model, data, 500)
    before = _joint(data, "finger_left")
    angle = ROBOTIQ_2F_85.angle_rad(half_m)
    rate = (ROBOTIQ_2F_85.pad_xz_m(angle + 1e-6)[0] - ROBOTIQ_2F_85.pad_xz_m(angle - 1e-6)[0]) / 2e-6
    for side in ("left", "right"):
        data.qfrc_applied[model.joint(f"knuckle_{side}").dofadr[0]] = force_n * rate
    mujoco.mj_step(model, data, 500)
    assert _joint(data, "finger_left") - before == pytest.approx(2 * force_n / ROBOTIQ_2F_85.stiffness_npm, rel=0.03)


def _with_object(name: str, off_m: float) -> tuple[Any, Any, float]:
    """An object on a table that can be taken away; the gripper looks along +y, its pads meet it at their middle."""
    item = PARTS.get(name)
    assert isinstance(item, ObjectFigures)
    spec, foot_m = build(ROBOTIQ_2F_85), HEIGHT_M - item.grasp_height_m
    apply_options(spec, STEP_S, sleep=False)
    lag_m = ROBOTIQ_2F_85.pad_lag_m(item.grasp_width_m / 2)
    spec.body("tool").pos = [0, -ROBOTIQ_2F_85.tcp_xyz_m[2] + lag_m, HEIGHT_M]
    spec.body("tool").quat = [np.sqrt(0.5), -np.sqrt(0.5), 0, 0]
    turn = {"pos": [off_m, 0, foot_m], "quat": [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]}
    part = spec.worldbody.add_frame(**turn).attach_body(build(item).body("part"), "object/", "")
    part.add_freejoint(name="object")
    table = spec.worldbody.add_body(name="table", mocap=True, pos=[0, 0, foot_m + item.bottom_m - 0.01])
    make_collision(table.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.2, 0.2, 0.01]), PLASTIC)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.ctrl[0] = ROBOTIQ_2F_85.open_m
    mujoco.mj_step(model, data, 50)
    return model, data, item.mass_kg


@pytest.mark.parametrize(("name", "off_m"), [("cube", 0.004), ("mug", -0.001)])
def test_it_holds_things_and_lets_go(name: str, off_m: float) -> None:
    model, data, _ = _with_object(name, off_m)
    data.ctrl[0] = ROBOTIQ_2F_85.closed_m
    mujoco.mj_step(model, data, 500)
    data.mocap_pos[0, 2] -= 0.4
    mujoco.mj_step(model, data, 100)
    place = data.body("object/part").xpos.copy()
    mujoco.mj_step(model, data, 500)
    assert np.abs(data.body("object/part").xpos - place).max() < 1e-4, "creep over a second"
    data.ctrl[0] = ROBOTIQ_2F_85.open_m
    mujoco.mj_step(model, data, 150)
    assert data.body("object/part").xpos[2] < place[2] - 0.15


def test_a_weak_grip_drops_the_cube_where_coulomb_says() -> None:
    for share, held in ((0.85, False), (1.2, True)):
        model, data, mass_kg = _with_object("cube", 0.0)
        data.ctrl[0] = ROBOTIQ_2F_85.closed_m
        mujoco.mj_step(model, data, 500)
        model.actuator_forcerange[0] = np.array([-2, 2]) * share * mass_kg * 9.81 / 1.6
        mujoco.mj_step(model, data, 100)
        before = float(data.body("object/part").xpos[2])
        data.mocap_pos[0, 2] -= 0.4
        mujoco.mj_step(model, data, 250)
        assert (before - data.body("object/part").xpos[2] < 0.001) == held
