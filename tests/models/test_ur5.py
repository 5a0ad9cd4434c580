"""The UR5 as a model: kinematics against the paper's table, servos against gravity and speed, hulls round its looks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pytest

from cellwright.catalogue.ur5 import UR5
from cellwright.core.pose import Pose
from cellwright.models.arm import build_arm
from cellwright.models.contact_settings import GeomGroup
from cellwright.motion import ArmKinematics
from cellwright.sim.physics import apply_options

Array = npt.NDArray[np.float64]
STEP_S = 0.002
LIMIT = np.array([joint.position_limits_rad[1] for joint in UR5.joints])
EFFORT = np.array([joint.effort_limit_nm for joint in UR5.joints])
ROVI_HOME_RAD = [1.57, -1.57, 1.57, 1.57, 1.57, 0.0]


def _model(load_kg: float = 0.0, load_xyz_m: tuple[float, ...] = (0.0, 0.0, 0.1)) -> Any:
    spec = build_arm(UR5)
    apply_options(spec, STEP_S, sleep=False)
    if load_kg:
        load = spec.body("flange").add_body(name="load", pos=load_xyz_m)
        load.mass, load.ipos, load.inertia = load_kg, [0.0, 0.0, 0.0], [0.001 * load_kg] * 3
        load.explicitinertial = True
        load.gravcomp = 1.0
    return spec.compile()


def _flange(model: Any, data: Any, q: npt.ArrayLike) -> Pose:
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    site = data.site("flange")
    return Pose.from_matrix(np.column_stack([site.xmat.reshape(3, 3), site.xpos]))


def _dh_pose(q: Array) -> Pose:
    """The paper's Denavit-Hartenberg rows, in the maker's frame `base`: `base_link` turned by half a turn."""
    h = np.pi / 2
    rows = [(q[0], 0.089159, 0, h), (q[1], 0, -0.425, 0), (q[2], 0, -0.39225, 0)]
    rows += [(q[3], 0.10915, 0, h), (q[4], 0.09465, 0, -h), (q[5], 0.0823, 0, 0)]
    pose = Pose.from_xyz_rpy((0, 0, 0), (0, 0, np.pi))
    for theta, d, a, alpha in rows:
        pose = pose @ Pose.from_xyz_rpy((0, 0, d), (0, 0, theta)) @ Pose.from_xyz_rpy((a, 0, 0), (alpha, 0, 0))
    return pose


@pytest.mark.parametrize(
    ("joints", "expected"),
    [
        ([0] * 6, (0.81725, 0.19145, -0.005491)),
        ([0.3, -1.2, 1.4, -0.9, -1.3, 0.5], (0.475931, 0.284520, 0.283868)),
    ],
)
def test_flange_position_equals_the_reference(joints: list[float], expected: tuple[float, ...]) -> None:
    model = _model()
    assert _flange(model, mujoco.MjData(model), joints).position == pytest.approx(expected, abs=1e-6)


def test_flange_pose_equals_the_denavit_hartenberg_rows() -> None:
    model = _model()
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(-LIMIT, LIMIT)
        assert _flange(model, data, q).is_close(_dh_pose(q), tolerance_m=1e-9, tolerance_rad=1e-7)


def test_the_papers_home_comes_out_in_the_base_link_convention() -> None:
    """At (0.40, 0.55, 0.74), yaw 0; in the maker's `base`, half a turn on, it would be on the other side."""
    model = _model()
    flange = _flange(model, mujoco.MjData(model), ROVI_HOME_RAD)
    pose = Pose.from_xyz_rpy((0.40, 0.55, 0.74)) @ flange
    assert pose.position == pytest.approx([0.291, 0.848, 1.172], abs=5e-4)
    assert pose.rotation_matrix[:, 2] == pytest.approx([0, 0, -1], abs=0.003)
    turned = Pose.from_xyz_rpy((0.40, 0.55, 0.74), (0, 0, np.pi)) @ flange
    assert np.linalg.norm(turned.position - [0.291, 0.848, 1.172]) > 0.5


def test_inverse_kinematics_finds_every_branch_back() -> None:
    arm, rng = ArmKinematics(UR5), np.random.default_rng(5)
    for _ in range(20):
        q = rng.uniform(-np.pi, np.pi, 6)
        solutions = arm.inverse(arm.forward(q), q)
        assert np.abs(solutions[0] - q).max() < 1e-6
        assert len({tuple(np.round(np.cos(s), 6)) for s in solutions}) >= 2


def test_home_looks_down_and_touches_nothing() -> None:
    model = _model()
    data = mujoco.MjData(model)
    pose = _flange(model, data, UR5.home_rad)
    assert pose.rotation_matrix[:, 2] == pytest.approx([0, 0, -1], abs=1e-9)
    assert data.ncon == 0
    for q in (np.zeros(6), ROVI_HOME_RAD):
        _flange(model, data, q)
        assert data.ncon == 0


def test_holds_random_poses_against_gravity() -> None:
    model = _model(load_kg=1.2)
    data, rng = mujoco.MjData(model), np.random.default_rng(11)
    for _ in range(3):
        mujoco.mj_resetData(model, data)
        while True:
            q = rng.uniform(-0.5 * LIMIT, 0.5 * LIMIT)
            _flange(model, data, q)
            if data.ncon == 0:
                break
        data.ctrl[model.actuator_ctrladr] = q
        mujoco.mj_step(model, data, 500)
        assert np.abs(data.qpos - q).max() < 2e-4
        assert np.abs(data.qvel).max() < 1e-4
    weight_nm = data.qfrc_bias.copy()
    assert np.abs(weight_nm).max() > 5.0
    assert data.qfrc_actuator == pytest.approx(weight_nm, abs=0.01)
    model.body_gravcomp[:] = 0.0
    mujoco.mj_step(model, data, 200)
    assert np.abs(data.qpos - q).max() > 1e-4, "the drives carry the arm, nothing else does"


def test_effort_limits_carry_the_rated_payload() -> None:
    """Hold the payload and accelerate it at half the limit, a fifth to spare: the rule of the accelerations."""
    model = _model(UR5.payload_kg, (0.1, 0.0, 0.1))
    model.body_gravcomp[:] = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(300):
        data.qpos[:] = rng.uniform(-LIMIT, LIMIT)
        for k, joint in enumerate(UR5.joints):
            data.qacc[:] = 0.0
            data.qacc[k] = rng.choice([-0.5, 0.5]) * joint.acceleration_limit_radps2
            mujoco.mj_inverse(model, data)
            assert 1.2 * abs(data.qfrc_inverse[k]) <= EFFORT[k], joint.name


def test_driven_inertias_are_the_largest_of_the_mass_matrix() -> None:
    model = _model(load_kg=1.0)
    data, rng = mujoco.MjData(model), np.random.default_rng(2)
    largest, matrix = np.zeros(6), np.zeros((6, 6))
    for _ in range(500):
        data.qpos[:] = rng.uniform(-np.pi, np.pi, 6)
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, matrix)
        largest = np.maximum(largest, np.diag(matrix) - model.dof_armature)
    assert largest == pytest.approx([joint.driven_inertia_kgm2 for joint in UR5.joints], rel=0.12)


def test_follows_a_fast_move_within_its_torque() -> None:
    model = _model(load_kg=1.2)
    data = mujoco.MjData(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    start, goal = np.array(ROVI_HOME_RAD), np.array([-0.8, -0.9, 1.9, 0.3, 2.4, 1.5])
    duration_s = 2.2
    position, velocity = model.actuator_ctrladr, model.actuator_ctrladr + 1
    data.qpos[:] = data.ctrl[position] = start
    fastest = 0.0
    for k in range(1, int(duration_s / STEP_S) + 200):
        s = min(k * STEP_S / duration_s, 1.0)
        q = start + (goal - start) * s**3 * (10 - 15 * s + 6 * s * s)
        v = (goal - start) * 30 * s * s * (1 - s) ** 2 / duration_s
        data.ctrl[position], data.ctrl[velocity] = q, v
        mujoco.mj_step(model, data)
        assert np.abs(data.qpos - q).max() < 0.004
        assert (np.abs(data.qfrc_actuator) <= EFFORT + 1e-9).all()
        fastest = max(fastest, np.abs(data.qvel).max())
    assert fastest > 0.6 * np.pi
    assert np.abs(data.qpos - goal).max() < 5e-5


def test_wrist_sensor_reads_tool_and_part_alone() -> None:
    model = _model(1.5, (0.02, 0.0, 0.1))
    data = mujoco.MjData(model)
    data.qpos[:] = data.ctrl[model.actuator_ctrladr] = UR5.home_rad
    mujoco.mj_step(model, data, 500)
    assert data.sensor("wrist_force").data == pytest.approx([0, 0, -1.5 * 9.81], abs=0.01)
    assert data.sensor("wrist_torque").data == pytest.approx([0, 0.02 * 1.5 * 9.81, 0], abs=0.001)


def test_neighbours_never_touch_and_few_others_do() -> None:
    model = _model()
    data, rng = mujoco.MjData(model), np.random.default_rng(7)
    neighbours = {frozenset(pair) for pair in pairwise(link.name for link in UR5.links)}
    touching: dict[frozenset[str], int] = {}
    for _ in range(400):
        data.qpos[:] = rng.uniform(-np.pi, np.pi, 6)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        for pair in {frozenset(model.body(model.geom_bodyid[g]).name for g in c.geom) for c in data.contact}:
            touching[pair] = touching.get(pair, 0) + 1
    assert not neighbours & set(touching)
    assert touching, "a folded arm does touch itself"
    assert all(count < 0.2 * 400 for count in touching.values()), touching


def test_hulls_are_few_and_wrap_what_is_seen() -> None:
    model = _model()
    data = mujoco.MjData(model)
    _flange(model, data, ROVI_HOME_RAD)
    hulls = [g for g in range(model.ngeom) if model.geom_contype[g]]
    seen = [g for g in range(model.ngeom) if model.geom_group[g] == GeomGroup.VISUAL]
    assert len(hulls) <= 14
    assert {int(model.geom_type[g]) for g in hulls} == {mujoco.mjtGeom.mjGEOM_CYLINDER}, "never a capsule"
    assert model.nmeshface < 30_000
    for geom in seen:
        if model.geom(geom).name == "base_black":
            continue  # the cable, which is not solid
        mesh = model.geom_dataid[geom]
        start = model.mesh_vertadr[mesh]
        points = model.mesh_vert[start : start + model.mesh_vertnum[mesh]] @ data.geom_xmat[geom].reshape(3, 3).T
        points = points + data.geom_xpos[geom]
        outside = np.full(len(points), np.inf)
        for hull in hulls:
            local = (points - data.geom_xpos[hull]) @ data.geom_xmat[hull].reshape(3, 3)
            radial = np.maximum(np.hypot(local[:, 0], local[:, 1]) - model.geom_size[hull][0], 0)
            outside = np.minimum(
                outside, np.hypot(radial, np.maximum(np.abs(local[:, 2]) - model.geom_size[hull][1], 0))
            )
        assert outside.max() < 0.006, model.geom(geom).name
