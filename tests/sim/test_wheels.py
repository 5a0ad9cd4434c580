"""Motors of robots on wheels: how fast they change speed, how they ripple, when they lose steps, what is counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.core.config import Normal
from cellwright.core.pose import Pose
from cellwright.lab import Lab

ROBOT = "ePuck0"


def lab_of(counters="commanded", seed=0, rough=False, **changes) -> Lab:
    cell = load_cell("epucks@one")
    mobiles = {key: mobile.model_copy(update={"counters": counters}) for key, mobile in cell.mobiles.items()}
    update = {"mobiles": mobiles, "actual": ActualCfg(), "arena": None} | changes
    return Lab(cell.model_copy(update=update if rough else update | {"floor_roughness": ()}), seed)


@pytest.fixture(scope="module")
def still() -> Lab:
    with lab_of() as lab:
        yield lab


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(-200, 200), st.floats(-200, 200), st.integers(1, 12)), min_size=1, max_size=6))
def test_set_points_keep_the_limits_of_the_drive(still, commands):
    """Whatever is commanded: no faster than the motors are driven, no faster a change than the drive makes."""
    lab, robot = still, still.mobile(ROBOT)
    wheels, figures, moment = lab.world.wheels, robot.figures, lab.snapshot()
    step_s, asked = lab.cell.timestep_s, [wheels.asked_rad[0]]
    for left, right, steps in commands:
        robot.drive(left, right)
        for _ in range(steps):
            lab.world.engine.step(1)
            asked.append(wheels.asked_rad[0])
    speeds = np.diff(asked, axis=0) / step_s
    assert np.abs(speeds).max(initial=0.0) <= figures.max_speed_radps + 1e-9
    changes = np.diff(np.vstack([np.zeros((1, 2)), speeds]), axis=0) / step_s
    assert np.abs(changes).max(initial=0.0) <= figures.max_acceleration_radps2 + 1e-6
    lab.restore(moment)


def test_wheels_are_where_they_were_commanded_to_be_once_they_have_caught_up():
    with lab_of("turned", rough=True) as lab:
        robot = lab.mobile(ROBOT)
        for left, right in ((1000, 1000), (-1000, 1000), (300, -700), (0, 0)):
            robot.drive_steps(left, right)
            lab.advance(0.6)
        asked = lab.world.wheels.asked_rad[0] / robot.figures.step_rad
        assert robot.steps == pytest.approx(asked, abs=1)
        assert not lab.world.wheels.lost_steps().any()


def test_speed_ripples_once_per_four_steps_by_its_share():
    """At 125 steps a second that is 31 Hz."""
    with lab_of() as lab:
        robot, dof = lab.mobile(ROBOT), lab.world.mobiles[ROBOT].wheel_dof[0]
        wanted = 125 * robot.figures.step_rad
        robot.drive_steps(125, 125)
        lab.advance(1.0)
        turned = []
        for _ in range(256):
            lab.world.engine.step(1)
            turned.append(lab.world.data.qvel[dof])
        ripple = np.array(turned) / wanted - 1
        spectrum = np.abs(np.fft.rfft(ripple * np.hanning(256)))
        assert np.fft.rfftfreq(256, 0.004)[spectrum.argmax()] == pytest.approx(125 / 4, abs=1.0)
        assert 0.2 < np.abs(ripple).max() / robot.figures.speed_ripple < 1.0  # the wheel's inertia swallows some
        assert abs(ripple.mean()) < 1e-4


@pytest.mark.parametrize(("counters", "sees"), [("commanded", False), ("turned", True)])
def test_a_stalled_motor_loses_whole_cycles_of_steps_and_only_true_counters_see_it(counters, sees):
    with lab_of(counters, arena=load_cell("epucks@one").arena) as lab:
        robot, wheels = lab.mobile(ROBOT), lab.world.wheels
        lab.world.place(ROBOT, Pose.from_xyz_rpy([0.45, 0.0, 0.0]))
        robot.drive_steps(530, 530)
        lab.advance(3.0)
        lost, steps = wheels.lost_steps()[0], np.array(robot.steps)
        assert (lost > 800).all()
        assert (lost % 4 == 0).all()
        if sees:
            assert (steps < 300).all()
        else:
            assert steps == pytest.approx([1590, 1590], abs=25)
        before = lab.world.pose_of(ROBOT).position[0]
        robot.drive_steps(-530, -530)  # what is lost is lost: it backs off at once, and as far as it is told
        lab.advance(1.0)
        assert lab.world.pose_of(ROBOT).position[0] == pytest.approx(before - 0.0666, abs=0.008)
        assert lab.mobile(ROBOT).odometry.x_m == pytest.approx(0.02 * 2 * np.pi / 1000 * robot.steps[0], abs=0.003)


def test_a_motor_without_torque_loses_steps_while_it_gathers_speed():
    """Another, with the torque of its drawing, does not. Counters and odometry cannot tell the two apart."""
    with lab_of(actual=ActualCfg(motor_torque_nm=-0.003)) as weak, lab_of() as strong:
        for lab in (weak, strong):
            for _ in range(4):
                lab.mobile(ROBOT).drive_steps(1000, 1000)
                lab.advance(0.2)
                lab.mobile(ROBOT).drive_steps(-1000, -1000)
                lab.advance(0.2)
        assert weak.world.layout.mobiles[ROBOT].motor_torques_nm == pytest.approx((0.003, 0.003))
        assert not strong.world.wheels.lost_steps().any()
        assert weak.world.wheels.lost_steps().any()
        assert weak.mobile(ROBOT).steps == strong.mobile(ROBOT).steps


def test_slip_comes_from_friction():
    """Tyres that hardly hold: wheels turn and the robot stays behind, most when it gathers speed."""
    ways = {}
    for friction in (0.0, -0.75):
        with lab_of(actual=ActualCfg(wheel_friction=friction)) as lab:
            lab.mobile(ROBOT).drive_steps(1000, 1000)
            lab.advance(0.3)
            turned = lab.world.data.qpos[lab.world.mobiles[ROBOT].wheel_qpos[0]] * 0.02
            ways[friction] = turned - lab.world.pose_of(ROBOT).position[0]
    assert abs(ways[0.0]) < 2e-4
    assert ways[-0.75] > 1e-3


def test_every_wheel_and_motor_is_drawn_by_itself_and_none_is_drawn_to_nothing():
    errors = ActualCfg(wheel_friction=Normal(sd=0.4), motor_torque_nm=Normal(sd=0.01))
    cell = load_cell("epucks@fifty").model_copy(update={"actual": errors, "fidelity": "kinematic"})
    with Lab(cell, 0) as lab:
        robots = lab.world.layout.mobiles.values()
        frictions = np.array([robot.wheel_frictions for robot in robots])
        torques = np.array([robot.motor_torques_nm for robot in robots])
        assert len(np.unique(frictions)) > 80
        assert frictions.min() == 0.02
        assert torques.min() == 0.003
        figures = lab.mobile(ROBOT).figures
        assert lab.nominal.mobiles[ROBOT].motor_torques_nm == (figures.motor_torque_nm,) * 2
        model = lab.world.model
        left = model.geom(f"{ROBOT}/wheel_left")
        assert left.friction[0] == lab.world.layout.mobiles[ROBOT].wheel_frictions[0]
        limit = model.actuator(f"{ROBOT}/wheel_right").forcerange[1]
        assert limit == lab.world.layout.mobiles[ROBOT].motor_torques_nm[1]


@pytest.mark.parametrize("start_m", [0.44, 0.0])
def test_steps_are_taken_alike_whether_alone_or_as_one_of_many(start_m):
    """A viewer or another sensor cuts the time into other pieces; that must change nothing, lost steps included."""
    states, arena = [], load_cell("epucks@one").arena
    for pieces in ((1,) * 60, (7, 13, 10) * 2, (60,)):
        with lab_of(rough=True, arena=arena, actual=ActualCfg(motor_torque_nm=-0.003)) as lab:
            lab.world.place(ROBOT, Pose.from_xyz_rpy([start_m, 0.0, 0.0]))
            wheels = lab.world.wheels
            for speed in (1000, -1000, 950):
                lab.mobile(ROBOT).drive_steps(speed, speed)
                for count in pieces:
                    lab.world.engine.step(count)
            assert wheels.lost_steps().any()
            arrays = lab.world.data.qpos, wheels.asked_rad, wheels.lost_rad
            states.append([array.tobytes() for array in arrays])
    assert states[0] == states[1] == states[2]


def test_a_moment_in_the_middle_of_a_stall_comes_back_to_the_same_bytes():
    with lab_of(rough=True, arena=load_cell("epucks@one").arena) as lab:
        lab.world.place(ROBOT, Pose.from_xyz_rpy([0.44, 0.0, 0.0]))
        robot = lab.mobile(ROBOT)
        robot.drive_steps(900, 900)
        lab.advance(0.5)
        robot.drive_steps(610, 730)
        lab.advance(0.02)  # while the speed changes
        moment, runs = lab.snapshot(), []
        for _ in range(2):
            lab.advance(0.5)
            runs.append((lab.world.data.qpos.tobytes(), robot.steps, lab.world.wheels.lost_steps().tolist()))
            robot.stop()
            lab.advance(0.3)
            lab.world.engine.step(3)
            lab.restore(moment)
        assert runs[0] == runs[1]


def test_a_robot_that_is_put_to_rest_neither_moves_nor_makes_up_for_what_it_lost():
    with lab_of(arena=load_cell("epucks@one").arena) as lab:
        robot, world = lab.mobile(ROBOT), lab.world
        world.place(ROBOT, Pose.from_xyz_rpy([0.44, 0.0, 0.0]))
        robot.drive_steps(800, 800)
        lab.advance(1.0)
        assert world.wheels.lost_steps().any()
        world.wheels.rest(0)
        world.data.qvel[:] = 0.0
        there, turned = world.pose_of(ROBOT).position[0], world.data.qpos[world.mobiles[ROBOT].wheel_qpos[0]]
        lab.advance(0.5)
        assert world.pose_of(ROBOT).position[0] == pytest.approx(there, abs=1e-4)
        assert robot.steps[0] == pytest.approx(turned / robot.figures.step_rad, abs=1)
        assert not world.wheels.lost_steps().any()


def test_a_wheel_that_was_held_back_catches_up_also_at_full_speed():
    with lab_of() as lab:
        robot, world = lab.mobile(ROBOT), lab.world
        robot.drive_steps(1000, 1000)
        lab.advance(0.5)
        world.data.qpos[world.mobiles[ROBOT].wheel_qpos] -= 0.03  # five steps
        lab.advance(0.5)
        lag = world.wheels.asked_rad[0] - world.data.qpos[world.mobiles[ROBOT].wheel_qpos]
        assert np.abs(lag).max() < 0.003
