"""A cell of imported models runs: the arm follows its controller, the gripper takes a part, CRCL is served."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.interfaces.crcl_arm import CrclArm
from cellwright.lab import Lab
from cellwright.motion import LineSpeed

pytestmark = pytest.mark.usefixtures("own_models")

_path = Path(__file__).parents[1] / "cells" / "test_models.py"
_spec = importlib.util.spec_from_file_location("models_of_a_cell", _path)
assert _spec is not None
assert _spec.loader is not None
models = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(models)


@pytest.fixture
def lab(tmp_path):
    with Lab.from_cell(models.write(tmp_path)) as lab:
        yield lab


def test_an_imported_arm_takes_a_part_and_lifts_it(lab):
    robot = lab.robot("r")
    assert robot.kinematics.method == "analytic"
    start = lab.world.pose_of("one")
    grasp = Pose.from_xyz_rpy(start.position + [0, 0, 0.03], [np.pi, 0, 0])
    above = Pose(grasp.position + [0, 0, 0.15], grasp.quaternion)

    async def work():
        await robot.move_tool(above)
        await robot.move_tool_straight(grasp, LineSpeed())
        assert lab.world.tcp_pose("r").distance_m(grasp) < 0.002
        width_m = await robot.gripper.close()
        await robot.move_tool_straight(above, LineSpeed())
        return width_m

    width_m = lab.perform(work())
    assert width_m == pytest.approx(0.03, abs=0.003)
    assert lab.world.pose_of("one").position[2] - start.position[2] == pytest.approx(0.15, abs=0.01)


def test_an_imported_arm_is_offered_over_crcl_by_its_own_joint_names(lab):
    arm = CrclArm(lab.robot("r"), lab.clock, lab.world.clock, lab.sensors)
    assert [joint.name for joint in arm.joints][:2] == ["shoulder_pan_joint", "shoulder_lift_joint"]
    reading = arm.read()
    expected = lab.world.tcp_pose("r").position - [0, 0, 0.5]
    np.testing.assert_allclose(reading.pose_tool_in_base.position, expected, atol=1e-6)
