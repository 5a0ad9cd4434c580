"""The room that an arm takes up by its joint angles, compared with the solids of its model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import ROBOTS, TOOLS
from cellwright.core.pose import Pose
from cellwright.execution.arm_capsules import ArmCapsules, held_capsules
from cellwright.models import build

MARGIN_M = 0.010  # that a view model adds
BASE = Pose.from_xyz_rpy([0.3, -0.2, 0.9], [0.0, 0.0, 0.7])


def corners(model, data, geom):
    """Points on the edge of a box or a cylinder, in the world."""
    size, kind = model.geom_size[geom], model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        local = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        around = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        ring = np.column_stack([np.cos(around), np.sin(around)]) * size[0]
        local = np.concatenate([np.column_stack([ring, np.full(12, z)]) for z in (-size[1], size[1])])
    else:
        return np.empty((0, 3))
    return BASE.apply(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])


def outside_m(points, capsules):
    axes = capsules[:, 3:6] - capsules[:, :3]
    lengths = np.maximum((axes**2).sum(axis=1), 1e-12)
    share = np.clip(((points[:, None] - capsules[:, :3]) * axes).sum(axis=2) / lengths, 0.0, 1.0)
    apart = np.linalg.norm(points[:, None] - capsules[:, :3] - share[..., None] * axes, axis=2)
    return (apart - capsules[:, 6]).min(axis=1)


@pytest.mark.parametrize("name", ["lr_mate_200id", "sia20f", "ur5"])
def test_every_solid_of_an_arm_is_inside_whatever_its_joints(name):
    arm = ROBOTS.get(name)
    model = build(arm).compile()
    data = mujoco.MjData(model)
    capsules, rng = ArmCapsules(arm, BASE), np.random.default_rng(3)
    for _ in range(5):
        joints = rng.uniform(-2.0, 2.0, len(arm.joints))
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        solids = [geom for geom in range(model.ngeom) if model.geom_contype[geom]]
        points = np.concatenate([corners(model, data, geom) for geom in solids])
        assert len(points) > 50
        assert outside_m(points, capsules.at(joints)).max() <= MARGIN_M


def test_tool_and_what_it_holds_come_last_and_move_with_the_flange():
    arm = ROBOTS.get("lr_mate_200id")
    capsules = ArmCapsules(arm, BASE)
    home = np.array(arm.home_rad)
    bare, held = capsules.at(home), held_capsules("sku_part_large_gear", Pose.from_xyz_rpy([0, 0, 0.02], [np.pi, 0, 0]))
    with_tool = capsules.at(home, "aprs_fanuc_gripper")
    laden = capsules.at(home, "aprs_fanuc_gripper", held)
    assert len(bare) < len(with_tool) < len(laden)
    assert laden[: len(with_tool)] == pytest.approx(with_tool)
    tool = BASE @ capsules.kinematics.forward(home) @ Pose.from_xyz_rpy([0, 0, 0])
    along = tool.rotation_matrix[:, 2]
    reached = (laden[-1, :3] - tool.position) @ along
    assert 0.05 < reached < 0.4, "what is held is beyond the flange"
    turned = home.copy()
    turned[0] += 0.5
    assert np.linalg.norm(capsules.at(turned, "aprs_fanuc_gripper", held)[-1, :3] - laden[-1, :3]) > 0.1


def test_a_pose_of_the_tool_has_the_configuration_that_puts_it_there():
    arm = ROBOTS.get("lr_mate_200id")
    capsules = ArmCapsules(arm, BASE)
    there = BASE @ Pose.from_xyz_rpy([0.45, 0.1, 0.2], [np.pi, 0.0, 0.3])
    assert "aprs_fanuc_gripper" in TOOLS
    joints = capsules.configuration(there, "aprs_fanuc_gripper", arm.home_rad)
    assert joints is not None
    tips = capsules.at(joints, "aprs_fanuc_gripper")
    assert outside_m(there.position[None], tips)[0] < 0.02
    far = BASE @ Pose.from_xyz_rpy([3.0, 0.0, 0.2], [np.pi, 0.0, 0.0])
    assert capsules.configuration(far, "aprs_fanuc_gripper", arm.home_rad) is None


def test_a_tool_that_comes_upon_its_own_arm_is_noticed():
    """With its wrist bent by 119 degrees the Fanuc's gripper touches the forearm; at home it does not."""
    arm = ROBOTS.get("lr_mate_200id")
    capsules = ArmCapsules(arm, BASE)
    gaps_m = [
        capsules.fold_gap_m(capsules.at([0.5, 0.2, 0.7, 0.0, np.radians(bent), 0.0], "aprs_fanuc_gripper"))
        for bent in (-60, -90, -119)
    ]
    assert min(gaps_m[:2]) > 0.01
    assert gaps_m[2] < 0
    assert capsules.fold_gap_m(capsules.at(arm.home_rad)) == np.inf, "a bare flange has nothing to fold with"
