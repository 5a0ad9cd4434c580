"""What a robot tells over CRCL is what its sensors measured: as old and as noisy as they are."""

from __future__ import annotations

import asyncio

import pytest

from cellwright.cells import load_cell
from cellwright.crcl import CrclClient
from cellwright.crcl import messages as m
from cellwright.interfaces import CrclInterface
from cellwright.interfaces.crcl_sensing import REPORT_S
from cellwright.lab import Lab

SLOW = (
    {"type": "joint_state", "robot": "fanuc", "rate_hz": 5, "delay_s": 0.1, "position": {"sd": 0.001}},
    {"type": "tool_status", "robot": "fanuc", "name": "hand", "rate_hz": 4, "delay_s": 0.1, "width_sd_m": 0.002},
    {"type": "wrench", "robot": "fanuc", "rate_hz": 5, "delay_s": 0.05, "force_sd_n": 2.0},
)


def laboratory(sensors=SLOW):
    changes = {"sensors": tuple(sensors), "fidelity": "kinematic", "settle_s": 0.0}
    return Lab(load_cell("aprs").model_copy(update=changes), seed=1)


def talk(lab, work):
    async def main():
        interface = CrclInterface(lab)
        try:
            async with CrclClient(lambda: interface.connect("fanuc")) as client:
                (await client.execute(m.InitCanon(0))).check()
                return await work(client)
        finally:
            await interface.close()

    return lab.perform(main())


@pytest.fixture(scope="module")
def slow():
    with laboratory() as lab:
        yield lab


def joints_of(status):
    return [joint.joint_position for joint in status.joint_statuses.joint_status]


def test_joints_width_and_force_are_those_of_the_last_reports(slow):
    async def work(client):
        await client.execute(m.EnableSensor(0, "ATINetFT"))
        statuses = []
        for _ in range(12):
            told = [slow.sensor(f"/{topic}").latest for topic in ("fanuc/joint_states", "hand/tool_status")]
            statuses.append((await client.status(), *told, slow.sensor("/fanuc/wrench").latest))
            await slow.clock.sleep(0.06)
        return statuses

    statuses = talk(slow, work)
    for status, joints, tool, wrench in statuses:
        assert joints_of(status) == pytest.approx(joints.position.tolist(), abs=1e-9)
        assert status.gripper_status.separation == pytest.approx(tool.width_m, abs=1e-9)
        (force,) = status.sensor_statuses.force_torque_sensor_status
        assert (force.fx, force.fy, force.fz) == pytest.approx(tuple(wrench.force), abs=1e-6)
    widths = {status.gripper_status.separation for status, *_ in statuses}
    assert 2 <= len(widths) <= 5, "a report lasts until the next one, and each has its noise"
    true_m, told = slow.robot("fanuc").gripper.width_m, statuses[-1][1]
    assert all(abs(width - true_m) > 1e-5 for width in widths)
    assert slow.clock.time_s - told.time_s > 0.09, "it is as old as it is"


def test_a_moving_arm_is_told_late(slow):
    async def work(client):
        arm = slow.robot("fanuc")
        details = m.JointSpeedAccel(joint_speed=0.5)
        aim = m.ActuateJoints(0, (m.ActuateJoint(1, float(arm.joints_rad[0]) + 0.6, details),))
        moving, behind = asyncio.ensure_future(client.execute(aim)), []
        while not moving.done():
            await slow.clock.sleep(0.05)
            behind.append(arm.joints_rad[0] - joints_of(await client.status())[0])
        (await moving).check()
        return behind

    assert max(talk(slow, work)) > 0.05, "at half a radian per second, a tenth of a second and more"


def test_fingers_are_done_when_their_sensor_has_told_so(slow):
    async def work(client):
        start_s = slow.clock.time_s
        status = (await client.execute(m.SetEndEffector(0, setting=0.3))).check().status
        return status, slow.clock.time_s - start_s, slow.sensor("/hand/tool_status").latest, start_s

    status, took_s, told, start_s = talk(slow, work)
    low_m, high_m = slow.robot("fanuc").gripper.width_limits_m
    assert status.gripper_status.separation == pytest.approx(low_m + 0.3 * (high_m - low_m), abs=0.008)
    assert told.time_s > start_s, "the report was taken after the fingers had come to rest"
    assert took_s < 2.5


def test_a_report_that_never_comes_is_not_waited_for():
    with laboratory([{"type": "tool_status", "robot": "fanuc", "rate_hz": 1, "delay_s": 9.0}]) as lab:

        async def work(client):
            start_s = lab.clock.time_s
            status = (await client.execute(m.SetEndEffector(0, setting=0.5))).check().status
            return status, lab.clock.time_s - start_s

        status, took_s = talk(lab, work)
    assert REPORT_S < took_s < REPORT_S + 2.0
    assert status.gripper_status.gripper_name == "aprs_fanuc_gripper"


def test_without_sensors_a_controller_tells_what_it_measures_itself():
    with laboratory([]) as lab:

        async def work(client):
            (await client.execute(m.SetEndEffector(0, setting=0.37))).check()
            await client.execute(m.EnableSensor(0, "ATINetFT"))
            return await client.status()

        status = talk(lab, work)
        arm = lab.robot("fanuc")
        assert joints_of(status) == pytest.approx(arm.joints_rad.tolist(), abs=1e-9)
        assert status.gripper_status.separation == pytest.approx(arm.gripper.width_m, abs=5.1e-5)
        assert status.gripper_status.separation * 1e4 == pytest.approx(round(status.gripper_status.separation * 1e4))
    assert status.sensor_statuses is None, "no wrist sensor, no force"
