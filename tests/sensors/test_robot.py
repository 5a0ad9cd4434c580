"""What a robot reports of itself, against the truth; with a real pick in the APRS cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from cellwright.catalogue.gears import LARGE_GEAR
from cellwright.core.messages import ToolStatus, Wrench
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.motion import LineSpeed
from cellwright.sim import World

GRAVITY = 9.81
FORCE_SD_N = 0.05  # of the APRS cell's force sensors


def test_encoders_hide_the_joint_zero_error(aprs, sensor_in):
    """The arm stands where its encoders read home; in truth every joint is off by its zero error."""
    world = World(aprs.model_copy(update={"fidelity": "kinematic"}), seed=4)
    world.engine.step(1)
    zeros = world.layout.joint_zeros_rad["fanuc"]
    reading = sensor_in(world, type="joint_state", robot="fanuc").sample()
    home = np.radians(aprs.robots["fanuc"].home_deg)
    assert (np.abs(zeros) > 1e-6).all()
    np.testing.assert_allclose(reading.position, home, atol=1e-12)
    np.testing.assert_allclose(world.data.qpos[world.robot("fanuc").qpos], home + zeros, atol=1e-12)
    assert reading.names == tuple(joint.name for joint in world.robot("fanuc").figures.joints)


def test_joint_state_in_motion_is_the_truth_less_the_zero_error(aprs, sensor_in):
    with Lab(aprs, seed=4) as lab:
        sensors = {name: sensor_in(lab.world, type="joint_state", robot=name) for name in ("fanuc", "motoman")}

        async def look_while_moving() -> None:
            lab.loop.create_task(lab.robot("fanuc").move_joints(np.radians([40, 0, 0, 0, -90, 0])))
            await lab.clock.sleep(0.3)
            for name, sensor in sensors.items():
                index, data, reading = lab.world.robot(name), lab.world.data, sensor.sample()
                truth = data.qpos[index.qpos] - lab.world.layout.joint_zeros_rad[name]
                assert np.array_equal(reading.position, truth)
                assert np.array_equal(reading.velocity, data.qvel[index.dof])
                assert np.array_equal(reading.effort, data.qfrc_actuator[index.dof])
                assert (abs(reading.velocity[0]) > 0.5) == (name == "fanuc")

        lab.perform(look_while_moving())


def test_encoder_noise_is_that_of_its_line(tiny, sensor_in):
    sensor = sensor_in(tiny, type="joint_state", robot="arm", position={"bias": 0.01, "sd": 0.002})
    tiny.engine.step(1)
    truth = tiny.data.qpos[tiny.robot("arm").qpos]
    errors = np.array([sensor.sample().position for _ in range(1000)]) - truth
    assert abs(errors.std() / 0.002 - 1) < 4 / np.sqrt(2 * errors.size)
    assert abs(errors.mean() - 0.01) < 4 * 0.002 / np.sqrt(errors.size)


def test_robot_without_a_tool_says_so(tiny, sensor_in):
    status = sensor_in(tiny, type="tool_status", robot="arm").sample()
    assert (status.tool, status.kind, status.holding) == ("", "none", False)


def test_width_noise_is_that_of_its_line(aprs, sensor_in):
    world = World(aprs.model_copy(update={"fidelity": "kinematic"}), seed=0)
    sensor = sensor_in(world, type="tool_status", robot="fanuc", width_sd_m=0.0002)
    errors = (
        np.array([sensor.sample().width_m for _ in range(2000)])
        - world.data.qpos[world.robot("fanuc").gripper.qpos].sum()
    )
    assert abs(errors.std() / 0.0002 - 1) < 4 / np.sqrt(2 * errors.size)
    assert abs(errors.mean()) < 4 * 0.0002 / np.sqrt(errors.size)


@dataclass
class Phase:
    """What was sensed in a second of standing still."""

    tools: list[ToolStatus]
    wrenches: list[Wrench]

    @property
    def force_n(self) -> np.ndarray:
        return np.mean([wrench.force for wrench in self.wrenches], axis=0)

    @property
    def tolerance_n(self) -> float:
        return 5 * FORCE_SD_N / np.sqrt(len(self.wrenches))


@pytest.fixture(scope="module")
def pick(aprs) -> Iterator[dict[str, Phase]]:
    """The Fanuc picks a large gear and puts it back: what its sensors said when it stood still in between."""
    phases: dict[str, Phase] = {}
    with Lab(aprs, seed=0) as lab:
        arm, slow = lab.robot("fanuc"), LineSpeed(speed_mps=0.12, acceleration_mps2=0.6, jerk_mps3=6.0)

        async def stand(name: str) -> None:
            await lab.clock.sleep(0.3)
            phase = phases[name] = Phase([], [])
            listeners = [
                lab.bus.subscribe("/fanuc/tool_status", lambda _, m: phase.tools.append(m), subscriber="test"),
                lab.bus.subscribe("/fanuc/wrench", lambda _, m: phase.wrenches.append(m), subscriber="test"),
            ]
            await lab.clock.sleep(1.0)
            for listener in listeners:
                lab.bus.unsubscribe(listener)

        async def work() -> None:
            await stand("open")
            await arm.gripper.close()
            await stand("closed on nothing")
            await arm.gripper.open()
            gear = lab.world.pose_of("large_gear_1")  # a test may know; the pose is off by the cell's errors anyway
            grasp = Pose.from_xyz_rpy(gear.apply([0, 0, LARGE_GEAR.grasp_height_m]), [np.pi, 0, 0])
            above = Pose(grasp.position + np.array([0, 0, 0.05]), grasp.quaternion)
            await arm.move_tool(above)
            await arm.move_tool_straight(grasp, slow)
            await arm.gripper.close()
            await arm.move_tool_straight(above, slow)
            await stand("holding")
            assert lab.world.pose_of("large_gear_1").position[2] - gear.position[2] > 0.045
            await arm.move_tool_straight(grasp, slow)
            await arm.gripper.open()
            await stand("let go")

        lab.perform(work())
    return phases


@pytest.mark.parametrize(
    ("phase", "holding"), [("open", False), ("closed on nothing", False), ("holding", True), ("let go", False)]
)
def test_holding_is_true_only_with_a_part_between_the_fingers(pick, phase, holding):
    assert len(pick[phase].tools) == 25
    assert {status.holding for status in pick[phase].tools} == {holding}


def test_wrench_is_the_weight_of_the_tool_and_what_it_holds(pick, aprs):
    """Along the flange's z axis, which points at the floor: the load pulls it down."""
    tool_kg = World(aprs.model_copy(update={"fidelity": "kinematic"})).robot("fanuc").gripper.figures.mass_kg
    for name in ("open", "closed on nothing"):
        np.testing.assert_allclose(pick[name].force_n, [0, 0, tool_kg * GRAVITY], atol=pick[name].tolerance_n)
    loaded, empty = pick["holding"], pick["open"]
    weight_n = LARGE_GEAR.mass_kg * GRAVITY
    assert weight_n > 4 * loaded.tolerance_n
    np.testing.assert_allclose(loaded.force_n - empty.force_n, [0, 0, weight_n], atol=2 * loaded.tolerance_n)


def test_wrench_noise_is_that_of_its_line(pick):
    forces = np.array([wrench.force for wrench in pick["open"].wrenches])
    assert abs(forces.std(axis=0).mean() / FORCE_SD_N - 1) < 4 / np.sqrt(2 * forces.size)
    torques = np.array([wrench.torque for wrench in pick["open"].wrenches])
    assert abs(torques.std(axis=0).mean() / 0.002 - 1) < 4 / np.sqrt(2 * torques.size)


def test_robot_sensors_follow_when_bodies_are_added_and_removed(aprs, sensor_in):
    """All addresses in the simulation change; the readings must not."""
    world = World(aprs.model_copy(update={"fidelity": "kinematic"}), seed=2)
    sensors = [
        sensor_in(world, type=kind, robot="motoman", **extra)
        for kind, extra in (("joint_state", {}), ("tool_status", {"width_sd_m": 0}), ("wrench", {}))
    ]

    def readings() -> list[tuple[np.ndarray, ...]]:
        joints, tool, wrench = (sensor.sample() for sensor in sensors)
        return [joints.position, np.array([tool.width_m]), wrench.force, wrench.torque]

    world.engine.step(1)
    before = readings()
    world.remove("fanuc_medium_tray")
    world.add("extra_tray", "small_gear_tray", Pose.from_xyz_rpy([0, 0, 3]))
    world.engine.step(1)
    for was, now in zip(before, readings(), strict=True):
        np.testing.assert_allclose(now, was, atol=1e-9)
