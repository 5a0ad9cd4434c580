"""Robots on two wheels: what they do against what their counters say, and what their odometry makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.control.differential_odometry import WheelFigures, WheelOdometry
from cellwright.core.errors import BadInput, UnknownName
from cellwright.lab import Lab

ROBOT = "ePuck0"


def exact_lab(variant="one", counters="turned", **changes) -> Lab:
    """Robots as they are drawn, on an even floor."""
    cell = load_cell(f"epucks@{variant}")
    mobiles = {key: mobile.model_copy(update={"counters": counters}) for key, mobile in cell.mobiles.items()}
    exact = {"actual": ActualCfg(), "floor_roughness": (), "mobiles": mobiles}
    return Lab(cell.model_copy(update=exact | changes), 0)


class Watch:
    """Follows the true pose of a robot: how far it has turned and travelled."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self.turned_rad, self.way_m = lab, 0.0, 0.0
        self._pose = lab.world.pose_of(ROBOT)
        self._steps = np.array(lab.mobiles[ROBOT].steps)

    def advance(self, duration_s: float) -> None:
        for _ in range(round(duration_s / 0.02)):
            self._lab.advance(0.02)
            pose, last = self._lab.world.pose_of(ROBOT), self._pose
            self.turned_rad += (pose.rpy[2] - last.rpy[2] + np.pi) % (2 * np.pi) - np.pi
            self.way_m += float(np.hypot(*(pose.position - last.position)[:2]))
            self._pose = pose

    def counted(self) -> tuple[float, float]:
        """Turn and way by the step counters and the nominal wheels."""
        robot = self._lab.mobiles[ROBOT]
        left, right = (np.array(robot.steps) - self._steps) * robot.figures.step_rad * robot.figures.wheel_radius_m
        return (right - left) / robot.figures.wheel_base_m, (left + right) / 2


@pytest.mark.parametrize("speed", [1.0, 3.0, 6.28])
@pytest.mark.parametrize("side", [-1, 1])
def test_yaw_on_the_spot_is_what_the_wheels_say(speed, side):
    with exact_lab() as lab:
        watch = Watch(lab)
        lab.mobiles[ROBOT].drive(-side * speed, side * speed)
        watch.advance(18 / speed)
        turn, _ = watch.counted()
        assert abs(turn) > 12
        assert abs(watch.turned_rad / turn - 1) < 0.0005
        assert np.hypot(*(lab.world.pose_of(ROBOT).position[:2])) < 0.002


@pytest.mark.parametrize(("left", "right"), [(2, 4), (5, 1), (-2, -4), (0, 3), (6.28, 3), (0.5, 1)])
def test_arcs_are_what_the_wheels_say(left, right):
    with exact_lab() as lab:
        watch = Watch(lab)
        lab.mobiles[ROBOT].drive(left, right)
        watch.advance(8)
        turn, way = watch.counted()
        step_rad = 0.00237  # that a counter has not finished
        assert abs(watch.turned_rad - turn) < 0.0005 * abs(turn) + step_rad
        assert abs(watch.way_m - abs(way)) < 0.0015 * abs(way) / 0.8


@pytest.mark.parametrize("speed", [1.0, 6.28, -3.0])
def test_straight_lines_are_straight_and_as_long_as_the_wheels_say(speed):
    with exact_lab(arena=None) as lab:
        watch = Watch(lab)
        robot = lab.mobiles[ROBOT]
        robot.drive(speed, speed)
        watch.advance(0.8 / 0.02 / abs(speed))
        robot.stop()
        watch.advance(0.5)
        _, way = watch.counted()
        assert abs(way) == pytest.approx(0.8, abs=0.008)
        assert abs(watch.way_m - abs(way)) < 0.0005
        assert abs(lab.world.pose_of(ROBOT).position[1]) < 0.0005
        assert robot.odometry.x_m == pytest.approx(lab.world.pose_of(ROBOT).position[0], abs=0.0008)


def test_speeds_are_whole_steps_and_never_more_than_the_motors_can_do():
    with exact_lab(fidelity="kinematic") as lab:
        robot = lab.mobiles[ROBOT]
        robot.drive(1.0, -100.0)
        assert robot.commanded_radps == pytest.approx((159 * 2 * np.pi / 1000, -2 * np.pi))
        robot.drive_steps(12.4, 2000)
        assert robot.commanded_radps == pytest.approx((12 * 2 * np.pi / 1000, 2 * np.pi))
        robot.move(0.5, 2.0)  # more than it can do: the same arc, slower
        left, right = robot.commanded_radps
        assert max(left, right) == pytest.approx(2 * np.pi)
        assert (right - left) * 0.02 / 0.053 / ((left + right) * 0.01) == pytest.approx(2.0 / 0.5, rel=0.01)
        robot.stop()
        assert robot.commanded_radps == (0.0, 0.0)


@pytest.mark.parametrize("call", ["drive", "drive_steps", "move"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_speeds_that_are_no_numbers_are_refused(call, bad):
    with exact_lab(fidelity="kinematic") as lab:
        robot = lab.mobiles[ROBOT]
        robot.drive(1, 1)
        before = robot.commanded_radps
        with pytest.raises(BadInput, match=rf"ePuck0 cannot (turn its wheels|drive) at 0.0 .*{bad}"):
            getattr(robot, call)(0.0, bad)
        assert robot.commanded_radps == before


def test_motors_take_their_time_and_do_not_spin_the_wheels():
    """Full speed from rest, and full speed backwards: the torque is limited, so is the acceleration."""
    with exact_lab() as lab:
        robot, speeds = lab.mobiles[ROBOT], []
        dof = lab.world.mobiles[ROBOT].wheel_dof[0]
        watch = Watch(lab)
        for speed in (6.28, -6.28):
            robot.drive(speed, speed)
            for _ in range(15):
                watch.advance(0.02)
                speeds.append(lab.world.data.qvel[dof])
        assert speeds[0] < 0.6 * 6.28
        assert speeds[14] == pytest.approx(999 * robot.figures.step_rad, rel=0.005)
        assert speeds[15] > -3
        assert speeds[29] == pytest.approx(-speeds[14], rel=0.005)
        there_and_back, _ = watch.counted()
        assert abs(there_and_back) < 0.003


def test_a_wall_stops_the_robot_and_its_wheels():
    with exact_lab() as lab:
        robot = lab.mobiles[ROBOT]
        robot.drive(6, 6)
        lab.advance(5)
        at_wall = robot.steps
        assert lab.world.pose_of(ROBOT).position[0] == pytest.approx(0.5 - 0.037, abs=0.001)
        lab.advance(1)
        assert np.abs(np.subtract(robot.steps, at_wall)).max() <= 2
        assert np.abs(lab.world.pose_of(ROBOT).rpy[:2]).max() < 0.05


def test_odometry_errs_by_just_what_the_real_wheels_differ_by():
    with Lab.from_cell("epucks@one", seed=3, fidelity="kinematic") as lab:
        real, robot = lab.world.layout.mobiles[ROBOT], lab.mobiles[ROBOT]
        start = lab.world.pose_of(ROBOT).rpy[2]
        robot.drive_steps(-500, 500)
        lab.advance(10)
        true = 5 * 2 * np.pi * sum(real.wheel_radii_m) / real.wheel_base_m
        believed = 5 * 2 * np.pi * 0.04 / 0.053
        assert abs(true / believed - 1) > 0.001
        assert robot.odometry.yaw_rad == pytest.approx(believed, abs=1e-9)
        assert np.cos(lab.world.pose_of(ROBOT).rpy[2] - start - true) == pytest.approx(1.0, abs=1e-9)
        assert robot.odometry.covariance[2, 2] ** 0.5 == pytest.approx(
            believed * np.hypot(0.002 / 2**0.5, 0.5 / 53), rel=0.1
        )


def test_the_covariance_covers_what_real_wheels_do():
    """Fifty robots with wheels of their own drive the same way: their errors have the spread that is claimed."""
    cell = load_cell("epucks@fifty")
    only_wheels = ActualCfg(wheel_radius_m=cell.actual.wheel_radius_m, wheel_base_m=cell.actual.wheel_base_m)
    errors = []
    for seed in range(2):
        with Lab(cell.model_copy(update={"actual": only_wheels, "fidelity": "kinematic"}), seed) as lab:
            for left, right, duration_s in ((800, 800, 4.0), (400, -400, 1.2), (900, 700, 3.0)):
                for robot in lab.mobiles.values():
                    robot.drive_steps(left, right)
                lab.advance(duration_s)
            for name, robot in lab.mobiles.items():
                true, believed = lab.world.pose_of(name), robot.odometry
                yaw = (true.rpy[2] - believed.yaw_rad + np.pi) % (2 * np.pi) - np.pi
                off = np.array([true.position[0] - believed.x_m, true.position[1] - believed.y_m, yaw])
                errors.append(off / np.sqrt(np.diag(believed.covariance)))
    spread = np.sqrt(np.mean(np.square(errors), axis=0))
    assert (spread > 0.65).all()  # there is no slip here, which the covariance also covers
    assert (spread < 1.15).all()


WHEELS = WheelFigures(0.02, 0.053, 0.0001, 0.0005, 1e-6, 0.02 * 2 * np.pi / 1000)


def test_reckoning_follows_arcs_exactly_whatever_its_rate():
    fine, coarse = WheelOdometry(np.zeros((1, 3)), WHEELS), WheelOdometry(np.zeros((1, 3)), WHEELS)
    for _ in range(400):
        fine.update(np.array([[0.001, 0.002]]), 0.01)
    for _ in range(4):
        coarse.update(np.array([[0.1, 0.2]]), 1.0)
    assert coarse.pose == pytest.approx(fine.pose, abs=1e-9)
    radius = 0.053 / 2 * 3
    assert np.hypot(fine.pose[0, 0], fine.pose[0, 1] - radius) == pytest.approx(radius)


def test_errors_of_wheels_add_up_along_the_way_and_slip_less():
    wheels_only, slip_only = replace(WHEELS, slip_m=0.0), replace(WHEELS, radius_sd_m=0.0, base_sd_m=0.0)
    spread = {}
    for name, figures in (("wheels", wheels_only), ("slip", slip_only)):
        for count in (100, 400):
            odometry = WheelOdometry(np.zeros((1, 3)), figures)
            for _ in range(count):
                odometry.update(np.array([[0.002, 0.002]]), 0.04)
            spread[name, count] = odometry.covariance[0, 0, 0] ** 0.5
    assert spread["wheels", 400] / spread["wheels", 100] == pytest.approx(4, rel=0.05)
    assert spread["slip", 400] / spread["slip", 100] == pytest.approx(2, rel=0.05)


def test_a_reset_begins_anew_for_one_robot_alone():
    with exact_lab("ten", fidelity="kinematic") as lab:
        for robot in lab.mobiles.values():
            robot.drive(3, 4)
        lab.advance(4)
        other = lab.mobiles["ePuck1"].odometry
        lab.mobiles[ROBOT].reset_odometry(1.0, 2.0, 0.5)
        found = lab.mobiles[ROBOT].odometry
        assert (found.x_m, found.y_m, found.yaw_rad) == (1.0, 2.0, 0.5)
        assert np.sqrt(np.diag(found.covariance)).max() < 0.002
        assert lab.mobiles["ePuck1"].odometry.x_m == other.x_m
        with pytest.raises(BadInput):
            lab.mobiles[ROBOT].reset_odometry(float("nan"))
        lab.mobiles[ROBOT].drive(6, 6)
        lab.advance(0.036)  # steps that no reading has taken in yet
        lab.mobiles[ROBOT].stop()
        lab.mobiles[ROBOT].reset_odometry(1.0, 2.0, 0.5)
        lab.advance(0.1)
        found = lab.mobiles[ROBOT].odometry
        assert (found.x_m, found.y_m, found.yaw_rad) == (1.0, 2.0, 0.5)


def test_odometry_messages_say_who_where_and_how_sure():
    with exact_lab("ten", fidelity="kinematic") as lab:
        heard = []
        lab.bus.subscribe("/ePuck3/odom", lambda _, message: heard.append(message), subscriber="test")
        start = lab.nominal.mobiles["ePuck3"].pose_in_world.position
        lab.mobiles["ePuck3"].drive_steps(500, 500)
        lab.advance(2)
    last = heard[-1]
    assert len(heard) == 50
    assert (last.source, last.frame, last.child_frame) == ("ePuck3", "odom", "ePuck3/base_link")
    assert last.position == pytest.approx(start + [2 * 500 * 0.02 * 2 * np.pi / 1000, 0, 0], abs=2e-4)
    assert last.linear_velocity == pytest.approx([0.0628, 0, 0], abs=0.002)
    assert heard[5].position[0] < heard[6].position[0]  # none is a view of the next
    assert last.covariance.shape == (9,)
    assert (np.linalg.eigvalsh(last.covariance.reshape(3, 3)) > 0).all()


def test_lamps_are_switched_one_by_one():
    with exact_lab(fidelity="kinematic") as lab:
        robot = lab.mobiles[ROBOT]
        robot.set_led(3)
        robot.set_led(8, True)
        assert [number for number, lit in enumerate(robot.leds) if lit] == [3, 8]
        robot.set_led(3, False)
        robot.set_leds([True, False, True])
        assert [number for number, lit in enumerate(robot.leds) if lit] == [0, 2, 8]
        with pytest.raises(BadInput, match="lamp of ePuck0 is 10, allowed 0 to 9"):
            robot.set_led(10)
        with pytest.raises(BadInput, match=r"lamp of ePuck0 is 1.5, allowed 0 to 9"):
            robot.set_led(1.5)
        with pytest.raises(BadInput, match="number of lamps of ePuck0 is 11, allowed 0 to 10"):
            robot.set_leds([True] * 11)
        assert [number for number, lit in enumerate(robot.leds) if lit] == [0, 2, 8]
        with pytest.raises(UnknownName, match="unknown mobile robot 'epuck0'; did you mean 'ePuck0'"):
            lab.mobile("epuck0")
