"""The arms as models: kinematics against the reference, servos against gravity and speed, no self-contact."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pytest
import ruckig

from cellwright.catalogue.arms import ArmFigures
from cellwright.catalogue.lr_mate_200id import LR_MATE_200ID
from cellwright.catalogue.sia20f import SIA20F
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.models.arm import ARM_SHAPES, build_arm
from cellwright.models.contact_settings import GeomGroup

ARMS = pytest.mark.parametrize("arm", [LR_MATE_200ID, SIA20F], ids=lambda a: a.name)
Array = npt.NDArray[np.float64]
STEP_S = 0.002


def _model(arm: ArmFigures, load_kg: float = 0.0, load_xyz_m: tuple[float, ...] = (0.0, 0.0, 0.1)) -> Any:
    spec = build_arm(arm)
    spec.option.timestep = STEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100
    if load_kg:
        load = spec.body("flange").add_body(name="load", pos=load_xyz_m)
        load.mass, load.ipos, load.inertia = load_kg, [0.0, 0.0, 0.0], [0.001 * load_kg] * 3
        load.explicitinertial = True
        load.gravcomp = 1.0  # the controller is told the tool's weight
    return spec.compile()


def _limits(arm: ArmFigures) -> tuple[Array, Array]:
    limits = np.array([joint.position_limits_rad for joint in arm.joints])
    return limits[:, 0], limits[:, 1]


def _dh_pose(rows: list[tuple[float, float, float, float]], base_z_m: float) -> Pose:
    """The end of a chain of standard Denavit-Hartenberg rows theta, d, a, alpha."""
    pose = Pose.from_xyz_rpy((0, 0, base_z_m))
    for theta, d, a, alpha in rows:
        pose = pose @ Pose.from_xyz_rpy((0, 0, d), (0, 0, theta)) @ Pose.from_xyz_rpy((a, 0, 0), (alpha, 0, 0))
    return pose


def _lr_mate_dh(q: Array) -> Pose:
    h = np.pi / 2
    rows = [(q[0], 0, 0.05, -h), (q[1] - h, 0, 0.33, np.pi), (q[2], 0, 0.035, h)]
    rows += [(-q[3], 0.335, 0, h), (-q[4], 0, 0, -h), (-q[5], 0.08, 0, 0)]
    return _dh_pose(rows, 0.33)


def _sia20_dh(q: Array) -> Pose:
    h = np.pi / 2
    rows = [(q[0], 0.41, 0, -h), (q[1], 0, 0, h), (q[2], 0.49, 0, -h), (-q[3], 0, 0, h)]
    rows += [(-q[4], 0.42, 0, -h), (-q[5], 0, 0, h), (-q[6] + np.pi, 0.18, 0, 0)]
    return _dh_pose(rows, 0.0)


def _flange(model: Any, data: Any, q: npt.ArrayLike) -> Pose:
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    site = data.site("flange")
    return Pose.from_matrix(np.column_stack([site.xmat.reshape(3, 3), site.xpos]))


@pytest.mark.parametrize(
    ("arm", "joints", "expected"),
    [
        (LR_MATE_200ID, [0] * 6, (0.465, 0, 0.695)),
        (LR_MATE_200ID, [0.3, 0.4, -0.5, 0.6, -0.7, 0.8], (0.408770, 0.095987, 0.318922)),
        (SIA20F, [0] * 7, (0, 0, 1.5)),
        (SIA20F, [0.3, 0.4, -0.5, 0.6, -0.7, 0.8, 0.2], (-0.040437, 0.106529, 1.373198)),
    ],
)
def test_flange_position_equals_the_reference(arm: ArmFigures, joints: list[float], expected: Any) -> None:
    model = _model(arm)
    pose = _flange(model, mujoco.MjData(model), joints)
    assert pose.position == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("arm", "dh"), [(LR_MATE_200ID, _lr_mate_dh), (SIA20F, _sia20_dh)])
def test_flange_pose_equals_the_denavit_hartenberg_rows(arm: ArmFigures, dh: Any) -> None:
    model = _model(arm)
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(*_limits(arm))
        assert _flange(model, data, q).is_close(dh(q), tolerance_m=1e-9, tolerance_rad=1e-7)


@ARMS
def test_home_looks_down_and_touches_nothing(arm: ArmFigures) -> None:
    model = _model(arm)
    data = mujoco.MjData(model)
    pose = _flange(model, data, arm.home_rad)
    assert pose.rotation_matrix[:, 2] == pytest.approx([0, 0, -1], abs=1e-9)
    assert data.ncon == 0
    _flange(model, data, np.zeros(len(arm.joints)))
    assert data.ncon == 0


@ARMS
def test_holds_random_poses_against_gravity(arm: ArmFigures) -> None:
    model = _model(arm)
    data, rng = mujoco.MjData(model), np.random.default_rng(11)
    low, high = _limits(arm)
    for _ in range(3):
        mujoco.mj_resetData(model, data)
        while True:
            q = rng.uniform(0.7 * low, 0.7 * high)
            _flange(model, data, q)
            if data.ncon == 0:
                break
        data.ctrl[model.actuator_ctrladr] = q
        mujoco.mj_step(model, data, 500)
        assert np.abs(data.qpos - q).max() < 2e-4
        assert np.abs(data.qvel).max() < 1e-4


@ARMS
def test_weight_loads_the_drives(arm: ArmFigures) -> None:
    """Compensation is the drives' work, not buoyancy: without it the arm falls, with it the drives carry it."""
    model = _model(arm)
    data = mujoco.MjData(model)
    _flange(model, data, arm.home_rad)
    data.ctrl[model.actuator_ctrladr] = arm.home_rad
    mujoco.mj_step(model, data, 100)
    needed = data.qfrc_bias.copy()
    assert np.abs(needed).max() > 5.0
    assert data.qfrc_actuator == pytest.approx(needed, abs=1e-6)
    model.body_gravcomp[:] = 0.0
    mujoco.mj_step(model, data, 100)
    assert np.abs(data.qpos - arm.home_rad).max() > 1e-4


def _trajectory(arm: ArmFigures, start: Array, goal: Array, speed: float) -> Any:
    order = ruckig.InputParameter(len(start))
    order.current_position, order.target_position = start, goal
    order.max_velocity = [speed * joint.velocity_limit_radps for joint in arm.joints]
    order.max_acceleration = [joint.acceleration_limit_radps2 for joint in arm.joints]
    order.max_jerk = [joint.jerk_limit_radps3 for joint in arm.joints]
    trajectory = ruckig.Trajectory(len(start))
    ruckig.Ruckig(len(start)).calculate(order, trajectory)
    return trajectory


@pytest.mark.parametrize(("arm", "following_rad"), [(LR_MATE_200ID, 0.010), (SIA20F, 0.003)])
def test_follows_fast_moves_within_its_torque(arm: ArmFigures, following_rad: float) -> None:
    model = _model(arm, load_kg=1.0)
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    low, high = _limits(arm)
    position, velocity = model.actuator_ctrladr, model.actuator_ctrladr + 1
    effort = np.array([joint.effort_limit_nm for joint in arm.joints])
    fastest = np.zeros(len(arm.joints))
    for _ in range(6):
        start, goal = rng.uniform(0.8 * low, 0.8 * high), rng.uniform(0.8 * low, 0.8 * high)
        trajectory = _trajectory(arm, start, goal, 0.8)
        mujoco.mj_resetData(model, data)
        data.qpos[:] = data.ctrl[position] = start
        for k in range(1, int(trajectory.duration / STEP_S) + 150):
            q, v, _ = trajectory.at_time(min(k * STEP_S, trajectory.duration))
            data.ctrl[position], data.ctrl[velocity] = q, v
            mujoco.mj_step(model, data)
            assert np.abs(data.qpos - q).max() < following_rad
            assert (np.abs(data.qfrc_actuator) <= effort + 1e-9).all()
            fastest = np.maximum(fastest, np.abs(data.qvel))
        assert np.abs(data.qpos - goal).max() < 5e-5
    limits = np.array([joint.velocity_limit_radps for joint in arm.joints])
    assert (fastest / limits).max() > 0.75


@ARMS
def test_a_blocked_joint_pushes_with_no_more_than_its_effort(arm: ArmFigures) -> None:
    model = _model(arm)
    data = mujoco.MjData(model)
    data.qpos[:] = arm.home_rad
    data.ctrl[model.actuator_ctrladr] = np.array(arm.home_rad) + 0.5
    mujoco.mj_forward(model, data)
    effort = np.array([joint.effort_limit_nm for joint in arm.joints])
    assert (np.abs(data.qfrc_actuator) <= effort).all()
    assert (np.abs(data.qfrc_actuator) > 0.8 * effort).all()


@ARMS
def test_effort_limits_carry_the_rated_payload(arm: ArmFigures) -> None:
    """The rule of their estimate: hold the payload and accelerate it at half the limit, a fifth to spare."""
    model = _model(arm, arm.payload_kg, (0.1, 0.0, 0.1))
    model.body_gravcomp[:] = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    effort = np.array([joint.effort_limit_nm for joint in arm.joints])
    for _ in range(300):
        data.qpos[:] = rng.uniform(*_limits(arm))
        for k, joint in enumerate(arm.joints):
            data.qacc[:] = 0.0
            data.qacc[k] = rng.choice([-0.5, 0.5]) * joint.acceleration_limit_radps2
            mujoco.mj_inverse(model, data)
            assert 1.2 * abs(data.qfrc_inverse[k]) <= effort[k], joint.name


@ARMS
def test_wrist_sensor_reads_tool_and_part_alone(arm: ArmFigures) -> None:
    for load_kg in (0.0, 1.5):
        model = _model(arm, load_kg, (0.02, 0.0, 0.1))
        data = mujoco.MjData(model)
        data.qpos[:] = data.ctrl[model.actuator_ctrladr] = arm.home_rad
        mujoco.mj_step(model, data, 500)
        weight = 9.81 * load_kg
        assert data.sensor("wrist_force").data == pytest.approx([0, 0, -weight], abs=0.01)
        assert data.sensor("wrist_torque").data == pytest.approx([0, 0.02 * weight, 0], abs=0.001)


@ARMS
def test_neighbours_never_touch_and_few_others_do(arm: ArmFigures) -> None:
    model = _model(arm)
    data, rng = mujoco.MjData(model), np.random.default_rng(7)
    names = [link.name for link in arm.links]
    neighbours = {frozenset(pair) for pair in pairwise(names)}
    touching: dict[frozenset[str], int] = {}
    tries = 400
    for _ in range(tries):
        data.qpos[:] = rng.uniform(*_limits(arm))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        bodies = {frozenset(model.body(model.geom_bodyid[g]).name for g in c.geom) for c in data.contact}
        for pair in bodies:
            touching[pair] = touching.get(pair, 0) + 1
    assert not neighbours & set(touching)
    assert all(count < 0.2 * tries for count in touching.values()), touching


@ARMS
def test_hulls_are_few_and_wrap_what_is_seen(arm: ArmFigures) -> None:
    model = _model(arm)
    data, rng = mujoco.MjData(model), np.random.default_rng(2)
    hulls = [g for g in range(model.ngeom) if model.geom_contype[g]]
    seen = [g for g in range(model.ngeom) if model.geom_group[g] == GeomGroup.VISUAL]
    assert len(hulls) <= 12
    assert {int(model.geom_type[g]) for g in hulls} <= {mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER}
    assert model.nmeshface < 30_000
    for _ in range(3):
        data.qpos[:] = rng.uniform(*_limits(arm))
        mujoco.mj_kinematics(model, data)
        for geom in seen:
            if model.geom(geom).name == "base_black":
                continue  # the cable, which is not solid
            points = _vertices(model, data, geom)
            outside = np.min([_distance(model, data, hull, points) for hull in hulls], axis=0)
            assert outside.max() < 0.020, model.geom(geom).name


def _vertices(model: Any, data: Any, geom: int) -> Array:
    mesh = model.geom_dataid[geom]
    start = model.mesh_vertadr[mesh]
    points = model.mesh_vert[start : start + model.mesh_vertnum[mesh]]
    return np.asarray(points @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])


def _distance(model: Any, data: Any, hull: int, points: Array) -> Array:
    local = (points - data.geom_xpos[hull]) @ data.geom_xmat[hull].reshape(3, 3)
    size = model.geom_size[hull]
    if model.geom_type[hull] == mujoco.mjtGeom.mjGEOM_BOX:
        return np.asarray(np.linalg.norm(np.maximum(np.abs(local) - size, 0), axis=1))
    radial = np.maximum(np.hypot(local[:, 0], local[:, 1]) - size[0], 0)
    return np.hypot(radial, np.maximum(np.abs(local[:, 2]) - size[1], 0))


def test_an_arm_without_a_shape_is_refused() -> None:
    stranger = ArmFigures(**{**vars(SIA20F), "name": "sia10f"})
    with pytest.raises(UnknownName, match=r"sia20f"):
        build_arm(stranger)
    assert build_arm(stranger, ARM_SHAPES["sia20f"]).compile().nv == 7
