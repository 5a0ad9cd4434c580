"""Accelerometer and gyroscope: what a robot feels, in which directions, and with which errors."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.sensors import check_sensor
from cellwright.sim import World

ROBOT = "ePuck0"
EXACT = {"acceleration": {}, "turn_rate": {}}
COUNT = 9.81 / 800


def lab_with(rough=False, rate_hz=250, fidelity="physics", **line) -> Lab:
    cell = load_cell("epucks@one")
    imu = {"type": "imu", "rate_hz": rate_hz, **line}
    mobile = cell.mobiles["ePuck"].model_copy(update={"profile": None, "sensors": (imu,)})
    update = {"mobiles": {"ePuck": mobile}, "actual": ActualCfg(), "arena": None, "fidelity": fidelity}
    return Lab(cell.model_copy(update=update if rough else update | {"floor_roughness": ()}), 0)


def readings(lab: Lab, duration_s: float) -> tuple[np.ndarray, np.ndarray]:
    heard = []
    end = lab.bus.subscribe(f"/{ROBOT}/imu", lambda _, message: heard.append(message), subscriber="test")
    lab.advance(duration_s)
    end.close() if hasattr(end, "close") else None
    return np.array([m.acceleration for m in heard]), np.array([m.angular_velocity for m in heard])


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_at_rest_it_feels_gravity_upwards(fidelity):
    with lab_with(fidelity=fidelity, **EXACT) as lab:
        acceleration, turn = readings(lab, 0.5)
        assert acceleration[-1, 2] == pytest.approx(9.81, abs=0.002)
        assert np.abs(acceleration[-1, :2]).max() < 0.09  # it leans back on its rear skid
        assert np.abs(turn[-1]).max() < 1e-4


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
@pytest.mark.parametrize("side", [-1, 1])
def test_on_a_curve_it_feels_the_way_to_the_middle_and_the_turn(fidelity, side):
    with lab_with(fidelity=fidelity, **EXACT) as lab:
        lab.mobile(ROBOT).move(0.08, side * 1.0)
        lab.advance(0.5)
        acceleration, turn = readings(lab, 0.5)
        assert acceleration[:, 1].mean() == pytest.approx(side * 0.08, rel=0.05)
        assert turn[:, 2].mean() == pytest.approx(side * 1.0, rel=0.02)


def test_it_feels_how_the_drive_gathers_speed():
    with lab_with(**EXACT) as lab:
        lab.mobile(ROBOT).drive_steps(1000, 1000)
        acceleration, _ = readings(lab, 0.3)
        assert acceleration[2:15, 0].mean() == pytest.approx(80 * 0.02 + 0.08, rel=0.1)  # 0.08: it leans back
        assert acceleration[:, 0].sum() * 0.004 == pytest.approx(0.1257 + 0.08 * 0.3, rel=0.1)


def test_a_slope_shows_as_a_part_of_gravity():
    with lab_with(**EXACT) as lab:
        lab.world.place(ROBOT, Pose.from_xyz_rpy([0, 0, 0.5], [0.2, -0.1, 0.5]))
        index = lab.world.mobiles[ROBOT]
        lab.world.engine.step(1)
        falling = lab.world.data.sensordata[index.accelerometer : index.accelerometer + 3]
        assert np.abs(falling).max() < 0.01  # weightless
        roll, pitch = 0.2, -0.1
        tilted = Pose.from_xyz_rpy([0, 0, 0], [roll, pitch, 0.5]).rotation_matrix.T @ [0, 0, 9.81]
        assert tilted[1] == pytest.approx(9.81 * np.sin(roll) * np.cos(pitch))


def test_readings_are_whole_counts_within_two_g_and_say_how_sure_they_are():
    with lab_with(rough=True) as lab:
        acceleration, turn = readings(lab, 1.0)
        assert acceleration / COUNT == pytest.approx(np.round(acceleration / COUNT), abs=1e-6)
        assert 0.8 * COUNT < acceleration.std(axis=0).min() < acceleration.std(axis=0).max() < 1.4 * COUNT
        assert np.abs(np.corrcoef(acceleration.T) - np.eye(3)).max() < 0.25  # every axis for itself
        assert turn.std(axis=0) == pytest.approx(np.radians(0.1), rel=0.3)
        message = lab.sensors[0].latest
        assert (message.frame, message.source) == (f"{ROBOT}/imu", ROBOT)
        assert message.acceleration_variance == pytest.approx(COUNT**2 * (1 + 1 / 12))
        lab.world.place(ROBOT, Pose.from_xyz_rpy([0, 0, 0.05]))
        acceleration, _ = readings(lab, 0.3)  # a fall of 5 cm
        assert acceleration[:, 2].max() == pytest.approx(2 * 9.81)


def test_a_rough_floor_shakes_a_robot_that_drives_and_not_one_that_stands():
    deviations = {}
    for rough in (False, True):
        for speed in (0.0, 0.05):
            with lab_with(rough=rough, rate_hz=30, **EXACT) as lab:
                lab.mobile(ROBOT).move(speed, 0.0)
                lab.advance(1.0)
                deviations[rough, speed] = readings(lab, 4.0)[0].std(axis=0)
    assert deviations[True, 0.05].min() > 0.02
    for key in ((True, 0.0), (False, 0.0)):
        assert deviations[key].max() < 0.002
    assert deviations[False, 0.05][0] > 0.005  # the motors' ripple, along x alone
    assert deviations[False, 0.05][1:].max() < 0.002


def test_it_keeps_the_contract_of_sensors():
    line = {"type": "imu", "robot": ROBOT, "rate_hz": 30}
    assert check_sensor(line, World(load_cell("epucks@one"), 1)) == []
    assert check_sensor(line, World(load_cell("epucks@one").model_copy(update={"fidelity": "kinematic"}), 1)) == []


def test_an_arm_has_none():
    with pytest.raises(Exception, match="unknown mobile robot 'ur5'"):
        check_sensor({"type": "imu", "robot": "ur5", "rate_hz": 30}, World(load_cell("epucks@one"), 1))
