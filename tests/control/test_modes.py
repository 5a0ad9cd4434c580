"""Command modes: positions, speeds and torques straight to the drives, within limits and without jumps."""

import mujoco
import numpy as np
import pytest

from cellwright.control import CommandMode, NotReady, RobotState
from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.pose import Pose

MODES = list(CommandMode)


@pytest.fixture
def arm(lab):
    lab.advance(0.1)
    return lab.robots["arm"]


@pytest.mark.parametrize("second", MODES)
@pytest.mark.parametrize("first", MODES)
def test_every_change_of_mode_is_bumpless(lab, arm, first, second):
    lab.perform(arm.move_joints(np.radians([20, 30, 10, 20, -60, 30])))
    lab.advance(0.3)
    arm.set_mode(first)
    lab.advance(0.1)
    before, effort = arm.joints_rad, arm.effort_nm
    arm.set_mode(second)
    assert arm.mode is second
    steps = []
    lab.stepper.every(1, lambda: steps.append(arm.effort_nm), order=35, name="watch")
    lab.advance(0.1)
    assert np.abs(arm.joints_rad - before).max() < 3e-4
    assert np.abs(np.array(steps) - effort).max() < 0.5


def test_speeds_are_kept_until_the_next_command(lab, arm):
    arm.set_mode("velocity")
    speeds = np.array([0.5, -0.2, 0.1, 0.3, 0.2, -0.4])
    start = arm.joints_rad
    arm.command(speeds)
    lab.advance(1.0)
    assert arm.velocity_radps == pytest.approx(speeds, abs=0.02)
    assert arm.joints_rad - start == pytest.approx(speeds, abs=0.05)
    arm.command(np.zeros(6))
    lab.advance(0.5)
    assert np.abs(arm.velocity_radps).max() < 1e-3


def test_a_speed_towards_a_limit_ends_before_it(lab, arm):
    arm.set_mode("velocity")
    joint = arm.kinematics.arm.joints[0]
    arm.command([joint.velocity_limit_radps, 0, 0, 0, 0, 0])
    highest = []
    lab.stepper.every(1, lambda: highest.append(arm.joints_rad[0]), order=35, name="watch")
    lab.advance(4.0)
    limit = joint.position_limits_rad[1]
    assert limit - 0.02 < max(highest) <= limit + 1e-3
    assert arm.state is RobotState.IDLE


def test_a_torque_accelerates_as_it_should(lab, arm):
    """On top of what holds the arm: torque over inertia."""
    arm.set_mode("effort")
    lab.advance(0.1)
    index, model, data = lab.world.robots["arm"], lab.world.model, lab.world.data
    inertia, torque = np.zeros((model.nv, model.nv)), np.array([5.0, 8.0, -4.0, 0.3, -0.2, 0.05])
    mujoco.mj_fullM(model, data, inertia)
    expected = np.linalg.solve(inertia[np.ix_(index.dof, index.dof)], torque) * 0.01
    before = arm.velocity_radps
    arm.command(arm.effort_nm + torque)
    lab.advance(0.01)
    assert arm.velocity_radps - before == pytest.approx(expected, rel=0.1, abs=1e-3)


def test_without_torque_the_arm_falls(lab, arm):
    arm.set_mode("effort")
    lab.advance(0.3)
    height = lab.world.tcp_pose("arm").position[2]
    arm.command(np.zeros(6))
    lab.advance(0.3)
    assert lab.world.tcp_pose("arm").position[2] < height - 0.05


def test_a_runaway_joint_is_caught(lab, arm):
    arm.set_mode("effort")
    arm.command(arm.effort_nm + [0, 0, 0, 0, 0, 20.0])
    lab.advance(1.0)
    assert arm.state is RobotState.FAULT
    assert arm.reason.startswith("joint_6 turned at")
    assert arm.mode is CommandMode.POSITION
    lab.advance(0.5)
    assert np.abs(arm.velocity_radps).max() < 0.01
    with pytest.raises(NotReady, match="arm is in fault and needs a reset: joint_6 turned"):
        arm.command(arm.joints_rad)
    arm.reset()
    lab.perform(arm.move_home(0.5))


@pytest.mark.parametrize(
    ("mode", "values", "message"),
    [
        ("position", [0, 0, 0, 0, -9.0, 0], r"arm joint_5 position is -9 rad, allowed -2\.\d+ to 2\.\d+ rad"),
        ("position", [0, 0.5, 0, 0, -1.5708, 0], r"arm joint_2 position step to is 0\.5 rad, allowed -0\.05 to 0\.05"),
        ("velocity", [0, 0, 99.0, 0, 0, 0], r"arm joint_3 velocity is 99 rad/s, allowed -\d"),
        ("effort", [0, -999.0, 0, 0, 0, 0], r"arm joint_2 effort is -999 Nm, allowed -280 to 280 Nm"),
    ],
)
def test_commands_beyond_a_limit_name_joint_value_and_limit(lab, arm, mode, values, message):
    arm.set_mode(mode)
    before = lab.world.data.ctrl.copy()
    with pytest.raises(OutOfRange, match=message):
        arm.command(values)
    assert (lab.world.data.ctrl == before).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("values", [[np.nan] * 6, [np.inf] * 6, [0.0] * 5])
def test_what_is_no_command_is_refused(arm, mode, values):
    arm.set_mode(mode)
    with pytest.raises(BadInput, match="arm needs 6 finite"):
        arm.command(values)


def test_small_steps_of_position_are_followed(lab, arm):
    goal = arm.joints_rad
    for _ in range(50):
        goal = goal + [0.01, 0, 0, 0, 0, 0]
        arm.command(goal)
        lab.advance(0.01)
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(goal, abs=1e-3)
    lab.perform(arm.move_home())


@pytest.mark.parametrize("mode", ["velocity", "effort"])
def test_motions_need_mode_position(lab, arm, mode):
    arm.set_mode(mode)
    with pytest.raises(NotReady, match=f"arm takes {mode} commands now; set its mode to position"):
        lab.perform(arm.move_home())
    arm.set_mode("position")
    lab.perform(arm.move_home())


def test_a_controllers_drives_take_no_other_commands(arm):
    arm.use_controller("computed_torque")
    with pytest.raises(NotReady, match="takes its commands from a controller"):
        arm.command(np.zeros(6))


def test_no_change_of_mode_while_the_arm_moves(lab, arm):
    arm.set_mode("velocity")
    arm.command([0.5, 0, 0, 0, 0, 0])
    lab.advance(0.3)
    with pytest.raises(JobFailed, match=r"cannot change to effort commands while joint_1 moves at 0\.\d+ rad/s"):
        arm.set_mode("effort")


def test_a_stop_ends_direct_commands(lab, arm):
    arm.set_mode("velocity")
    arm.command([0.5, 0, 0, 0, 0, 0])
    lab.advance(0.3)
    arm.stop()
    lab.advance(0.3)
    assert np.abs(arm.velocity_radps).max() < 5e-3
    assert (arm.state, arm.mode) == (RobotState.STOPPED, CommandMode.POSITION)


def test_kinematic_cells_take_positions_only(open_lab):
    arm = open_lab(fidelity="kinematic").robots["arm"]
    with pytest.raises(BadInput, match="arm takes velocity commands only in a cell of fidelity 'physics'"):
        arm.set_mode("velocity")


@pytest.mark.parametrize("then", ["velocity", "effort"])
def test_a_snapshot_knows_the_mode(lab, arm, then):
    before = lab.snapshot()
    arm.set_mode(then)
    within = lab.snapshot()
    lab.advance(0.2)
    lab.restore(before)
    assert arm.mode is CommandMode.POSITION
    lab.perform(arm.move_joints(arm.joints_rad + 0.1))
    lab.advance(0.2)
    lab.restore(within)
    assert arm.mode.value == then
    arm.command(np.zeros(6) if then == "velocity" else arm.effort_nm)
    start = arm.joints_rad
    lab.advance(0.2)
    assert arm.joints_rad == pytest.approx(start, abs=2e-3)


def test_gains_that_a_user_has_changed_in_the_model_outlive_modes_and_a_model_that_is_built_anew(lab, arm):
    world = lab.world
    rows = world.robots["arm"].actuators
    usual = world.model.actuator_biasprm[rows, 1:3].copy()
    world.model.actuator_biasprm[rows, 1] *= 0.5
    arm.set_mode("effort")
    assert not world.model.actuator_biasprm[rows, 1:3].any()
    world.add("gear", "medium_gear", Pose.from_xyz_rpy([0.0, 0.0, 3.0]))
    arm.set_mode("position")
    assert world.model.actuator_biasprm[rows, 1:3] == pytest.approx(usual * [0.5, 1.0])
