"""Control laws: against MuJoCo's dynamics, compiled against plain, and what an arm does under them."""

import ctypes
import sys

import mujoco
import numpy as np
import pytest

from cellwright.cells import Cell, load_cell
from cellwright.control import (
    CONTROLLERS,
    CommandMode,
    Controller,
    NotReady,
    RobotState,
    compiled,
    laws,
    tracking_study,
)
from cellwright.control.control_block import make_block
from cellwright.core.errors import BadInput, MissingExtra, UnknownName
from cellwright.core.pose import Pose
from cellwright.motion import Payload
from cellwright.sim import World

from .conftest import BENCH

MODEL_BASED = ["computed_torque", "cartesian"]
TICK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
TILTED = {"xyz_m": [0, 0, 1], "rpy_deg": [20, -35, 70]}


def bare(robot: str, tool: str, base: dict | None = None) -> World:
    """An arm alone in the world, without gravity compensation, to compute with."""
    home = [0.0] * (7 if robot == "sia20f" else 6)
    arm = {"model": robot, "tool": tool, "base": base or {"xyz_m": [0, 0, 1]}, "home_deg": home}
    world = World(Cell.model_validate(BENCH | {"robots": {"arm": arm}, "fixtures": {}}))
    world.model.body_gravcomp[:] = 0.0
    return world


def state(rng, joints: int):
    """Position, velocity, and a reference in three rows."""
    return rng.normal(size=joints) * 0.8, rng.normal(size=joints), rng.normal(size=(3, joints)) * 0.7


@pytest.mark.parametrize("base", [None, TILTED], ids=["upright", "tilted"])
@pytest.mark.parametrize(
    ("robot", "tool"),
    [("ur5", "wsg_50"), ("lr_mate_200id", "aprs_fanuc_gripper"), ("sia20f", "aprs_motoman_gripper")],
)
def test_inverse_dynamics_are_mujocos(robot, tool, base):
    world = bare(robot, tool, base)
    index, model, data = world.robot("arm"), world.model, world.data
    row = make_block(index, world.layout.bases["arm"])[0]
    rng, joints = np.random.default_rng(1), len(index.qpos)
    losses = np.array([j.viscous_damping_nms_per_rad for j in index.figures.joints])
    for _ in range(20):
        position, velocity, reference = state(rng, joints)
        laws.computed_torque(row, position, velocity, reference)  # gains are 0: the reference's acceleration alone
        data.qpos[index.qpos], data.qvel[index.dof] = position, velocity
        mujoco.mj_forward(model, data)
        inertia, acceleration = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        mujoco.mj_fullM(model, data, inertia)
        acceleration[index.dof] = reference[2]
        expected = (inertia @ acceleration + data.qfrc_bias)[index.dof] + losses * velocity
        assert row["effort"][:joints] == pytest.approx(expected, abs=1e-9)


def test_a_payload_counts_as_if_it_were_part_of_the_arm():
    world = bare("ur5", "wsg_50")
    index, model = world.robot("arm"), world.model
    load = Payload(2.0, (0.01, -0.02, 0.15), (0.004, 0.005, 0.006))
    with_load, without = (make_block(index, Pose.identity(), p)[0] for p in (load, Payload()))
    position = state(np.random.default_rng(2), 6)[0]
    for row in (with_load, without):
        laws.computed_torque(row, position, np.zeros(6), np.zeros((3, 6)))
    data = world.data
    data.qpos[index.qpos] = position
    mujoco.mj_forward(model, data)
    place = Pose.from_matrix(
        np.column_stack([data.site_xmat[index.flange_site].reshape(3, 3), data.site_xpos[index.flange_site]])
    ).apply(load.centre_in_flange_m)
    slope = np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, slope, None, place, index.gripper.body)
    lifting = slope[2, index.dof] * 2.0 * 9.81
    assert with_load["effort"][:6] - without["effort"][:6] == pytest.approx(lifting, abs=1e-9)


@pytest.mark.parametrize("law", MODEL_BASED)
@pytest.mark.parametrize("robot", ["ur5", "sia20f"])
def test_compiled_and_plain_law_agree(law, robot):
    world = bare(robot, "wsg_50")
    block = make_block(world.robot("arm"), Pose.identity())
    row, joints = block[0], len(world.robot("arm").qpos)
    row["stiffness"], row["damping"], row["epsilon"], row["null_share"] = 800, 400, 0.05, joints > 6
    row["limits"] = 1e9
    tick, rng = TICK(compiled.compiled_tick(law).address), np.random.default_rng(3)
    zeros = row["zeros"][:joints]
    zeros[:] = 0.01
    for _ in range(20):
        position, velocity, reference = state(rng, joints)
        true, commands = position + zeros, np.zeros((joints, 3))
        for name, array in (("qpos", true), ("qvel", velocity), ("ctrl", commands), ("reference", reference)):
            row[name] = array.ctypes.data
        row["count"], row["rows"] = 0, 1
        tick(None, None, block.ctypes.data)
        assert row["count"] == 1
        getattr(laws, law)(row, true - zeros, velocity, reference)
        scale = np.abs(row["effort"]).max()
        assert commands[:, 2] / scale == pytest.approx(row["effort"][:joints] / scale, abs=1e-9)
        assert not commands[:, :2].any()


def test_the_cartesian_law_pulls_the_flange_straight_to_its_goal():
    """With a small epsilon the flange's acceleration is the damped spring's, whatever the joints do."""
    world = bare("ur5", "wsg_50")
    index, model, data = world.robot("arm"), world.model, world.data
    row = make_block(index, world.layout.bases["arm"])[0]
    row["stiffness"], row["damping"], row["epsilon"] = 100.0, 20.0, 1e-12
    here = np.radians([10, -80, 70, -60, -90, 20])
    goal = here + np.array([0.01, -0.02, 0.015, 0.0, 0.01, 0.02])
    laws.cartesian(row, here, np.zeros(6), np.array([goal, np.zeros(6), np.zeros(6)]))
    poses = []
    for joints in (goal, here):
        data.qpos[index.qpos] = joints
        mujoco.mj_forward(model, data)
        site = index.flange_site
        poses.append(Pose.from_matrix(np.column_stack([data.site_xmat[site].reshape(3, 3), data.site_xpos[site]])))
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    part = np.ix_(index.dof, index.dof)
    acceleration = np.linalg.solve(inertia[part], row["effort"][:6] - data.qfrc_bias[index.dof])
    slope = np.zeros((6, model.nv))
    mujoco.mj_jacSite(model, data, slope[:3], slope[3:], index.flange_site)
    pull = slope[:, index.dof] @ acceleration
    turn = poses[0].rotation_matrix @ poses[1].rotation_matrix.T
    half = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    half /= 4 * 0.5 * np.sqrt(1 + np.trace(turn))
    assert pull[:3] == pytest.approx(100 * (poses[0].position - poses[1].position), abs=1e-6)
    assert pull[3:] == pytest.approx(100 * half, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "robot"), [("aprs", "fanuc"), ("aprs", "motoman"), ("rovi", "ur5")])
def test_all_controllers_track_within_a_few_milliradians(cell, robot):
    loaded = load_cell(cell)
    home = np.radians(loaded.robots[robot].home_deg)
    goal = home + np.array([0.5, -0.3, 0.2, 0.3, -0.2, 0.4, 0.3])[: len(home)]
    results = tracking_study(lambda: World(loaded), robot, goal)
    assert [r.label for r in results] == ["pid", "computed_torque", "cartesian"]
    for result in results:
        assert 1e-5 < result.rms_error_rad < result.worst_error_rad < 0.008, result.label
        assert np.abs(result.error_rad[-1]).max() < 0.0025, result.label
        assert (result.peak_effort_nm > 0.1).any()
        limits = [j.effort_limit_nm for j in World(loaded).robot(robot).figures.joints]
        assert (result.peak_effort_nm <= np.array(limits) + 1e-9).all()


@pytest.mark.parametrize("name", MODEL_BASED)
@pytest.mark.parametrize("profile", ["full", "paper"])
def test_the_arm_is_held_and_changing_the_controller_does_not_move_it(lab, name, profile):
    arm = lab.robots["arm"]
    lab.advance(0.2)
    before, widest = arm.joints_rad, []
    lab.stepper.every(1, lambda: widest.append(np.abs(arm.joints_rad - before).max()), order=35, name="watch")
    arm.use_controller(name, profile=profile)
    assert arm.mode is CommandMode.EFFORT
    lab.advance(1.0)
    arm.use_controller("pid")
    assert arm.mode is CommandMode.POSITION
    lab.advance(0.5)
    assert max(widest) < 2e-4


@pytest.mark.parametrize("name", MODEL_BASED)
def test_a_declared_payload_is_carried(lab, name):
    """Half a kilogram at the tool: declared, the arm holds; not declared, it sags."""
    arm, world = lab.robots["arm"], lab.world
    arm.use_controller(name, stiffness=100.0, damping=20.0)
    body = world.robot("arm").gripper.body
    sags = []
    for payload in (Payload(), Payload(0.5, tuple(world.model.body_ipos[body]))):
        arm.set_payload(payload)
        start = world.tcp_pose("arm").position[2]
        world.data.xfrc_applied[body, 2] = -0.5 * 9.81
        lab.advance(1.0)
        sags.append(start - world.tcp_pose("arm").position[2])
        world.data.xfrc_applied[body, 2] = 0.0
        arm.set_payload(Payload())
        lab.advance(2.0)
    assert sags[0] > 10 * abs(sags[1])


def test_the_python_law_drives_the_arm_as_the_compiled_one_does(open_lab):
    ends = []
    for plain in (False, True):
        lab = open_lab()
        arm = lab.robots["arm"]
        arm.use_controller("computed_torque")
        controller = arm._servo.controller
        if plain:
            controller.scheduled[0].call = lambda c=controller: Controller._tick(c)
        lab.perform(arm.move_joints(np.radians([10, 5, -5, 10, -80, 10])))
        ends.append(lab.world.data.qpos.copy())
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_a_snapshot_under_a_compiled_controller_comes_back(lab):
    arm = lab.robots["arm"]
    arm.use_controller("computed_torque")
    lab.perform(arm.move_joints(np.radians([20, 0, 0, 0, -90, 0])))
    lab.advance(0.2)
    moment = lab.snapshot()
    runs = []
    for _ in range(2):
        lab.restore(moment)
        assert (arm.mode, arm.controller) == (CommandMode.EFFORT, "computed_torque")
        lab.perform(arm.move_joints(np.radians([0, 10, 0, 0, -90, 0])))
        lab.advance(0.3)
        runs.append(lab.world.data.qpos.tobytes())
        arm.use_controller("pid")
        lab.advance(0.3)
    assert runs[0] == runs[1]


def test_bodies_that_come_while_a_compiled_controller_holds(lab):
    arm = lab.robots["arm"]
    arm.use_controller("computed_torque")
    lab.world.add("gear", "medium_gear", Pose.from_xyz_rpy([0.8, 0.8, 0.02]))
    before = arm.joints_rad
    lab.advance(0.5)
    assert arm.joints_rad == pytest.approx(before, abs=2e-4)
    assert arm.mode is CommandMode.EFFORT


def test_a_controller_of_ones_own(lab):
    class Damper(Controller):
        mode = CommandMode.VELOCITY

        def command(self, reference, position_rad, velocity_radps):
            return reference[1] + 20 * (reference[0] - position_rad)

    CONTROLLERS._entries.pop("damper", None)
    CONTROLLERS.add("damper", Damper)
    arm = lab.robots["arm"]
    arm.use_controller("damper")
    assert (arm.controller, arm.mode) == ("damper", CommandMode.VELOCITY)
    goal = np.radians([20, 10, 0, 10, -80, 20])
    lab.perform(arm.move_joints(goal, 0.5))
    lab.advance(0.3)
    assert arm.joints_rad == pytest.approx(goal, abs=2e-3)
    assert arm.state is RobotState.IDLE


def test_unknown_names_and_wrong_moments_are_refused(lab):
    arm = lab.robots["arm"]
    with pytest.raises(UnknownName, match=r"unknown control law 'cartesan'; did you mean 'cartesian'\?"):
        arm.use_controller("cartesan")
    with pytest.raises(UnknownName, match="unknown profile"):
        arm.use_controller("cartesian", profile="papre")

    async def work() -> None:
        task = lab.loop.create_task(arm.move_joints([0.3, 0, 0, 0, -1.5, 0]))
        await lab.clock.sleep(0.1)
        with pytest.raises(NotReady, match="arm is already moving"):
            arm.use_controller("computed_torque")
        await task

    lab.perform(work())
    assert arm.controller == "pid"


def test_without_the_compiler_the_extra_is_named(monkeypatch, lab):
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled.compiled_tick.cache_clear()
    with pytest.raises(MissingExtra, match=r"pip install 'cellwright\[motion\]'"):
        lab.robots["arm"].use_controller("computed_torque")
    compiled.compiled_tick.cache_clear()


def test_kinematic_cells_have_positions_only(open_lab):
    arm = open_lab(fidelity="kinematic").robots["arm"]
    with pytest.raises(BadInput, match="only in a cell of fidelity 'physics'"):
        arm.use_controller("computed_torque")
