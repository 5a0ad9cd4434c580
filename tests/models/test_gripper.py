"""The grippers as models: they hold a gear's peg by friction alone, and let go of it."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from cellwright.catalogue.grippers import APRS_FANUC_GRIPPER, GRIPPERS, GripperFigures
from cellwright.models.contact_settings import PLASTIC, make_collision
from cellwright.models.gripper import build_gripper

TOOLS = pytest.mark.parametrize("gripper", GRIPPERS.values(), ids=lambda g: g.name)
STEP_S = 0.002
FLANGE_Z_M = 0.5


def _spec(gripper: GripperFigures) -> Any:
    """The gripper over the origin, looking down."""
    spec = build_gripper(gripper)
    spec.body("tool").pos, spec.body("tool").quat = [0, 0, FLANGE_Z_M], [0, 1, 0, 0]
    spec.option.timestep = STEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100
    return spec


def _with_gear(gripper: GripperFigures) -> Any:
    """A 33 g gear with an 8 mm peg, 1 mm off the middle, on a table that can be taken away."""
    spec = _spec(gripper)
    z = FLANGE_Z_M - gripper.tcp_xyz_m[2]
    gear = spec.worldbody.add_body(name="gear", pos=[gripper.tcp_xyz_m[0] + 0.001, 0.001, z])
    gear.add_freejoint()
    gear.mass, gear.ipos, gear.inertia, gear.explicitinertial = 0.033, [0, 0, -0.012], [1.2e-5, 1.2e-5, 2e-5], True
    for name, radius, half, height in (("peg", 0.004, 0.008, 0.0), ("disc", 0.037, 0.003, -0.011)):
        geom = gear.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[radius, half, 0], pos=[0, 0, height])
        make_collision(geom, PLASTIC)
    table = spec.worldbody.add_body(name="table", mocap=True, pos=[0, 0, z - 0.024])
    make_collision(table.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.01]), PLASTIC)
    return spec.compile()


def _pad_forces(model: Any, data: Any) -> dict[str, float]:
    total = {"pad_left": 0.0, "pad_right": 0.0}
    force = np.zeros(6)
    for k, contact in enumerate(data.contact):
        for geom in contact.geom:
            if model.geom(geom).name in total:
                mujoco.mj_contactForce(model, data, k, force)
                total[model.geom(geom).name] += force[0]
    return total


@TOOLS
def test_tool_centre_lies_between_the_pads_and_looks_out(gripper: GripperFigures) -> None:
    model = _spec(gripper).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tcp = data.site("tcp")
    x, y, z = gripper.tcp_xyz_m
    assert tcp.xpos == pytest.approx([x, -y, FLANGE_Z_M - z])
    assert tcp.xmat.reshape(3, 3)[:, 2] == pytest.approx([0, 0, -1])
    left, right = data.geom("pad_left").xpos, data.geom("pad_right").xpos
    assert (left + right) / 2 == pytest.approx(tcp.xpos)
    assert left[0] - right[0] - gripper.pad_size_m[0] == pytest.approx(2 * gripper.open_m)
    assert sum(model.body_mass) == pytest.approx(gripper.mass_kg)


@TOOLS
def test_closes_on_nothing_in_its_time_without_overshoot(gripper: GripperFigures) -> None:
    model = _spec(gripper).compile()
    data = mujoco.MjData(model)
    assert data.qpos == pytest.approx([gripper.open_m] * 2)
    data.ctrl[0] = gripper.closed_m
    path = []
    for _ in range(500):
        mujoco.mj_step(model, data)
        path.append(data.qpos.copy())
        assert data.ncon == 0
    arrival_s = STEP_S * np.argmax(np.array(path)[:, 0] < gripper.closed_m + 0.0005)
    assert arrival_s == pytest.approx(gripper.closing_time_s, rel=0.2)
    assert (np.diff(np.array(path)[:, 0]) < 1e-6).all()
    assert data.qpos == pytest.approx([gripper.closed_m] * 2, abs=2e-5)


@TOOLS
def test_holds_a_peg_by_friction_and_lets_go(gripper: GripperFigures) -> None:
    model = _with_gear(gripper)
    data = mujoco.MjData(model)
    data.ctrl[0] = gripper.open_m
    mujoco.mj_step(model, data, 100)
    data.ctrl[0] = gripper.closed_m
    mujoco.mj_step(model, data, 250)
    data.mocap_pos[0, 2] -= 0.4
    mujoco.mj_step(model, data, 100)

    gear, fingers = data.body("gear"), [model.joint(f"finger_{side}").qposadr[0] for side in ("left", "right")]
    before, turn_before = gear.xpos.copy(), gear.xquat.copy()
    openings = []
    for _ in range(1000):
        mujoco.mj_step(model, data)
        openings.append(data.qpos[fingers].copy())
    assert np.abs(gear.xpos - before).max() < 5e-5
    assert abs(turn_before @ gear.xquat) > np.cos(0.001)
    assert np.ptp(openings, axis=0).max() < 2e-6
    for force in _pad_forces(model, data).values():
        assert force == pytest.approx(gripper.grip_force_n, rel=0.03)

    height = float(gear.xpos[2])
    data.ctrl[0] = gripper.open_m
    mujoco.mj_step(model, data, 100)
    assert data.ncon == 0
    assert height - gear.xpos[2] == pytest.approx(0.5 * 9.81 * 0.2**2, rel=0.05)


def test_a_weak_grip_drops_the_gear_where_coulomb_says() -> None:
    """Two pads of friction 0.8 carry ``2 * 0.8 * F``: more than the weight above 0.202 N, less below."""
    for share, held in ((0.85, False), (1.15, True)):
        model = _with_gear(APRS_FANUC_GRIPPER)
        data = mujoco.MjData(model)
        data.ctrl[0] = APRS_FANUC_GRIPPER.closed_m
        mujoco.mj_step(model, data, 250)
        grip = model.actuator("grip").id
        model.actuator_forcerange[grip] = np.array([-2, 2]) * share * 0.033 * 9.81 / (2 * 0.8)
        mujoco.mj_step(model, data, 100)
        data.mocap_pos[0, 2] -= 0.4
        before = float(data.body("gear").xpos[2])
        mujoco.mj_step(model, data, 250)
        assert (before - data.body("gear").xpos[2] < 0.001) == held


@TOOLS
def test_fingers_fit_between_neighbouring_gears(gripper: GripperFigures) -> None:
    """Pegs stand 56 mm apart in the small-gear tray: the open hand must not reach the next one."""
    outer_m = gripper.open_m + gripper.pad_size_m[0] + gripper.finger_size_m[0]
    assert outer_m < 0.056 - 0.004
    assert gripper.finger_size_m[1] <= 0.010
    assert gripper.pad_size_m[2] >= 0.014
